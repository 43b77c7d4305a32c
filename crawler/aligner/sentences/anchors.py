"""Anchors: pairs of sentences beyond doubt, at which a long page is cut.

Pieces between them are searched one by one, so the time of an alignment grows with the
length of a page and not with its square.

In: two Sides, costs.  Out: parts of the two that belong together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crawler.aligner.sentences.costs.cost import Cost, total_cost
from crawler.aligner.sentences.split import Side

_LARGEST = 400  # sentences of a piece without any anchor: 13 MB


@dataclass(frozen=True, slots=True)
class AnchorsConfig:
    """How a page is cut."""

    max_sentences: int = 3000  # of a page; what comes after them is left out
    piece: int = 100  # sentences that are searched at once: 4 ms
    anchor: float = 6.0  # nats by which a pair must beat its rivals to be cut at


def pieces(
    src: Side, trg: Side, costs: Sequence[Cost], config: AnchorsConfig
) -> Iterator[tuple[slice, slice]]:
    """Parts of the two pages that belong together, small enough to be searched."""
    ends = min(len(src), config.max_sentences), min(len(trg), config.max_sentences)
    start = (0, 0)
    if max(ends) > config.piece:
        for anchor in _anchors(src, trg, ends, costs, config):
            if max(anchor[0] - start[0], anchor[1] - start[1]) >= config.piece:
                yield from _small(start, anchor)
                start = anchor
    yield from _small(start, ends)


def _small(
    start: tuple[int, int], end: tuple[int, int]
) -> Iterator[tuple[slice, slice]]:
    """Where no anchor is found for long, cut in proportion: memory is bounded."""
    count = max(1, math.ceil(max(e - s for s, e in zip(start, end)) / _LARGEST))
    cuts = np.linspace(start, end, count + 1).round().astype(int)
    for (i, j), (next_i, next_j) in pairwise(cuts.tolist()):
        yield slice(i, next_i), slice(j, next_j)


def _anchors(
    src: Side,
    trg: Side,
    ends: tuple[int, int],
    costs: Sequence[Cost],
    config: AnchorsConfig,
) -> list[tuple[int, int]]:
    """Pairs of sentences beyond doubt, in one order on both sides.

    Of the pairs that are each other's best by a margin, the chain that gains most: what
    stands in another order falls out of it.
    """
    rows, columns = ends
    whole = trg.take(slice(0, columns))
    best = np.full((2, columns), np.inf)  # of each trg sentence, and the second best
    owner = np.full(columns, -1)
    found: list[tuple[int, int, float]] = []
    for start in range(0, rows, config.piece):
        strip = src.take(slice(start, min(start + config.piece, rows)))
        cost = total_cost([c.prepare(strip, whole) for c in costs], (1, 1), 1.0)
        order = np.argpartition(cost, min(1, columns - 1), axis=1)
        here = np.arange(len(strip))
        first = cost[here, order[:, 0]]
        second = cost[here, order[:, min(1, columns - 1)]]
        sure = np.flatnonzero((second - first >= config.anchor) & (first < 0))
        found += [
            (start + row, int(order[row, 0]), -float(first[row]))
            for row in sure.tolist()
        ]
        better = cost.min(axis=0) < best[0]
        owner[better] = start + cost.argmin(axis=0)[better]
        best = np.partition(np.concatenate([best, cost]), 1, axis=0)[:2]
    clear = best[1] - best[0] >= config.anchor
    return _chain([(i, j, gain) for i, j, gain in found if clear[j] and owner[j] == i])


def _chain(points: Sequence[tuple[int, int, float]]) -> list[tuple[int, int]]:
    """The chain, rising on both sides, with the greatest sum of gains.

    >>> _chain([(0, 0, 1.0), (1, 5, 9.0), (2, 1, 5.0), (3, 2, 5.0)])
    [(0, 0), (2, 1), (3, 2)]
    """
    if not points:
        return []
    columns = np.array([j for _, j, _ in points])
    total = np.array([gain for _, _, gain in points])
    before = np.full(len(points), -1)
    for k in range(1, len(points)):
        reachable = np.flatnonzero(columns[:k] < columns[k])
        if len(reachable):
            best = reachable[total[reachable].argmax()]
            total[k] += total[best]
            before[k] = best
    chain = []
    k = int(total.argmax())
    while k >= 0:
        chain.append(points[k][:2])
        k = int(before[k])
    return chain[::-1]
