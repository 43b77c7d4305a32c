"""Where records start and end, in whole files and in damaged ones.

Plain files and gzip with a member per record can be entered anywhere: each record is
measured before it is read, and where one does not end as it says, reading goes on at
the next place that looks like a record. So a byte is read once, whatever the headers
claim. A *solid* file (xz, zstd, all records in one gzip member) is read by FastWARC in
one go: its first damage ends it.

A file that can be entered can be shared out: a record belongs to the range of bytes in
which it starts, so adjoining ranges hold each record once.
"""

from __future__ import annotations

import io
import logging
import lzma
import re
import struct
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Literal, cast

import deflate
from fastwarc.warc import ArchiveIterator

from crawler.errors import WarcError
from crawler.warc.arc import arc_records, is_arc
from crawler.warc.found import MAX_RECORD, Damage, Found
from crawler.warc.remote import Location, open_input

logger = logging.getLogger(__name__)

Packing = Literal["plain", "gzip", "solid", "arc"]

_GZIP = b"\x1f\x8b\x08"  # begins each member
# a frame, or a skippable frame that holds a dictionary
_ZSTD = (b"\xb5\x2f\xfd", b"\x2a\x4d\x18")
_XZ = b"\xfd7zXZ\x00"
_BLOCK = 2**18  # bytes that are kept of a file: some ten records
_TRAILER = struct.Struct("<II")  # of a member: checksum and size of what was packed
_SMALL = 2**15  # bytes of a member that is tried in one go
_STEP = 2**12  # bytes of a search at first; twice as many each time
_MAX_HEAD = 64 * 2**10  # of a WARC header
_VERSION = re.compile(rb"WARC/[01]\.\d{1,2}\r\n")
_RECORD_START = re.compile(rb"\n(WARC/1\.[01]\r\n)")
_LENGTH = re.compile(r"\d{1,18}")
_END = b"\r\n\r\n"
_MAX_RATIO = 1032  # bytes that come of one by deflate, at most
# Damaged places of a file after which nothing more is looked for, and what may be tried
# to find the next record: a file that has so many is made to cost time.
_MAX_DAMAGED = 10_000
_MAX_TRIES = 100_000
_SAID = 10  # damaged places that the log names


def parse_head(data: bytes) -> tuple[int, dict[str, str]]:
    """Where the block of a record begins, and its header by lower-case names.

    Raises Damage for what is not the head of a record.
    """
    if not _VERSION.match(data):
        raise Damage("header")
    end = data.find(_END)
    if end < 0:
        raise Damage("header" if len(data) >= _MAX_HEAD else "length")
    values: dict[str, list[str]] = {}
    name = ""
    for line in data[:end].decode("utf-8", "replace").split("\r\n")[1:]:
        if line[:1] in (" ", "\t") and name:
            values[name].append(line.strip())
            continue
        name, _, value = line.partition(":")
        name = name.strip().lower()
        values[name] = [value.strip()]
    return end + len(_END), {name: " ".join(parts) for name, parts in values.items()}


def _length(headers: dict[str, str]) -> int:
    found = _LENGTH.fullmatch(headers.get("content-length", ""))
    if not found:  # its header is cut off, or says nothing
        raise Damage("length")
    return int(found[0])


class _Window:
    """Bytes of a file at any place; a block is kept, as records lie side by side."""

    def __init__(self, file: BinaryIO, path: Location) -> None:
        self._file = file
        self._path = path
        self._start = 0
        self._block = b""

    def read(self, offset: int, size: int) -> bytes:
        """Some bytes; fewer where the file ends. WarcError if the disk fails."""
        inside = offset - self._start
        if inside >= 0 and inside + size <= len(self._block):
            return self._block[inside : inside + size]
        try:
            self._file.seek(offset)
            if size > _BLOCK:
                return self._file.read(size)
            self._block, self._start = self._file.read(_BLOCK), offset
        except OSError as error:
            raise _failed(self._path, error) from error
        return self._block[:size]


def _failed(path: Location, error: OSError) -> WarcError:
    return WarcError(f"{path}: {error.strerror or error} (check the disk)")


class WarcStream:
    """A WARC file that is open for reading."""

    def __init__(
        self, path: Location, file: BinaryIO, packing: Packing, size: int
    ) -> None:
        """`size`: bytes of the file, packed."""
        self.path = path
        self.file = file
        self.packing = packing
        self.size = size
        self._window = _Window(file, path)
        self._damaged = self._tries = 0

    def records(
        self,
        types: Collection[str] | None,
        counts: Counter[str],
        start: int = 0,
        end: int | None = None,
    ) -> Iterator[Found]:
        """Whole records that start from byte `start` on and before byte `end`.

        A solid or ARC file counts as starting at 0, all of it. Raises WarcError if the
        disk fails.
        """
        if self.packing in ("plain", "gzip"):
            return self._from_place_to_place(types, counts, start, end)
        if start:
            return iter(())
        if self.packing == "arc":
            return arc_records(self.file, self.path, counts)
        return self._in_one_go(types, counts)

    def first(self, types: Collection[str] | None = None) -> Found:
        """The record at the start of a file that can be entered; Damage if none is."""
        return self._at(0, types)

    # ------------------------------------------------------------ random access

    def _from_place_to_place(
        self,
        types: Collection[str] | None,
        counts: Counter[str],
        first: int,
        stop: int | None,
    ) -> Iterator[Found]:
        # the line break before a plain record is the mark of its start
        lead = 1 if self.packing == "plain" else 0
        start = self._next_start(first - lead) if first else 0
        stop = self.size if stop is None else min(stop, self.size)
        while start is not None and start < stop:
            try:
                found = self._at(start, types)
            except Damage as damage:
                before, start = start, self._next_start(start + 1)
                reason = str(damage)
                if start is None and reason != "compression":
                    reason = "truncated"  # a torn record, or what is not one at the end
                self._report(reason, before, counts)
                if self._damaged >= _MAX_DAMAGED or self._tries >= _MAX_TRIES:
                    counts["warc/damaged/given_up"] += 1
                    logger.warning("%s: given up after byte %d", self.path, before)
                    return
                continue
            yield found
            # of one too large to unpack, only its header was seen
            start = self._next_start(start + 1) if found.end is None else found.end

    def _report(self, reason: str, place: int, counts: Counter[str]) -> None:
        counts[f"warc/damaged/{reason}"] += 1
        self._damaged += 1
        if self._damaged <= _SAID:
            logger.warning("%s: damaged at byte %d: %s", self.path, place, reason)

    def _at(self, offset: int, types: Collection[str] | None) -> Found:
        """The record at an offset; Damage if none is there, or not all of it."""
        if self.packing == "gzip":
            return self._member(offset, types)
        body, headers = parse_head(self._head(offset))
        length = _length(headers)
        end = offset + body + length
        if end > self.size:
            raise Damage("length")
        rest = self._window.read(end, 2 * len(_END) + 5)
        after = rest.lstrip(b"\r\n")
        if rest.startswith(_END):
            size = len(_END)
        elif not after or after.startswith(b"WARC/"):
            size = len(rest) - len(after)
        else:
            raise Damage("length")
        kind = headers.get("warc-type", "").lower()
        block = None
        if (types is None or kind in types) and length <= MAX_RECORD:
            block = self._window.read(offset + body, length)
        return Found(offset, kind, headers, block, min(end + size, self.size))

    def _head(self, offset: int) -> bytes:
        head = self._window.read(offset, _STEP)
        if _END in head or len(head) < _STEP:
            return head
        return self._window.read(offset, _MAX_HEAD)

    def _member(self, offset: int, types: Collection[str] | None) -> Found:
        """The record in the gzip member at an offset."""
        return self._small_member(offset, types) or self._any_member(offset, types)

    def _small_member(self, offset: int, types: Collection[str] | None) -> Found | None:
        """The same at once, in half of the time, if all is as it should be."""
        packed = self._window.read(offset, _SMALL)
        end = packed.find(_GZIP, 18)
        if end < 0 and offset + len(packed) == self.size:
            end = len(packed)
        if end < 18:
            return None
        checksum, size = _TRAILER.unpack_from(packed, end - _TRAILER.size)
        try:
            if size > _MAX_RATIO * _SMALL:
                return None
            data = bytes(deflate.gzip_decompress(packed[:end]))
            if len(data) != size or zlib.crc32(data) != checksum:
                return None  # the end of another member
            body, headers = parse_head(data)
            length = _length(headers)
        except (deflate.DeflateError, ValueError, Damage):
            return None
        if not 0 <= len(data) - body - length <= len(_END):
            return None
        kind = headers.get("warc-type", "").lower()
        wanted = types is None or kind in types
        block = data[body : body + length] if wanted else None
        return Found(offset, kind, headers, block, offset + end)

    def _any_member(self, offset: int, types: Collection[str] | None) -> Found:
        """The same as far as it goes; Damage if it is torn, or not as it says."""
        member = _Member(self._window, offset)
        head = member.until(_END, _MAX_HEAD)
        body, headers = parse_head(head)
        length = _length(headers)
        kind = headers.get("warc-type", "").lower()
        if length > MAX_RECORD:
            if length > _MAX_RATIO * (self.size - offset):
                raise Damage("length")
            return Found(offset, kind, headers, None, None)
        data = member.up_to(body + length)
        if len(data) < body + length:
            raise Damage("length")
        end = member.end(body + length, len(_END))
        wanted = types is None or kind in types
        block = bytes(memoryview(data)[body : body + length]) if wanted else None
        return Found(offset, kind, headers, block, end)

    def _next_start(self, offset: int) -> int | None:
        """The next place at or after an offset where a record seems to start."""
        packed = self.packing == "gzip"
        overlap = len(_GZIP) if packed else len(b"\nWARC/1.0\r\n")
        step = _STEP
        while offset < self.size:
            block = self._window.read(offset, step)
            if packed:
                found = block.find(_GZIP)
                while found >= 0 and self._tries < _MAX_TRIES:
                    self._tries += 1
                    if self._is_record_member(offset + found):
                        return offset + found
                    found = block.find(_GZIP, found + 1)
            elif match := _RECORD_START.search(block):
                return offset + match.start(1)
            if len(block) < step:
                return None
            offset += step - overlap
            step = min(2 * step, _BLOCK)
        return None

    def _is_record_member(self, offset: int) -> bool:
        data = self._window.read(offset, 1024)
        try:
            start = zlib.decompressobj(31).decompress(data, 5)
        except zlib.error:
            return False
        return start == b"WARC/"

    # ------------------------------------------------------------------- solid

    def _in_one_go(
        self, types: Collection[str] | None, counts: Counter[str]
    ) -> Iterator[Found]:
        """Each record is held back until the next one proves that it was whole."""
        held: Found | None = None
        reason = ""
        try:
            for found in self._read(types):
                if held is not None:
                    yield held
                held = found
        except Damage as damage:
            reason = str(damage)
            place = held.offset if held is not None else 0
            self._report(reason if reason == "header" else "truncated", place, counts)
        # no record after it where one should be: its own length may be wrong
        if held is not None and reason != "header":
            yield held

    def _read(self, types: Collection[str] | None) -> Iterator[Found]:
        """Records as FastWARC sees them; Damage where it gives up."""
        try:
            for record in ArchiveIterator(self.file, parse_http=False):
                yield _taken(record, types)
        except (EOFError, lzma.LZMAError) as error:
            raise Damage("truncated") from error
        except OSError as error:
            if error.errno:  # the disk's fault, not the file's
                raise _failed(self.path, error) from error
            packed = "compress" in str(error)
            raise Damage("compression" if packed else "header") from error


class _Member:
    """A gzip member that is unpacked as far as it is asked for."""

    def __init__(self, window: _Window, offset: int) -> None:
        self._window = window
        self._offset = offset  # of the packed bytes that come next
        self._decoder = zlib.decompressobj(31)
        self._data = bytearray()

    def until(self, mark: bytes, most: int) -> bytes:
        """The first bytes, at least up to a mark if it is there."""
        looked = 0
        while len(self._data) < most:
            if self._data.find(mark, max(looked - len(mark), 0)) >= 0:
                break
            looked = len(self._data)
            if not self._more(_STEP):
                break
        return bytes(self._data)

    def up_to(self, size: int) -> bytearray:
        """So many bytes, or fewer if the member ends before; perhaps more."""
        while len(self._data) < size and self._more(size - len(self._data)):
            pass
        return self._data

    def end(self, size: int, most: int) -> int:
        """Where the member ends, if it has at most so many bytes after the first."""
        seen = size + most + len(b"WARC/")
        while not self._decoder.eof and len(self._data) < seen:
            self._more(seen - len(self._data))
        if len(self._data) > size + most:
            raise Damage("solid" if b"WARC/" in self._data[size:] else "length")
        return self._offset - len(self._decoder.unused_data)

    def _more(self, size: int) -> bool:
        """Unpack at most so many bytes more; False at the end, Damage if it is torn."""
        decoder = self._decoder
        if decoder.eof:
            return False
        packed = decoder.unconsumed_tail
        if not packed:
            packed = self._window.read(self._offset, 2 * _STEP)
            if not packed:
                raise Damage("truncated")
            self._offset += len(packed)
        try:
            self._data += decoder.decompress(packed, size)
        except zlib.error as error:
            raise Damage("compression") from error
        return True


def _taken(record: Any, types: Collection[str] | None) -> Found:
    """What we keep of a FastWARC record (it has no stubs); raises Damage if short."""
    headers = {name.lower(): value for name, value in record.headers.asdict().items()}
    if "content-length" not in headers:  # its header is cut off, or says nothing
        raise Damage("length")
    kind = headers.get("warc-type", "").lower()
    block = None
    length = record.content_length
    if (types is None or kind in types) and length <= MAX_RECORD:
        block = record.reader.read(length) if length else b""
        if len(block) < length:
            raise Damage("length")
    return Found(record.stream_pos, kind, headers, block, None)


class _XzFile(lzma.LZMAFile):
    """An xz file that gives all it can before it reports a torn end."""

    def read(self, size: int | None = -1) -> bytes:
        return self.read1(-1 if size is None else size)


@contextmanager
def opened(path: Location) -> Iterator[WarcStream]:
    """A WARC file, its packing told by its first bytes; WarcError if unreadable."""
    with open_input(path) as raw:
        try:
            size = raw.seek(0, io.SEEK_END)
            raw.seek(0)
            magic = raw.read(6)
            raw.seek(0)
        except OSError as error:
            raise _failed(path, error) from error
        if magic == _XZ:
            with _XzFile(raw) as unpacked:
                yield WarcStream(path, cast(BinaryIO, unpacked), "solid", size)
            return
        stream = WarcStream(path, raw, "gzip" if magic[:3] == _GZIP else "plain", size)
        if is_arc(raw):
            stream.packing = "arc"
        elif magic[1:4] in _ZSTD or (stream.packing == "gzip" and _is_solid(stream)):
            stream.packing = "solid"
        raw.seek(0)
        yield stream


def record_in(data: bytes, path: Location) -> Found:
    """The record that some bytes begin with; Damage if there is none, or not all."""
    packing: Packing = "gzip" if data.startswith(_GZIP) else "plain"
    return WarcStream(path, io.BytesIO(data), packing, len(data)).first()


def _is_solid(stream: WarcStream) -> bool:
    """Does one gzip member of this file hold several records?"""
    try:
        stream.first(())
    except Damage as damage:
        return str(damage) == "solid"
    return False
