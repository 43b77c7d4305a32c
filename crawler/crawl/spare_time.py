"""Sentences of accepted pairs, in the time that the crawl leaves over.

Aligning two long pages takes as long as fetching five. A polite crawl waits most of the
time, so its sentence pairs come at once; one that runs at full speed loses nothing, and
has all of them when it ends.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, process_time

from crawler.corpus.stream import SentenceStream
from crawler.data import PairScore

EVERY = 0.25  # seconds between two looks
_SCHEDULED = Path("/proc/thread-self/schedstat")  # nanoseconds ran, waited; turns
_SPARE = 0.3  # of a core must have been free since the last look
_TAKEN = 0.8  # of what was free is used
_QUEUED = 10_000  # pairs that wait; older ones come at the end of the crawl


class SpareTime:
    """Gives pairs to a sentence stream while the process would be idle."""

    def __init__(self, sentences: SentenceStream, counts: Counter[str]) -> None:
        """`counts` takes the time that was used: sentences/spare_ms."""
        self._sentences = sentences
        self._counts = counts
        self._pairs: deque[PairScore] = deque(maxlen=_QUEUED)
        # when: wall clock, time on a core
        self._looked: tuple[float, float] | None = None
        self._own = 0.0  # time on a core that we took since

    def queue(self, pairs: Sequence[PairScore]) -> None:
        """Remember pairs for later."""
        self._pairs.extend(pairs)

    def look(self, is_wanted: Callable[[], bool]) -> None:
        """Work if there was time since the last look, until the crawl `is_wanted`.

        Raises what the stream does when it cannot write.
        """
        before, now = self._looked, (monotonic(), _wanted())
        self._looked = now
        if before is None:
            return
        # what the crawl could have had, and what of it it had: while we work, it waits
        passed = now[0] - before[0] - self._own
        used = now[1] - before[1] - self._own
        spare = 1 - used / max(passed, 1e-3)
        self._own = 0.0
        if spare < _SPARE:
            return
        started, started_cpu = _wanted(), process_time()
        until = started_cpu + EVERY * spare * _TAKEN
        while self._pairs and process_time() < until and not is_wanted():
            self._sentences.found([self._pairs.popleft()])
        self._own = _wanted() - started
        took = round(1000 * (process_time() - started_cpu))
        self._counts["sentences/spare_ms"] += took


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
