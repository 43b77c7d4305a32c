"""What a crawl believes of a site, learned by counting.

Every rate is a count with a prior, and the prior of a fine section is the rate of the
coarser one that holds it: a folder that nobody has tried is as good as its parent, ten
downloads later it is what it has shown. (A hierarchical Beta prior, by its means; what
a section has shown itself is left out of what the coarser one says of it.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from typing import Any


class Rates:
    """Successes out of trials along a chain of sections, coarse to fine."""

    def __init__(self, strength: float, most: float = math.inf) -> None:
        """`strength`: how many trials the coarser section's rate counts for.

        `most`: how many trials a section may weigh where a finer one is asked for; a
        thousand bad pages of one folder say little of the folder beside it.
        """
        self.strength = strength
        self.most = most
        self._counts: dict[str, list[float]] = {}  # section → [successes, trials]

    def rate(self, chain: Sequence[str], prior: float) -> float:
        """The expected success of one more trial in the last section of the chain."""
        strength = self.strength
        for successes, trials in self._along(chain):
            prior = (successes + strength * prior) / (trials + strength)
        return prior

    def _along(self, chain: Sequence[str]) -> Iterator[tuple[float, float]]:
        """What each section has shown beside the finer one that comes next."""
        fine = (0.0, 0.0)
        own = []
        for section in reversed(chain):
            counts = self._counts.get(section)
            if counts is not None:
                successes, trials = counts[0] - fine[0], counts[1] - fine[1]
                if trials > self.most and section is not chain[-1]:
                    successes, trials = successes * self.most / trials, self.most
                own.append((successes, trials))
                fine = counts[0], counts[1]
        return reversed(own)

    def add(self, chain: Sequence[str], success: float, trials: float = 1.0) -> None:
        """Count a trial (or, with `trials=0`, only its late success)."""
        for section in chain:
            counts = self._counts.setdefault(section, [0.0, 0.0])
            counts[0] += success
            counts[1] += trials

    def forget(self, most: int) -> None:
        """Keep so many sections: those with the most trials."""
        if len(self._counts) > most:
            self._counts = dict(
                nlargest(most, self._counts.items(), key=lambda item: item[1][1])
            )

    def state(self) -> dict[str, tuple[float, ...]]:
        """The counts as they are now, as plain data."""
        return {section: tuple(counts) for section, counts in self._counts.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take counts from `state()`."""
        self._counts = {key: [float(v) for v in value] for key, value in state.items()}


LangOdds = tuple[float, float, float]  # a value for src, for trg, for everything else
UNDECIDED: LangOdds = (1 / 3, 1 / 3, 1 / 3)


@lru_cache
def certain(outcome: int, share: float) -> LangOdds:
    """`share` for one outcome, the rest for the two others.

    >>> certain(1, 0.5)
    (0.25, 0.5, 0.25)
    """
    rest = (1.0 - share) / 2
    src, trg, other = (share if k == outcome else rest for k in range(3))
    return src, trg, other


class Shares:
    """Which of three outcomes the pages of a section turn out to have.

    The outcomes are the two languages of the pair, and everything else.
    """

    def __init__(self, strength: float) -> None:
        """`strength` as for Rates."""
        self.strength = strength
        self._counts: dict[str, list[float]] = {}

    def distribution(
        self, chain: Sequence[str], prior: LangOdds, *, most: float = math.inf
    ) -> LangOdds:
        """The expected outcome of one more page in the last section of the chain.

        What was fetched was chosen, so it is no fair sample of what is left: `most`
        is how many pages a section's counts may weigh.
        """
        for a, b, c in self._along(chain):
            pages = a + b + c
            weight = min(1.0, most / pages) if pages else 0.0
            total = weight * pages + self.strength
            prior = (
                (weight * a + self.strength * prior[0]) / total,
                (weight * b + self.strength * prior[1]) / total,
                (weight * c + self.strength * prior[2]) / total,
            )
        return prior

    def _along(self, chain: Sequence[str]) -> Iterator[LangOdds]:
        """What each section has shown beside the finer one that comes next."""
        fine = (0.0, 0.0, 0.0)
        own: list[LangOdds] = []
        for section in reversed(chain):
            counts = self._counts.get(section)
            if counts is not None:
                a, b, c = counts
                own.append((a - fine[0], b - fine[1], c - fine[2]))
                fine = a, b, c
        return reversed(own)

    def add(self, chain: Sequence[str], outcome: int) -> None:
        """Count a page: 0 for src, 1 for trg, 2 for anything else."""
        for section in chain:
            self._counts.setdefault(section, [0.0, 0.0, 0.0])[outcome] += 1.0

    def forget(self, most: int) -> None:
        """Keep so many sections: those with the most pages."""
        if len(self._counts) > most:
            self._counts = dict(
                nlargest(most, self._counts.items(), key=lambda item: sum(item[1]))
            )

    def state(self) -> dict[str, tuple[float, ...]]:
        """The counts as they are now, as plain data."""
        return {section: tuple(counts) for section, counts in self._counts.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take counts from `state()`."""
        self._counts = {key: [float(v) for v in value] for key, value in state.items()}


class EvidenceSource:
    """Something that says a URL's language and may be wrong: how far to trust it here.

    The likelihood of what it says, given each outcome, is counted per site, so a
    source that is always wrong on a site is as good as one that is always right, and
    one that says the same of everything counts for nothing.
    """

    def __init__(self, strength: float, right: float) -> None:
        """`right`: how often it is expected to be right; `strength` as for Rates."""
        hit, miss = strength * right, strength * ((1.0 - right) / 2)
        # [outcome][said]
        self._counts = [[hit, miss, miss], [miss, hit, miss], [miss, miss, hit]]

    def likelihood(self, said: LangOdds) -> LangOdds:
        """P(what it says | outcome), for each outcome; `said` may be uncertain."""
        x, y, z = said
        (a, b, c), (d, e, f), (g, h, i) = self._counts
        return (
            (a * x + b * y + c * z) / (a + b + c),
            (d * x + e * y + f * z) / (d + e + f),
            (g * x + h * y + i * z) / (g + h + i),
        )

    def add(self, outcome: int, said: LangOdds) -> None:
        """Count what it said of a page that turned out so."""
        for number, weight in enumerate(said):
            self._counts[outcome][number] += weight

    def state(self) -> list[list[float]]:
        """The counts as they are now, as plain data."""
        return [list(counts) for counts in self._counts]

    def restore(self, state: Sequence[Sequence[float]]) -> None:
        """Take counts from `state()`."""
        self._counts = [[float(value) for value in counts] for counts in state]
