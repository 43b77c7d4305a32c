"""Content: the cosine of what two pages share, each term weighted by its rarity.

Uszkoreit et al. (2010), section 2.2: score = Σ idf(f)² over shared f, divided by the
product of the norms; no term frequencies (tf·idf and BM25 were worse there and here).
Without a bridge the terms are words as they stand: names, numbers, code, loan words
(`NgramScorer`). Over a bridge they are runs of words in one vocabulary, which see what
single words do not: their order (`BridgedNgramScorer`).

In: CandidatePair, boilerplate removed.  Out: ngrams.cosine; bridged.N of order N.
Differs from the paper: n-grams are not counted over the collection; one weighs as much
as its words do together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import ngrams, overlaps, places_in, unique
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.plugins import make
from crawler.config import Plugin
from crawler.data import CandidatePair, PageFeatures
from crawler.protocols import Bridge

_TINY = 1e-30  # of pages without a term that tells anything


@dataclass(frozen=True, slots=True, eq=False)
class NgramScorer:
    """Idf cosine of the words of two pages."""

    frequencies: Frequencies
    name: ClassVar[str] = "ngrams"

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The cosine of each pair."""
        words = {
            page: unique(page.words) for pair in pairs for page in (pair.src, pair.trg)
        }
        found = cosines(
            [words[pair.src] for pair in pairs],
            [words[pair.trg] for pair in pairs],
            self.frequencies,
        )
        return [{"ngrams.cosine": cosine} for cosine in found]


@dataclass(frozen=True, slots=True)
class BridgedNgramsConfig:
    """The n-grams that are compared."""

    bridge: Plugin = Plugin("word_for_word")
    orders: tuple[int, ...] = (2,)  # the paper scores 2-grams, Yandex (2016) 3-grams


@dataclass(frozen=True, eq=False)
class BridgedNgramScorer:
    """Cosine of the n-grams of two pages in one vocabulary."""

    lexicon: Lexicon
    frequencies: Frequencies
    config: BridgedNgramsConfig = field(default_factory=BridgedNgramsConfig)
    name: ClassVar[str] = "bridged"

    @cached_property
    def bridge(self) -> Bridge:
        """What brings pages into one vocabulary."""
        bridge: Bridge = make("bridge", self.config.bridge, lexicon=self.lexicon)
        return bridge

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The cosine of each pair, by order."""
        vectors = {
            page: self._vectors(page) for pair in pairs for page in (pair.src, pair.trg)
        }
        return [
            {
                f"bridged.{order}": _cosine(vectors[pair.src][n], vectors[pair.trg][n])
                for n, order in enumerate(self.config.orders)
            }
            for pair in pairs
        ]

    def _vectors(self, page: PageFeatures) -> list[_Vector]:
        """Of each order the n-grams of a page, and their weights."""
        terms = self.bridge.encode(page)
        total = np.r_[0.0, np.cumsum(self.frequencies.idf(page.words))]
        found = []
        for order in self.config.orders:
            grams, first = np.unique(ngrams(terms, order), return_index=True)
            found.append((grams, total[first + order] - total[first]))
        return found


# The n-grams of a page, sorted, and the weight of each.
_Vector = tuple[NDArray[np.uint64], NDArray[np.float64]]


def _cosine(one: _Vector, other: _Vector) -> float:
    places, shared = places_in(other[0], one[0])
    both = one[1][shared] @ other[1][places[shared]]
    return float(both / np.sqrt((one[1] @ one[1]) * (other[1] @ other[1]) + _TINY))


def cosines(
    one: Sequence[NDArray[np.uint32]],
    other: Sequence[NDArray[np.uint32]],
    frequencies: Frequencies,
) -> list[float]:
    """Idf cosine of each two sets of terms; 0 if they share none."""
    found = np.zeros(len(one))
    chosen = [n for n, pair in enumerate(zip(one, other)) if all(map(len, pair))]
    if chosen:
        a, b, both = overlaps(
            [one[n] for n in chosen],
            [other[n] for n in chosen],
            lambda ids: frequencies.idf(ids) ** 2,
        )
        found[chosen] = both / np.sqrt(a * b + _TINY)
    cosine: list[float] = found.tolist()
    return cosine
