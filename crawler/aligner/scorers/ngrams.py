"""Content: the cosine of what two pages share, each term weighted by its rarity.

Uszkoreit et al. (2010), section 2.2: score = Σ idf(f)² over shared f, divided by the
product of the norms; no term frequencies (tf·idf and BM25 were worse there and here).
Without a bridge the terms are words as they stand: names, numbers, code, loan words.

In: CandidatePair, boilerplate removed.  Out: ngrams.cosine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import overlaps, unique
from crawler.aligner.frequencies import Frequencies
from crawler.data import CandidatePair

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
