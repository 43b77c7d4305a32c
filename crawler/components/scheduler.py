"""FrontierScheduler: Scrapy's scheduler, with the frontier in place of its queues.

Scrapy pulls requests into per-host queues where their order is frozen; here a site is
held back while one of its pages is on the way (crawler.frontier.gate), so the best URL
known is the next one asked for. Requests are made only when a URL is popped: links live
in the frontier as strings. robots.txt comes through the same gate before the first page
of an origin, and its crawl-delay is what the gate waits.
"""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import call_later

from crawler.components.robots import Robots
from crawler.components.signals import pair_found
from crawler.data import Link, PairScore, ScoredUrl, Site
from crawler.errors import BifocalError
from crawler.frontier.frontier import SEED_SCORE, Frontier, Lease
from crawler.frontier.gate import SiteGate
from crawler.frontier.robots import REFUSE_ALL, RobotsRules
from crawler.urls import site_of

if TYPE_CHECKING:
    from scrapy import Spider

# Shorter waits (seconds) than this are not worth a timer.
_MIN_WAIT = 0.005
_PAUSE = 0.05  # seconds in which only what happens here can bring a page
_LOOK = 1.0  # seconds until a worker that has nothing asks again for a share


class FrontierScheduler(BaseScheduler):
    """Hands out the best URL of a site that may be asked now."""

    def __init__(self, crawler: Crawler, frontier: Frontier, gate: SiteGate) -> None:
        """Settings: USER_AGENT, DOWNLOAD_DELAY, ROBOTSTXT_OBEY, SITEMAPS and others."""
        settings = crawler.settings
        spider: Any = crawler.spider
        self.frontier = frontier
        self._spider = spider
        self._gate = gate
        self._crawler = crawler
        self._user_agent: str = settings["USER_AGENT"]
        self._delay = settings.getfloat("DOWNLOAD_DELAY")
        self._max_crawl_delay = settings.getfloat("ROBOTS_MAX_CRAWL_DELAY")
        self._read_sitemaps = settings.getbool("SITEMAPS")
        self._max_sitemaps = settings.getint("SITEMAPS_MAX")
        self._sitemaps: dict[Site, int] = {}
        self._robots: Robots | None = None
        if settings.getbool("ROBOTSTXT_OBEY"):
            self._robots = Robots(
                spider.keep,
                self._robots_known,
                self._robots_later,
                spider.counts,
                settings.getfloat("RETRY_WAIT"),
            )
        # Leases that waited for their robots.txt, and requests that go on with a lease
        # whose site is closed for them already.
        self._ready: deque[Lease] = deque()
        self._direct: deque[Request] = deque()
        self._asked_to_wait: dict[Site, float] = {}
        self._wake_at = 0.0
        self._nothing_until = 0.0  # there is no need to look before, unless told

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take the frontier that the spider opened."""
        spider: Any = crawler.spider
        gate = SiteGate(crawler.settings.getint("SITE_CONCURRENCY"))
        scheduler = cls(crawler, spider.frontier, gate)
        crawler.signals.connect(scheduler.paired, signal=pair_found)
        return scheduler

    # ------------------------------------------------- what the engine calls

    def open(self, spider: Spider) -> None:
        """Nothing to do: the frontier is open since it was built."""

    def close(self, reason: str) -> None:
        """Save everything; leased URLs will be pending again."""
        counts = self.frontier.store.counts()
        stats = self._crawler.stats
        stats.set_value("frontier/pending", counts["pending"] + counts["leased"])
        stats.set_value("frontier/done", counts["done"])
        try:
            self.frontier.close()
        except BifocalError as error:
            self._spider.fail(error)

    def has_pending_requests(self) -> bool:
        """Is anything left that may be fetched, be its site busy or not?"""
        return bool(self._ready or self._direct) or self.frontier.has_open

    def enqueue_request(self, request: Request) -> bool:
        """Take a request that did not come from the frontier.

        One that carries a lease goes on with it (a redirected robots.txt) and is next;
        any other (of another component, of the shell) becomes a seed.
        """
        self._nothing_until = 0.0
        if "lease" in request.meta:
            self._direct.append(request)
            return True
        return self.frontier.seed([request.url]).added > 0

    def next_request(self) -> Request | None:
        """The next page, or the robots.txt that must be read before it.

        The engine asks four times for each answer, which may change something once.
        """
        if self._direct:
            return self._direct.popleft()
        now = monotonic()
        if now < self._nothing_until:
            return None
        try:
            return self._next_request(now)
        except BifocalError as error:
            self._spider.give_up(error)
            return None

    def _next_request(self, now: float) -> Request | None:
        while lease := self._next_lease(now):
            if self._robots is not None:
                rules = self._robots.rules(lease.url)
                if rules is None:
                    self._gate.start(lease.site)
                    return self._robots.request(lease)
                if rules is REFUSE_ALL:
                    self.frontier.postponed(lease)
                    continue
                if not rules.allows(lease.url, self._user_agent):
                    self.frontier.forbidden(lease)
                    continue
            self._gate.start(lease.site)
            return Request(
                lease.url,
                errback=self._spider.failed,
                meta={"lease": lease},
                dont_filter=True,
            )
        opens = self._gate.wait(now)
        self._wake_later(now, opens)
        self._nothing_until = now + (_PAUSE if opens is None else min(opens, _PAUSE))
        return None

    # ------------------------------------------------- what the spider calls

    def finish(self, lease: Lease) -> None:
        """A page is downloaded, parsed and scored: its site may be asked again."""
        rules = self._robots.rules(lease.url) if self._robots else None
        asked = rules.crawl_delay(self._user_agent) if rules else 0.0
        delay = max(
            self._delay,
            min(asked, self._max_crawl_delay),
            self._asked_to_wait.pop(lease.site, 0.0),
        )
        self._gate.finish(lease.site, monotonic(), delay)
        self._nothing_until = 0.0
        wake_engine(self._crawler)

    def back_off(self, site: Site, seconds: float) -> None:
        """The site needs patience: an error, 429, Retry-After."""
        self._asked_to_wait[site] = max(seconds, self._asked_to_wait.get(site, 0.0))

    def sitemaps_found(self, urls: tuple[str, ...]) -> None:
        """Fetch sitemaps after the seeds, before any page: one lists thousands."""
        for url in urls if self._read_sitemaps else ():
            site = site_of(url)
            if url not in self.frontier.scope:
                self.frontier.counts["frontier/refused/scope"] += 1
            elif self._sitemaps.get(site, 0) >= self._max_sitemaps:
                self.frontier.counts["frontier/refused/sitemaps"] += 1
            else:
                scored = ScoredUrl(Link(url, rel="sitemap"), SEED_SCORE / 2)
                added = self.frontier.push([scored]).added
                self._sitemaps[site] = self._sitemaps.get(site, 0) + added

    def paired(self, pairs: list[PairScore]) -> None:
        """Accepted pairs, for the frontier to learn from."""
        self.frontier.paired(pairs)

    # ------------------------------------------------------------ inside

    def _next_lease(self, now: float) -> Lease | None:
        busy = self._gate.busy(now)
        for _ in range(len(self._ready)):
            lease = self._ready.popleft()
            if lease.site in busy:
                self._ready.append(lease)
            elif self.frontier.holds(lease):
                return lease
        return self.frontier.next(busy)

    def _robots_known(self, lease: Lease, rules: RobotsRules) -> None:
        try:
            self.sitemaps_found(rules.sitemaps)
        except BifocalError as error:
            self._spider.stop(error)
        self._ready.append(lease)
        self.finish(lease)

    def _robots_later(self, lease: Lease, seconds: float) -> None:
        self.back_off(lease.site, seconds)
        self._ready.append(lease)
        self.finish(lease)

    def _wake_later(self, now: float, wait: float | None) -> None:
        """Ask the engine to come back when the next site opens, in `wait` seconds.

        When told None, the engine next asks on an event or after its 5 s heartbeat.
        """
        if wait is None and self.frontier.store.elsewhere():
            wait = _LOOK
        if wait is None:
            return
        at = now + max(wait, _MIN_WAIT)
        if not now < self._wake_at <= at:  # no timer is set for then or earlier
            self._wake_at = at
            call_later(at - now, wake_engine, self._crawler)


def wake_engine(crawler: Crawler) -> None:
    """Make the engine ask its scheduler again, soon.

    Scrapy 2.19 has no public way; the attribute is private, so it is guarded here, in
    one place, and tested: without it a crawl only slows down to the 5 s heartbeat.
    """
    slot = getattr(crawler.engine, "_slot", None)
    nextcall = getattr(slot, "nextcall", None)
    if nextcall is not None:
        nextcall.schedule()
