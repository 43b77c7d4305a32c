"""Extension: sentences of accepted pairs, in the time that the crawl leaves over.

Aligning two long pages takes as long as fetching five. A polite crawl waits most of the
time, so its sentence pairs come at once; one that runs at full speed loses nothing, and
has all of them when it ends.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from pathlib import Path
from time import monotonic, process_time
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro

from crawler.components.signals import pair_found
from crawler.data import PairScore
from crawler.errors import BifocalError

_SCHEDULED = Path("/proc/thread-self/schedstat")  # nanoseconds ran, waited; turns
_EVERY = 0.25  # seconds between two looks
_SPARE = 0.3  # of a core must have been free since the last look
_TAKEN = 0.8  # of what was free is used
_QUEUED = 10_000  # pairs that wait; older ones come at the end of the crawl


class SpareTime:
    """Gives pairs to the spider's sentence stream while the process would be idle."""

    def __init__(self, crawler: Crawler) -> None:
        """Begin with the crawl."""
        self._crawler = crawler
        self._spider: Any = crawler.spider
        self._pairs: deque[PairScore] = deque(maxlen=_QUEUED)
        self._loop = create_looping_call(self._look)
        self._looked = (0.0, 0.0)  # when: wall clock, time on a core
        self._own = 0.0  # time on a core that we took since

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen to accepted pairs, if sentences are wanted (setting SENTENCES)."""
        spare = cls(crawler)
        if crawler.settings.getbool("SENTENCES"):
            crawler.signals.connect(spare.open, signal=signals.spider_opened)
            crawler.signals.connect(spare.queue, signal=pair_found)
            crawler.signals.connect(spare.close, signal=signals.spider_closed)
        return spare

    def open(self) -> None:
        """Start the clock."""
        self._looked = monotonic(), _wanted()
        self._loop.start(_EVERY, now=False)

    def queue(self, pairs: list[PairScore]) -> None:
        """Remember pairs for later."""
        self._pairs.extend(pairs)

    def close(self) -> None:
        """The final pairs are aligned by others."""
        if self._loop.running:
            self._loop.stop()

    def _look(self) -> None:
        (wall, cpu), self._looked = self._looked, (monotonic(), _wanted())
        # what the crawl could have had, and what of it it had: while we work, it waits
        passed = self._looked[0] - wall - self._own
        used = self._looked[1] - cpu - self._own
        spare = 1 - used / max(passed, 1e-3)
        self._own = 0.0
        if spare < _SPARE:
            return
        started, started_cpu = _wanted(), process_time()
        until = started_cpu + _EVERY * spare * _TAKEN
        try:
            while self._pairs and process_time() < until:
                self._spider.sentences.found([self._pairs.popleft()])
        except (BifocalError, OSError, sqlite3.Error) as error:
            self._spider.fail(error)
            self._loop.stop()
            engine = self._crawler.engine
            deferred_from_coro(engine.close_spider_async(reason="error"))
        self._own = _wanted() - started
        took = round(1000 * (process_time() - started_cpu))
        self._crawler.stats.inc_value("sentences/spare_ms", took)


def _wanted() -> float:
    """Seconds that this thread was on a core or stood in line for one.

    A crawl whose core others take as well leaves nothing over, though it does not get
    all of its time. Linux says so; elsewhere it is the processor time.
    """
    try:
        ran, waited, _ = _SCHEDULED.read_text().split()
    except (OSError, ValueError):
        return process_time()
    return (int(ran) + int(waited)) / 1e9
