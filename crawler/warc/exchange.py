"""One request and its answer, and their heads as HTTP/1.1 text.

Bodies are stored transfer-decoded but content-encoded, so a Transfer-Encoding, and a
Content-Length that does not fit, would be untrue: they are kept under names of our own
(`X-Crawler-…`). Everything else stands in the file as it was received.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from crawler.data import Page
from crawler.urls import split
from crawler.warc.http import HttpResponse, decode_body
from crawler.warc.record import Headers, one_line, uri

HTML = "text/html; charset=utf-8"  # what a page is converted to
# Headers that are untrue of a body without its codings.
_UNTRUE = ("content-encoding", "transfer-encoding", "content-length")
_BREAKS = re.compile(rb"[\r\n\0]+")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as they went over the wire."""

    url: str
    status: int
    response_headers: Headers  # raw, in the order received
    body: bytes  # transfer-decoded, content coding still on
    fetched_at: datetime  # aware
    method: str = "GET"
    request_headers: Headers = ()
    reason: str = ""
    http_version: str = "HTTP/1.1"
    ip: str | None = None
    truncated: str | None = None  # why the body is not whole: length, time, disconnect
    # the page as HTML (UTF-8), if the answer was something else (PDF, JavaScript)
    converted: bytes | None = None
    archive: str | None = None  # the record that was read in the place of the web

    @classmethod
    def of_page(cls, page: Page, fetched_at: datetime) -> Exchange:
        """The answer that a page, whose body is decoded, was or could have been."""
        return cls(
            page.url,
            page.status,
            tuple(
                (name.encode("latin-1", "replace"), value.encode("latin-1", "replace"))
                for name, value in page.headers
                if name.lower() not in _UNTRUE
            ),
            page.body,
            fetched_at,
            reason=phrase_of(page.status),
        )


def phrase_of(status: int) -> str:
    """The words that usually follow a status, empty if there are none."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def request_head(exchange: Exchange) -> bytes:
    """The request as text, with the Host header that every client sends."""
    parts = split(exchange.url)
    target = uri(parts.path + (f"?{parts.query}" if parts.query else ""))
    version = _http1(exchange.http_version)
    lines = [f"{exchange.method} {target} {version}".encode("utf-8", "replace")]
    if not any(name.lower() == b"host" for name, _ in exchange.request_headers):
        authority = exchange.url.partition("://")[2].partition("/")[0]
        lines.append(b"Host: " + authority.encode("utf-8", "replace"))
    lines += [_header(name, value) for name, value in exchange.request_headers]
    return b"\r\n".join((*lines, b"", b""))


def response_head(exchange: Exchange) -> bytes:
    """The head of the response, without what storing the body made untrue."""
    version = _http1(exchange.http_version)
    status_line = f"{version} {exchange.status} {one_line(exchange.reason)}"
    lines = [status_line.encode("utf-8", "replace")]
    length = str(len(exchange.body)).encode()
    for name, value in exchange.response_headers:
        kind = name.strip().lower()
        untrue = kind == b"transfer-encoding" or (
            kind == b"content-length" and value.strip() != length
        )
        lines.append(_header(b"X-Crawler-" + name if untrue else name, value))
    return b"\r\n".join((*lines, b"", b""))


def _http1(version: str) -> str:
    """HTTP/2 has no text form; archives write it as 1.1 and say so in WARC-Protocol."""
    return version if version in ("HTTP/1.0", "HTTP/1.1") else "HTTP/1.1"


def _header(name: bytes, value: bytes) -> bytes:
    return _BREAKS.sub(b" ", name) + b": " + _BREAKS.sub(b" ", value)


def mime_of(headers: Headers) -> str:
    """The media type that the server names, `-` if it names none."""
    for name, value in headers:
        if name.lower() == b"content-type":
            kind = value.partition(b";")[0].strip().lower()
            return kind.decode("ascii", "replace") or "-"
    return "-"


def as_text(headers: Headers) -> tuple[tuple[str, str], ...]:
    """Headers, a character a byte."""
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in headers
    )


def page_of(exchange: Exchange, counts: Counter[str]) -> Page:
    """An answer as a page, its content coding undone; `counts` takes what was wrong."""
    url, status, fetched_at = exchange.url, exchange.status, exchange.fetched_at
    if exchange.converted is not None:
        as_html = (("Content-Type", HTML),)
        return Page(url, status, as_html, exchange.converted, fetched_at)
    headers = as_text(exchange.response_headers)
    body = exchange.body
    if any(name.lower() == "content-encoding" for name, _ in headers):
        body = decode_body(HttpResponse(status, headers, body), counts)
    return Page(url, status, headers, body, fetched_at)
