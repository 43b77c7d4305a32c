"""Beads: runs of sentences that are translations of each other, and how many are right.

The score is that of Vecalign's `score.py` (Thompson & Koehn 2019, section 4.1).
Precision counts every bead that was found, those without a partner too; recall counts
the true beads that have text on both sides. Strict: exactly a true bead. Lax: one true
bead overlaps it on both sides.

In: files of beads, one a line: `[0, 1]:[0]`, sentences counted from 0.
See also: `dynamic` (finds beads).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from crawler.errors import ProfileError

Numbers = tuple[int, ...]
Pair = tuple[Numbers, Numbers]  # sentences of src, of trg; one of the two may be empty

_LINE = re.compile(r"\[([\d,\s]*)\]\s*:\s*\[([\d,\s]*)\]")


@dataclass(frozen=True, slots=True)
class Bead:
    """A run of sentences on each side; one of the two may be empty."""

    src: int  # first sentence
    trg: int
    size: tuple[int, int]

    @property
    def is_pair(self) -> bool:
        """Whether there are sentences on both sides."""
        return min(self.size) > 0

    def ends_before(self, node: tuple[int, int]) -> bool:
        """Whether it has no sentence after a node of the path."""
        return self.src + self.size[0] <= node[0] and self.trg + self.size[1] <= node[1]

    @property
    def pair(self) -> Pair:
        """The numbers of its sentences.

        >>> Bead(4, 2, (1, 2)).pair
        ((4,), (2, 3))
        """
        src, trg = self.size
        return (
            tuple(range(self.src, self.src + src)),
            tuple(range(self.trg, self.trg + trg)),
        )


def read_beads(path: Path) -> list[Pair]:
    """The beads of a file in its order, each once.

    What follows the second list of a line is ignored, and so is a bead without any
    sentence. A line that is no bead raises ProfileError.
    """
    beads: dict[Pair, None] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        found = _LINE.match(line.strip())
        if found is None:
            if line.strip():
                raise ProfileError(
                    f"{path}:{number}: {line[:60]!r} is not a bead (give [0, 1]:[0])"
                )
            continue
        src, trg = (
            tuple(int(n) for n in side.replace(",", " ").split())
            for side in found.groups()
        )
        if src or trg:
            beads[src, trg] = None
    return list(beads)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many beads that were found are right; what several texts give adds up."""

    found: int = 0
    strict: int = 0  # of those found
    lax: int = 0
    gold: int = 0  # true beads with text on both sides
    strict_gold: int = 0  # of those
    lax_gold: int = 0

    @classmethod
    def between(cls, gold: Collection[Pair], found: Collection[Pair]) -> Agreement:
        """Hold what was found against the truth."""
        pairs = [{pair for pair in beads if all(pair)} for beads in (gold, found)]
        return cls(
            len(found), *_hits(gold, found), len(pairs[0]), *_hits(pairs[1], pairs[0])
        )

    def __add__(self, other: Agreement) -> Agreement:
        """The counts of both."""
        return Agreement(
            *(
                getattr(self, field.name) + getattr(other, field.name)
                for field in fields(self)
            )
        )

    @property
    def figures(self) -> dict[str, float]:
        """Precision, recall and F1, strict and lax.

        >>> truth = [((0,), (0,)), ((1, 2), (1,))]
        >>> found = [((0,), (0,)), ((1,), (1,)), ((2,), ())]
        >>> for name, value in Agreement.between(truth, found).figures.items():
        ...     print(name, value)
        strict_precision 0.3333
        strict_recall 0.5
        strict_f1 0.4
        lax_precision 0.6667
        lax_recall 1.0
        lax_f1 0.8
        """
        result = {}
        for name, right, right_gold in (
            ("strict", self.strict, self.strict_gold),
            ("lax", self.lax, self.lax_gold),
        ):
            p, r = right / max(self.found, 1), right_gold / max(self.gold, 1)
            result[f"{name}_precision"] = round(p, 4)
            result[f"{name}_recall"] = round(r, 4)
            result[f"{name}_f1"] = round(2 * p * r / max(p + r, 1e-9), 4)
        return result


def _hits(truth: Iterable[Pair], asked: Iterable[Pair]) -> tuple[int, int]:
    """How many of `asked` are exactly in `truth`, and how many overlap with it."""
    exact = set(truth)
    partners: defaultdict[int, set[int]] = defaultdict(set)
    for src, trg in exact:
        for number in src:
            partners[number].update(trg)
    strict = lax = 0
    for bead in asked:
        src, trg = bead
        strict += bead in exact
        lax += bead in exact or any(
            not partners[number].isdisjoint(trg) for number in src if number in partners
        )
    return strict, lax
