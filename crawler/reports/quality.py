"""Precision and recall of pairs against known true pairs.

A page may have several addresses, and a pair says so (its twins): it is right when any
address of the one page and any of the other are a true pair.
"""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from crawler.data import LangPair, PairScore
from crawler.errors import RunDirError
from crawler.languages import known_code


@dataclass(frozen=True, slots=True)
class Gold:
    """True pairs, src first, and which addresses are one page."""

    pairs: frozenset[tuple[str, str]]
    canonical: Mapping[str, str] = field(default_factory=dict)

    def within(self, urls: Collection[str]) -> Gold:
        """Only the pairs of which both pages are among these URLs."""
        kept = {self.canonical.get(url, url) for url in urls}
        pairs = frozenset(p for p in self.pairs if p[0] in kept and p[1] in kept)
        return Gold(pairs, self.canonical)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The quality of a list of pairs."""

    found: int
    right: int  # of those found
    hit: int  # true pairs that were found, by whatever address
    gold: int
    wrong: tuple[PairScore, ...]
    missed: tuple[tuple[str, str], ...]

    @property
    def precision(self) -> float:
        """Share of the found pairs that are right."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Share of the true pairs that were found."""
        return self.hit / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def __str__(self) -> str:
        return (
            f"{self.found} pairs found, {self.gold} true:"
            f" precision {self.precision:.3f}, recall {self.recall:.3f}"
        )


def read_gold(path: Path, langs: LangPair, aliases: Path | None = None) -> Gold:
    """The true pairs of a language pair, from tab-separated text with a header.

    Columns `url_a lang_a url_b lang_b`, in any order and among others; regional
    variants count as the language. `aliases`: columns `url canonical_url`.
    """
    pairs = set()
    for row in read_rows(path):
        ends = {known_code(row["lang_a"]): row["url_a"]}
        ends[known_code(row["lang_b"])] = row["url_b"]
        if set(ends) == set(langs):
            pairs.add((ends[langs.src], ends[langs.trg]))
    canonical = (
        {row["url"]: row["canonical_url"] for row in read_rows(aliases)}
        if aliases
        else {}
    )
    return Gold(frozenset(pairs), canonical)


def judge_pairs(pairs: Iterable[PairScore], gold: Gold) -> Judgement:
    """Compare accepted pairs with the true ones."""
    found = right = 0
    hit: set[tuple[str, str]] = set()
    wrong: list[PairScore] = []
    for pair in pairs:
        found += 1
        sides = [
            {gold.canonical.get(url, url) for url in urls}
            for urls in (
                (pair.src_url, *pair.src_twins),
                (pair.trg_url, *pair.trg_twins),
            )
        ]
        true = gold.pairs.intersection(product(*sides))
        right += bool(true)
        hit |= true
        if not true:
            wrong.append(pair)
    missed = tuple(sorted(gold.pairs - hit))
    return Judgement(found, right, len(hit), len(gold.pairs), tuple(wrong), missed)


def read_rows(path: Path) -> Iterable[dict[str, str]]:
    """The rows of a tab-separated file with a header, gzipped or not.

    Raises RunDirError when it cannot be read.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            header, *lines = file.read().splitlines()
    except (OSError, ValueError) as error:
        raise RunDirError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
            " (true pairs are tab-separated text: url_a lang_a url_b lang_b)"
        ) from error
    names = header.split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines]
