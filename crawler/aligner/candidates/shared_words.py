"""Shared words: pages near by words of both languages, as names, numbers and code.

Formula: Uszkoreit et al. (2010), section 2.2, on words instead of bigrams. All pages of
a side are compared with all of the other.
See also: `scorers.ngrams` (the same cosine of one pair), `translated_words` (through a
lexicon).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.arrays import places_in, unique
from crawler.aligner.candidates.nearest import NearestConfig, nearest
from crawler.aligner.frequencies import Frequencies
from crawler.data import Neighbours
from crawler.protocols import SitePages


@dataclass(frozen=True, slots=True)
class SharedWordsConfig:
    """The words of a page that are compared."""

    max_words: int = 200  # the rarest of a page; 100 lose 0.4 points of recall
    nearest: NearestConfig = field(default_factory=NearestConfig)


@dataclass(frozen=True, slots=True, eq=False)
class SharedWords:
    """The nearest pages by the words that they share."""

    frequencies: Frequencies
    config: SharedWordsConfig = field(default_factory=SharedWordsConfig)
    compares_all: ClassVar[bool] = True

    def near(
        self, pages: SitePages, src: Sequence[int], trg: Sequence[int]
    ) -> Neighbours:
        """The nearest pages of each of `src` and `trg`."""
        words = [[unique(pages.features(p).words) for p in side] for side in (src, trg)]
        rows, columns = _vectors(words, self.frequencies, self.config.max_words)
        return nearest(src, trg, rows, columns, self.config.nearest)


def _vectors(
    sides: Sequence[Sequence[NDArray[np.uint32]]],
    frequencies: Frequencies,
    max_words: int,
) -> tuple[csr_matrix, csr_matrix]:
    """Idf vectors of unit length, over the words that both sides have.

    `sides` has the words of each page of src, and of trg. Out: shape (pages, words).
    """
    norms = [
        [float(np.linalg.norm(frequencies.idf(words))) or 1.0 for words in pages]
        for pages in sides
    ]
    known_src, known_trg = (unique(np.concatenate(pages)) for pages in sides)
    shared = np.intersect1d(known_src, known_trg, assume_unique=True)
    weights = frequencies.idf(shared)
    matrices = []
    for pages, lengths in zip(sides, norms):
        data, indices, starts = [], [], [0]
        for words, length in zip(pages, lengths):
            places, there = places_in(shared, words)
            places = places[there]
            if len(places) > max_words:
                rarest = np.argsort(-weights[places], kind="stable")
                places = np.sort(places[rarest[:max_words]])
            data.append(weights[places] / length)
            indices.append(places)
            starts.append(starts[-1] + len(places))
        matrices.append(
            csr_matrix(
                (np.concatenate(data), np.concatenate(indices), np.array(starts)),
                shape=(len(pages), max(len(shared), 1)),
                dtype=np.float32,
            )
        )
    return matrices[0], matrices[1]
