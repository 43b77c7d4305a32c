"""Scrapy's download handler for http and https: the client of `crawler.fetch`."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.base import BaseDownloadHandler

from crawler.components.bridge import FETCH, crawl_of, raw_headers, response_of
from crawler.fetch.client import HttpClient
from crawler.fetch.proxy import Proxy

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class DownloadHandler(BaseDownloadHandler):
    """Answers requests; FetchError if there is no answer."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl = crawl_of(crawler)
        self._client = HttpClient(self._crawl.settings.client())

    async def download_request(self, request: Request) -> Response:
        """The answer; what went over the wire is in the request's meta as well."""
        proxy = None
        if request.meta.get("proxy"):  # a middleware's
            credentials = request.headers.get("Proxy-Authorization")
            proxy = Proxy.parse(request.meta["proxy"], credentials)
        fetch = request.meta.get(FETCH)
        started = monotonic()
        exchange = await self._client.fetch(
            request.url,
            raw_headers(request.headers),
            method=request.method,
            body=request.body,
            proxy=proxy,
            seconds=request.meta.get("download_timeout"),
            max_size=request.meta.get("download_maxsize"),
            may_send=lambda: fetch is None or self._crawl.may_send(fetch),
        )
        request.meta["download_latency"] = monotonic() - started
        return response_of(request, exchange)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
