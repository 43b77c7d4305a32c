"""Align, learn, align again: which sentences of two texts belong together.

The cheapest path of beads (`path`) is found by lengths and by words that look alike.
Its beads teach which words translate which, and the path is found again with these
words, twice at most (Moore 2002; Varga et al. 2005, whose hunalign does it once).

A page whose parts stand in another order has no monotone path through all of them. What
the path left over on both sides is compared block by block, and blocks that fit are
aligned inside, wherever they stand.

In: two Sides, costs.  Out: beads, each sentence in exactly one of them.
See also: `bridges.segments`, a coarser relative that feeds the site's lexicon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from crawler.aligner.sentences.band import BandConfig, find_band
from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.costs.cost import (
    BeadCosts,
    Cost,
    Hints,
    PartCosts,
    Parts,
)
from crawler.aligner.sentences.costs.walls import Walls
from crawler.aligner.sentences.path import (
    LONGEST,
    Band,
    Gaps,
    Node,
    Priors,
    Size,
    cheapest_path,
)
from crawler.aligner.sentences.split import Side

_MAX_REORDERED = 250_000  # pairs of blocks that are compared


@dataclass(frozen=True, slots=True)
class PathConfig:
    """What a path costs beside its beads; training/sentence_costs.py fits the numbers.

    The shares of beads are divided evenly among the sizes of a kind; what they leave is
    the share of 1-1.
    """

    two: float = 0.1  # 2-1, 1-2
    crossed: float = 0.017  # 2-2
    three: float = 0.02  # 3-1, 1-3
    three_two: float = 0.006  # 3-2, 2-3
    four: float = 0.012  # 4-1 to 4-4
    # nats: for a run of sentences without a partner, for each of them, and for each of
    # their characters
    begin: float = 1.5
    each: float = 1.8
    character: float = 0.01
    rounds: int = 1  # of learning from the beads
    # Nats a sentence that a path gains if there is nothing to learn: of pages with the
    # lexicon of their site nine in ten gain more, without one hardly any.
    enough: float = 2.0
    reordered: float = 3.0  # nats that blocks off the path must gain to be paired
    band: BandConfig = field(default_factory=BandConfig)

    def priors(self, longest: tuple[int, int]) -> Priors:
        """The probability of each size of a bead, none longer than what a side has."""
        kinds: list[tuple[float, list[Size]]] = [
            (self.two, [(1, 2), (2, 1)]),
            (self.crossed, [(2, 2)]),
            (self.three, [(1, 3), (3, 1)]),
            (self.three_two, [(2, 3), (3, 2)]),
            (
                self.four,
                [(1, 4), (4, 1), (3, 3), (2, 4), (4, 2), (3, 4), (4, 3), (4, 4)],
            ),
        ]
        priors = {(1, 1): 1.0 - sum(share for share, _ in kinds)}
        for share, sizes in kinds:
            priors |= dict.fromkeys(sizes, share / len(sizes))
        return {
            size: prior
            for size, prior in priors.items()
            if prior > 0 and all(n <= max(most, 1) for n, most in zip(size, longest))
        }

    def gaps(self, src: Side, trg: Side) -> Gaps:
        """What sentences without a partner cost."""
        return Gaps(
            self.begin,
            self.each + self.character * src.sizes,
            self.each + self.character * trg.sizes,
        )


# Texts without blocks: sentences are merged and split freely, and nothing is moved.
WHOLE_TEXTS = PathConfig(begin=3.0, rounds=2, enough=math.inf, reordered=math.inf)


def align(
    src: Side,
    trg: Side,
    costs: Sequence[Cost],
    config: PathConfig | None = None,
    walls: Sequence[Node] = (),
) -> list[Bead]:
    """Every sentence of both sides in one bead, by src, then trg.

    `walls`: nodes (sentences of src, of trg) that no bead may cross, where one text
    ends and the next begins.
    """
    config = config or PathConfig()
    prepared = [cost.prepare(src, trg) for cost in costs]
    beads, total = _path(src, trg, prepared, config, walls)
    for _ in range(config.rounds):
        if -total >= config.enough * min(len(src), len(trg)):
            break
        taught = [cost.learn(beads) for cost in prepared]
        if all(new is old for new, old in zip(taught, prepared)):
            break
        again, cheaper = _path(src, trg, taught, config, walls)
        # the likelihood of the text decides whether what was learned is of use
        if cheaper >= total:
            break
        prepared, beads, total = taught, again, cheaper
    return sorted(
        _with_reordered(prepared, src, trg, beads, config),
        key=lambda bead: (bead.src, bead.trg, bead.size),
    )


def _path(
    src: Side,
    trg: Side,
    costs: Sequence[BeadCosts],
    config: PathConfig,
    walls: Sequence[Node],
) -> tuple[list[Bead], float]:
    """The cheapest path through two sides, and its cost."""
    hints = [cost.hints() for cost in costs] if len(src) * len(trg) else []
    band = find_band((src.sizes, trg.sizes), Hints.joined(hints), config.band)
    priors = config.priors((_longest_block(src), _longest_block(trg)))
    if not walls:
        return cheapest_path(costs, priors, config.gaps(src, trg), band)
    inside: list[Parts] = [*costs, Walls.at(walls, len(src), len(trg))]
    return cheapest_path(inside, priors, config.gaps(src, trg), band.through(walls))


def _longest_block(side: Side) -> int:
    """How many sentences of one block follow each other: no bead is longer."""
    if not len(side):
        return 0
    change = np.flatnonzero(np.diff(side.blocks)) + 1
    return min(int(np.diff(np.r_[0, change, len(side)]).max()), LONGEST)


# ------------------------------------------------------------------- other orders


def _with_reordered(
    costs: Sequence[BeadCosts],
    src: Side,
    trg: Side,
    beads: Sequence[Bead],
    config: PathConfig,
) -> list[Bead]:
    """The beads, with blocks paired that the path left over on both sides."""
    rest = (
        _left(src, [bead.src for bead in beads if bead.size == (1, 0)]),
        _left(trg, [bead.trg for bead in beads if bead.size == (0, 1)]),
    )
    count = len(rest[0]) * len(rest[1])
    if not 0 < count <= _MAX_REORDERED or config.reordered == math.inf:
        return list(beads)
    cost = np.zeros((len(rest[0]), len(rest[1])), np.float32)
    for part in costs:
        cost += part.grouped(*rest).matrix(1, 1)
    rows, columns = np.arange(len(rest[0])), np.arange(len(rest[1]))
    mutual = (cost.argmin(axis=1)[:, None] == columns) & (
        cost.argmin(axis=0)[None, :] == rows[:, None]
    )
    moved: list[Bead] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for i, j in np.argwhere(mutual & (cost <= -config.reordered)).tolist():
        ends = rest[0][i], rest[1][j]
        moved += _inside(costs, src, trg, ends, config)
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


def _inside(
    costs: Sequence[BeadCosts],
    src: Side,
    trg: Side,
    ends: tuple[slice, slice],
    config: PathConfig,
) -> list[Bead]:
    """The path through a part of the two sides."""
    rows, columns = ends
    part = src.take(rows), trg.take(columns)
    beads, _ = cheapest_path(
        [_Shifted(cost, rows.start, columns.start) for cost in costs],
        config.priors((_longest_block(part[0]), _longest_block(part[1]))),
        config.gaps(*part),
        Band.whole(len(part[0]), len(part[1])),
    )
    return [
        Bead(bead.src + rows.start, bead.trg + columns.start, bead.size)
        for bead in beads
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Shifted:
    """The costs of a part of two sides, counted from its first sentences."""

    costs: BeadCosts
    row: int
    column: int

    def part(self, rows: slice, columns: slice) -> PartCosts:
        return self.costs.part(
            slice(rows.start + self.row, rows.stop + self.row),
            slice(columns.start + self.column, columns.stop + self.column),
        )
