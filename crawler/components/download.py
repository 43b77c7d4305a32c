"""Scrapy's download handler for http and https: the client of `crawler.fetch`."""

from __future__ import annotations

import resource
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.http import Headers, Response

from crawler.components.exchange import EXCHANGE, raw_headers
from crawler.fetch.client import ClientConfig, HttpClient, Proxy
from crawler.fetch.guard import AddressRules

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

# Connections that wait: many more than a polite crawl has sites at a time (32), and a
# quarter of the files that a process may open where nobody has set anything (1024).
_MAX_IDLE = 256


class DownloadHandler(BaseDownloadHandler):
    """Answers requests; FetchError if there is no answer.

    Settings: DOWNLOAD_TIMEOUT, DOWNLOAD_MAXSIZE, DOWNLOAD_BIND_ADDRESS,
    DOWNLOAD_VERIFY_CERTIFICATES, ADDRESS_ALLOW.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        config = ClientConfig(
            AddressRules(settings.getlist("ADDRESS_ALLOW")),
            seconds=settings.getfloat("DOWNLOAD_TIMEOUT"),
            max_size=settings.getint("DOWNLOAD_MAXSIZE"),
            verify=settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES"),
            max_idle=min(_MAX_IDLE, files // 4),
            bind=settings["DOWNLOAD_BIND_ADDRESS"],
        )
        self._client = HttpClient(config)

    async def download_request(self, request: Request) -> Response:
        """The answer; what went over the wire is in the request's meta as well."""
        proxy = None
        if request.meta.get("proxy"):
            credentials = request.headers.get("Proxy-Authorization")
            proxy = Proxy(request.meta["proxy"], credentials)
        started = monotonic()
        exchange = await self._client.fetch(
            request.url,
            raw_headers(request.headers),
            method=request.method,
            body=request.body,
            proxy=proxy,
            seconds=request.meta.get("download_timeout"),
            max_size=request.meta.get("download_maxsize"),
        )
        request.meta[EXCHANGE] = exchange
        request.meta["download_latency"] = monotonic() - started
        headers = Headers()
        for name, value in exchange.response_headers:
            headers.appendlist(name, value)
        return Response(
            request.url,
            status=exchange.status,
            headers=headers,
            body=exchange.body,
            ip_address=ip_address(exchange.ip) if exchange.ip else None,
            protocol=exchange.http_version,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
