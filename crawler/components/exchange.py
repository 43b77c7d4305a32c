"""A Scrapy response as what went over the wire, which is what the intake takes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from http import HTTPStatus

from scrapy.http import Headers, Response

from crawler.warc.exchange import Exchange

CONVERTED = "converted"  # the key of a request's meta: the HTML that an answer became


def exchange_of(response: Response, url: str) -> Exchange:
    """A request and its answer, which came just now.

    `url` is the canonical URL that was asked for: Scrapy may spell it differently. If
    the answer was converted to HTML on its way (crawler.components.conversion), that
    comes along.
    """
    request = response.request
    return Exchange(
        url=url,
        status=response.status,
        response_headers=tuple(_raw(response.headers)),
        body=response.body,
        fetched_at=datetime.now(UTC),
        method=request.method if request else "GET",
        request_headers=tuple(_asked(request.headers)) if request else (),
        reason=_reason(response.status),
        http_version=response.protocol or "HTTP/1.1",
        ip=str(response.ip_address) if response.ip_address else None,
        converted=request.meta.get(CONVERTED) if request else None,
    )


def _asked(headers: Headers) -> Iterable[tuple[bytes, bytes]]:
    """What the server was told; the password of a proxy was not for it."""
    return (field for field in _raw(headers) if field[0] != b"Proxy-Authorization")


def _raw(headers: Headers) -> Iterable[tuple[bytes, bytes]]:
    for name, values in dict.items(headers):  # Scrapy's own spells each name anew
        for value in values:
            yield name, value


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
