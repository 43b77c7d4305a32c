"""Where the bytes of a collection lie: a disk, or an address that fsspec knows.

`s3://bucket/name`, `https://…`, `hdfs://…` need the extra `remote`; anything without
`://` is a path of this machine.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from crawler.errors import WarcError
from crawler.warc import wacz

Location = str | Path


def is_remote(location: Location) -> bool:
    """Is this an address, not a path?

    >>> is_remote("s3://bucket/a.warc.gz"), is_remote("warcs/a.warc.gz")
    (True, False)
    """
    return "://" in str(location)


def open_input(location: Location) -> BinaryIO:
    """Open for reading, with random access; WarcError if it cannot be."""
    if inside := wacz.split(str(location)):
        return wacz.member(*inside, open_input(inside[0]))
    try:
        if is_remote(location):
            filesystem, path = filesystem_of(location)
            # fsspec's own files read no line of a bounded length
            return io.BufferedReader(filesystem.open(path, "rb"))
        return Path(location).open("rb")
    except OSError as error:
        raise unreadable(location, error) from error


def read_range(location: Location, offset: int, length: int) -> bytes:
    """Some bytes of a file; fewer where it ends before. Raises OSError."""
    if wacz.split(str(location)):
        with open_input(location) as member:
            member.seek(offset)
            return member.read(length)
    if is_remote(location):
        filesystem, path = filesystem_of(location)
        return bytes(filesystem.cat_file(path, start=offset, end=offset + length))
    with Path(location).open("rb") as file:
        return os.pread(file.fileno(), length, offset)


def size_of(location: Location) -> int:
    """Bytes of a file; WarcError if it is not there."""
    if wacz.split(str(location)):
        with open_input(location) as member:
            return member.seek(0, os.SEEK_END)
    try:
        if is_remote(location):
            filesystem, path = filesystem_of(location)
            return int(filesystem.size(path) or 0)
        return Path(location).stat().st_size
    except OSError as error:
        raise unreadable(location, error) from error


def remote_files(location: str, is_wanted: Callable[[str], bool]) -> list[str]:
    """The addresses that an address means: a pattern, a folder, or itself, sorted."""
    filesystem, path = filesystem_of(location)
    try:
        if "*" in path:
            found = filesystem.glob(path)
        elif is_wanted(path) or not filesystem.isdir(path):
            found = [path]
        else:
            found = list(filter(is_wanted, filesystem.find(path)))
    except OSError as error:
        raise unreadable(location, error) from error
    return sorted(str(filesystem.unstrip_protocol(file)) for file in found)


def unreadable(location: Location, error: OSError) -> WarcError:
    """The error that says so."""
    reason = error.strerror or str(error) or type(error).__name__
    return WarcError(f"{location}: {reason} (give a WARC file that can be read)")


def filesystem_of(location: Location) -> tuple[Any, str]:
    """The fsspec file system of an address, and the path in it."""
    try:
        import fsspec

        filesystem, path = fsspec.core.url_to_fs(str(location))
    except ImportError as error:
        raise WarcError(
            f"{location}: {error} (addresses need the extra `remote`, and some a"
            " package of their own: pip install 'bifocal-crawler[remote]')"
        ) from error
    except ValueError as error:
        raise WarcError(f"{location}: {error} (give a path or an address)") from error
    return filesystem, path
