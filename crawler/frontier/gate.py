"""The site gate: who may be asked now.

A site is closed while a page of it is being downloaded, parsed and scored, because the
best next URL of a site is only known when the links of the last page are (good pages
among the first 25 of 400: 24 with the gate, 9 without;
docs/sources.md#one-page-of-a-site-at-a-time). It stays closed for the politeness delay
after that. Throughput comes from many sites.

Plain bookkeeping on a clock that the caller passes in; no timers here.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection

from crawler.data import Site


class SiteGate:
    """Which sites are busy, and when the next one will not be."""

    def __init__(self, per_site: int = 1) -> None:
        """Let `per_site` pages of one site be in flight at a time."""
        self.per_site = per_site
        self._in_flight: Counter[Site] = Counter()
        self._closed: set[Site] = set()
        self._cooling: list[tuple[float, Site]] = []  # heap of (open again at, site)
        self._open_at: dict[Site, float] = {}

    def start(self, site: Site) -> None:
        """A page of the site is on its way."""
        self._in_flight[site] += 1
        if self._in_flight[site] >= self.per_site:
            self._closed.add(site)

    def finish(self, site: Site, now: float, delay: float) -> None:
        """A page of the site is done with; wait `delay` seconds before the next."""
        self._in_flight[site] -= 1
        if self._in_flight[site] <= 0:
            del self._in_flight[site]
        if delay > 0:
            opens = max(now + delay, self._open_at.get(site, 0.0))
            self._open_at[site] = opens
            self._closed.add(site)
            heapq.heappush(self._cooling, (opens, site))
        elif self._in_flight[site] < self.per_site and site not in self._open_at:
            self._closed.discard(site)

    def busy(self, now: float) -> Collection[Site]:
        """The sites that may not be asked now. Do not change it."""
        while self._cooling and self._cooling[0][0] <= now:
            opens, site = heapq.heappop(self._cooling)
            if self._open_at.get(site) == opens:
                del self._open_at[site]
                if self._in_flight[site] < self.per_site:
                    self._closed.discard(site)
        return self._closed

    def wait(self, now: float) -> float | None:
        """Seconds until a site opens again by itself; None when none is waiting."""
        return max(0.0, self._cooling[0][0] - now) if self._cooling else None

    @property
    def in_flight(self) -> int:
        """How many pages are on their way."""
        return self._in_flight.total()
