"""Pages of one language that hold the same text, before the 1-1 step.

A site gives one text many addresses: print views, editions, English copies under every
language. Under a 1-1 rule they compete for one partner (Yandex at WMT16, section 5: 9
points of recall). So copies are clustered, one of them is paired, and the others are
named with it as its twins.

Copies are pages with the same words of main text in the same order. Of the pages that
compete for one partner, near-copies count too: by Jaccard's coefficient of 3-grams.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import xxhash
from numpy.typing import NDArray

from crawler.aligner.arrays import ngrams, unique
from crawler.data import PageFeatures
from crawler.unionfind import UnionFind

_NGRAM = 3
# Pages of fewer words are no copies for having the same: "Menu with a search box".
_MIN_WORDS = 15


@dataclass(frozen=True, slots=True)
class CopiesConfig:
    """The pages that are near-copies (`benchmarks.aligner_quality sensitivity`)."""

    as_near: float = 0.9  # of the best cosine: neighbours that may be copies
    # Of 3-grams. The pools count 0.8 as one page; here a wrong cluster loses a page.
    min_jaccard: float = 0.9


def text_digest(page: PageFeatures) -> bytes:
    """Equal for pages of the same words in the same order."""
    return xxhash.xxh3_128_digest(page.words.tobytes())


def join_copies(
    clusters: UnionFind[int],
    pages: Sequence[int],
    features: Callable[[int], PageFeatures],
) -> None:
    """Cluster the pages of one side that hold the same text."""
    first: dict[bytes, int] = {}
    for page in pages:
        text = features(page)
        if len(text.words) < _MIN_WORDS:
            continue
        known = first.setdefault(text_digest(text), page)
        if known != page:
            clusters.join(known, page)


def join_near_copies(
    clusters: UnionFind[int],
    pages: Sequence[int],
    grams: Callable[[int], NDArray[np.uint64]],
    min_jaccard: float,
) -> None:
    """Cluster the near-copies among pages that compete for one partner.

    `grams` gives the 3-grams of a page, see `trigrams`.
    """
    for a, b in combinations(sorted(pages), 2):
        apart = clusters.find(a) != clusters.find(b)
        if apart and jaccard(grams(a), grams(b)) >= min_jaccard:
            clusters.join(a, b)


def trigrams(page: PageFeatures) -> NDArray[np.uint64]:
    """The word 3-grams of a page as a sorted set of hashes."""
    return unique(ngrams(page.words.astype(np.uint64), _NGRAM))


def jaccard(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> float:
    """|a ∩ b| / |a ∪ b| of two sorted sets; 0 if both are empty."""
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / max(len(a) + len(b) - shared, 1)
