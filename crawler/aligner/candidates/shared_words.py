"""Same words in both languages: names, numbers, code. Candidates without any URL.

The exact idf cosine of every src page with every trg page, as a product of two sparse
matrices, and of each page the best few. Ten million pairs a second, so brute force is
the right way up to some 20,000 pages a side (Ture et al. 2011: "do not dismiss brute
force"); above that only the rarest words of a page are compared.

Formula: Uszkoreit et al. (2010), section 2.2, on words instead of bigrams.
See also: `scorers.ngrams`, the same cosine for a pair that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.collection import Collection


@dataclass(frozen=True, slots=True)
class SharedWordsConfig:
    """How many candidates, and at what cost."""

    n_best: int = 8  # ALIGNMENT section 6: the right page is in the first 8 in 99.9 %
    max_words: int = 200  # rarest words of a page; 100 lose 0.4 points of recall
    min_cosine: float = 0.02  # below it two pages share a number by chance
    block: int = 1024  # src pages compared at a time, to bound memory


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Cosines of candidate pairs, and the best cosine that each page has."""

    pairs: dict[tuple[int, int], float]
    best: dict[int, tuple[float, float]]  # page → best and second best cosine

    def margin(self, src: int, trg: int) -> tuple[float, float]:
        """Cosine of a pair minus the best of another pair, for src and for trg."""
        cosine = self.pairs.get((src, trg), 0.0)
        return (
            cosine - self._rival(src, cosine),
            cosine - self._rival(trg, cosine),
        )

    def mutual(self) -> Neighbours:
        """Only the pairs of pages that are each other's nearest."""
        nearest = {
            pair: cosine
            for pair, cosine in self.pairs.items()
            if all(self.best[page][0] <= cosine for page in pair)
        }
        return Neighbours(nearest, self.best)

    def _rival(self, page: int, cosine: float) -> float:
        first, second = self.best.get(page, (0.0, 0.0))
        return second if cosine >= first else first


def shared_words(
    collection: Collection,
    src: Sequence[int],
    trg: Sequence[int],
    config: SharedWordsConfig | None = None,
) -> Neighbours:
    """The nearest pages, by the words that they share, of each of `src` and `trg`."""
    config = config or SharedWordsConfig()
    pairs: dict[tuple[int, int], float] = {}
    best: dict[int, tuple[float, float]] = {}
    if not len(src) or not len(trg):
        return Neighbours(pairs, best)
    rows, columns = _vectors(collection, src, trg, config)
    for one, other, matrices in (
        (src, trg, (rows, columns)),
        (trg, src, (columns, rows)),
    ):
        for page, (cosines, places) in zip(one, _nearest(*matrices, config)):
            best[page] = (float(cosines[0]), float(cosines[1]))
            for cosine, place in zip(cosines[: config.n_best], places):
                if cosine >= config.min_cosine:
                    pair = (page, other[place]) if one is src else (other[place], page)
                    pairs[pair] = float(cosine)
    return Neighbours(pairs, best)


def _nearest(
    rows: csr_matrix, columns: csr_matrix, config: SharedWordsConfig
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """For each row the largest cosines (two at least, 0 for none) and their columns."""
    columns = columns.T.tocsr()
    for start in range(0, rows.shape[0], config.block):
        for cosines in (rows[start : start + config.block] @ columns).toarray():
            top = _top(cosines, max(config.n_best, 2))
            padding = max(0, 2 - len(top))
            yield np.pad(cosines[top], (0, padding)), top


def _top(values: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Indices of the largest values above 0, largest first; the earlier of equals."""
    if len(values) > 4 * count:
        floor = np.partition(values, -count)[-count]
        chosen = np.flatnonzero(values >= max(floor, np.finfo(np.float32).tiny))
    else:
        chosen = np.flatnonzero(values > 0)
    return chosen[np.argsort(-values[chosen], kind="stable")][:count]


def _vectors(
    collection: Collection,
    src: Sequence[int],
    trg: Sequence[int],
    config: SharedWordsConfig,
) -> tuple[csr_matrix, csr_matrix]:
    """Idf vectors of unit length, over the words that both sides have."""
    frequencies = collection.frequencies
    sides = [
        [np.unique(collection.sketch(page).words) for page in pages]
        for pages in (src, trg)
    ]
    norms = [
        [float(np.linalg.norm(frequencies.idf(words))) or 1.0 for words in pages]
        for pages in sides
    ]
    known_src, known_trg = (np.unique(np.concatenate(pages)) for pages in sides)
    shared = np.intersect1d(known_src, known_trg, assume_unique=True)
    weights = frequencies.idf(shared)
    matrices = []
    for pages, lengths in zip(sides, norms):
        data, indices, starts = [], [], [0]
        for words, length in zip(pages, lengths):
            places = np.searchsorted(shared, words)
            places[places == len(shared)] = 0
            places = places[shared[places] == words] if len(shared) else places[:0]
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
