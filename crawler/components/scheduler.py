"""Scrapy's scheduler, with a crawl in place of its queues.

Scrapy pulls requests into per-host queues where their order is frozen; here the crawl
holds a site back while one of its pages is on the way, so the best URL known is the
next one asked for. A request is made only when its URL is due.
"""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Self

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import call_later

from crawler.components.bridge import FETCH, crawl_of
from crawler.crawl.crawl import Crawl, Fetch

if TYPE_CHECKING:
    from scrapy import Spider

# Shorter waits (seconds) than this are not worth a timer.
_MIN_WAIT = 0.005


class CrawlScheduler(BaseScheduler):
    """Hands out the requests of a crawl, and wakes the engine when the next is due."""

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self._crawler = crawler
        self._crawl = crawl
        self._due: deque[Request] = deque()  # handed to the engine by `wake`
        self._wake_at = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take the crawl that was opened."""
        return cls(crawler, crawl_of(crawler))

    def open(self, spider: Spider) -> None:
        """Do nothing: the crawl is open."""

    def close(self, reason: str) -> None:
        """Do nothing: the crawl is closed after the spider."""

    def has_pending_requests(self) -> bool:
        """Whether anything is left that may be fetched, be its site busy or not."""
        return bool(self._due) or self._crawl.has_pending

    def enqueue_request(self, request: Request) -> bool:
        """Take a request that is due; one of anybody else becomes a seed."""
        if FETCH in request.meta:
            self._due.append(request)
            return True
        return self._crawl.add_seed(request.url)

    def next_request(self) -> Request | None:
        """The next request that may be sent now."""
        return self._due.popleft() if self._due else self._next()

    def _next(self) -> Request | None:
        found = self._crawl.next()
        if isinstance(found, Fetch):
            spider = self._crawler.spider
            return Request(
                found.url,
                errback=getattr(spider, "failed", None),
                meta={FETCH: found},
                dont_filter=True,
            )
        if found is not None:
            self._wake_later(found)
        return None

    def wake(self) -> None:
        """Let the engine send what may be sent now.

        `engine.crawl` is Scrapy's public way to make it look; if nothing is due, the
        engine looks again by itself after an answer, or at its heartbeat.
        """
        engine = self._crawler.engine
        assert engine is not None
        if not engine.needs_backout():
            request = self._next()
            if request is not None:
                engine.crawl(request)

    def _wake_later(self, seconds: float) -> None:
        now = monotonic()
        at = now + max(seconds, _MIN_WAIT)
        if not now < self._wake_at <= at:  # no timer is set for then or earlier
            self._wake_at = at
            call_later(at - now, self.wake)
