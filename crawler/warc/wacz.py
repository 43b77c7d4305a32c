"""WACZ: a zip of WARC files, as browsers' archiving tools write it.

A WARC file in it is stored as it is, so it is read where it lies; its place is written
`FILE.wacz!/archive/NAME.warc.gz`. Source: specs.webrecorder.net/wacz/1.1.1, section 4.
"""

from __future__ import annotations

import io
import struct
import zipfile
from contextlib import ExitStack
from typing import BinaryIO

from crawler.errors import WarcError

SUFFIX = ".wacz"
_MARK = f"{SUFFIX}!/"
_FOLDER = "archive/"
# An archive has some files; a directory of millions would fill the memory.
_MAX_FILES = 100_000
_END = b"PK\x05\x06"  # of a zip: a record of 22 bytes and a comment of at most 64 KB
_ZIP64_END = b"PK\x06\x06"
_LOCAL = struct.Struct("<26xHH")  # of a local header: the lengths of name and extra


def split(location: str) -> tuple[str, str] | None:
    """The WACZ file of a place in it, and the name inside; None for another path.

    >>> split("a/b.wacz!/archive/data.warc.gz")
    ('a/b.wacz', 'archive/data.warc.gz')
    """
    outer, mark, name = location.partition(_MARK)
    return (outer + SUFFIX, name) if mark else None


def warcs_in(path: str, file: BinaryIO) -> list[str]:
    """The places of the WARC files in a WACZ file; WarcError if it is not one."""
    names = [
        info.filename
        for info in _open(path, file).infolist()
        if info.filename.startswith(_FOLDER) and not info.is_dir()
    ]
    if not names:
        raise WarcError(f"{path}: no WARC files in it (is it a WACZ file?)")
    return [f"{path}!/{name}" for name in sorted(names)]


def member(path: str, name: str, file: BinaryIO) -> BinaryIO:
    """A file in a WACZ file, with random access; WarcError if it is not there.

    Closing it closes the WACZ file.
    """
    with ExitStack() as stack:
        stack.callback(file.close)
        start, size = _place(path, name, file)
        stack.pop_all()
    return io.BufferedReader(_Range(file, start, size))


def _place(path: str, name: str, file: BinaryIO) -> tuple[int, int]:
    try:
        info = _open(path, file).getinfo(name)
    except KeyError as error:
        raise WarcError(f"{path}: has no {name} (has the file changed?)") from error
    if info.compress_type != zipfile.ZIP_STORED:
        raise WarcError(
            f"{path}: {name} is compressed in the zip (unpack it, and give the folder)"
        )
    file.seek(info.header_offset)
    head = file.read(_LOCAL.size)
    if len(head) < _LOCAL.size:
        raise WarcError(f"{path}: damaged (download it again)")
    start = info.header_offset + _LOCAL.size + sum(_LOCAL.unpack(head))
    return start, info.file_size


def _open(path: str, file: BinaryIO) -> zipfile.ZipFile:
    if _count(file) > _MAX_FILES:
        raise WarcError(f"{path}: more than {_MAX_FILES:,} files (unpack it)")
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise WarcError(f"{path}: not a WACZ file: {error}") from error


def _count(file: BinaryIO) -> int:
    """The number of files that the end of a zip file speaks of."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 2**16 - 200, 0))
    tail = file.read()
    place = tail.rfind(_ZIP64_END)
    if place >= 0 and len(tail) >= place + 40:
        return int(struct.unpack_from("<Q", tail, place + 32)[0])
    place = tail.rfind(_END)
    if place >= 0 and len(tail) >= place + 12:
        return int(struct.unpack_from("<H", tail, place + 10)[0])
    return 0


class _Range(io.RawIOBase):
    """A range of the bytes of a file as a file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._file, self._start, self._size, self._place = file, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}
        self._place = max(base[whence] + offset, 0)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._file.seek(self._start + self._place)
        wanted = min(len(buffer), max(self._size - self._place, 0))
        data = self._file.read(wanted)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
