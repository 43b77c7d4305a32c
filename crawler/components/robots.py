"""robots.txt, fetched like any page: through the site gate, kept in the WARC.

The scheduler asks here before it hands out the first page of an origin; the answer
comes back through Scrapy's callbacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from scrapy import Request
from scrapy.http import Response
from twisted.python.failure import Failure

from crawler.components.address_guard import AddressRefusedError
from crawler.extract.document import read_page
from crawler.frontier.frontier import Lease
from crawler.frontier.robots import REFUSE_ALL, RobotsRules, origin_of, rules_of

# RFC 9309, section 2.3.1.2: follow at least five redirects.
_MAX_REDIRECTS = 5
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


class Robots:
    """The rules of the origins that were asked so far; the newest, if they are many.

    `keep` stores a response and gives its page; `on_rules(lease, rules)` and
    `on_delay(lease, seconds)` tell the scheduler to go on, now or later.
    """

    def __init__(
        self,
        keep: Callable[[Response, str], Any],
        on_rules: Callable[[Lease, RobotsRules], None],
        on_delay: Callable[[Lease, float], None],
        counts: Counter[str],
        retry_wait: float,
    ) -> None:
        """Take what to do with answers; `counts` takes why there were none."""
        self._pause = min(_PAUSE, retry_wait)
        self._keep = keep
        self._on_rules = on_rules
        self._on_delay = on_delay
        self._rules: dict[str, RobotsRules] = {}  # the one used last stands last
        self._size = 0
        self._failures: Counter[str] = Counter()
        self._counts = counts

    def rules(self, url: str) -> RobotsRules | None:
        """The rules for a URL; None: its robots.txt must be fetched first."""
        origin = origin_of(url)
        rules = self._rules.pop(origin, None)
        if rules is not None:
            self._rules[origin] = rules
        return rules

    def request(self, lease: Lease) -> Request:
        """Ask for the robots.txt that stands before a lease."""
        return Request(
            f"{origin_of(lease.url)}/robots.txt",
            callback=self.parse,
            errback=self.failed,
            meta={"lease": lease},
            dont_filter=True,
        )

    def parse(self, response: Response) -> Iterator[Request]:
        """Take the rules of an origin, or follow the redirect to them."""
        request = response.request
        assert request is not None
        lease: Lease = request.meta["lease"]
        hops: int = request.meta.get("robots_hops", 0)
        page = self._keep(response, request.url)
        moved = 300 <= page.status < 400
        target = read_page(page).location if moved else None
        if target and hops < _MAX_REDIRECTS:
            meta = {"lease": lease, "robots_hops": hops + 1}
            yield request.replace(url=target, meta=meta)
        elif page.status >= 500 or page.status == 429:
            self._unknown(lease, f"status {page.status}")
        else:
            self._known(lease, rules_of(page.status, page.body))

    def failed(self, failure: Failure) -> None:
        """No answer at all."""
        reason = failure.type.__name__ if failure.type else "unknown"
        self._unknown(failure.request.meta["lease"], reason)  # type: ignore[attr-defined]

    def _known(self, lease: Lease, rules: RobotsRules) -> None:
        origin = origin_of(lease.url)
        self._rules[origin] = rules
        self._failures.pop(origin, None)
        self._size += _LEAST + rules.size
        while self._size > _REMEMBERED:
            oldest = self._rules.pop(next(iter(self._rules)))
            self._size -= _LEAST + oldest.size
        self._on_rules(lease, rules)

    def _unknown(self, lease: Lease, reason: str) -> None:
        """Ask again later; RFC 9309, section 2.3.1.4: unreachable refuses all."""
        self._counts[f"robots/failed/{reason}"] += 1
        origin = origin_of(lease.url)
        self._failures[origin] += 1
        final = reason == AddressRefusedError.__name__  # no other try changes that
        if final or self._failures[origin] >= _TRIES:
            self._known(lease, REFUSE_ALL)
        else:
            self._on_delay(lease, self._pause * self._failures[origin])
