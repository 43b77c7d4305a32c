"""Costs of beads: what it costs to say that these sentences are translations.

A cost is prepared for two sides and then gives, for any bead size (a, b), a matrix: the
cost in nats of the bead that begins at sentence i of src and j of trg, infinite where
none is allowed. Costs add up; a bead without a partner, (1, 0) or (0, 1), costs a row.

See also: `dynamic` (adds them up), `quality` (what a bead is worth afterwards).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.sentences.split import Side

Matrix = NDArray[np.float64]


class BeadCosts(Protocol):
    """What beads between two sides cost."""

    def matrix(self, a: int, b: int) -> Matrix:
        """Shape (n - a + 1, m - b + 1) for a, b ≥ 1; (n,) for b = 0, (m,) for a = 0."""
        ...


class Cost(Protocol):
    """One reason why sentences belong together or do not."""

    def prepare(self, src: Side, trg: Side) -> BeadCosts:
        """The costs between two sides."""
        ...


def windows(values: Matrix, size: int, axis: int = 0) -> Matrix:
    """Sums over each `size` neighbours along an axis.

    >>> windows(np.array([1.0, 2, 4]), 2).tolist()
    [3.0, 6.0]
    """
    if size == 1:
        return values
    count = values.shape[axis] - size + 1
    if count <= 0:
        return np.empty([0 if k == axis else n for k, n in enumerate(values.shape)])
    if axis:
        return windows(values.T, size).T
    total = values[:count].copy()
    for k in range(1, size):
        total += values[k : k + count]
    return total


def total_cost(
    costs: Sequence[BeadCosts], size: tuple[int, int], prior: float
) -> Matrix:
    """What all costs say of the beads of a size, and how rare they are."""
    first, *others = (cost.matrix(*size) for cost in costs)
    total: Matrix = sum(others, start=first - math.log(prior))
    return total
