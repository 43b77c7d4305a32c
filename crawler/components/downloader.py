"""Scrapy's downloader without its queues: whose turn it is, the scheduler has decided.

Scrapy keeps a queue, a delay and a set of transfers for each host, and tells four
signals of each. The site gate (crawler.frontier.gate) holds requests back before they
are made, so here each goes to its download handler at once (docs/performance.md).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from scrapy import Request, Spider
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.http import Headers, Response
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from crawler.urls import MET_AGAIN

T = TypeVar("T")


class GatedDownloader(Downloader):
    """Downloads through the middlewares and handlers that the settings name.

    The default headers, the user agent, the time limit and the proxy that the
    environment names are put on here, without a middleware for each.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Settings: DEFAULT_REQUEST_HEADERS, USER_AGENT, DOWNLOAD_TIMEOUT."""
        super().__init__(crawler)
        settings = crawler.settings
        self._proxies = HttpProxyMiddleware(settings["HTTPPROXY_AUTH_ENCODING"])
        self._proxy_of = lru_cache(MET_AGAIN)(self._find_proxy)
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        defaults = settings.getdict("DEFAULT_REQUEST_HEADERS")
        defaults["User-Agent"] = settings["USER_AGENT"]
        self._headers = [
            (name, values)
            for name, values in Headers(defaults).items()
            if values  # None: not sent
        ]

    def fetch(
        self, request: Request, spider: Spider | None = None
    ) -> Deferred[Response | Request]:
        """Ask for a page now; `active` has the request until it is answered."""
        self.active.add(request)
        answer = deferred_from_coro(self._fetch(request))
        return answer.addBoth(self._answered, request)

    def _answered(self, answer: T, request: Request) -> T:
        """In the same breath as the engine gets it, or it takes the spider for idle."""
        self.active.remove(request)
        return answer

    async def _fetch(self, request: Request) -> Response | Request:
        request.meta.setdefault("download_timeout", self._timeout)
        for name, values in self._headers:
            request.headers.setdefault(name, values)
        return await self.middleware.download_async(self._send, request)

    async def _send(self, request: Request) -> Response:
        if "proxy" in request.meta:  # a middleware's
            self._proxies.process_request(request)
        elif self._proxies.proxies:
            place = urlsplit(request.url)
            proxy = self._proxy_of(place.scheme, place.hostname)
            credentials, request.meta["proxy"] = proxy or (None, None)
            request.headers.pop("Proxy-Authorization", None)  # of where we came from
            if credentials:
                request.headers["Proxy-Authorization"] = b"Basic " + credentials
        return await self.handlers.download_request_async(request)

    def _find_proxy(
        self, scheme: str, host: str | None
    ) -> tuple[bytes | None, str] | None:
        """Credentials and URL of the environment's proxy, unless it excepts the host.

        To be asked of each host once: it reads the whole environment every time.
        """
        return (
            None if host and proxy_bypass(host) else self._proxies.proxies.get(scheme)
        )
