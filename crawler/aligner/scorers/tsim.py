"""tsim: how many words of two pages translate each other?

Resnik & Smith (2003), section 3: the two-word links of a best matching of the words,
over all links, where a word without a partner is linked to NULL. The matching is found
by competitive linking (Melamed 2000): the likeliest link first, each word once. Only
the first 500 words of each page are looked at.

In: CandidatePair, boilerplate removed; a Lexicon. A word that the lexicon does not know
may be linked to itself.  Out: tsim.score.
See also: `exact`, the maximum cardinality matching that the paper compares it with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import CandidatePair

FIRST_WORDS = 500  # section 3.3
THRESHOLD = 0.15  # section 3.4: the paper's, for a translation

Words = NDArray[np.uint32]


class TsimScorer:
    """tsim by competitive linking."""

    name: ClassVar[str] = "tsim"

    def __init__(self, lexicon: Lexicon) -> None:
        self.links = LinkTable(lexicon)

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """tsim.score of each pair."""
        return [
            {
                "tsim.score": competitive(
                    self.links,
                    pair.src.words[:FIRST_WORDS],
                    pair.trg.words[:FIRST_WORDS],
                )
            }
            for pair in pairs
        ]


class LinkTable:
    """A lexicon ready to be asked which words of two pages may be linked."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._src, self._trg = lexicon.src, lexicon.trg  # sorted by src, then trg
        self._weight = np.sqrt(lexicon.p_src() * lexicon.p_trg())

    def between(
        self, src: Words, trg: Words
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """(place in src, place in trg, weight) of each possible link, best first.

        Both arrays are sorted and without repetition. A word that both pages have is
        linked to itself with the least weight of all.
        """
        starts = np.searchsorted(self._src, src, "left")
        counts = np.searchsorted(self._src, src, "right") - starts
        ends = np.cumsum(counts)
        entries = np.arange(ends[-1] if len(ends) else 0)
        entries += np.repeat(starts - (ends - counts), counts)
        place_src = np.repeat(np.arange(len(src)), counts)
        place_trg = np.searchsorted(trg, self._trg[entries])
        place_trg[place_trg == len(trg)] = 0
        known = trg[place_trg] == self._trg[entries] if len(trg) else entries < 0
        _, same_src, same_trg = np.intersect1d(
            src, trg, assume_unique=True, return_indices=True
        )
        weight = np.r_[self._weight[entries[known]], np.zeros(len(same_src))]
        place_src = np.r_[place_src[known], same_src]
        place_trg = np.r_[place_trg[known], same_trg]
        order = np.lexsort((place_trg, place_src, -weight))
        return place_src[order], place_trg[order], weight[order]


def competitive(links: LinkTable, src: Words, trg: Words) -> float:
    """The tsim of two sequences of words by greedy linking; 0 if both are empty."""
    src_words, src_left = np.unique(src, return_counts=True)
    trg_words, trg_left = np.unique(trg, return_counts=True)
    left = src_left.tolist(), trg_left.tolist()
    linked = 0
    places = links.between(src_words, trg_words)[:2]
    for i, j in zip(*(place.tolist() for place in places)):
        count = min(left[0][i], left[1][j])
        if count:
            left[0][i] -= count
            left[1][j] -= count
            linked += count
    return _share(linked, len(src) + len(trg))


def exact(links: LinkTable, src: Words, trg: Words) -> float:
    """The tsim by a matching of maximum cardinality, whatever the links' weights."""
    src_words, src_of = np.unique(src, return_inverse=True)
    trg_words, trg_of = np.unique(trg, return_inverse=True)
    rows, columns, _ = links.between(src_words, trg_words)
    types = csr_matrix(
        (np.ones(len(rows)), (rows, columns)), (len(src_words), len(trg_words))
    )
    tokens = types[src_of][:, trg_of].tocsr() if len(rows) else None
    if tokens is None:
        return 0.0
    partners = maximum_bipartite_matching(tokens, perm_type="column")
    return _share(int((partners >= 0).sum()), len(src) + len(trg))


def _share(linked: int, words: int) -> float:
    """Two-word links over all links; a word left over has a link to NULL."""
    return linked / (words - linked) if words else 0.0
