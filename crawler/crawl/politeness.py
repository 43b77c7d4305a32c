"""When a site may be asked, and for what: robots.txt, pauses, Retry-After.

The crawl fetches robots.txt before the first page of an origin, like any page: through
the site gate and into the WARC. Here is what came of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from random import random
from typing import Self

from crawler.crawl.settings import CrawlSettings
from crawler.data import Site
from crawler.frontier.entry import Lease
from crawler.frontier.gate import SiteGate
from crawler.frontier.robots import ALLOW_ALL, REFUSE_ALL, RobotsRules, origin_of
from crawler.urls import site_of
from crawler.warc.exchange import Exchange, page_of

# RFC 9309, section 2.3.1.2: follow at least five redirects.
MAX_REDIRECTS = 5
# Of the robots.txt of a site, so many are looked for on other sites, and nowhere but at
# their /robots.txt: a site with a thousand hosts would else ask others in our name.
_ROBOTS_ELSEWHERE = 5
# What one site takes of our processor time: so many seconds, then one part in so many
# and one. Pages of a site take 10 ms in the middle; 5 MB of hostile ones take 2 s.
_FREE_SECONDS, _TIMES = 0.5, 12
# A longer Retry-After (seconds) is cut to this: another try then costs little.
_MAX_RETRY_AFTER = 600
# RETRY_WAIT doubles with each error of a site in a row, so often at most; and pauses
# are longer by a share of up to this, by chance.
_DOUBLINGS, _JITTER = 6, 0.1
# Asked for this often, with growing pauses (at most so many seconds, then twice that),
# before the origin is given up: long enough for a server's restart, short enough for a
# list of dead hosts.
_TRIES = 3
_PAUSE = 2.0
# Bytes of robots.txt that are remembered, parsed in 15 times as much memory: those of
# 8,000 origins as they usually are, or of 40 as large as they may be. Others are asked
# for again when their turn comes.
_REMEMBERED = 20_000_000
_LEAST = 1000  # bytes that any origin counts for


class RobotsCache:
    """The rules of the origins that were asked so far; of too many, the newest."""

    def __init__(self, retry_wait: float) -> None:
        """`retry_wait`: the longest first pause (seconds) before asking again."""
        self._pause = min(_PAUSE, retry_wait)
        self._rules: dict[str, RobotsRules] = {}  # the one used last stands last
        self._size = 0
        self._failures: Counter[str] = Counter()

    def rules(self, url: str) -> RobotsRules | None:
        """The rules for a URL; None: its robots.txt must be fetched first."""
        origin = origin_of(url)
        rules = self._rules.pop(origin, None)
        if rules is not None:
            self._rules[origin] = rules
        return rules

    def learn(self, url: str, rules: RobotsRules) -> None:
        """Remember the rules of the URL's origin."""
        origin = origin_of(url)
        self._rules[origin] = rules
        self._failures.pop(origin, None)
        self._size += _LEAST + rules.size
        while self._size > _REMEMBERED:
            oldest = self._rules.pop(next(iter(self._rules)))
            self._size -= _LEAST + oldest.size

    def fail(self, url: str, *, final: bool = False) -> float | None:
        """Seconds to wait before the origin is asked again; None: it is given up.

        RFC 9309, section 2.3.1.4: an origin that cannot be reached allows nothing.
        `final`: no other try would change that.
        """
        origin = origin_of(url)
        self._failures[origin] += 1
        if final or self._failures[origin] >= _TRIES:
            self.learn(url, REFUSE_ALL)
            return None
        return self._pause * self._failures[origin]


class Politeness:
    """The gate of the sites of a crawl, and the pauses and the rules that they ask for.

    `robots`: None if robots.txt is not obeyed.
    """

    def __init__(
        self, settings: CrawlSettings, gate: SiteGate, robots: RobotsCache | None
    ) -> None:
        self.gate = gate
        self._settings = settings
        self._robots = robots
        self._asked_to_wait: dict[Site, float] = {}  # seconds, after the next answer
        self._errors: Counter[Site] = Counter()  # since the last answer without one
        self._elsewhere: Counter[Site] = Counter()  # redirects to other sites' rules
        self._reading: Counter[Site] = Counter()  # milliseconds that its pages took

    @classmethod
    def of(cls, settings: CrawlSettings) -> Self:
        """As the settings of a crawl ask for it."""
        robots = RobotsCache(settings.retry_wait) if settings.robotstxt_obey else None
        return cls(settings, SiteGate(settings.site_concurrency), robots)

    def rules(self, url: str) -> RobotsRules | None:
        """The rules for a URL; None: its robots.txt must be fetched first."""
        return self._robots.rules(url) if self._robots else ALLOW_ALL

    def learn(self, url: str, rules: RobotsRules) -> None:
        """Remember the rules of the URL's origin."""
        if self._robots:
            self._robots.learn(url, rules)

    def may_follow(self, lease: Lease, target: str) -> bool:
        """Whether a redirect of the robots.txt of a page's origin is followed."""
        if site_of(target) == lease.site:
            return True
        self._elsewhere[lease.site] += 1
        is_robots = target == f"{origin_of(target)}/robots.txt"
        return is_robots and self._elsewhere[lease.site] <= _ROBOTS_ELSEWHERE

    def start(self, lease: Lease) -> None:
        """Close the site of a page that is asked for now."""
        self.gate.start(lease.site)

    def finish(self, lease: Lease, now: float, *, asked: bool = True) -> None:
        """Open the site of a page that was dealt with, after its pause.

        `asked`: False if an archive has answered, which spares the site.
        """
        settings = self._settings
        if not asked:
            self.gate.finish(lease.site, now, self._asked_to_wait.pop(lease.site, 0.0))
            return
        rules = self.rules(lease.url)
        wanted = rules.crawl_delay(settings.user_agent) if rules else 0.0
        delay = max(
            settings.download_delay,
            min(wanted, settings.robots_max_crawl_delay),
            self._asked_to_wait.pop(lease.site, 0.0),
        )
        self.gate.finish(lease.site, now, delay)

    def back_off(self, lease: Lease, exchange: Exchange | None) -> None:
        """Let the site of a page wait as it asks, or for RETRY_WAIT."""
        asked = retry_after(exchange) if exchange is not None else None
        self._errors[lease.site] += 1
        doublings = min(self._errors[lease.site] - 1, _DOUBLINGS)
        ours = min(self._settings.retry_wait * 2**doublings, _MAX_RETRY_AFTER)
        if asked is not None:  # it is believed once, and then only if it asks for more
            ours = asked if not doublings else max(asked, ours)
        self._wait(lease.site, ours)

    def was_read(self, lease: Lease, seconds: float) -> None:
        """Let a site wait whose pages keep us from those of the others.

        `seconds`: of processor time, that a page took, its pairs and its links. Without
        DOWNLOAD_DELAY nobody is spared.
        """
        self._reading[lease.site] += round(1000 * seconds)
        if (
            self._settings.download_delay
            and self._reading[lease.site] > 1000 * _FREE_SECONDS
        ):
            self._wait(lease.site, min(_TIMES * seconds, _MAX_RETRY_AFTER))

    def answered(self, lease: Lease) -> None:
        """Forget the errors of a site that has answered without one."""
        self._errors.pop(lease.site, None)

    def robots_failed(self, lease: Lease, *, final: bool) -> bool:
        """Ask for a robots.txt that did not come later, or give it up: then True."""
        if self._robots is None:
            return False
        seconds = self._robots.fail(lease.url, final=final)
        if seconds is not None:
            self._wait(lease.site, seconds)
        return seconds is None

    def _wait(self, site: Site, seconds: float) -> None:
        """Wait so long and a little longer, lest sites of one server come together."""
        seconds *= 1 + _JITTER * random()
        self._asked_to_wait[site] = max(seconds, self._asked_to_wait.get(site, 0.0))


def retry_after(exchange: Exchange) -> float | None:
    """The seconds that a server asks us to wait, up to ten minutes; None: it does not.

    RFC 9110, section 10.2.3: a number of seconds, or a date.
    """
    page = page_of(replace(exchange, body=b"", converted=None), Counter())
    asked = (page.header("retry-after") or "").strip()
    if asked.isascii() and asked.isdigit():
        return float(min(int(asked[:9]), _MAX_RETRY_AFTER))
    try:
        until = parsedate_to_datetime(asked)
        if until.tzinfo is None:  # `-0000`: UTC, by RFC 5322
            until = until.replace(tzinfo=UTC)
        wait = (until - exchange.fetched_at).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, wait), _MAX_RETRY_AFTER)
