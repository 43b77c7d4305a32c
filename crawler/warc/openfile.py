"""A WARC file while it is written: its lock, its index so far, and its completion.

`x.warc.gz.open` and `x.cdxj.open` grow side by side; when the file is complete they
become `x.cdxj`, sorted, and then `x.warc.gz`. The lock tells `crawler.warc.recovery`
that the file has a living writer; it ends with the process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Self

from crawler.errors import RunDirError, WarcError
from crawler.warc.cdxj import IndexEntry, cdxj_line, index_path, write_cdxj
from crawler.warc.record import OPEN


def notes_path(path: Path) -> Path:
    """Where the lines of an open file's index are gathered."""
    return index_path(path).with_suffix(".cdxj" + OPEN)


def complete(path: Path, lines: Iterable[str], *, sync: bool = False) -> Path:
    """Give an `.open` file its index and then its name; returns the new path.

    Raises WarcError and leaves all as it is when the index cannot be written.
    """
    final = path.with_suffix("")
    notes = notes_path(path)
    try:
        write_cdxj(lines, index_path(final))
        path.rename(final)
        notes.unlink(missing_ok=True)
        if sync:
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
    except (OSError, RunDirError) as error:
        reason = getattr(error.__cause__ or error, "strerror", None) or error
        raise WarcError(
            f"{path}: its index cannot be written: {reason} (every record is complete;"
            " with room on the disk, the next start of the same run finishes the file)"
        ) from error
    return final


class OpenFile:
    """The file that records go to; `create` starts one."""

    def __init__(self, path: Path, descriptor: int, notes: int) -> None:
        self.size = 0  # bytes
        self._path = path
        self._descriptor = descriptor
        self._notes = notes
        self._noted = 0  # bytes

    @cached_property
    def name(self) -> str:
        """The name that the file has once it is whole."""
        return self._path.with_suffix("").name

    @classmethod
    def create(cls, final: Path) -> Self:
        """Start a file; FileExistsError when the name is taken."""
        path = final.with_name(final.name + OPEN)
        notes = notes_path(path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            if final.exists():
                raise FileExistsError(final)
            descriptor = os.open(path, flags | os.O_EXCL, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not os.fstat(descriptor).st_nlink:
                    raise BlockingIOError
                return cls(path, descriptor, os.open(notes, flags | os.O_TRUNC, 0o666))
            except BaseException:
                os.close(descriptor)
                raise
        except BlockingIOError as error:  # `recover` saw it empty and took it away
            raise FileExistsError(final) from error
        except FileExistsError:
            if final.parent.is_dir():
                raise
            raise _unwritable(final, "a file is in the folder's place") from None
        except OSError as error:
            raise _unwritable(final, error.strerror) from error

    def append(self, data: bytes, entry: IndexEntry | None = None) -> None:
        """Write records and a line of the index: all of it or, on an error, nothing."""
        line = f"{cdxj_line(entry)}\n".encode() if entry else b""
        try:
            _write(self._notes, line)
            _write(self._descriptor, data)
        except OSError as error:
            os.ftruncate(self._notes, self._noted)
            os.ftruncate(self._descriptor, self.size)
            raise _unwritable(self._path, error.strerror) from error
        self._noted += len(line)
        self.size += len(data)

    def sync(self) -> None:
        """Wait until the disk has everything."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise _unwritable(self._path, error.strerror) from error

    def finish(self, *, sync: bool) -> None:
        """Close and complete the file."""
        if sync:
            self.sync()
        os.close(self._notes)
        notes = notes_path(self._path)
        try:
            with notes.open(encoding="ascii") as lines:
                complete(self._path, map(str.rstrip, lines), sync=sync)
        finally:
            os.close(self._descriptor)  # ends the lock, so after the renaming

    def discard(self) -> None:
        """Take the file away again: not even its first record could be written."""
        os.close(self._notes)
        notes_path(self._path).unlink()
        self._path.unlink()
        os.close(self._descriptor)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:  # the system may take a part only, just before the disk is full
        rest = rest[os.write(descriptor, rest) :]


def _unwritable(path: Path, reason: str | None) -> WarcError:
    return WarcError(
        f"{path}: cannot be written: {reason} (make room, or choose another RUN_DIR,"
        " then start again; every record before is complete)"
    )
