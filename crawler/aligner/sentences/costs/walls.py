"""Walls: no bead has sentences of two texts that are aligned together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.sentences.costs.cost import Matrix
from crawler.aligner.sentences.path import Node


@dataclass(frozen=True, slots=True, eq=False)
class Walls:
    """To which text the sentences of both sides belong."""

    src: NDArray[np.int64]
    trg: NDArray[np.int64]

    @classmethod
    def at(cls, nodes: Sequence[Node], rows: int, columns: int) -> Walls:
        """Texts that begin at these nodes; so many sentences on either side."""
        ends = np.array(nodes, np.int64).reshape(-1, 2)
        return cls(
            np.searchsorted(ends[:, 0], np.arange(rows), side="right"),
            np.searchsorted(ends[:, 1], np.arange(columns), side="right"),
        )

    def part(self, rows: slice, columns: slice) -> Walls:
        """Those of some sentences."""
        return Walls(self.src[rows], self.trg[columns])

    def matrix(self, a: int, b: int) -> Matrix:
        """Infinite where a bead would cross a wall, else 0."""
        if self.src[0] == self.src[-1] == self.trg[0] == self.trg[-1]:
            return np.zeros((1, 1), np.float32)
        src, trg = self.src[: len(self.src) - a + 1], self.trg[: len(self.trg) - b + 1]
        cost = np.where(src[:, None] == trg, np.float32(0), np.float32(np.inf))
        cost[src != self.src[a - 1 :]] = np.inf
        cost[:, trg != self.trg[b - 1 :]] = np.inf
        return cost
