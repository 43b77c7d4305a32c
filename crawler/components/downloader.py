"""Scrapy's downloader without its queues: whose turn it is, the scheduler has decided.

Scrapy keeps a queue, a delay and a set of transfers for each host, and tells four
signals of each. The site gate (crawler.frontier.gate) holds requests back before they
are made, so here each goes to its download handler at once (docs/performance.md).
"""

from __future__ import annotations

from typing import TypeVar

from scrapy import Request, Spider
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

T = TypeVar("T")


class GatedDownloader(Downloader):
    """Downloads through the middlewares and handlers that the settings name.

    The default headers and the user agent are put on here, without a middleware for
    each.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Settings: DEFAULT_REQUEST_HEADERS, USER_AGENT."""
        super().__init__(crawler)
        settings = crawler.settings
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
        for name, values in self._headers:
            request.headers.setdefault(name, values)
        send = self.handlers.download_request_async
        answer = deferred_from_coro(self.middleware.download_async(send, request))
        return answer.addBoth(self._answered, request)

    def _answered(self, answer: T, request: Request) -> T:
        """In the same breath as the engine gets it, or it takes the spider for idle."""
        self.active.remove(request)
        return answer
