"""The folders that warc2text and Bitextor write: one file for each column of a table.

`url.gz`, `text.gz` (or `plain_text.gz`) and, if asked for, `html.gz`: line n of each is
about page n; texts and HTML are in base64, one page a line. `html.gz` is read where it
is there, because markup is evidence; the text otherwise.

In: such a folder.  Out: pages, or texts without markup.
See also: `lett` (all columns in one file).
"""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from crawler.data import Page
from crawler.errors import WarcError
from crawler.lines import bounded_lines
from crawler.urls import canonicalize
from crawler.warc.lett import MAX_LINE
from crawler.warc.reader import NO_DATE

URLS = "url.gz"
_CONTENTS = ("html.gz", "text.gz", "plain_text.gz")  # the first that is there


@dataclass(frozen=True, slots=True)
class PlainText:
    """A page of which only its text is left, a paragraph a line."""

    url: str  # canonical
    text: str


def is_text_columns(folder: Path) -> bool:
    """Is this a folder of warc2text or Bitextor?"""
    names = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    return URLS in names and not names.isdisjoint(_CONTENTS)


def read_text_columns(folder: Path, counts: Counter[str]) -> Iterator[Page | PlainText]:
    """The pages of a folder; `warc/dropped/REASON` counts those that cannot be read."""
    content = next(name for name in _CONTENTS if (folder / name).exists())
    lines = zip_longest(read_column(folder / URLS), read_column(folder / content))
    for raw_url, cell in lines:
        if raw_url is None or cell is None:
            counts["warc/damaged/length"] += 1  # columns that are not parallel
            return
        counts["warc/records"] += 1
        if not raw_url or not cell:
            counts["warc/dropped/too_large"] += 1
            continue
        url = canonicalize(raw_url.decode("utf-8", "replace").strip())
        if url is None:
            counts["warc/dropped/bad_url"] += 1
            continue
        try:
            data = base64.b64decode(cell, validate=True)
        except binascii.Error:
            counts["warc/dropped/base64"] += 1
            continue
        counts["warc/pages"] += 1
        if content == "html.gz":
            yield Page(url, 200, (("Content-Type", "text/html"),), data, NO_DATE)
        else:
            yield PlainText(url, data.decode("utf-8", "replace"))


def read_column(path: Path) -> Iterator[bytes]:
    """The lines of a column, without their ends; WarcError if it cannot be read.

    A line that is longer than any page is empty.
    """
    try:
        with gzip.open(path, "rb") as file:
            for line in bounded_lines(file, MAX_LINE):
                yield (line or b"").rstrip(b"\r\n")
    except (OSError, EOFError, zlib.error) as error:
        raise WarcError(
            f"{path}: cannot be read: {error} (give a folder of warc2text or Bitextor)"
        ) from error
