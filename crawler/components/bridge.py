"""Between Scrapy's objects and a crawl's: who belongs to whom, and what was fetched."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from scrapy.crawler import Crawler
from scrapy.http import Headers, Request, Response

from crawler.crawl.crawl import Crawl
from crawler.warc.exchange import Exchange, phrase_of

# Keys of a request's meta: what our handler has fetched, and the HTML it became.
EXCHANGE, CONVERTED = "exchange", "converted"
FETCH = "fetch"  # likewise: what a crawl wants it for


def crawl_of(crawler: Crawler) -> Crawl:
    """The crawl that crawler.components.extension has opened for the spider."""
    crawl = getattr(crawler.spider, "crawl", None)
    assert isinstance(crawl, Crawl), "the extension CrawlExtension comes first"
    return crawl


def response_of(request: Request, exchange: Exchange) -> Response:
    """An exchange as the answer to a Scrapy request."""
    headers = Headers()
    for name, value in exchange.response_headers:
        headers.appendlist(name, value)
    request.meta[EXCHANGE] = exchange
    url, status, body = request.url, exchange.status, exchange.body
    return Response(url, status, headers, body, request=request)


def exchange_of(response: Response, url: str) -> Exchange:
    """A request and its answer, which came just now.

    `url` is the canonical URL that was asked for: Scrapy may spell it differently. If
    the answer was converted to HTML on its way (crawler.components.conversion), that
    comes along. A handler that is not ours leaves a response alone.
    """
    request = response.request
    meta = request.meta if request else {}
    exchange: Exchange = meta.get(EXCHANGE) or Exchange(
        url=url,
        status=response.status,
        response_headers=raw_headers(response.headers),
        body=response.body,
        fetched_at=datetime.now(UTC),
        request_headers=raw_headers(request.headers) if request else (),
        reason=phrase_of(response.status),
    )
    return replace(exchange, url=url, converted=meta.get(CONVERTED))


def raw_headers(headers: Headers) -> tuple[tuple[bytes, bytes], ...]:
    """Headers as bytes; the password of a proxy is for the proxy alone."""
    return tuple(
        (name, value)
        for name in headers
        if name != b"Proxy-Authorization"
        for value in headers.getlist(name)
    )
