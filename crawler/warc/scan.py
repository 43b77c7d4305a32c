"""Where records start and end, in whole files and in damaged ones.

FastWARC reads at 170,000 records/s, but of a damaged file it only says that it is one,
and it does not notice a torn end. So every record is held back until the next one
proves that it ended where it should. Where something is wrong, the one record is
measured by hand, and reading goes on at the next place that looks like a record.

Plain files and gzip with a member per record can be entered anywhere. A *solid* file
(xz, zstd, all records in one gzip member) cannot: its first damage ends it.

A file that can be entered can be shared out: a record belongs to the range of bytes in
which it starts, so adjoining ranges hold each record once.
"""

from __future__ import annotations

import io
import logging
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, Literal, cast

from fastwarc.warc import ArchiveIterator

from crawler.errors import WarcError
from crawler.warc.remote import Location, open_input

logger = logging.getLogger(__name__)

# A bigger record is no page; reading it whole would break the promise on memory.
MAX_RECORD = 64 * 2**20

Packing = Literal["plain", "gzip", "solid", "arc"]

_GZIP = b"\x1f\x8b\x08"
# a frame, or a skippable frame that holds a dictionary
_ZSTD = (b"\xb5\x2f\xfd", b"\x2a\x4d\x18")
_XZ = b"\xfd7zXZ\x00"
_ARC = b"filedesc:"  # the first record of an ARC file describes it
_BLOCK = 2**20
_MAX_HEAD = 64 * 2**10  # of a WARC header; FastWARC's limit is smaller
_RECORD_START = re.compile(rb"\n(WARC/1\.[01]\r\n)")
_LENGTH = re.compile(rb"\r\nContent-Length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_END = b"\r\n\r\n"


class Damage(Exception):
    """Reading cannot go on here."""


@dataclass(frozen=True, slots=True)
class Found:
    """A record that was read; its end is not known before the next one."""

    offset: int
    type: str
    headers: dict[str, str]  # lower-case names
    block: bytes | None  # None: not wanted, or larger than MAX_RECORD


def take(record: Any, types: Collection[str] | None = None) -> Found:
    """What we keep of a FastWARC record (it has no stubs); raises Damage if short."""
    headers = {name.lower(): value for name, value in record.headers.asdict().items()}
    if "content-length" not in headers:  # its header is cut off, or says nothing
        raise Damage("short")
    kind = headers.get("warc-type", "").lower()
    block = None
    length = record.content_length
    if (types is None or kind in types) and length <= MAX_RECORD:
        block = record.reader.read(length) if length else b""
        if len(block) < length:
            raise Damage("short")
    return Found(record.stream_pos, kind, headers, block)


@dataclass(frozen=True, slots=True)
class WarcStream:
    """A WARC file that is open for reading."""

    path: Location
    file: BinaryIO
    packing: Packing
    size: int

    def records(
        self,
        types: Collection[str] | None,
        counts: Counter[str],
        start: int = 0,
        end: int | None = None,
    ) -> Iterator[tuple[Found, int | None]]:
        """Whole records, each with its end; None where there is no random access.

        Those that start from byte `start` on and before byte `end`. A solid file counts
        as starting at 0, all of it.
        """
        if self.packing != "solid":
            return self._from_place_to_place(types, counts, start, end)
        return iter(()) if start else self._in_one_go(types, counts)

    def _in_one_go(
        self, types: Collection[str] | None, counts: Counter[str]
    ) -> Iterator[tuple[Found, int | None]]:
        held: Found | None = None
        reason = ""
        try:
            for found in self._read(0, types):
                if held is not None:
                    yield held, None
                held = found
        except Damage as damage:
            reason = str(damage)
            self._report(reason if reason == "header" else "truncated", held, counts)
        # no record after it where one should be: its own length may be wrong
        if held is not None and reason != "header":
            yield held, None

    def _from_place_to_place(
        self,
        types: Collection[str] | None,
        counts: Counter[str],
        first: int,
        stop: int | None,
    ) -> Iterator[tuple[Found, int | None]]:
        # the line break before a plain record is the mark of its start
        lead = 1 if self.packing == "plain" else 0
        start = self._next_start(first - lead) if first else 0
        while start is not None and (stop is None or start < stop):
            held: Found | None = None
            reason = ""
            try:
                for found in self._read(start, types):
                    if held is not None:
                        yield held, found.offset
                    held = found
                    if stop is not None and found.offset >= stop:
                        return
            except Damage as damage:
                reason = str(damage)
            end = self.record_end(held.offset) if held is not None else start
            if held is not None and end is not None:
                yield held, end
            if not reason and end == self.size:
                return
            if held is not None and end is not None and end >= (stop or self.size + 1):
                return  # what is wrong lies in the next range
            damaged = end if end is not None else held.offset if held else start
            start = self._next_start(damaged + 1)
            reason = _name(reason, last=start is None, wrong_length=end is None)
            self._report(reason, held, counts)

    def _report(self, reason: str, held: Found | None, counts: Counter[str]) -> None:
        counts[f"warc/damaged/{reason}"] += 1
        place = held.offset if held is not None else 0
        logger.warning("%s: damaged after byte %d: %s", self.path, place, reason)

    def _read(self, start: int, types: Collection[str] | None) -> Iterator[Found]:
        """Records from a place on, as FastWARC sees them; Damage where it gives up."""
        self.file.seek(start)
        try:
            for record in ArchiveIterator(self.file, parse_http=False):
                yield take(record, types)
        except (EOFError, lzma.LZMAError) as error:
            raise Damage("truncated") from error
        except OSError as error:
            if error.errno:  # the disk's fault, not the file's
                message = f"{self.path}: {error.strerror} (check the disk)"
                raise WarcError(message) from error
            packed = "compress" in str(error)
            raise Damage("compression" if packed else "header") from error

    def record_end(self, offset: int) -> int | None:
        """Where the record at an offset ends; None if not where it says, or damaged."""
        if self.packing == "gzip":
            measured = _measure_member(self.file, offset)
            if measured is None or not 0 <= measured[1] <= len(_END):
                return None
            return measured[0]
        self.file.seek(offset)
        length = _block_end(self.file.read(_MAX_HEAD))
        if length is None or offset + length > self.size:
            return None
        self.file.seek(offset + length)
        rest = self.file.read(len(_END))
        return offset + length + len(rest) if _END.startswith(rest) else None

    def _next_start(self, offset: int) -> int | None:
        """The next place at or after an offset where a record seems to start."""
        overlap = len(_GZIP) if self.packing == "gzip" else len(b"\nWARC/1.0\r\n")
        while offset < self.size:
            self.file.seek(offset)
            block = self.file.read(_BLOCK)
            if self.packing == "gzip":
                found = block.find(_GZIP)
                while found >= 0:
                    if self._is_record_member(offset + found):
                        return offset + found
                    found = block.find(_GZIP, found + 1)
            elif match := _RECORD_START.search(block):
                return offset + match.start(1)
            if len(block) < _BLOCK:
                return None
            offset += len(block) - overlap
        return None

    def _is_record_member(self, offset: int) -> bool:
        self.file.seek(offset)
        try:
            start = zlib.decompressobj(31).decompress(self.file.read(4096), 5)
        except zlib.error:
            return False
        return start == b"WARC/"


def _name(reason: str, *, last: bool, wrong_length: bool) -> str:
    """What a damage is called in the counts."""
    if reason == "compression":
        return reason
    if last:  # a torn record, or what is no record after the last one
        return "truncated"
    if wrong_length or reason in ("", "short"):
        return "length"
    return reason


def _block_end(head: bytes) -> int | None:
    """How far from its start a record's block ends, by the record's header."""
    lines, blank, _ = head.partition(_END)
    length = _LENGTH.search(lines + b"\r\n")
    if not blank or not length:
        return None
    return len(lines) + len(blank) + int(length[1])


def _measure_member(file: BinaryIO, offset: int) -> tuple[int, int] | None:
    """Unpack one gzip member: where it ends, and what follows its record's block.

    The second is in bytes: 4 is by the book, less than 0 means that the record is
    longer than the member. None for a member that is damaged.
    """
    decoder = zlib.decompressobj(31)
    head = b""
    total = 0
    file.seek(offset)
    while not decoder.eof:
        packed = file.read(16 * 2**10)  # 16 MB at most, unpacked
        if not packed:
            return None
        offset += len(packed)
        try:
            piece = decoder.decompress(packed)
        except zlib.error:
            return None
        total += len(piece)
        if len(head) < _MAX_HEAD:
            head += piece[:_MAX_HEAD]
    block_end = _block_end(head)
    if block_end is None:
        return None
    return offset - len(decoder.unused_data), total - block_end


def _is_solid(file: BinaryIO) -> bool:
    """Does one gzip member of this file hold several records?"""
    file.seek(0)
    try:
        found = list(islice(ArchiveIterator(file, parse_http=False), 2))
    except OSError:
        return False
    if len(found) < 2:
        return False
    file.seek(found[1].stream_pos)
    return file.read(len(_GZIP)) != _GZIP


def _is_arc(file: BinaryIO) -> bool:
    """Does an ARC file begin here? The file is left at its start."""
    head = file.read(512)
    file.seek(0)
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(31).decompress(head, len(_ARC))
        except zlib.error:
            return False
    return head.startswith(_ARC)


class _XzFile(lzma.LZMAFile):
    """An xz file that gives all it can before it reports a torn end."""

    def read(self, size: int | None = -1) -> bytes:
        return self.read1(-1 if size is None else size)


@contextmanager
def opened(path: Location) -> Iterator[WarcStream]:
    """A WARC file, its packing told by its first bytes; WarcError if unreadable."""
    with open_input(path) as raw:
        size = raw.seek(0, io.SEEK_END)
        raw.seek(0)
        magic = raw.read(6)
        raw.seek(0)
        if magic == _XZ:
            with _XzFile(raw) as unpacked:
                yield WarcStream(path, cast(BinaryIO, unpacked), "solid", size)
        elif _is_arc(raw):
            yield WarcStream(path, raw, "arc", size)
        elif magic[1:4] in _ZSTD or (magic[:3] == _GZIP and _is_solid(raw)):
            raw.seek(0)
            yield WarcStream(path, raw, "solid", size)
        else:
            packing = "gzip" if magic[:3] == _GZIP else "plain"
            yield WarcStream(path, raw, cast(Packing, packing), size)
