"""Every URL of a collection of WARC files, and the way back to its page."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Self

from crawler.data import Page
from crawler.errors import WarcError
from crawler.warc.cdxj import IndexEntry, entry_of, sidecar
from crawler.warc.reader import (
    PAGE_TYPES,
    iter_records,
    origin_key,
    page_of,
    parse_record,
    read_record,
    url_of,
    warc_files,
)
from crawler.warc.record import Record, WarcLocation, compress, layout


class _Spool:
    """A temporary file of records packed one by one, for files that cannot be entered.

    Level 1: it is written and read once, and 300 MB of HTML still become 50.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._size = 0

    @classmethod
    def open(cls) -> Self:
        file = tempfile.TemporaryFile(prefix="bifocal-")  # noqa: SIM115 - lives on
        spool = cls(file)
        weakref.finalize(spool, file.close)
        return spool

    def close(self) -> None:
        self._file.close()

    def append(self, record: Record) -> WarcLocation:
        headers = [
            ("WARC-Type", record.type),
            ("WARC-Target-URI", record.url or ""),
            ("WARC-Record-ID", record.record_id or ""),
            ("WARC-Date", record.headers.get("warc-date", "")),
            ("Content-Type", record.headers.get("content-type", "")),
        ]
        packed = compress(layout(headers, record.block), level=1)
        self._file.write(packed)
        self._size += len(packed)
        return WarcLocation("", self._size - len(packed), len(packed))

    def read(self, offset: int, length: int) -> Record:
        self._file.flush()
        data = os.pread(self._file.fileno(), length, offset)
        return parse_record(data, Path("spool"), offset)


@dataclass(slots=True)
class _Known:
    """What the index remembers of a URL; objects of one file share its path."""

    status: int
    path: Path | None  # None: the spool
    offset: int
    length: int


class WarcIndex:
    """Every URL of a collection, and the way back to its page.

    Where a URL was recorded several times, the first answer 200 stands for it, else the
    first of all. Bodies stay on disk. A file without random access (xz, zstd, solid
    gzip) is repacked record by record into a temporary file, once.
    """

    def __init__(self) -> None:
        """An empty index; see `build`."""
        self._known: dict[str, _Known] = {}
        self._spool: _Spool | None = None

    @classmethod
    def build(
        cls,
        paths: str | Path | Iterable[str | Path],
        *,
        counts: Counter[str] | None = None,
    ) -> Self:
        """Index WARC files and folders of them, from their CDXJ files where possible.

        `counts`: as in crawler.warc.reader. Raises WarcError for what is no WARC file.
        """
        counts = Counter() if counts is None else counts
        index = cls()
        origins: dict[str, _Known] = {}
        revisits: list[tuple[str, str | None]] = []
        for path in warc_files(paths):
            for entry in sidecar(path) or index._scan(path, revisits, counts):
                place = entry.location
                where = path if place.file else None
                known = _Known(entry.status, where, place.offset, place.length)
                if entry.digest:
                    origins.setdefault(entry.digest, known)
                index._add(entry.url, known)
        for url, digest in revisits:
            if digest is not None and digest in origins:
                index._add(url, origins[digest])
            else:
                counts["warc/dropped/revisit"] += 1
        return index

    def _scan(
        self, path: Path, revisits: list[tuple[str, str | None]], counts: Counter[str]
    ) -> Iterator[IndexEntry]:
        for record in iter_records(path, types=PAGE_TYPES, counts=counts):
            if record.type == "revisit":
                if url := url_of(record, counts):
                    revisits.append((url, origin_key(record)))
                continue
            location = record.location
            if location is None:
                self._spool = self._spool or _Spool.open()
                location = self._spool.append(record)
            if entry := entry_of(record, location, counts):
                yield entry

    def _add(self, url: str, known: _Known) -> None:
        before = self._known.get(url)
        if before is None or (before.status != 200 and known.status == 200):
            self._known[url] = known

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[str]:
        """The URLs, in the order in which they were first recorded."""
        return iter(self._known)

    def __contains__(self, url: object) -> bool:
        return url in self._known

    def status(self, url: str) -> int:
        """The HTTP status that a URL answers with; KeyError for one not recorded."""
        return self._known[url].status

    def read(self, url: str) -> Page:
        """The page of a URL; KeyError for one not recorded, WarcError if unreadable."""
        known = self._known[url]
        if known.path is None:
            assert self._spool is not None
            record = self._spool.read(known.offset, known.length)
        else:
            location = WarcLocation(known.path.name, known.offset, known.length)
            record = read_record(location, known.path.parent)
        page = page_of(record, Counter())
        if page is None:
            raise WarcError(
                f"{record.file}: the record at byte {record.offset} is not a page"
                " (the file has changed since it was indexed; index it again)"
            )
        return page if page.url == url else replace(page, url=url)

    def close(self) -> None:
        """Give the temporary file back."""
        if self._spool is not None:
            self._spool.close()
