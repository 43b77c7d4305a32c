"""Costs of beads: how unlikely it is that these sentences are translations.

A cost is prepared for two sides. Of a part of the two it then gives, for any bead size
(a, b), a matrix: the nats by which the bead that begins at sentence i of src and j of
trg is less likely than the same sentences without a partner. Costs add up; infinite is
forbidden. What sentences without a partner cost is a matter of the path (`path.Gaps`).

See also: `path` (the cheapest sum), `quality` (what a bead is worth afterwards).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.split import Side

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Hints:
    """Pairs of sentences that may belong together, and by how many nats.

    A hint is a place of a clue, such as two words that translate each other, and of the
    places that a clue has in one sentence one at most is meant: `band` shares its nats
    among them.
    """

    src: NDArray[np.int64]
    trg: NDArray[np.int64]
    weight: NDArray[np.float64]
    clue: NDArray[np.int64]  # its number, so that hints of one clue are known

    def take(self, chosen: NDArray[np.bool_]) -> Hints:
        """Some of the hints."""
        return Hints(
            self.src[chosen], self.trg[chosen], self.weight[chosen], self.clue[chosen]
        )

    def shared(self) -> NDArray[np.float64]:
        """The nats of each hint, divided among those of its clue and sentence."""
        width = int(max(self.src.max(initial=0), self.trg.max(initial=0))) + 1
        rivals = np.ones(len(self.src))
        for side in (self.src, self.trg):
            _, number, counts = np.unique(
                self.clue * width + side, return_inverse=True, return_counts=True
            )
            rivals *= counts[number]
        shared: NDArray[np.float64] = self.weight / np.sqrt(rivals)
        return shared

    @classmethod
    def none(cls) -> Hints:
        """No pair."""
        empty = np.empty(0, np.int64)
        return cls(empty, empty, np.empty(0), empty)

    @classmethod
    def joined(cls, hints: Sequence[Hints]) -> Hints:
        """Those of several costs."""
        found = [cls.none(), *hints]
        clues = np.cumsum([0, *(hint.clue.max(initial=-1) + 1 for hint in found)])
        return cls(
            np.concatenate([hint.src for hint in found]),
            np.concatenate([hint.trg for hint in found]),
            np.concatenate([hint.weight for hint in found]),
            np.concatenate([hint.clue + first for hint, first in zip(found, clues)]),
        )


class PartCosts(Protocol):
    """What beads inside of a part of two sides cost."""

    def matrix(self, a: int, b: int) -> Matrix:
        """Shape (rows - a + 1, columns - b + 1), nats; a and b are 1 or more."""
        ...


class Parts(Protocol):
    """What beads between two texts cost, part by part."""

    def part(self, rows: slice, columns: slice) -> PartCosts:
        """The costs between some sentences of src and some of trg."""
        ...


class BeadCosts(Parts, Protocol):
    """What beads between two sides cost."""

    def grouped(self, src: Sequence[slice], trg: Sequence[slice]) -> PartCosts:
        """The costs between runs of sentences, each as if it were one sentence."""
        ...

    def hints(self) -> Hints:
        """Pairs of sentences to look at first in a long text."""
        ...

    def learn(self, beads: Sequence[Bead]) -> BeadCosts:
        """What the beads of a first path teach; itself if it learns nothing."""
        ...


class Cost(Protocol):
    """One reason why sentences belong together or do not."""

    def prepare(self, src: Side, trg: Side) -> BeadCosts:
        """The costs between two sides."""
        ...


def windows(values: Matrix, size: int, axis: int = 0) -> Matrix:
    """Sums over each `size` neighbours along an axis.

    >>> windows(np.array([1.0, 2, 4], np.float32), 2).tolist()
    [3.0, 6.0]
    """
    if size == 1:
        return values
    count = values.shape[axis] - size + 1
    if count <= 0:
        shape = [0 if k == axis else n for k, n in enumerate(values.shape)]
        return np.empty(shape, values.dtype)
    if axis:
        return windows(values.T, size).T
    total = values[:count].copy()
    for k in range(1, size):
        total += values[k : k + count]
    return total
