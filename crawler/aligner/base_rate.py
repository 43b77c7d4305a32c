"""The base rate of a site: the share of its pages that have a translation there.

A model learns from pages of which a certain share has a partner, and its scores hold
where as many have one. On a site with five translations among 500 pages the best
candidate of a page is mostly wrong, however alike the two are; where all is translated
it is right. A site's share follows from its scores, by expectation maximisation.

Source: Saerens, Latinne & Decaestecker (2002), "Adjusting the outputs of a classifier
to new a priori probabilities", section 2.2.
In: the scores of the best candidates.  Out: the base rate, and scores that hold there.
See also: `site`, which asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence

_ROUNDS, _CLOSE = 50, 1e-4  # of expectation maximisation: it ends after five or ten
# More is not believed: pages that are left when the surest are paired have a partner
# less often than those. (With 0.85 a made-up site gets wrong pairs; benchmarks do not
# tell the two apart, and 0.65 loses pairs of messy sites.)
_MOST = 0.75


def base_rate(scores: Sequence[float], pages: int, fitted: float) -> float:
    """The share of some pages that have a partner, from 0 to 0.75.

    `scores` are those of their best candidates, at the base rate `fitted`; of pages
    without a score the best candidate is not worth one. A page more, of which nothing
    is known, keeps the share away from 0 and 1.

    >>> [round(base_rate([0.9] * pages, 100, 0.5), 2) for pages in (90, 40, 9)]
    [0.75, 0.33, 0.02]
    """
    rate = fitted
    for _ in range(_ROUNDS):
        before = rate
        found = sum(at_base_rate(score, rate, fitted) for score in scores)
        rate = (found + fitted) / (max(pages, len(scores)) + 1)
        if abs(rate - before) < _CLOSE:
            break
    return min(rate, _MOST)


def at_base_rate(score: float, rate: float, fitted: float) -> float:
    """A score at another base rate than the one at which it was `fitted`."""
    right = score * rate / fitted
    wrong = (1 - score) * (1 - rate) / (1 - fitted)
    return right / (right + wrong)
