"""Read .lett files, the format of the WMT16 document alignment task.

A line is one page: language, media type, encoding, URL, HTML and text, both in base64,
with tabs in between. Lines that are broken are counted by reason and left out.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from crawler.data import Lang, Page
from crawler.languages import known_code
from crawler.lines import Lines, bounded_lines
from crawler.urls import canonicalize

_NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
# HTML and text of the longest page that is read (crawler.extract.document.MAX_BODY), in
# base64, three times over.
MAX_LINE = 40 * 2**20  # bytes


@dataclass(frozen=True, slots=True)
class LettPage:
    """One line of a .lett file."""

    url: str
    lang: Lang
    html: bytes
    text: str

    @property
    def page(self) -> Page:
        """As if it had just been fetched."""
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        return Page(self.url, 200, headers, self.html, _NO_DATE)


def read_lett(file: Lines, counts: Counter[str]) -> Iterator[LettPage]:
    """The pages of a .lett file; `counts` has `rows`, and `bad/REASON` of each kind."""
    for line in bounded_lines(file, MAX_LINE, parallel=False):
        counts["rows"] += 1
        if line is None:
            counts["bad/too long"] += 1
            continue
        cells = line.rstrip(b"\r\n").split(b"\t", 6)
        if len(cells) != 6:
            counts["bad/not six columns"] += 1
            continue
        lang = known_code(cells[0].decode("ascii", "replace"))
        if lang is None:
            counts["bad/unknown language"] += 1
            continue
        canonical = canonicalize(cells[3].decode("utf-8", "replace"))
        if canonical is None:
            counts["bad/no http url"] += 1
            continue
        try:
            html, text = (base64.b64decode(cell, validate=True) for cell in cells[4:])
        except binascii.Error:
            counts["bad/base64"] += 1
            continue
        yield LettPage(canonical, lang, html, text.decode("utf-8", "replace"))
