"""Lengths: how well the lengths of two pages, and the numbers in them, agree.

In: CandidatePair, boilerplate removed.  Out: lengths.difference, the distance of the
log length ratio from what is usual; numbers.cosine, over the numbers alone, each
weighted by its rarity.
Source: Resnik & Smith (2003), section 2.1.2, for the lengths; numbers are the cheapest
words that need no translation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crawler.aligner.arrays import unique
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.scorers.ngrams import cosines
from crawler.data import CandidatePair, PageFeatures


@dataclass(frozen=True, slots=True, eq=False)
class LengthScorer:
    """Agreement of lengths and numbers."""

    frequencies: Frequencies
    usual: float = 0.0  # the log length ratio (src over trg) of translations here
    name: ClassVar[str] = "lengths"

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """Both features of each pair."""
        return [
            {
                "lengths.difference": abs(log_ratio(pair.src, pair.trg) - self.usual),
                "numbers.cosine": cosine,
            }
            for pair, cosine in zip(pairs, self._numbers(pairs))
        ]

    def _numbers(self, pairs: Sequence[CandidatePair]) -> list[float]:
        numbers = {
            page: _numbers(page) for pair in pairs for page in (pair.src, pair.trg)
        }
        src = [numbers[pair.src] for pair in pairs]
        trg = [numbers[pair.trg] for pair in pairs]
        # without any they say nothing
        return [
            cosine if len(a) or len(b) else 0.5
            for a, b, cosine in zip(src, trg, cosines(src, trg, self.frequencies))
        ]


def log_ratio(src: PageFeatures, trg: PageFeatures) -> float:
    """Log of the ratio of main text lengths."""
    return math.log((src.size + 1) / (trg.size + 1))


def _numbers(page: PageFeatures) -> np.ndarray:
    return unique(page.words[page.words & 1 == 1])
