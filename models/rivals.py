"""P(parallel) of two URLs, given all others that either could be paired with.

A pair model looks at two URLs alone. But a page has one translation: among ten
candidates 0.3 is much if all others have 0.01, and little if another one has 0.9. What
decides is how far a pair is ahead of its rivals, the best other candidate of either of
its URLs, in nats of log odds. Of two that are level at most one is right, so half is
what a pair has that is ahead of nobody.

Not in the papers. Fitted on dev by `python -m training.rivals`. By the rule of
García-Romero et al. (2024), one to one at 0.5 or more, the shipped pair model then
finds 71 % of WMT16's gold pairs, not 62 %; of what it finds 86 % are gold, not 97 %.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

MARGIN_CAP = 6.0  # nats: further ahead says nothing more
_MOST = 12.0  # nats: no model is surer than that
_SMALL = 1e-9


@dataclass(frozen=True, slots=True)
class RivalWeights:
    """A logistic function of a pair's margin before its rivals, in nats."""

    margin: float = 1.34


def among_rivals(
    pairs: Sequence[tuple[str, str]],
    probabilities: ArrayLike,
    weights: RivalWeights = RivalWeights(),
) -> list[float]:
    """The probability of each pair, given all pairs; (pairs,).

    `probabilities` are those that a pair model gives them. A pair whose two URLs have
    no other candidate has no rivals, and is judged as if it were far ahead.

    >>> pairs = [("/a/en", "/a/is"), ("/a/en", "/b/is"), ("/b/en", "/b/is")]
    >>> [round(p, 1) for p in among_rivals(pairs, [0.3, 0.01, 0.2])]
    [1.0, 0.0, 1.0]
    """
    scores = weights.margin * rival_margins(pairs, probabilities)
    found: list[float] = (1 / (1 + np.exp(-scores))).tolist()
    return found


def rival_margins(
    pairs: Sequence[tuple[str, str]], probabilities: ArrayLike
) -> NDArray[np.float64]:
    """(pairs,): the log odds of each pair less those of its best rival."""
    p = np.asarray(probabilities, float)
    odds = np.log((p + _SMALL) / (1 - p + _SMALL)).clip(-_MOST, _MOST)
    best: defaultdict[tuple[int, str], list[float]] = defaultdict(list)
    for pair, value in zip(pairs, odds.tolist()):
        for end in enumerate(pair):
            best[end] = sorted((*best[end], value), reverse=True)[:2]
    margins = [
        min(value - _rival(best[end], value) for end in enumerate(pair))
        for pair, value in zip(pairs, odds.tolist())
    ]
    return np.array(margins, float).clip(-MARGIN_CAP, MARGIN_CAP)


def _rival(best: Sequence[float], value: float) -> float:
    """The most that another candidate of a URL has, of its two best; -12 if none."""
    others = best[1:] if best[0] == value else best[:1]
    return others[0] if others else -_MOST
