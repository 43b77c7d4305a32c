"""Pages of a folder of WARC files that somebody may still be writing to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from crawler.data import Page
from crawler.errors import WarcError
from crawler.warc.cdxj import REVISIT, IndexEntry, read_cdxj
from crawler.warc.reader import page_of, read_record
from crawler.warc.record import OPEN, WarcLocation


def stored_pages(
    folder: Path, wanted: Callable[[str], bool], counts: Counter[str]
) -> Iterator[Page]:
    """The pages whose URLs are wanted, found by the indexes beside the files.

    What cannot be read (a record that was cut by a kill) is counted and passed over.
    Those of revisit records come last.
    """
    repeated: list[IndexEntry] = []
    for index in _indexes(folder):
        for entry in _entries(index):
            if not wanted(entry.url):
                continue
            if entry.mime == REVISIT:
                repeated.append(entry)
            elif page := _page(entry, folder, counts):
                yield page
    digests = {entry.digest for entry in repeated}
    originals = {
        entry.digest: entry
        for index in (_indexes(folder) if repeated else ())
        for entry in _entries(index)
        if entry.digest in digests and entry.mime != REVISIT
    }
    for entry in repeated:
        original = originals.get(entry.digest)
        if original and (page := _page(original, folder, counts)):
            yield replace(page, url=entry.url, fetched_at=entry.date)


def stored_locations(folder: Path) -> Iterator[tuple[str, WarcLocation]]:
    """The address of each record in the indexes, and where it lies."""
    for index in _indexes(folder):
        for entry in _entries(index):
            yield entry.url, entry.location


def _indexes(folder: Path) -> list[Path]:
    return sorted(chain(folder.glob("*.cdxj"), folder.glob("*.cdxj" + OPEN)))


def _page(entry: IndexEntry, folder: Path, counts: Counter[str]) -> Page | None:
    try:
        return page_of(read_record(entry.location, folder), counts)
    except WarcError:
        counts["warc/dropped/unreadable"] += 1
        return None


def _entries(index: Path) -> list[IndexEntry]:
    try:
        found = [entry for entry in read_cdxj(index) if entry is not None]
    except FileNotFoundError:  # the file was completed since
        done = index.with_suffix("")
        return _entries(done) if index.suffix == OPEN and done.exists() else []
    return [entry for entry in found if Path(entry.location.file).parent == Path()]
