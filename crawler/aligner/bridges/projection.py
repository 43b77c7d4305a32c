"""Projection: pages of both languages as vectors over the words of one.

Ture, Elsayed & Lin (2011), section 3.1: the terms of a trg page become those of src by
tf*(e) = Σ p(e|f) tf(f) and df*(e) = Σ p(e|f) df(f); then BM25 weights both. A word that
the lexicon does not know stands for itself.

In: pages, boilerplate removed, and a Lexicon.  Out: two sparse matrices (page ×
word, rows of unit length) whose product holds every cosine.
Differs from the paper, which prints p(f|e), drops unknown words, terms that come once
and pages of fewer than five terms: its profile, ture2011, does the same. Here a page's
words are shared out among their translations, and only its weightiest terms are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.arrays import places_in, unique
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import PageFeatures


@dataclass(frozen=True, slots=True)
class ProjectionConfig:
    """BM25, and how much of a page is compared."""

    k1: float = 1.2  # Robertson's values, as in the paper
    b: float = 0.75
    max_terms: int = 200  # with 100, pages that share few words are lost
    f_given_e: bool = False  # project by p(f|e), not p(e|f)
    unknown: bool = True  # a word of trg stands for itself as well
    min_count: int = 1  # in the collection, of a term
    min_terms: int = 0  # of a page; one with fewer has no cosine with any


def project(
    src: Sequence[PageFeatures],
    trg: Sequence[PageFeatures],
    lexicon: Lexicon,
    config: ProjectionConfig | None = None,
) -> tuple[csr_matrix, csr_matrix]:
    """Unit vectors of both sides' pages over one vocabulary."""
    config = config or ProjectionConfig()
    words = [np.concatenate([s.words for s in side]) for side in (src, trg)]
    trg_words = unique(words[1])
    vocabulary = unique(np.concatenate([words[0], trg_words]))
    bridge = translation_matrix(trg_words, vocabulary, lexicon, config)
    counts = [word_counts(src, vocabulary), word_counts(trg, trg_words)]
    counts = [_frequent(side, config.min_count) for side in counts]
    frequency = _document_frequency(counts[0])
    frequency += _document_frequency(counts[1]) @ bridge
    pages = len(src) + len(trg)
    # many trg words with one translation add up to more pages than there are
    frequency = np.minimum(frequency, pages)
    idf = np.log(1 + (pages - frequency + 0.5) / (frequency + 0.5))
    sides = [counts[0], (counts[1] @ bridge).tocsr()]
    sides = [_long_enough(side, config.min_terms) for side in sides]
    rows, columns = (_unit(_bm25(tf, idf, config), config.max_terms) for tf in sides)
    return rows, columns


def translation_matrix(
    trg_words: NDArray[np.uint32],
    vocabulary: NDArray[np.uint32],
    lexicon: Lexicon,
    config: ProjectionConfig | None = None,
) -> csr_matrix:
    """(trg words, vocabulary): p(e|f) of trg word f and word e, or p(f|e).

    To the links that the lexicon has seen comes, with `unknown`, one of each word with
    itself: nothing else is known of a name or a number, and it is outweighed where more
    is known.
    """
    config = config or ProjectionConfig()
    trg, has_trg = places_in(trg_words, lexicon.trg)
    src, has_src = places_in(vocabulary, lexicon.src)
    usable = has_trg & has_src
    itself = np.searchsorted(vocabulary, trg_words)
    own = np.arange(len(trg_words) if config.unknown else 0)
    rows = np.r_[trg[usable], own]
    columns = np.r_[src[usable], itself[: len(own)]]
    counts = np.r_[lexicon.count[usable], np.ones(len(own))]
    given = columns if config.f_given_e else rows
    counts /= np.bincount(given, counts)[given]
    return csr_matrix(
        (counts, (rows, columns)),
        shape=(len(trg_words), len(vocabulary)),
        dtype=np.float32,
    )


def word_counts(
    pages: Sequence[PageFeatures], vocabulary: NDArray[np.uint32]
) -> csr_matrix:
    """(pages, words): counts of the words of a sorted vocabulary of all of them."""
    words = np.concatenate([page.words for page in pages])
    # one number for a page and a word: numbers are sorted in no time
    above = np.arange(len(pages) + 1, dtype=np.uint64) << np.uint64(32)
    page_of = np.repeat(above[:-1], [len(page.words) for page in pages])
    keys, counts = np.unique(page_of | words, return_counts=True)
    ends = np.searchsorted(keys, above)
    columns = np.searchsorted(vocabulary, keys.astype(np.uint32))
    return csr_matrix(
        (counts.astype(np.float32), columns, ends),
        shape=(len(pages), len(vocabulary)),
    )


def _frequent(counts: csr_matrix, min_count: int) -> csr_matrix:
    """The same without the terms that come less often in all pages together."""
    if min_count < 2:
        return counts
    totals = np.bincount(counts.indices, counts.data, counts.shape[1])
    return _kept(counts, totals[counts.indices] >= min_count)


def _long_enough(counts: csr_matrix, min_terms: int) -> csr_matrix:
    """The same without the terms of pages that have fewer different ones."""
    terms = np.diff(counts.indptr)
    return _kept(counts, np.repeat(terms >= min_terms, terms))


def _kept(matrix: csr_matrix, kept: NDArray[np.bool_]) -> csr_matrix:
    """The matrix with those of its entries that are kept."""
    ends = np.r_[0, np.cumsum(kept)][matrix.indptr]
    return csr_matrix((matrix.data[kept], matrix.indices[kept], ends), matrix.shape)


def _document_frequency(counts: csr_matrix) -> NDArray[np.float64]:
    return np.bincount(counts.indices, minlength=counts.shape[1]).astype(float)


def _bm25(
    tf: csr_matrix, idf: NDArray[np.float64], config: ProjectionConfig
) -> csr_matrix:
    lengths = np.asarray(tf.sum(axis=1)).ravel()
    norm = 1 - config.b + config.b * lengths / max(lengths.mean(), 1)
    per_term = np.repeat(config.k1 * norm, np.diff(tf.indptr))
    saturated = tf.data * (config.k1 + 1) / (tf.data + per_term)
    return csr_matrix((saturated * idf[tf.indices], tf.indices, tf.indptr), tf.shape)


def _unit(weights: csr_matrix, max_terms: int) -> csr_matrix:
    """Rows of unit length, of which the weightiest terms are kept."""
    weights.sort_indices()
    row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    squares = np.bincount(row, weights.data**2, weights.shape[0])
    data = (weights.data / np.sqrt(np.maximum(squares, 1e-12))[row]).astype(np.float32)
    kept = np.ones(len(data), bool)
    for start, end in pairwise(weights.indptr.tolist()):
        if end - start > max_terms:
            mine = data[start:end]
            weakest = np.partition(mine, -max_terms)[-max_terms]
            np.greater_equal(mine, weakest, out=kept[start:end])
            # of equals the first
            extra = np.count_nonzero(kept[start:end]) - max_terms
            if extra:
                kept[start + np.flatnonzero(mine == weakest)[-extra:]] = False
    weights.data = data
    return _kept(weights, kept)
