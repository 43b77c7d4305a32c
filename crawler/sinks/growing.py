"""Gzipped lines of text that can be read while the file is being written.

`zcat FILE` shows the lines so far, and may complain about the open end. A file of an
earlier session is continued: after a kill its whole lines are kept.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

from crawler.errors import RunDirError
from crawler.lines import bounded_lines

# A pair of pages of 10,000 copies each has some 4 MB of addresses.
_MAX_LINE = 16 * 2**20  # bytes


class GrowingLines:
    """Appends lines after a first one."""

    def __init__(self, file: BinaryIO, packed: gzip.GzipFile) -> None:
        self._file = file
        self._gzip = packed

    @classmethod
    def open(cls, path: Path, header: str) -> Self:
        """Open the file and keep its lines; RunDirError if it cannot be written."""
        earlier = list(read_lines(path)) if path.exists() else []
        try:
            file = path.open("wb")
        except OSError as error:
            raise RunDirError(f"{path}: cannot be written: {error.strerror}") from error
        packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="")
        growing = cls(file, packed)
        growing.write(header)
        for line in earlier:
            if line != header:
                growing.write(line)
        return growing

    def write(self, line: str) -> None:
        """Append a line."""
        self._gzip.write(line.encode("utf-8", "surrogatepass") + b"\n")

    def flush(self) -> None:
        """Make everything so far readable."""
        self._gzip.flush(zlib.Z_SYNC_FLUSH)
        self._file.flush()

    def close(self) -> None:
        """End the file properly."""
        self._gzip.close()
        self._file.close()


def is_whole(path: Path) -> bool:
    """False while a crawl appends to a file, and for one that was cut short."""
    try:
        with gzip.open(path, "rb") as file:
            while file.read(2**20):
                pass
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False
    return True


def read_lines(path: Path) -> Iterator[str]:
    """The whole lines of a file; it may be growing, or end in the middle of one.

    A line of over 16 MB, or one that is not UTF-8, is left out.
    """
    with (
        gzip.open(path, "rb") as file,
        # the open end of a running crawl, or of one that was killed
        suppress(EOFError, zlib.error, gzip.BadGzipFile),
    ):
        for line in bounded_lines(file, _MAX_LINE):
            if line is not None and line.endswith(b"\n"):
                with suppress(UnicodeDecodeError):
                    yield line[:-1].decode("utf-8", "surrogatepass")
