"""The wishes of servers: the robots.txt rules that a crawl knows, and Retry-After.

The crawl fetches robots.txt before the first page of an origin, like any page: through
the site gate and into the WARC. Here is what came of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime

from crawler.frontier.robots import REFUSE_ALL, RobotsRules, origin_of
from crawler.warc.exchange import Exchange, page_of

# RFC 9309, section 2.3.1.2: follow at least five redirects.
MAX_REDIRECTS = 5
# A longer Retry-After (seconds) is cut to this: another try then costs little.
_MAX_RETRY_AFTER = 600
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
