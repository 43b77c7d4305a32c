"""Markup: a bead stays inside a block of each side; blocks of one kind go together.

What the aligned chunks of STRAND say of a page (Resnik & Smith 2003, section 2.1.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.sentences.costs.cost import BeadCosts, Matrix
from crawler.aligner.sentences.split import Side


@dataclass(frozen=True, slots=True)
class MarkupConfig:
    """What the blocks of a page say."""

    other_kind: float = 1.0  # nats for a heading beside a paragraph
    start: float = 1.0  # for a block's first sentence beside a later one
    end: float = 1.0  # for its last beside an earlier one


_KINDS = {
    **{f"h{level}": level for level in range(1, 7)},
    **dict.fromkeys(("li", "dt"), 7),
    **dict.fromkeys(("td", "th", "caption"), 8),
}


class MarkupCost:
    """A bead stays inside its blocks; blocks of one kind go together."""

    def __init__(self, config: MarkupConfig | None = None) -> None:
        self.config = config or MarkupConfig()

    def prepare(self, src: Side, trg: Side) -> BeadCosts:
        """From block numbers and tags alone."""
        return _Markup(self.config, src, trg)


@dataclass(frozen=True, slots=True, eq=False)
class _Markup:
    config: MarkupConfig
    src: Side
    trg: Side

    def matrix(self, a: int, b: int) -> Matrix:
        if not (a and b):
            return np.zeros(len(self.src if a else self.trg))
        src, trg = _Ends.of(self.src, a), _Ends.of(self.trg, b)
        cost: Matrix = (
            self.config.other_kind * (src.kind[:, None] != trg.kind)
            + self.config.start * (src.starts[:, None] != trg.starts)
            + self.config.end * (src.ends[:, None] != trg.ends)
        )
        cost[src.crosses] = np.inf
        cost[:, trg.crosses] = np.inf
        return cost


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Of each run of sentences: where it lies in its block."""

    kind: NDArray[np.int64]
    starts: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    crosses: NDArray[np.bool_]

    @classmethod
    def of(cls, side: Side, size: int) -> _Ends:
        first = np.arange(max(len(side) - size + 1, 0))
        last = first + size - 1
        change = side.blocks[1:] != side.blocks[:-1]
        edge = np.ones(1, bool)
        opens, closes = np.concatenate([edge, change]), np.concatenate([change, edge])
        kinds = np.array([_KINDS.get(tag, 0) for tag in side.tags], np.int64)
        return cls(
            kinds[first],
            opens[first],
            closes[last],
            side.blocks[first] != side.blocks[last],
        )
