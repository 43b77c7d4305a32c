"""Where the path through two long texts may run: coarse to fine.

Two texts of a hundred thousand sentences have ten billion pairs of them. So the texts
are first cut into cells of equal length, and a path is looked for among these; then
among cells an eighth as long, but only where the coarser path, or one that is nearly as
good, has passed (Thompson & Koehn 2019, section 3.2, look along the best path only).
What remains at last is the band in which single sentences are compared. Time and memory
grow with the length of the texts.

Cells are alike where rare words stand that translate each other. Where nothing is alike
the band follows the lengths, and is wide.

In: sizes of sentences, hints.  Out: a Band.
See also: `path` (searches it), `costs.lexicon` (gives hints).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from crawler.aligner.sentences.costs.cost import Hints, Matrix
from crawler.aligner.sentences.path import Band
from crawler.aligner.sentences.tokens import Places


@dataclass(frozen=True, slots=True)
class BandConfig:
    """How a band is found."""

    area: int = 160_000  # nodes that are searched without looking first: 0.1 s
    cells: int = 800  # of the coarsest cells, the longer text: 0.1 s
    finer: int = 8  # cells of the next level in one
    finest: float = 2.0  # sentences in a cell of the last level
    gap: float = 1.5  # nats for a cell that has no partner
    slack: float = 15.0  # nats by which a path in the band may be worse than the best
    margin: int = 2  # cells around each that is in the band
    most: float = 6.0  # nats that two cells can be alike


def find_band(
    sizes: Sequence[NDArray[np.float64]], hints: Hints, config: BandConfig
) -> Band:
    """The band of two texts, given the sizes of their sentences."""
    rows, columns = (len(size) for size in sizes)
    if rows * columns <= config.area:
        return Band.whole(rows, columns)
    # the texts from 0 to 1: each sentence is where its middle is
    edges = [np.r_[0.0, np.cumsum(np.maximum(size, 1.0))] for size in sizes]
    edges = [edge / edge[-1] for edge in edges]
    middles = [(edge[1:] + edge[:-1]) / 2 for edge in edges]
    finest = max(int(max(rows, columns) / config.finest), 1)
    count = min(finest, config.cells)
    kept = Band.whole(count - 1, count - 1)
    while True:
        cells = _cells(middles, hints, count)
        inside = kept.holds(*cells)
        hints = hints.take(inside)
        alike = _alike([cell[inside] for cell in cells], hints, count, config)
        kept = _passed(alike, kept, config)
        if count == finest:
            break
        finer = min(count * config.finer, finest)
        kept = _refined(kept, count, finer)
        count = finer
    return _of_sentences(kept, count, edges)


def _cells(
    middles: Sequence[NDArray[np.float64]], hints: Hints, count: int
) -> list[Places]:
    """The cells of src and of trg that each hint points to."""
    points = middles[0][hints.src], middles[1][hints.trg]
    return [np.minimum((p * count).astype(np.int64), count - 1) for p in points]


def _alike(
    cells: Sequence[Places], hints: Hints, count: int, config: BandConfig
) -> csr_array:
    """How alike cells are, in nats: (count, count), sparse."""
    row, column = cells
    table = coo_array((hints.shared(), (row, column)), shape=(count, count)).tocsr()
    table.sum_duplicates()
    table.data = np.minimum(table.data, config.most)
    return table


def _passed(alike: csr_array, band: Band, config: BandConfig) -> Band:
    """The part of a band of cells that good paths pass, with a margin."""
    rows = []
    ends = alike.indptr.tolist()
    for i, (first, last) in enumerate(zip(band.first.tolist(), band.last.tolist())):
        columns = alike.indices[ends[i] : ends[i + 1]]
        inside = (columns >= first) & (columns <= last)
        row = np.zeros(last - first + 1)
        row[columns[inside] - first] = alike.data[ends[i] : ends[i + 1]][inside]
        rows.append(row)
    ahead = _totals(rows, band, config.gap)
    turned = Band((len(rows) - 1 - band.last)[::-1], (len(rows) - 1 - band.first)[::-1])
    back = _totals([row[::-1] for row in rows[::-1]], turned, config.gap)
    # a path through a cell: the best to it, the best from it, and the cell once
    through = [f + b[::-1] - row for f, b, row in zip(ahead, back[::-1], rows)]
    best = max(float(row.max()) for row in through)
    first, last = np.empty_like(band.first), np.empty_like(band.last)
    for i, row in enumerate(through):
        good = np.flatnonzero(row >= best - config.slack)
        first[i], last[i] = band.first[i] + good[0], band.first[i] + good[-1]
    return _monotone(
        _smallest(first, config.margin) - config.margin,
        -_smallest(-last, config.margin) + config.margin,
        len(rows) - 1,
    )


def _totals(rows: Sequence[Matrix], band: Band, gap: float) -> list[Matrix]:
    """The most that a path from the first cell to each cell is worth."""
    totals: list[Matrix] = []
    width = int(band.last[-1]) + 1
    before = np.full(width + 1, -np.inf)  # before[j + 1] is that of cell j
    before[0] = 0.0
    fall = gap * np.arange(width + 1)
    for i, row in enumerate(rows):
        first, last = int(band.first[i]), int(band.last[i])
        here = np.maximum(
            before[first : last + 1] + row, before[first + 1 : last + 2] - gap
        )
        if not i:
            here = np.maximum(here, row - fall[first : last + 1])
        slope = fall[first : last + 1]
        here = np.maximum.accumulate(here + slope) - slope
        before[: first + 1] = -np.inf
        before[first + 1 : last + 2] = here
        totals.append(here)
    return totals


def _smallest(values: Places, reach: int) -> Places:
    """The smallest of each value's neighbours up to `reach` away."""
    padded = np.pad(values, reach, mode="edge")
    smallest: Places = np.lib.stride_tricks.sliding_window_view(
        padded, 2 * reach + 1
    ).min(axis=1)
    return smallest


def _monotone(first: Places, last: Places, end: int) -> Band:
    """A band that holds all of these cells; its edges never fall, and it has no gap."""
    first = np.minimum.accumulate(first[::-1])[::-1].clip(0, end)
    last = np.maximum.accumulate(last).clip(0, end)
    first[0], last[-1] = 0, end
    last[:-1] = np.maximum(last[:-1], first[1:])
    return Band(first, last)


def _refined(band: Band, count: int, finer: int) -> Band:
    """The same band in finer cells."""
    cells = np.arange(finer) * count // finer
    first, last = band.first[cells], band.last[cells]
    return _monotone(
        first * finer // count, -(-(last + 1) * finer // count) - 1, finer - 1
    )


def _of_sentences(band: Band, count: int, edges: Sequence[NDArray[np.float64]]) -> Band:
    """The band of nodes between sentences."""
    ours, theirs = edges
    cell = np.minimum((ours * count).astype(np.int64), count - 1)
    first = np.searchsorted(theirs, band.first[cell] / count, side="right") - 1
    last = np.searchsorted(theirs, (band.last[cell] + 1) / count)
    return _monotone(first, last, len(theirs) - 1)
