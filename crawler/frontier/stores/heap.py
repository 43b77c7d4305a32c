"""A heap whose ranks may change and whose keys may have to wait.

The frontier's stores ask it two things: which site has the best URL, busy sites aside,
and (in memory) which URL of a site is the best. A changed rank is a new item; the old
one is recognised and dropped when it comes up (lazy deletion: 0.7 µs a push, where
removing an item from the middle of a list of 20,000 costs 5 µs).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from heapq import heapify, heappop, heappush

from crawler.data import Score

Rank = tuple[Score, int]  # minus the score, then the order of the first push


def refuse_nan(scores: Iterable[Score]) -> None:
    """ValueError for a score that has no rank: a NaN is neither better nor worse."""
    if any(score != score for score in scores):  # noqa: PLR0124 - this is the test
        raise ValueError("a score is NaN")


class LazyHeap:
    """The key with the smallest rank, with ranks that may rise and fall.

    >>> heap = LazyHeap()
    >>> heap.set("a", (-0.5, 1)); heap.set("b", (-0.4, 2)); heap.set("b", (-0.9, 2))
    >>> heap.best(), heap.best(busy={"b"}), heap.best(busy={"a", "b"})
    ('b', 'a', None)
    """

    __slots__ = ("_heap", "_ranks", "_waiting")

    def __init__(self) -> None:
        self._ranks: dict[str, Rank] = {}
        self._heap: list[tuple[Rank, str]] = []
        self._waiting: set[str] = set()  # busy when they came up, so not in the heap

    def __len__(self) -> int:
        return len(self._ranks)

    def rank(self, key: str) -> Rank | None:
        """The rank that a key has now."""
        return self._ranks.get(key)

    def set(self, key: str, rank: Rank) -> None:
        """Give a key its rank, new or changed."""
        self._ranks[key] = rank
        if key not in self._waiting:
            heappush(self._heap, (rank, key))
            # Old items of keys that were raised over and over lie deep in the heap
            # and never come up; the 64 keeps small heaps from being rebuilt.
            if len(self._heap) > 2 * len(self._ranks) + 64:
                self._rebuild()

    def discard(self, key: str) -> None:
        """Forget a key."""
        self._ranks.pop(key, None)

    def best(self, busy: Collection[str] = ()) -> str | None:
        """The key with the smallest rank that is not busy.

        Busy keys are put aside until they are free, so a call costs as much as there
        are busy keys, and the next one does not meet them in the heap again.
        """
        if not isinstance(busy, AbstractSet):
            busy = frozenset(busy)
        if self._waiting:
            free = self._waiting - busy
            self._waiting -= free
            for key in free:  # in any order: ranks are unique
                if key in self._ranks:
                    heappush(self._heap, (self._ranks[key], key))
        while self._heap:
            rank, key = self._heap[0]
            if self._ranks.get(key) == rank:
                if key not in busy:
                    return key
                self._waiting.add(key)
            heappop(self._heap)
        return None

    def _rebuild(self) -> None:
        self._heap = [
            (rank, key) for key, rank in self._ranks.items() if key not in self._waiting
        ]
        heapify(self._heap)
