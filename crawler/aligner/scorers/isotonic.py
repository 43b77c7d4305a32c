"""Isotonic regression: what a difference of two pages means on their site.

On one site a translation has the markup of its original to the tag, and a page that
differs in one tag of ten is another page; on another site every language has its own
template, and that is a small difference. The same holds for lengths. So a difference is
turned into evidence by the pairs of the site of which content makes clear whether they
are right: the share of right ones among pairs that differ so much, which can only fall
as the difference grows.

Source: isotonic regression as calibration, Zadrozny & Elkan (2002), "Transforming
classifier scores into accurate multiclass probability estimates", section 3. Adjacent
violators are pooled here, since importing scipy's optimizers, which can do it too,
takes as long as reading 200 pages.

In: strand.dp, strand.p, lengths.difference, numbers.cosine and avsim.difference of
pairs.  Out: isotonic.markup, .chunks, .length, .numbers and .blocks, in nats: above 0
for a difference that right pairs have, below for one that others have; 0 where too few
pairs are known, or none has been compared block by block.
See also: `adaptation`, which moves the weights of features by the same pairs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_SOURCES = {
    "isotonic.markup": "strand.dp",
    "isotonic.chunks": "strand.p",
    "isotonic.length": "lengths.difference",
    "isotonic.numbers": "numbers.cosine",
    "isotonic.blocks": "avsim.difference",
}
_LIKENESS = ("numbers.cosine",)  # falls as a difference grows; never absent
_MIN_KNOWN = 20  # right pairs, and wrong ones; fewer tell no share of one in twenty


@dataclass(frozen=True, slots=True, eq=False)
class SiteDifferences:
    """The evidence of differences, as the known pairs of a site show it."""

    # of each feature the upper bounds of ranges of a difference, and the nats of each
    steps: Mapping[str, tuple[list[float], list[float]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, pairs: Sequence[Mapping[str, float]], right: Sequence[bool]
    ) -> SiteDifferences:
        """Learn from some pairs which of them are right; of few, nothing."""
        steps: dict[str, tuple[list[float], list[float]]] = {}
        if min(sum(right), len(right) - sum(right)) >= _MIN_KNOWN:
            for name, source in _SOURCES.items():
                if source not in pairs[0]:
                    continue
                values = np.array([_difference(pair, source) for pair in pairs])
                bounds, nats = evidence(values, np.array(right))
                steps[name] = bounds.tolist(), nats.tolist()
        return cls(steps)

    def features(self, pair: Mapping[str, float]) -> dict[str, float]:
        """The nats of a pair; of a difference that is absent the most they can be."""
        found = dict.fromkeys(_SOURCES, 0.0)
        for name, (bounds, nats) in self.steps.items():
            difference = _difference(pair, _SOURCES[name])
            place = bisect_left(bounds, difference - 1e-9)
            found[name] = nats[min(place, len(nats) - 1)]
        return found


def _difference(pair: Mapping[str, float], source: str) -> float:
    value = pair.get(source, 0.0)
    return 1 - value if source in _LIKENESS else value


def evidence(
    values: NDArray[np.float64], right: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(upper bounds of some ranges of values, log likelihood ratio of each).

    Each range counts as if seen once more with each answer: no ratio is infinite.

    >>> right = np.array([True, True, False, True, False])
    >>> bounds, nats = evidence(np.array([0.0, 0, 1, 2, 2]), right)
    >>> bounds.tolist(), nats.round(2).tolist()
    ([0.0, 2.0], [0.81, -0.69])
    """
    bounds, number = np.unique(values, return_inverse=True)
    seen = np.bincount(number)
    hits = np.bincount(number[right], minlength=len(seen))
    last, hits, seen = _falling(hits, seen)
    nats = np.log((hits + 1) / (hits.sum() + 1))
    nats -= np.log((seen - hits + 1) / ((seen - hits).sum() + 1))
    return bounds[last], nats


def _falling(
    hits: NDArray[np.intp], seen: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """(last place, hits, seen) of each range, so that the share of hits only falls.

    >>> last, hits, seen = _falling(np.array([2, 0, 1]), np.array([2, 1, 2]))
    >>> last.tolist(), hits.tolist(), seen.tolist()
    ([0, 2], [2, 1], [2, 3])
    """
    ranges: list[tuple[int, int, int]] = []
    for place, (hit, count) in enumerate(zip(hits.tolist(), seen.tolist())):
        while ranges and hit * ranges[-1][2] >= ranges[-1][1] * count:
            _, more, others = ranges.pop()
            hit, count = hit + more, count + others
        ranges.append((place, hit, count))
    last, pooled, counts = zip(*ranges)
    return np.array(last), np.array(pooled), np.array(counts)
