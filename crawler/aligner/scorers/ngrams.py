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

from crawler.aligner.frequencies import Frequencies
from crawler.aligner.words import distinct
from crawler.data import CandidatePair


class NgramScorer:
    """Idf cosine of the words of two pages."""

    name: ClassVar[str] = "ngrams"

    def __init__(self, frequencies: Frequencies) -> None:
        self.frequencies = frequencies

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The cosine of each pair."""
        return [
            {
                "ngrams.cosine": cosine(
                    distinct(pair.src.words), distinct(pair.trg.words), self.frequencies
                )
            }
            for pair in pairs
        ]


def cosine(
    a: NDArray[np.uint32], b: NDArray[np.uint32], frequencies: Frequencies
) -> float:
    """Idf cosine of two sorted sets of terms; 0 if they share none."""
    shared = frequencies.idf(np.intersect1d(a, b, assume_unique=True))
    if not shared.any():
        return 0.0
    norms = np.linalg.norm(frequencies.idf(a)) * np.linalg.norm(frequencies.idf(b))
    return float(shared @ shared / norms)
