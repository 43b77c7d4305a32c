"""Gale & Church (1993) as published, the yardstick of sentence aligners.

Lengths alone: no words, no blocks, no runs of deletions. Section 3.1: the difference of
lengths is normal, with a variance of 6.8 times the length (as in their program, of the
mean of both sides); table 5: how often each bead occurs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc

from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.costs.cost import windows
from crawler.aligner.sentences.path import Band, Gaps, cheapest_path
from crawler.aligner.sentences.split import Side

Lengths = NDArray[np.float32]

PRIORS = {(1, 1): 0.89, (1, 2): 0.089, (2, 1): 0.089, (2, 2): 0.011}
DELETED = 0.0099
VARIANCE = 6.8


@dataclass(frozen=True)
class Published:
    """-log P(|δ|) of beads; sizes of src are scaled to those of trg."""

    src: Lengths
    trg: Lengths

    def part(self, rows: slice, columns: slice) -> Published:
        """The sizes of some sentences."""
        return Published(self.src[rows], self.trg[columns])

    def matrix(self, a: int, b: int) -> Lengths:
        """What each bead of a size costs."""
        return cost(windows(self.src, a)[:, None], windows(self.trg, b)[None, :])


def cost(src: Lengths, trg: Lengths) -> Lengths:
    mean = np.maximum((src + trg) / 2, 1.0)
    delta = np.abs(src - trg) / np.sqrt(VARIANCE * mean)
    # 2 (1 - Φ(δ)) = erfc(δ / √2); beyond 1e-30 all differences are absurd alike
    return -np.log(np.maximum(erfc(delta / np.sqrt(2)), 1e-30))


def gale_church(src: Side, trg: Side) -> list[Bead]:
    ratio = trg.sizes.sum() / max(src.sizes.sum(), 1.0)
    sizes = src.sizes * ratio, trg.sizes
    none = np.zeros(1)
    gaps = Gaps(0.0, *(cost(size, none) - math.log(DELETED) for size in sizes))
    lengths = Published(*(size.astype(np.float32) for size in sizes))
    band = Band.whole(len(src), len(trg))
    return cheapest_path([lengths], PRIORS, gaps, band)[0]
