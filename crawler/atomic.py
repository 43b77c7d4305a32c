"""Files that appear whole or not at all.

Contents go to NAME.partial, which replaces NAME when it is complete and on the disk, so
a reader never sees half of a file, and a kill costs the new contents only.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TextIO

from crawler.errors import RunDirError

_BUFFER = 1 << 16  # bytes: a call of gzip has a price
_LEVEL = 4  # of gzip: level 6 halves the speed for 3 % of the size


@contextmanager
def atomic_file(path: Path, *, level: int = _LEVEL) -> Iterator[IO[bytes]]:
    """Replace a file by what is written to this one, if the block ends without error.

    A name that ends in `.gz` is gzipped, at this compression level; equal contents give
    equal bytes. RunDirError if the file cannot be written.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb", _BUFFER) as file:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", level, file, mtime=0) as packed:
                    buffered = io.BufferedWriter(packed, _BUFFER)
                    yield buffered
                    buffered.flush()
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        names = (None, str(path), str(partial))
        if isinstance(error, OSError) and error.filename in names:
            raise RunDirError(
                f"{path}: cannot be written: {error.strerror or error} (check its"
                " folder, rights and free space; the same command writes it again)"
            ) from error
        raise


@contextmanager
def atomic_text(
    path: Path, *, level: int = _LEVEL, errors: str = "replace"
) -> Iterator[TextIO]:
    """`atomic_file` for text in UTF-8; `errors`: for what UTF-8 cannot hold."""
    with atomic_file(path, level=level) as file:
        text = io.TextIOWrapper(file, "utf-8", errors, newline="\n")
        yield text
        text.detach()
