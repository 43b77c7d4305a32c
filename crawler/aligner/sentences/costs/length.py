"""Length: translations are about as long as each other.

Gale & Church (1993), section 3: the difference of lengths is a normal variable whose
variance grows with the length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfc

from crawler.aligner.sentences.costs.cost import BeadCosts, Matrix, windows
from crawler.aligner.sentences.split import Side


@dataclass(frozen=True, slots=True)
class LengthConfig:
    """Gale & Church (1993)."""

    variance: float = 6.8  # section 3.1, of characters per character
    weight: float = 1.0


class LengthCost:
    """How improbable the lengths are: -log P(|δ|); the sides are of comparable size."""

    def __init__(self, config: LengthConfig | None = None) -> None:
        self.config = config or LengthConfig()

    def prepare(self, src: Side, trg: Side) -> BeadCosts:
        """From sizes alone."""
        return _Lengths(self.config, src.sizes, trg.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class _Lengths:
    config: LengthConfig
    src: Matrix
    trg: Matrix

    def matrix(self, a: int, b: int) -> Matrix:
        src = windows(self.src, a) if a else np.zeros(1)
        trg = windows(self.trg, b) if b else np.zeros(1)
        cost = self.config.weight * length_cost(
            src[:, None], trg[None, :], self.config.variance
        )
        return cost if a and b else cost.ravel()


def length_cost(src: Matrix, trg: Matrix, variance: float) -> Matrix:
    """-log of the probability that lengths differ by so much.

    `src` is scaled to the lengths expected of trg; δ as in Gale & Church's program,
    with the mean of both lengths.

    >>> length_cost(np.array([100.0]), np.array([100.0]), 6.8).round(2).tolist()
    [-0.0]
    """
    mean = np.maximum((src + trg) / 2, 1.0)
    delta = np.abs(src - trg) / np.sqrt(variance * mean)
    # 2 (1 - Φ(δ)) = erfc(δ / √2); beyond 1e-30 all differences are absurd alike
    cost: Matrix = -np.log(np.maximum(erfc(delta / np.sqrt(2)), 1e-30))
    return cost
