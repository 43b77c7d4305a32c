"""Heads of HTTP/1.1 answers, read as browsers do: what is wrong in a line is left out.

Small sites have servers of all ages: lines without a colon, white space before one, a
length beside chunks. llhttp refuses an answer for any of these, so heads are read here,
and llhttp gets the body with what it needs to know of its framing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawler.fetch.errors import Failure, FetchError

Headers = tuple[tuple[bytes, bytes], ...]  # as they came, in their order

_STATUS = re.compile(
    rb"(http/(?P<version>\d(?:\.\d)?)|icy)[ \t]+(?P<status>\d{3})"
    rb"(?:[ \t](?P<reason>.*))?",
    re.IGNORECASE,
)
_END = re.compile(rb"\r?\n\r?\n")
_WITHOUT_BODY = (204, 304)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer."""

    status: int
    reason: str
    version: str  # of HTTP: "1.1"
    headers: Headers

    @property
    def is_interim(self) -> bool:
        """Whether another head follows (RFC 9110, section 15.2)."""
        return 100 <= self.status < 200

    def values(self, name: bytes) -> list[bytes]:
        """The values of a header, in lower case."""
        return [v.lower() for k, v in self.headers if k.lower() == name]

    @property
    def is_chunked(self) -> bool:
        """Whether the body comes in chunks, whose sizes count before any length."""
        codings = b",".join(self.values(b"transfer-encoding"))
        return b"chunked" in codings and not self.is_without_body

    @property
    def is_without_body(self) -> bool:
        """Whether there is no body, whatever the headers say."""
        return self.is_interim or self.status in _WITHOUT_BODY

    @property
    def length(self) -> int | None:
        """The bytes of the body; None: until the connection ends.

        FetchError for one that is not a number, or for two that differ.
        """
        if self.is_without_body:
            return 0
        given = {v.strip() for v in self.values(b"content-length") if v.strip()}
        if len(given) > 1 or not all(value.isdigit() for value in given):
            raise FetchError(Failure.NOT_HTTP, f"Content-Length: {sorted(given)!r:.80}")
        return int(next(iter(given))[:18]) if given else None

    @property
    def is_persistent(self) -> bool:
        """Whether the server keeps the connection open after the body."""
        connection = b",".join(self.values(b"connection"))
        if self.version == "1.0":
            return b"keep-alive" in connection
        return b"close" not in connection


def may_be_http(data: bytes | bytearray) -> bool:
    """Whether an answer begins as one of HTTP does, as far as it has come.

    >>> may_be_http(b"HT"), may_be_http(b"<html>")
    (True, False)
    """
    start = bytes(data[:64]).lstrip(b"\r\n")[:4].lower()
    return b"http".startswith(start) or start.startswith(b"icy"[: len(start)])


def end_of_head(data: bytes | bytearray, start: int) -> int | None:
    """The place after the blank line that ends a head; nothing ends before `start`."""
    found = _END.search(data, max(0, start - 3))
    return found.end() if found else None


def parse_head(data: bytes) -> Head:
    """The head of an answer; FetchError if its first line is not one of HTTP."""
    first, *lines = data.lstrip(b"\r\n").split(b"\n")
    status = _STATUS.fullmatch(first.rstrip(b"\r"))
    if status is None:
        raise FetchError(Failure.NOT_HTTP, f"the answer begins with {first[:40]!r}")
    headers: list[tuple[bytes, list[bytes]]] = []
    for line in lines:
        line = line.rstrip(b"\r")
        if line[:1] in (b" ", b"\t") and headers:  # goes on with the one before
            headers[-1][1].append(line.strip())
            continue
        name, colon, value = line.partition(b":")
        if colon and name.strip():
            headers.append((name.strip(), [value.strip()]))
    return Head(
        int(status["status"]),
        (status["reason"] or b"").decode("latin-1").strip(),
        (status["version"] or b"1.0").decode(),
        tuple((name, b" ".join(values)) for name, values in headers),
    )
