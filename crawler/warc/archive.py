"""Pages of a web archive by their address, read by range where they lie.

In: sorted CDXJ files or the `cluster.idx` of a ZipNum index (what Common Crawl and
pywb publish), or WARC files and folders of them, on a disk or behind an address.
Out: the newest page that was answered with 200. A lookup reads a few blocks of the
index (a binary search; those that all searches begin with are kept) and one record.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from crawler.data import Page
from crawler.errors import WarcError
from crawler.warc.cdxj import MAX_LINE, REVISIT, IndexEntry, parse_cdxj, surt
from crawler.warc.index import WarcIndex
from crawler.warc.reader import page_of, read_record
from crawler.warc.record import uri
from crawler.warc.remote import Location, is_remote, read_range, size_of

_SORTED = (".cdxj", ".cdx", ".idx")
_BLOCK = MAX_LINE  # bytes: a range holds a whole line, whatever the line
_KEPT = 256  # blocks, 16 MB: the first eight halvings of every search
_MOST = 1000  # entries of one page that are looked at
# Bytes of a block of ZipNum, packed and not: 3,000 lines, as Common Crawl writes them,
# have 200 KB and 1.5 MB.
_MAX_PACKED, _MAX_BLOCK = 2**20, 2**24


class Archived(NamedTuple):
    """A page of an archive, and where it lies."""

    page: Page
    source: str  # FILE#OFFSET


class Archive:
    """Looks pages up; `counts` has what was found and what was not.

    Its methods may be called by several threads at a time.
    """

    def __init__(
        self,
        indexes: Sequence[_Index | WarcIndex],
        since: datetime | None,
        counts: Counter[str],
    ) -> None:
        """`since`: older pages are not taken; see `open`."""
        self.counts = counts
        self._indexes = indexes
        self._since = since

    @classmethod
    def open(
        cls, locations: Sequence[str], root: str = "", since: datetime | None = None
    ) -> Archive:
        """The archive of some indexes or recordings.

        `root`: where the files lie that indexes name; default: beside the index. Raises
        WarcError for an index that is not there.
        """
        indexes: list[_Index | WarcIndex] = []
        for location in locations:
            if location.endswith(_SORTED):
                indexes.append(
                    _Index(location, root or _folder(location), size_of(location))
                )
            elif is_remote(location):
                raise WarcError(
                    f"{location}: not an index (name a sorted .cdxj, or the cluster.idx"
                    " of a ZipNum index)"
                )
            else:
                indexes.append(WarcIndex.build(location))
        return cls(indexes, since, Counter())

    def find(self, url: str) -> Archived | None:
        """The newest page of a canonical URL; None, counted, if there is none.

        A record or an index that cannot be read is counted and passed over.
        """
        for index in self._indexes:
            try:
                found = (
                    index.find(url) if isinstance(index, _Index) else _in(index, url)
                )
            except (OSError, WarcError, ValueError, EOFError, zlib.error):
                self.counts["archive/unreadable"] += 1
                continue
            if found and (self._since is None or found.page.fetched_at >= self._since):
                self.counts["archive/hit"] += 1
                return found
        self.counts["archive/miss"] += 1
        return None


def _in(index: WarcIndex, url: str) -> Archived | None:
    if url not in index or index.status(url) != 200:
        return None
    page = index.read(url)
    return Archived(page, page.record_id or "recording")


def _folder(location: str) -> str:
    return location.rpartition("/")[0] if "/" in location else "."


class _Index:
    """A sorted CDXJ file, or the first level of a ZipNum index."""

    def __init__(self, location: str, root: Location, size: int) -> None:
        self._location = location
        self._root = root
        self._size = size  # in bytes
        self._block = lru_cache(_KEPT)(self._read)

    def _read(self, offset: int) -> bytes:
        return read_range(self._location, offset, min(_BLOCK, self._size - offset))

    def find(self, url: str) -> Archived | None:
        """The newest page of a URL that was answered with 200."""
        key = surt(uri(url)).encode("ascii", "backslashreplace") + b" "
        for entry in sorted(self._entries(key), key=lambda e: e.date, reverse=True):
            record = read_record(entry.location, self._root)
            page = page_of(record, Counter())
            if page is None or page.status != 200:
                continue
            asked = Page(url, 200, page.headers, page.body, page.fetched_at)
            return Archived(asked, f"{record.file}#{record.offset}")
        return None

    def _entries(self, key: bytes) -> list[IndexEntry]:
        found = []
        for line in self._lines(key):
            if line.startswith(key):
                entry = parse_cdxj(line.decode("utf-8", "replace"))
                if entry and entry.status == 200 and _is_inside(entry):
                    found.append(entry)
            elif line > key:
                break
            if len(found) == _MOST:
                break
        return found

    def _lines(self, key: bytes) -> Iterator[bytes]:
        """Lines of the index from the last one before a key."""
        if not self._location.endswith(".idx"):
            yield from self._first_level(key)
            return
        before: bytes | None = None
        for line in self._first_level(key):
            if line >= key and before is not None:
                yield from self._second_level(before)
            before = line
            if line > key and not line.startswith(key):
                return
        if before is not None:
            yield from self._second_level(before)

    def _second_level(self, line: bytes) -> Iterator[bytes]:
        _, name, offset, length, *_ = line.decode("utf-8", "replace").split("\t")
        if is_remote(name) or Path(name).is_absolute() or ".." in Path(name).parts:
            raise WarcError(f"{self._location}: names {name!r}, which is elsewhere")
        size = min(int(length), _MAX_PACKED)
        packed = read_range(f"{_folder(self._location)}/{name}", int(offset), size)
        unpack = zlib.decompressobj(wbits=31)
        yield from unpack.decompress(packed, _MAX_BLOCK).splitlines()

    def _first_level(self, key: bytes) -> Iterator[bytes]:
        """Lines of the sorted file, from one that stands before the key."""
        low, high = 0, self._size  # a line that begins at `low` is before the key
        while high - low > _BLOCK:
            middle = (low + high) // 2
            head, _, rest = self._block(middle).partition(b"\n")
            start = middle + len(head) + 1
            line = rest.partition(b"\n")[0]
            if line and start < high and line < key:
                low = start
            else:
                high = middle
        rest = b""
        while low < self._size:
            block = self._read(low)
            low += len(block)
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
            if not block or len(rest) > MAX_LINE:
                return
        if rest:
            yield rest


def _is_inside(entry: IndexEntry) -> bool:
    """Whether an entry has a page, in a file below the root of the archive."""
    name = entry.location.file
    return (
        entry.mime != REVISIT and not is_remote(name) and not Path(name).is_absolute()
    )
