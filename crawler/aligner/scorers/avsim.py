"""AVSIM: how alike are the blocks of two pages that stand side by side?

Blocks are aligned one to one, in reading order, so that they are as alike as can be;
the mean over those that found a partner is the score. So a heading counts as much as
the paragraph below it: siblings (next page, previous page) say the same in all but
their headings, and word counts of whole pages hardly tell them apart.

Source: AVSIM of Utiyama & Isahara (2003), "Reliable measures for aligning
Japanese-English news articles and sentences": the mean similarity of the sentences that
dynamic programming aligns, as a measure of how parallel two articles are.
Differs from the paper: blocks for sentences, one to one only, of the first 500 words as
for tsim; alike is the share of words that have a translation in the other block (Dice's
coefficient).

In: CandidatePair, boilerplate removed; a Lexicon.  Out: avsim.difference, 1 - AVSIM.
See also: `isotonic` (what such a difference means on a site), `tsim` (the same words,
whatever their place), `bridges.leaving_one_out` (the lexicon that is meant).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.segments import SKIP, cheapest_path
from crawler.aligner.scorers.tsim import FIRST_WORDS, LinkTable
from crawler.data import CandidatePair, Sketch

_REMEMBERED = 256  # pages, some 50 KB each

# Distinct words, sorted, and how often each block has each: blocks × words.
_Page = tuple[NDArray[np.uint32], NDArray[np.float32]]


class AvsimScorer:
    """AVSIM through a lexicon."""

    name: ClassVar[str] = "avsim"

    def __init__(self, lexicon: Lexicon) -> None:
        self._links = LinkTable(lexicon)
        self._page = lru_cache(_REMEMBERED)(_page)

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """avsim.difference of each pair, from 0 to 1."""
        return [{"avsim.difference": 1 - self._avsim(pair)} for pair in pairs]

    def _avsim(self, pair: CandidatePair) -> float:
        alike = similarities(self._links, self._page(pair.src), self._page(pair.trg))
        # two blocks without a common word: as dear as one that stays alone, so
        # nearly every block of the shorter page finds a partner
        path = cheapest_path(SKIP * (1 - 2 * alike))
        return sum(float(alike[cell]) for cell in path) / max(len(path), 1)


def similarities(links: LinkTable, src: _Page, trg: _Page) -> NDArray[np.float64]:
    """The share of words of each two blocks that have a translation in the other."""
    (src_words, src_counts), (trg_words, trg_counts) = src, trg
    linked = np.zeros((len(src_words), len(trg_words)), np.float32)
    linked[links.between(src_words, trg_words)] = 1
    found = src_counts @ np.minimum(linked @ trg_counts.T, 1)
    found += np.minimum(src_counts @ linked, 1) @ trg_counts.T
    sizes = src_counts.sum(axis=1)[:, None] + trg_counts.sum(axis=1)
    share: NDArray[np.float64] = (found / sizes).astype(np.float64)
    return share


def _page(sketch: Sketch) -> _Page:
    """The first words of a page, by block; of the last block what is among them."""
    words, numbers = np.unique(sketch.words[:FIRST_WORDS], return_inverse=True)
    lengths = sketch.block_words[sketch.block_words > 0].astype(np.int64)
    block = np.repeat(np.arange(len(lengths)), lengths)[: len(numbers)]
    shape = block.max(initial=-1) + 1, len(words)
    cells = np.bincount(block * len(words) + numbers, minlength=shape[0] * shape[1])
    return words, cells.reshape(shape).astype(np.float32)
