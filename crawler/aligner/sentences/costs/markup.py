"""Markup: a bead stays inside a block of each side; blocks of one kind go together.

What the aligned chunks of STRAND say of a page (Resnik & Smith 2003, section 2.1.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.costs.cost import Hints, Matrix
from crawler.aligner.sentences.split import Side


@dataclass(frozen=True, slots=True)
class MarkupConfig:
    """What the blocks of a page say, in nats."""

    other_kind: float = 1.5  # for a heading beside a paragraph
    start: float = 1.5  # for a block's first sentence beside a later one
    end: float = 1.0  # for its last beside an earlier one


_KINDS = {
    **{f"h{level}": level for level in range(1, 7)},
    **dict.fromkeys(("li", "dt"), 7),
    **dict.fromkeys(("td", "th", "caption"), 8),
    "hr": 9,
}
_MARK = 9  # what is no sentence goes with its like, or with nothing


class MarkupCost:
    """A bead stays inside its blocks; blocks of one kind go together."""

    def __init__(self, config: MarkupConfig | None = None) -> None:
        self.config = config or MarkupConfig()

    def prepare(self, src: Side, trg: Side) -> Markup:
        """From block numbers and tags alone."""
        return Markup(self.config, Edges.of(src), Edges.of(trg))


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Where each sentence stands in its block."""

    kind: NDArray[np.int64]  # of the block
    block: NDArray[np.int32]
    is_first: NDArray[np.bool_]
    is_last: NDArray[np.bool_]

    @classmethod
    def of(cls, side: Side) -> Edges:
        """From the blocks of neighbours."""
        change = side.blocks[1:] != side.blocks[:-1]
        edge = np.ones(min(len(side), 1), bool)
        kinds = np.array([_KINDS.get(tag, 0) for tag in side.tags], np.int64)
        return cls(
            kinds,
            side.blocks,
            np.concatenate([edge, change]),
            np.concatenate([change, edge]),
        )

    def part(self, chosen: slice) -> Edges:
        """Those of some sentences."""
        return Edges(
            self.kind[chosen],
            self.block[chosen],
            self.is_first[chosen],
            self.is_last[chosen],
        )

    def runs(self, size: int) -> _Runs:
        """Those of every run of so many sentences."""
        first = slice(0, max(len(self.kind) - size + 1, 0))
        last = slice(size - 1, None)
        return _Runs(
            self.kind[first],
            self.is_first[first],
            self.is_last[last],
            self.block[first] != self.block[last],
        )

    def grouped(self, runs: Sequence[slice]) -> Edges:
        """Those of runs that lie inside of a block, each as one sentence."""
        first = np.array([run.start for run in runs], np.int64)
        last = np.array([run.stop - 1 for run in runs], np.int64)
        numbers = np.arange(len(runs), dtype=np.int32)
        return Edges(
            self.kind[first], numbers, self.is_first[first], self.is_last[last]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Markup:
    """The blocks of two sides."""

    config: MarkupConfig
    src: Edges
    trg: Edges

    def part(self, rows: slice, columns: slice) -> Markup:
        """The blocks of some sentences."""
        return Markup(self.config, self.src.part(rows), self.trg.part(columns))

    def grouped(self, src: Sequence[slice], trg: Sequence[slice]) -> Markup:
        """The blocks of runs."""
        return Markup(self.config, self.src.grouped(src), self.trg.grouped(trg))

    def hints(self) -> Hints:
        """Blocks alone point nowhere."""
        return Hints.none()

    def learn(self, beads: Sequence[Bead]) -> Markup:
        """Markup has nothing to learn."""
        return self

    @property
    def _is_plain(self) -> bool:
        """Whether both parts lie inside of a block, and the blocks are of one kind."""
        src, trg = self.src, self.trg
        edges = src.is_first, src.is_last, trg.is_first, trg.is_last
        return bool(
            not any(edge.any() for edge in edges)
            and (src.kind[:1] == trg.kind[:1]).all()
        )

    def matrix(self, a: int, b: int) -> Matrix:
        """Infinite where a bead would leave its block."""
        if self._is_plain:
            return np.zeros((1, 1), np.float32)
        src, trg, config = self.src.runs(a), self.trg.runs(b), self.config
        cost = np.zeros((len(src.kind), len(trg.kind)), np.float32)
        for ours, theirs, nats in (
            (src.kind, trg.kind, config.other_kind),
            (src.is_first, trg.is_first, config.start),
            (src.is_last, trg.is_last, config.end),
        ):
            cost += (ours[:, None] != theirs) * np.float32(nats)
        marks = src.kind == _MARK, trg.kind == _MARK
        if marks[0].any() or marks[1].any():
            cost[marks[0][:, None] != marks[1]] = np.inf
        cost[src.crosses] = np.inf
        cost[:, trg.crosses] = np.inf
        return cost


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Runs of sentences of one size."""

    kind: NDArray[np.int64]
    is_first: NDArray[np.bool_]
    is_last: NDArray[np.bool_]
    crosses: NDArray[np.bool_]  # whether a run leaves its block
