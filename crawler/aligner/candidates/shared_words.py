"""Same words in both languages: names, numbers, code. Candidates without any URL.

Formula: Uszkoreit et al. (2010), section 2.2, on words instead of bigrams. All pages of
a side meet all of the other.
See also: `scorers.ngrams`, the same cosine for a pair that is known;
`translated_words`, once a lexicon is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_matrix

from crawler.aligner.arrays import places_in, unique
from crawler.aligner.candidates.nearest import NearestConfig, Neighbours, nearest
from crawler.aligner.collection import Collection


@dataclass(frozen=True, slots=True)
class SharedWordsConfig:
    """How much of a page is compared."""

    max_words: int = 200  # rarest words of a page; 100 lose 0.4 points of recall
    nearest: NearestConfig = field(default_factory=NearestConfig)


def shared_words(
    collection: Collection,
    src: Sequence[int],
    trg: Sequence[int],
    config: SharedWordsConfig | None = None,
) -> Neighbours:
    """The nearest pages, by the words that they share, of each of `src` and `trg`."""
    config = config or SharedWordsConfig()
    if not len(src) or not len(trg):
        return Neighbours()
    rows, columns = _vectors(collection, src, trg, config)
    return nearest(src, trg, rows, columns, config.nearest)


def _vectors(
    collection: Collection,
    src: Sequence[int],
    trg: Sequence[int],
    config: SharedWordsConfig,
) -> tuple[csr_matrix, csr_matrix]:
    """Idf vectors of unit length, over the words that both sides have."""
    frequencies = collection.frequencies
    sides = [
        [unique(collection.features(page).words) for page in pages]
        for pages in (src, trg)
    ]
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
            if len(places) > config.max_words:
                rarest = np.argsort(-weights[places], kind="stable")
                places = np.sort(places[rarest[: config.max_words]])
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
