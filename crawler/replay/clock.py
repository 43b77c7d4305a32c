"""Simulated time: how long a replayed crawl would have taken on the web.

A world answers at once. To draw pairs against hours, the fetches of a finished crawl
are played through a model of politeness: a site is asked again only `delay` seconds
after its last answer, an answer takes the latency and its bytes, and no more than
`concurrency` requests are under way. No clock is read, so equal crawls take equal time.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

from crawler.data import Site


@dataclass(frozen=True, slots=True)
class Network:
    """What fetching costs."""

    delay: float = 1.0  # seconds between an answer and the next request to the site
    delays: Mapping[Site, float] = field(default_factory=dict)  # crawl-delays of some
    latency: float = 0.3  # seconds to the first byte, on a slow day
    bandwidth: float = 1e6  # bytes a second, of one connection
    concurrency: int = 16  # Scrapy's default CONCURRENT_REQUESTS


class SimulatedClock:
    """Says of each fetch, in the order of the crawl, when it would have been done.

    >>> clock = SimulatedClock(Network(delay=1.0, latency=0.5, bandwidth=1000))
    >>> clock.fetch("a.is", 500), clock.fetch("a.is", 500), clock.fetch("b.is", 0)
    (1.0, 3.0, 0.5)
    """

    def __init__(self, network: Network | None = None) -> None:
        """Start at second 0."""
        self.network = network or Network()
        self._free = [0.0] * self.network.concurrency  # when each lane is free again
        self._ready: dict[Site, float] = {}  # when each site may be asked again

    def fetch(self, site: Site, size: int) -> float:
        """The second at which an answer of `size` bytes from a site is complete."""
        network = self.network
        start = max(heapq.heappop(self._free), self._ready.get(site, 0.0))
        done = start + network.latency + size / network.bandwidth
        heapq.heappush(self._free, done)
        self._ready[site] = done + network.delays.get(site, network.delay)
        return done
