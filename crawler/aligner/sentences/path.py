"""The cheapest monotone path of beads through two texts, inside of a band.

Gale & Church (1993), section 3.3: dynamic programming over beads, here of up to four
sentences on a side. Sentences without a partner come in runs, because a section is
missing as often as a sentence is: a run costs something to begin, and a little for each
sentence (the affine gaps of Gotoh 1982).

A band says for each sentence of src which sentences of trg are considered. Costs are
asked for in strips of the band, so time and memory grow with its area.

In: costs, priors, gaps, a band.  Out: beads in the order of the text.
See also: `band` (where the path may run), `dynamic` (which costs, how often).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.costs.cost import Matrix, Parts
from crawler.aligner.sentences.tokens import Places

Size = tuple[int, int]
Node = tuple[int, int]  # sentences of src and of trg that lie behind it
Priors = Mapping[Size, float]

LONGEST = 4  # sentences of a bead on a side

# Steps that lead to a node; below them the number of a bead's size.
_DOWN, _RIGHT = 30, 31
_SIZE = 31
_IS_RIGHT, _DOWN_GOES_ON, _RIGHT_GOES_ON = 32, 64, 128

_STRIP = 64  # rows whose costs are asked for at once


@dataclass(frozen=True, slots=True)
class Gaps:
    """What sentences without a partner cost, in nats."""

    begin: float  # of a run of them
    src: NDArray[np.float64]  # of each sentence
    trg: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Which nodes a path may pass: (i, j) for first[i] <= j <= last[i].

    Node (i, j) stands after i sentences of src and j of trg, so there are n + 1 rows;
    neither `first` nor `last` ever falls, and they begin at 0 and end at m.
    """

    first: Places
    last: Places

    @classmethod
    def whole(cls, rows: int, columns: int) -> Band:
        """Every node."""
        return cls(np.zeros(rows + 1, np.int64), np.full(rows + 1, columns))

    def through(self, nodes: Sequence[Node]) -> Band:
        """What remains if a path must pass these nodes, given in their order.

        A bead may still leap over a node: `costs.walls` forbids it.
        """
        end = len(self.first) - 1, int(self.last[-1])
        rows, columns = np.array([(0, 0), *nodes, end], np.int64).T
        row = np.arange(len(self.first))
        above = np.searchsorted(rows, row) - 1  # the last node above each row
        below = np.searchsorted(rows, row, side="right")
        least = np.where(above >= 0, columns[above], 0)
        most = columns[below.clip(max=len(columns) - 1)]
        first, last = self.first.clip(least, most), self.last.clip(least, most)
        # of the band itself nothing may be left but a gap where a node is
        np.minimum.at(first, rows, columns)
        np.maximum.at(last, rows, columns)
        last[:-1] = np.maximum(last[:-1], np.minimum(first[1:], most[:-1]))
        first[1:] = np.minimum(first[1:], np.maximum(last[:-1], least[1:]))
        return Band(first, last)

    def holds(self, rows: Places, columns: Places) -> NDArray[np.bool_]:
        """Which nodes are in the band."""
        inside: NDArray[np.bool_] = (self.first[rows] <= columns) & (
            columns <= self.last[rows]
        )
        return inside

    @property
    def area(self) -> int:
        """How many nodes it has."""
        return int((self.last - self.first + 1).sum())


def cheapest_path(
    costs: Sequence[Parts], priors: Priors, gaps: Gaps, band: Band
) -> tuple[list[Bead], float]:
    """The beads of the cheapest path, and what it costs."""
    sizes = [size for size, prior in priors.items() if prior > 0]
    search = _Search.begin(gaps, band, sizes)
    rows = len(gaps.src)
    for start in range(0, rows, _STRIP):
        search.strip(_Strip.of(costs, priors, band, start, min(start + _STRIP, rows)))
    return search.beads(), search.total


@dataclass(frozen=True, slots=True, eq=False)
class _Strip:
    """Costs of the beads that end in some rows; `table` (sizes, rows, columns)."""

    start: int  # the first row is that of node start + 1
    column: int  # node of the first column
    table: Matrix

    @classmethod
    def of(
        cls,
        costs: Sequence[Parts],
        priors: Priors,
        band: Band,
        start: int,
        end: int,
    ) -> _Strip:
        """Add up the costs of nodes start + 1 to end."""
        rows = slice(max(start - LONGEST + 1, 0), end)
        first, last = int(band.first[start]), int(band.last[end])
        columns = slice(max(first - LONGEST, 0), last)
        parts = [cost.part(rows, columns) for cost in costs]
        height, width = rows.stop - rows.start, last - columns.start
        sizes = [size for size, prior in priors.items() if prior > 0]
        table = np.full((len(sizes), height, width + 1), np.inf, np.float32)
        for (a, b), cell in zip(sizes, table):
            if a <= height and b <= width:
                here = cell[a - 1 :, b:]
                here[:] = -math.log(priors[a, b])
                for part in parts:
                    here += part.matrix(a, b)
        return cls(start, columns.start, table[:, start - rows.start :])


class _Search:
    """The state of the dynamic programme, row by row."""

    def __init__(
        self, gaps: Gaps, band: Band, sizes: Sequence[Size], right: NDArray[np.float64]
    ) -> None:
        self._gaps = gaps
        self._band = band
        self._sizes = sizes
        self._right = right
        columns = len(right)
        # least cost of the last rows, with a margin of nodes that are never reached
        self._rows = LONGEST + 1
        self._width = columns + LONGEST
        self._best = np.full((self._rows, self._width), np.inf)
        self._down = np.full(columns, np.inf)  # of paths that end in a run of src
        self._steps: list[NDArray[np.uint8]] = []
        self._back, self._shift = np.array(sizes, np.int64).T
        self._along = np.arange(columns)

    @classmethod
    def begin(cls, gaps: Gaps, band: Band, sizes: Sequence[Size]) -> Self:
        """Row 0: nothing, or a run of trg."""
        search = cls(gaps, band, sizes, np.concatenate([[0.0], np.cumsum(gaps.trg)]))
        last = int(band.last[0])
        row = search._right[: last + 1] + gaps.begin
        row[0] = 0.0
        search._best[0, LONGEST : LONGEST + last + 1] = row
        step = np.full(last + 1, _IS_RIGHT | _RIGHT_GOES_ON, np.uint8)
        step[:2] = _IS_RIGHT
        search._steps.append(step)
        return search

    def strip(self, strip: _Strip) -> None:
        """Go on through the rows of a strip."""
        for number in range(strip.table.shape[1]):
            i = strip.start + number + 1
            first, last = int(self._band.first[i]), int(self._band.last[i])
            columns = slice(first - strip.column, last + 1 - strip.column)
            self._row(i, first, last + 1, strip.table[:, number, columns])

    def _row(self, i: int, first: int, end: int, costs: Matrix) -> None:
        gaps = self._gaps
        width = end - first
        # beads: of each size the cost of the node that it begins at
        places = (i - self._back) % self._rows * self._width
        places += LONGEST + first - self._shift
        ways = self._best.take(places[:, None] + self._along[:width])
        ways += costs
        step = ways.argmin(axis=0)
        best = ways[step, self._along[:width]]
        step = step.astype(np.uint8)
        # a run of src
        above = self._best[(i - 1) % self._rows, LONGEST + first : LONGEST + end]
        begun = above + gaps.begin
        down = self._down[first:end]
        step[down < begun] |= _DOWN_GOES_ON
        np.minimum(down, begun, out=down)
        down += gaps.src[i - 1]
        is_down = down < best
        step[is_down] = step[is_down] & ~np.uint8(_SIZE) | _DOWN
        best[is_down] = down[is_down]
        # a run of trg: a running minimum of what it costs to begin one
        right = self._right[first:end]
        begun = best + (gaps.begin - right)
        going = np.minimum.accumulate(begun)
        step[2:][begun[1:-1] > going[:-2]] |= _RIGHT_GOES_ON
        run = going[:-1] + right[1:]
        is_right = run < best[1:]
        step[1:][is_right] |= _IS_RIGHT
        best[1:][is_right] = run[is_right]
        old = i - self._rows
        row = self._best[i % self._rows]
        if old >= 0:
            row[
                LONGEST + self._band.first[old] : LONGEST + self._band.last[old] + 1
            ] = np.inf
        row[LONGEST + first : LONGEST + end] = best
        self._steps.append(step)

    @property
    def total(self) -> float:
        """What the cheapest path costs."""
        return float(self._best[(len(self._steps) - 1) % self._rows, -1])

    def beads(self) -> list[Bead]:
        """The beads on the way back from the last node."""
        i, j = len(self._gaps.src), len(self._gaps.trg)
        found: list[Bead] = []
        run = 0  # the kind of the run that the path is in
        while i or j:
            step = int(self._steps[i][j - self._band.first[i]])
            if run == _RIGHT or (not run and step & _IS_RIGHT):
                run = _RIGHT if step & _RIGHT_GOES_ON else 0
                a, b = 0, 1
            elif run == _DOWN or step & _SIZE == _DOWN:
                run = _DOWN if step & _DOWN_GOES_ON else 0
                a, b = 1, 0
            else:
                a, b = self._sizes[step & _SIZE]
            i, j = i - a, j - b
            found.append(Bead(i, j, (a, b)))
        return found[::-1]
