"""Length: translations are about as long as each other.

Gale & Church (1993), section 3: the difference of lengths is a random variable whose
variance grows with the length. Theirs is normal; free translations are further off than
a normal variable of the same core would ever be, so here it has Student's distribution.
What a length says is weighed against the lengths that sentences of the text have anyhow
(Moore 2002, section 3.1), which a gamma distribution stands for: that a long sentence
finds one of its length says more than that a short one does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.costs.cost import Hints, Matrix, windows
from crawler.aligner.sentences.split import Side

_MAX_RATIO = 2.0  # of the lengths of two texts that are whole
_MAX_SURPRISE = 12.0  # nats: a page of one-word blocks has no tail to speak of


@dataclass(frozen=True, slots=True)
class LengthConfig:
    """Lengths as a cost; training/sentence_costs.py fits the numbers."""

    scale: float = 1.5  # of the difference, divided by the root of the mean length
    freedom: float = 5.6  # degrees of Student's distribution
    weight: float = 1.0


class LengthCost:
    """How improbable the lengths are, in nats, beside those of any sentences."""

    def __init__(self, config: LengthConfig | None = None) -> None:
        self.config = config or LengthConfig()

    def prepare(self, src: Side, trg: Side) -> Lengths:
        """From sizes alone; those of src are scaled to what is expected of trg."""
        ratio = trg.sizes.sum() / max(src.sizes.sum(), 1.0)
        # further from 1 than translations are, something is missing on one side
        ratio = min(max(ratio, 1 / _MAX_RATIO), _MAX_RATIO)
        mean = max(float(trg.sizes.mean()), 1.0) if len(trg) else 1.0
        variance = float(trg.sizes.var()) if len(trg) else 1.0
        # of few sentences the shape is a guess; prose has 1 to 6
        shape = min(max(mean * mean / max(variance, 1.0), 0.8), 6.0)
        return Lengths(
            self.config,
            (src.sizes * ratio).astype(np.float32),
            trg.sizes.astype(np.float32),
            mean,
            shape,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """The sizes of two sides, those of src scaled to trg's."""

    config: LengthConfig
    src: Matrix
    trg: Matrix
    mean: float  # of trg
    shape: float  # of the gamma distribution of trg's lengths

    def part(self, rows: slice, columns: slice) -> Lengths:
        """The sizes of some sentences."""
        return Lengths(
            self.config, self.src[rows], self.trg[columns], self.mean, self.shape
        )

    def grouped(self, src: Sequence[slice], trg: Sequence[slice]) -> Lengths:
        """The lengths of whole runs."""
        ours, theirs = (
            np.array([sizes[run].sum() for run in runs], np.float32)
            for sizes, runs in ((self.src, src), (self.trg, trg))
        )
        return Lengths(self.config, ours, theirs, self.mean, self.shape)

    def hints(self) -> Hints:
        """A length alone points nowhere."""
        return Hints.none()

    def learn(self, beads: Sequence[Bead]) -> Lengths:
        """Lengths have nothing to learn."""
        return self

    def matrix(self, a: int, b: int) -> Matrix:
        """-log of Student's density over that of the lengths of `b` sentences."""
        nu, scale = self.config.freedom, self.config.scale
        src, trg = windows(self.src, a)[:, None], windows(self.trg, b)[None, :]
        mean = np.maximum((src + trg) * np.float32(0.5), np.float32(1.0))
        # with δ² = (src - trg)² / mean: log(1 + δ² / ν s²) (ν + 1) / 2 + log(mean) / 2
        cost: Matrix = (src - trg) ** 2
        cost *= np.float32(1 / (nu * scale**2))
        cost += mean
        np.log(cost, out=cost)
        cost *= np.float32((nu + 1) / 2)
        cost -= np.log(mean, out=mean) * np.float32(nu / 2)
        usual = math.log(scale) + 0.5 * math.log(nu * math.pi)
        usual += float(gammaln(nu / 2) - gammaln((nu + 1) / 2))
        cost += np.maximum(self._log_density(trg, b), -_MAX_SURPRISE) + usual
        cost *= np.float32(self.config.weight)
        return cost

    def _log_density(self, length: Matrix, count: int) -> Matrix:
        """Of the length of `count` sentences of trg."""
        shape, rate = count * self.shape, self.shape / self.mean
        density: Matrix = (
            (shape - 1) * np.log(np.maximum(length, 1.0))
            - rate * length
            + np.float32(shape * math.log(rate) - gammaln(shape))
        )
        return density
