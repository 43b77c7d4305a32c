"""Content: the cosine of what two pages share, each term weighted by its rarity.

Uszkoreit et al. (2010), section 2.2: score = Σ idf(f)² over shared f, divided by the
product of the norms; no term frequencies (tf·idf and BM25 were worse there and here).
Without a bridge the terms are words as they stand: names, numbers, code, loan words.

In: CandidatePair, boilerplate removed.  Out: ngrams.cosine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import distinct, shared, side_by_side, totals
from crawler.aligner.frequencies import Frequencies
from crawler.data import CandidatePair

_TINY = 1e-30  # of pages without a term that tells anything


class NgramScorer:
    """Idf cosine of the words of two pages."""

    name: ClassVar[str] = "ngrams"

    def __init__(self, frequencies: Frequencies) -> None:
        self.frequencies = frequencies

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The cosine of each pair."""
        words = {
            page: distinct(page.words)
            for pair in pairs
            for page in (pair.src, pair.trg)
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

    def squares(ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        return frequencies.idf(ids) ** 2

    norms = np.full(len(one), _TINY)
    norms += np.prod(
        [totals(side_by_side(side), squares, len(one)) for side in (one, other)], axis=0
    )
    dot = totals(shared(one, other), squares, len(one))
    cosine: list[float] = (dot / np.sqrt(norms)).tolist()
    return cosine
