"""A Scrapy response as what went over the wire, which is what a crawl takes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from scrapy.http import Headers, Response

from crawler.warc.exchange import Exchange, phrase_of

EXCHANGE = "exchange"  # the key of a request's meta: what our handler has fetched
CONVERTED = "converted"  # likewise: the HTML that an answer became


def exchange_of(response: Response, url: str) -> Exchange:
    """A request and its answer, which came just now.

    `url` is the canonical URL that was asked for: Scrapy may spell it differently. If
    the answer was converted to HTML on its way (crawler.components.conversion), that
    comes along.
    """
    request = response.request
    meta = request.meta if request else {}
    converted: bytes | None = meta.get(CONVERTED)
    exchange: Exchange | None = meta.get(EXCHANGE)
    if exchange is not None:
        return replace(exchange, url=url, converted=converted)
    return Exchange(
        url=url,
        status=response.status,
        response_headers=raw_headers(response.headers),
        body=response.body,
        fetched_at=datetime.now(UTC),
        method=request.method if request else "GET",
        request_headers=raw_headers(request.headers) if request else (),
        reason=phrase_of(response.status),
        http_version=response.protocol or "HTTP/1.1",
        ip=str(response.ip_address) if response.ip_address else None,
        converted=converted,
    )


def raw_headers(headers: Headers) -> tuple[tuple[bytes, bytes], ...]:
    """Headers as bytes; the password of a proxy is for the proxy alone."""
    return tuple(
        (name, value)
        for name in headers
        if name != b"Proxy-Authorization"
        for value in headers.getlist(name)
    )
