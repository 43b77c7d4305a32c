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
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import CandidatePair

FIRST_WORDS = 500  # section 3.3
_REMEMBERED = 2048  # pages, some 5 KB each

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
    """A lexicon ready to be asked which words of two pages may be linked.

    Of a page that comes several times in a row, as they do, the lexicon's entries are
    looked up once.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._src, self._trg = lexicon.src, lexicon.trg  # sorted by src, then trg
        self._weight = np.sqrt(lexicon.p_src() * lexicon.p_trg())
        self.counted = lru_cache(_REMEMBERED)(_counted)
        self._entries = lru_cache(_REMEMBERED)(self._entries_of)

    def between(
        self, src: Words, trg: Words
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(place in src, place in trg) of each possible link, best first.

        Both arrays are sorted and without repetition. A word that both pages have is
        linked to itself with the least weight of all.
        """
        places, words = self._entries(src.tobytes())
        place_trg, known = _places(trg, words)
        same_trg, same = _places(trg, src)
        return (
            np.concatenate([places[known], np.flatnonzero(same)]),
            np.concatenate([place_trg[known], same_trg[same]]),
        )

    def _entries_of(self, page: bytes) -> tuple[NDArray[np.int64], Words]:
        """(place in the page, translation) of each entry, best first."""
        src = np.frombuffer(page, np.uint32)
        starts = np.searchsorted(self._src, src, "left")
        counts = np.searchsorted(self._src, src, "right") - starts
        ends = np.cumsum(counts)
        entries = np.arange(ends[-1] if len(ends) else 0)
        entries += np.repeat(starts - (ends - counts), counts)
        order = np.argsort(-self._weight[entries], kind="stable")
        places = np.repeat(np.arange(len(src)), counts)
        return places[order], self._trg[entries[order]]


def _places(page: Words, words: Words) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where words stand in a page's sorted words, and whether they do."""
    if not len(page):
        return np.zeros(len(words), np.int64), np.zeros(len(words), bool)
    places = np.searchsorted(page, words)
    places[places == len(page)] = 0
    return places, page[places] == words


def _counted(page: bytes) -> tuple[Words, list[int]]:
    """The words of a page, sorted, and how often each comes."""
    words, counts = np.unique(np.frombuffer(page, np.uint32), return_counts=True)
    return words, counts.tolist()


def competitive(links: LinkTable, src: Words, trg: Words) -> float:
    """The tsim of two sequences of words by greedy linking; 0 if both are empty."""
    src_words, src_counts = links.counted(src.tobytes())
    trg_words, trg_counts = links.counted(trg.tobytes())
    src_left, trg_left = src_counts.copy(), trg_counts.copy()
    linked = 0
    places = links.between(src_words, trg_words)
    for i, j in zip(*(place.tolist() for place in places)):
        count = min(src_left[i], trg_left[j])
        if count:
            src_left[i] -= count
            trg_left[j] -= count
            linked += count
    return _share(linked, len(src) + len(trg))


def exact(links: LinkTable, src: Words, trg: Words) -> float:
    """The tsim by a matching of maximum cardinality, whatever the links' weights."""
    from scipy.sparse.csgraph import maximum_bipartite_matching  # brings scipy.linalg

    src_words, src_of = np.unique(src, return_inverse=True)
    trg_words, trg_of = np.unique(trg, return_inverse=True)
    rows, columns = links.between(src_words, trg_words)
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
