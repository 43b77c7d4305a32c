"""Files that appear whole or not at all, plain or gzipped."""

from __future__ import annotations

import gzip
import os
from contextlib import suppress
from pathlib import Path
from typing import IO

from crawler.errors import RunDirError

_BUFFER = 1 << 16  # characters: gzip has a price per call


class WholeFile:
    """Writes `NAME.partial`, which `close` renames; a reader never sees half of a file.

    Gzipped if the name ends in .gz; equal contents give equal bytes.
    """

    def __init__(self, path: Path) -> None:
        """Open the file; RunDirError if that cannot be."""
        self.path = path
        self._partial = path.with_name(path.name + ".partial")
        try:
            self._file = self._partial.open("wb")
        except OSError as error:
            raise RunDirError(
                f"{path}: cannot be written: {error.strerror} (rights, and room?)"
            ) from error
        self._waiting: list[str] = []
        self._size = 0
        self._out: IO[bytes] | gzip.GzipFile = self._file
        if path.suffix == ".gz":
            # level 6 halves the speed for 3 % of the size
            self._out = gzip.GzipFile("", "wb", 4, self._file, mtime=0)

    def write(self, text: str) -> None:
        """Append text; RunDirError if the disk is full."""
        self._waiting.append(text)
        self._size += len(text)
        if self._size >= _BUFFER:
            self._flush()

    def _flush(self) -> None:
        text = "".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        try:
            self._out.write(text.encode("utf-8", "replace"))
        except OSError as error:
            self.discard()
            raise self._full(error) from error

    def close(self) -> None:
        """Put the file in its place."""
        self._flush()
        try:
            if self._out is not self._file:
                self._out.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._partial.replace(self.path)
        except OSError as error:
            self.discard()
            raise self._full(error) from error

    def discard(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self._file.close()
        self._partial.unlink(missing_ok=True)

    def _full(self, error: OSError) -> RunDirError:
        return RunDirError(
            f"{self.path}: cannot be written: {error.strerror} (make room; the same"
            " command writes it again)"
        )
