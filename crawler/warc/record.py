"""One WARC record: as it is found in a file, and as it is laid out in bytes.

ISO 28500:2017 (WARC/1.1). Reader, writer and index share these names.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import deflate

# Our field of a response whose page is to be read from a conversion record: its id.
CONVERTED_TO = "Bifocal-Converted-To"
OPEN = ".open"  # ends the name of a file that is being written, or whose writer died

Headers = tuple[tuple[bytes, bytes], ...]

_LINE_BREAKING = re.compile(r"[\r\n\0]+")
_NOT_IN_A_URI = re.compile(r"[\x00-\x20\x7f]")


@dataclass(frozen=True, slots=True)
class WarcLocation:
    """Where a record lies: what `read_record` needs to get it back."""

    file: str  # its name within the folder of the collection
    offset: int  # bytes
    length: int  # bytes, as stored
    record_id: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a WARC file, complete."""

    type: str  # response, request, metadata, revisit, …
    headers: Mapping[str, str]  # lower-case names
    block: bytes
    file: str  # the path that it was read from
    offset: int  # where it starts; in the unpacked stream if that is one solid piece
    length: int | None  # as stored; None where the file allows no random access

    @property
    def url(self) -> str | None:
        """The target URI as it stands, without the angle brackets that wget writes."""
        url = self.headers.get("warc-target-uri", "").strip("<> ")
        return url or None

    @property
    def record_id(self) -> str | None:
        """The record's own id, `<urn:uuid:…>`."""
        return self.headers.get("warc-record-id")

    @property
    def location(self) -> WarcLocation | None:
        """Where to find it again; None in a file without random access."""
        if self.length is None:
            return None
        name = self.file.rpartition("/")[2]
        return WarcLocation(name, self.offset, self.length, self.record_id)

    @property
    def date(self) -> datetime | None:
        """When it was made; None if that is not a date, or far outside of any range."""
        try:
            date = datetime.fromisoformat(self.headers["warc-date"])
            return date.replace(tzinfo=date.tzinfo or UTC).astimezone(UTC)
        except (KeyError, ValueError, OverflowError):
            return None


def warc_date(date: datetime) -> str:
    """A date as WARC/1.1 wants it; a fraction only where there is one.

    >>> warc_date(datetime(2024, 3, 1, 12, 30, tzinfo=UTC))
    '2024-03-01T12:30:00Z'
    """
    return date.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def sha1(data: bytes) -> str:
    """A digest as WARC files label it: base 32 is what every archive uses."""
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    return "sha1:" + base64.b32encode(digest).decode("ascii")


def one_line(text: str) -> str:
    """A header value that cannot start a line of its own."""
    if not text.isprintable():  # a fifth of the time of a search
        text = _LINE_BREAKING.sub(" ", text)
    return text.strip(" \t")


def uri(url: str) -> str:
    """A target URI without white space and control characters.

    >>> uri("http://example.org/a b")
    'http://example.org/a%20b'
    """
    return _NOT_IN_A_URI.sub(lambda match: f"%{ord(match[0]):02X}", url)


def layout(headers: Iterable[tuple[str, str]], block: bytes) -> bytes:
    """The bytes of a record, block digest and length added."""
    lines = [f"{name}: {one_line(value)}\r\n" for name, value in headers]
    lines.append(f"WARC-Block-Digest: {sha1(block)}\r\n")
    lines.append(f"Content-Length: {len(block)}\r\n\r\n")
    head = "WARC/1.1\r\n" + "".join(lines)
    return b"".join((head.encode("utf-8", "replace"), block, b"\r\n\r\n"))


def compress(record: bytes, level: int) -> bytes:
    """One gzip member, which makes the record readable on its own.

    libdeflate takes half of zlib's time for a page, three quarters for a record of a
    few lines, and makes a page 1 % smaller. `level`: 1 to 12.
    """
    return bytes(deflate.gzip_compress(record, level))
