"""Pages of a folder of WARC files that somebody may still be writing to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from crawler.data import Page
from crawler.errors import WarcError
from crawler.warc.cdxj import IndexEntry, read_cdxj
from crawler.warc.reader import page_of, read_record
from crawler.warc.record import OPEN


def stored_pages(
    folder: Path, wanted: Callable[[str], bool], counts: Counter[str]
) -> Iterator[Page]:
    """The pages whose URLs are wanted, found by the indexes beside the files.

    What cannot be read (a record that was cut by a kill) is counted and passed over.
    """
    for index in sorted(chain(folder.glob("*.cdxj"), folder.glob("*.cdxj" + OPEN))):
        for entry in _entries(index):
            if wanted(entry.url):
                try:
                    page = page_of(read_record(entry.location, folder), counts)
                except WarcError:
                    counts["warc/dropped/unreadable"] += 1
                    continue
                if page is not None:
                    yield page


def _entries(index: Path) -> list[IndexEntry]:
    try:
        found = [entry for entry in read_cdxj(index) if entry is not None]
    except FileNotFoundError:  # the file was completed since
        done = index.with_suffix("")
        return _entries(done) if index.suffix == OPEN and done.exists() else []
    return [entry for entry in found if Path(entry.location.file).parent == Path()]
