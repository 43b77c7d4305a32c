"""Adaptation: what a site's own pages teach of how much each feature means there.

On one site the markup of two versions is the same to the tag, on another every version
has its own template; on one translations are as long as their originals, on another
half as long. So the weights that came with the package are a prior: they move, from
site to site, to where they explain the pairs that content alone is sure of.

Source: maximum a posteriori adaptation of a logistic model, Chelba & Acero (2004),
"Adaptation of maximum entropy capitalizer", section 4. Only weights of features that
had no part in choosing these pairs are moved, as in co-training (Blum & Mitchell 1998);
each by a factor that is not negative, so that a feature can become meaningless but
never mean its opposite.

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


def adapt(
    logits: NDArray[np.float64], terms: NDArray[np.float64], right: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], float]:
    """(factor of each column of `terms`, change of the bias), by MAP.

    `logits`: of each pair, without the adapted features; `terms`: weight times value of
    each of these, one row a pair.
    """
    from scipy.optimize import minimize  # a tenth of a crawl's start

    def loss(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        factors, bias = x[:-1], x[-1]
        z = logits + terms @ factors + bias
        error = expit(z) - right
        pull = np.r_[(factors - 1) / _FACTOR_SPREAD**2, bias / _BIAS_SPREAD**2]
        value = np.logaddexp(0, np.where(right, -z, z)).sum()
        value += 0.5 * (pull * np.r_[factors - 1, bias]).sum()
        return float(value), np.r_[terms.T @ error, error.sum()] + pull

    start = np.r_[np.ones(terms.shape[1]), 0.0]
    bounds = [(0.0, None)] * terms.shape[1] + [(None, None)]
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return best[:-1], float(best[-1])
