"""Adaptation: what a site's own pages teach of how much each feature means there.

On one site the markup of two versions is the same to the tag, on another every version
has its own template; on one translations are as long as their originals, on another
half as long. So the weights that came with the package are a prior: they move, from
site to site, to where they explain the pairs that content alone is sure of.

Source: maximum a posteriori adaptation of a logistic model, Chelba & Acero (2004),
"Adaptation of maximum entropy capitalizer", section 4. Only weights of features that
had no part in choosing these pairs are moved, as in co-training (Blum & Mitchell 1998);
each by a factor that is not negative, so that a feature can become meaningless but
never mean its opposite. Found by a projected Newton method, Bertsekas (1982),
"Projected Newton methods for optimization problems with simple constraints": half a
dozen steps, where importing scipy's optimizers takes as long as reading 200 pages.

In: features of pairs that content is sure of, right and wrong ones.  Out: a factor for
each feature, and a change of the bias.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

# Every feature that is no measure of shared content.
ADAPTED = (
    "strand.dp",
    "strand.r",
    "lengths.difference",
    "overlap.outlinks",
    "overlap.images",
)
_FACTOR_SPREAD = 0.5  # of the normal prior of a factor, around 1
_BIAS_SPREAD = 1.0
# Five steps are usual, and 21 were the most of 1,500 made-up sites. A slope of less
# than this for each pair moves no score that is looked at; a step that does not help
# is halved.
_MAX_STEPS, _FLAT = 50, 1e-9
_SHARES = 0.5 ** np.arange(20)


def adapt(
    logits: NDArray[np.float64], terms: NDArray[np.float64], right: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], float]:
    """(factor of each column of `terms`, change of the bias), by MAP.

    `logits`: of each pair, without the adapted features; `terms`: weight times value of
    each of these, one row a pair.
    """
    rows = np.c_[terms, np.ones(len(terms))]
    usual = np.r_[np.ones(terms.shape[1]), 0.0]
    spreads = np.r_[np.full(terms.shape[1], _FACTOR_SPREAD), _BIAS_SPREAD]
    least = np.r_[np.zeros(terms.shape[1]), -np.inf]

    def loss(x: NDArray[np.float64]) -> float:
        z = logits + rows @ x
        misfit = np.logaddexp(0, np.where(right, -z, z)).sum()
        return float(misfit + 0.5 * (((x - usual) / spreads) ** 2).sum())

    x, value = usual, loss(usual)
    for _ in range(_MAX_STEPS):
        p = expit(logits + rows @ x)
        slope = rows.T @ (p - right) + (x - usual) / spreads**2
        free = (x > least) | (slope < 0)  # the others stay where they are bound
        if np.abs(slope[free]).max() < _FLAT * len(rows):
            break
        bend = (rows.T * (p * (1 - p))) @ rows + np.diag(1 / spreads**2)
        step = np.zeros(len(x))
        step[free] = np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        for share in _SHARES:
            new = np.maximum(x - share * step, least)
            lower = loss(new)
            if lower < value:
                break
        else:  # as low as numbers can tell
            break
        x, value = new, lower
    return x[:-1], float(x[-1])
