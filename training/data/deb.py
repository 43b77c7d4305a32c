"""Debian packages as archives: the builders of terms read them without installing.

A .deb is an `ar` archive around a tar of the installed files.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from lzma import LZMAError
from pathlib import Path

_HEADER = 60  # bytes in front of each member of an `ar` archive


class BadPackage(ValueError):
    """A file that is not a Debian package, or a damaged one."""


def deb_files(path: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """(path, bytes) of the files whose paths hold a match of `wanted`; BadPackage."""
    try:
        for name, body in _ar_members(path.read_bytes()):
            if not name.startswith("data.tar"):
                continue
            with tarfile.open(fileobj=io.BytesIO(body)) as tar:
                for member in tar:
                    stream = (
                        tar.extractfile(member) if wanted.search(member.name) else None
                    )
                    if stream:
                        yield member.name, stream.read()
    except (OSError, EOFError, tarfile.TarError, LZMAError, ValueError) as error:
        raise BadPackage(f"{path}: not a readable Debian package ({error})") from error


def _ar_members(data: bytes) -> Iterator[tuple[str, bytes]]:
    if not data.startswith(b"!<arch>\n"):
        raise ValueError("not an ar archive")
    at = 8
    while at + _HEADER <= len(data):
        header = data[at : at + _HEADER]
        size = int(header[48:58])
        name = header[:16].decode("ascii", "replace").strip().rstrip("/")
        yield name, data[at + _HEADER : at + _HEADER + size]
        at += _HEADER + size + size % 2
