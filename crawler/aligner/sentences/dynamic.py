"""The cheapest monotone path through two pages, and what lies off it.

Gale & Church (1993), section 3.3: dynamic programming over beads of sentences, here of
up to four on a side, with costs that are injected (see `costs`). Long pages are first
cut where a pair of sentences is beyond doubt, so the time grows with the length and not
with its square.

A page whose parts stand in another order has no monotone path through all of them. What
the path left over on both sides is compared block by block, and blocks that fit are
aligned inside, wherever they stand.

In: two Sides, costs.  Out: beads, each sentence in exactly one of them.
See also: `bridges.segments`, a coarser relative that feeds the lexicon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from crawler.aligner.sentences.anchors import AnchorsConfig, pieces
from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.costs.cost import BeadCosts, Cost, Matrix, total_cost
from crawler.aligner.sentences.split import Side

# Gale & Church (1993), table 5: how often each bead occurs.
PRIORS = {
    (1, 1): 0.89,
    (1, 0): 0.0099,
    (0, 1): 0.0099,
    (1, 2): 0.089,
    (2, 1): 0.089,
    (2, 2): 0.011,
}
_LONG = ((2, 2), (1, 3), (3, 1), (1, 4), (4, 1))

_MAX_RATIO = 2.0  # of the lengths of two pages that are whole
_MAX_REORDERED = 250_000  # pairs of blocks that are compared


@dataclass(frozen=True, slots=True)
class DynamicConfig:
    """How a path is searched."""

    # nats for a sentence without a partner, whatever its length; Gale & Church's 1 %
    # is 4.6, but whole paragraphs are missing from pages (en-de: F1 +0.1 to +0.6)
    skip: float = 3.2
    # How often two sentences stand for two, or three or four for one, where there are
    # words to go by; with Gale & Church's 1.1 % two pairs are taken for one bead too
    # often (en-de: strict F1 +0.7)
    long: float = 1e-4
    pieces: AnchorsConfig = field(default_factory=AnchorsConfig)
    reordered: float = 3.0  # nats that blocks off the path must gain to be paired


def align(
    src: Side, trg: Side, costs: Sequence[Cost], config: DynamicConfig | None = None
) -> list[Bead]:
    """Every sentence of both sides in one bead, by src, then trg."""
    config = config or DynamicConfig()
    src, trg = _comparable(src, trg)
    beads: list[Bead] = []
    for ends in pieces(src, trg, costs, config.pieces):
        beads += _piece(src, trg, costs, ends, config)
    return sorted(
        _with_reordered(src, trg, costs, beads, config),
        key=lambda bead: (bead.src, bead.trg, bead.size),
    )


def gale_church(src: Side, trg: Side, length: Cost) -> list[Bead]:
    """The path by lengths alone, as published: no blocks, no words, no reordering."""
    src, trg = _comparable(src, trg)
    return path(src, trg, [length.prepare(src, trg)], PRIORS, skip=None)


def _comparable(src: Side, trg: Side) -> tuple[Side, Side]:
    """The two sides with the sizes of src scaled to those expected of trg."""
    ratio = trg.sizes.sum() / max(src.sizes.sum(), 1.0)
    # further from 1 than translations are, something is missing on one side
    ratio = min(max(ratio, 1 / _MAX_RATIO), _MAX_RATIO)
    return replace(src, sizes=src.sizes * ratio), trg


def _piece(
    src: Side,
    trg: Side,
    costs: Sequence[Cost],
    ends: tuple[slice, slice],
    config: DynamicConfig,
) -> list[Bead]:
    """The path through a part of the pages."""
    rows, columns = ends
    part = src.take(rows), trg.take(columns)
    prepared = [cost.prepare(*part) for cost in costs] if all(map(len, part)) else []
    limits = [_longest_block(side) for side in part]
    priors = {
        size: prior
        for size, prior in (PRIORS | dict.fromkeys(_LONG, config.long)).items()
        if all(count <= limit for count, limit in zip(size, limits))
    }
    return [
        replace(bead, src=bead.src + rows.start, trg=bead.trg + columns.start)
        for bead in path(*part, prepared, priors, config.skip)
    ]


def _longest_block(side: Side) -> int:
    """How many sentences of one block follow each other: no bead is longer."""
    return int(np.bincount(side.blocks).max()) if len(side) else 0


# ------------------------------------------------------------------- the path


def path(
    src: Side,
    trg: Side,
    costs: Sequence[BeadCosts],
    priors: Mapping[tuple[int, int], float],
    skip: float | None,
) -> list[Bead]:
    """The cheapest monotone sequence of beads.

    `skip`: nats for a sentence without a partner; None: Gale & Church's prior and what
    the costs say of it.
    """
    n, m = len(src), len(trg)
    table = {
        (a, b): total_cost(costs, (a, b), prior)
        for (a, b), prior in priors.items()
        if 0 < a <= n and 0 < b <= m
    }
    skips = [
        np.full(count, skip)
        if skip is not None
        else total_cost(costs, size, PRIORS[size])
        for count, size in ((n, (1, 0)), (m, (0, 1)))
    ]
    return _backward(_forward(table, *skips), table, *skips)


def _forward(
    table: Mapping[tuple[int, int], Matrix], down: Matrix, right: Matrix
) -> Matrix:
    """The least cost of the first i and j sentences, (n + 1, m + 1)."""
    total = np.empty((len(down) + 1, len(right) + 1))
    skips = np.r_[0.0, np.cumsum(right)]
    total[0] = skips
    for i in range(1, len(total)):
        row = total[i - 1] + down[i - 1]
        for (a, b), cost in table.items():
            if a <= i:
                np.minimum(row[b:], total[i - a, :-b] + cost[i - a], out=row[b:])
        # any number of skips to the right: a running minimum
        total[i] = np.minimum.accumulate(row - skips) + skips
    return total


def _backward(
    total: Matrix,
    table: Mapping[tuple[int, int], Matrix],
    down: Matrix,
    right: Matrix,
) -> list[Bead]:
    """The beads on the way to the last cell."""
    beads = []
    i, j = len(down), len(right)
    while i or j:
        ways = [
            (total[i - a, j - b] + cost[i - a, j - b], a, b, cost[i - a, j - b])
            for (a, b), cost in table.items()
            if a <= i and b <= j
        ]
        if i:
            ways.append((total[i - 1, j] + down[i - 1], 1, 0, down[i - 1]))
        if j:
            ways.append((total[i, j - 1] + right[j - 1], 0, 1, right[j - 1]))
        _, a, b, cost = min(ways)
        i, j = i - a, j - b
        beads.append(Bead(i, j, (a, b), float(cost)))
    return beads[::-1]


# ------------------------------------------------------------------- other orders


def _with_reordered(
    src: Side,
    trg: Side,
    costs: Sequence[Cost],
    beads: Sequence[Bead],
    config: DynamicConfig,
) -> list[Bead]:
    """The beads, with blocks paired that the path left over on both sides."""
    rest = (
        _left(src, [b.src for b in beads if b.size == (1, 0)]),
        _left(trg, [b.trg for b in beads if b.size == (0, 1)]),
    )
    count = len(rest[0]) * len(rest[1])
    if not 0 < count <= _MAX_REORDERED:
        return list(beads)
    whole = [_as_sentences(side, runs) for side, runs in zip((src, trg), rest)]
    cost = total_cost([c.prepare(*whole) for c in costs], (1, 1), 1.0)
    rows, columns = np.arange(cost.shape[0]), np.arange(cost.shape[1])
    mutual = (cost.argmin(axis=1)[:, None] == columns) & (
        cost.argmin(axis=0)[None, :] == rows[:, None]
    )
    moved: list[Bead] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for i, j in np.argwhere(mutual & (cost <= -config.reordered)).tolist():
        ends = rest[0][i], rest[1][j]
        moved += _piece(src, trg, costs, ends, config)
        for side, run in zip(taken, ends):
            side.update(range(run.start, run.stop))
    stay = [
        bead
        for bead in beads
        if bead.is_pair
        or (bead.src not in taken[0] if bead.size[0] else bead.trg not in taken[1])
    ]
    return stay + moved


def _left(side: Side, left: Sequence[int]) -> list[slice]:
    """Runs of left-over sentences, each inside one block."""
    runs: list[slice] = []
    for number in sorted(left):
        last = runs[-1] if runs else None
        if (
            last
            and last.stop == number
            and side.blocks[number - 1] == side.blocks[number]
        ):
            runs[-1] = slice(last.start, number + 1)
        else:
            runs.append(slice(number, number + 1))
    return runs


def _as_sentences(side: Side, runs: Sequence[slice]) -> Side:
    """Each run as one sentence."""
    return Side(
        side.lang,
        tuple(" ".join(side.texts[run]) for run in runs),
        np.arange(len(runs), dtype=np.int32),
        tuple(side.tags[run.start] for run in runs),
        np.array([side.sizes[run].sum() for run in runs]),
    )
