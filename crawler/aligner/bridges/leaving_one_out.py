"""Leaving one out: what a lexicon would still know if one pair had not taught it.

Two siblings that are paired by mistake (LSet, RSet) teach that their names translate
each other, and what they have taught then confirms them. So a pair is judged by what
others taught: of a lexicon only those links stay for which two pairs of pages beside
any one speak.

Source: Wuebker, Mauser & Ney (2010), "Training phrase translation models with
leaving-one-out", section 4.1.
Differs from the paper: one lexicon for all pairs, so that each page is looked up once:
three pairs must have both words of a link, any of which may be the one left out.

In: a Lexicon, and the pairs that taught it.  Out: a Lexicon.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.arrays import unique, unique_inverse
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.projection import word_counts
from crawler.data import PageFeatures

# A pair, and two others: siblings have each a sibling that has the same words.
_MIN_PAIRS = 3


def confirmed(
    lexicon: Lexicon, taught_by: Sequence[tuple[PageFeatures, PageFeatures]]
) -> Lexicon:
    """The links of which at least three of the pairs have both words."""
    if not taught_by or not len(lexicon):
        return Lexicon.empty(lexicon.langs)
    src, trg = (
        _pages_with(words, pages)
        for words, pages in zip((lexicon.src, lexicon.trg), zip(*taught_by))
    )
    pairs = np.asarray(src.multiply(trg).sum(axis=1)).ravel()
    kept = pairs >= _MIN_PAIRS
    return Lexicon(
        lexicon.langs, lexicon.src[kept], lexicon.trg[kept], lexicon.count[kept]
    )


def _pages_with(words: NDArray[np.uint32], pages: Sequence[PageFeatures]) -> csr_matrix:
    """Does a page have a word? Words × pages."""
    vocabulary, number = unique_inverse(words)
    known = unique(np.concatenate([vocabulary, *(page.words for page in pages)]))
    counts = word_counts(pages, known)
    counts.data[:] = 1
    return counts.T.tocsr()[np.searchsorted(known, vocabulary)[number]]
