"""Projection: pages of both languages as vectors over the words of one.

Ture, Elsayed & Lin (2011), section 4.1: the terms of a trg page become those of src by
tf*(e) = Σ p(e|f) tf(f) and df*(e) = Σ p(e|f) df(f); then BM25 weights both. A word that
the lexicon does not know stands for itself.

In: pages, boilerplate removed, and a Lexicon.  Out: two sparse matrices (page ×
word, rows of unit length) whose product holds every cosine.
Differs from the paper: p(e|f) as induced here, of which flat dictionaries are no part;
only the weightiest terms of a page are kept.
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
    bridge = translation_matrix(trg_words, vocabulary, lexicon)
    counts = [word_counts(src, vocabulary), word_counts(trg, trg_words)]
    frequency = _document_frequency(counts[0])
    frequency += _document_frequency(counts[1]) @ bridge
    pages = len(src) + len(trg)
    # many trg words with one translation add up to more pages than there are
    frequency = np.minimum(frequency, pages)
    idf = np.log(1 + (pages - frequency + 0.5) / (frequency + 0.5))
    sides = [counts[0], (counts[1] @ bridge).tocsr()]
    rows, columns = (_unit(_bm25(tf, idf, config), config.max_terms) for tf in sides)
    return rows, columns


def translation_matrix(
    trg_words: NDArray[np.uint32], vocabulary: NDArray[np.uint32], lexicon: Lexicon
) -> csr_matrix:
    """p(word of the vocabulary | trg word), one row for each trg word.

    To the links that the lexicon has seen comes one of each word with itself: nothing
    else is known of a name or a number, and it is outweighed where more is known.
    """
    trg, has_trg = places_in(trg_words, lexicon.trg)
    src, has_src = places_in(vocabulary, lexicon.src)
    usable = has_trg & has_src
    itself = np.searchsorted(vocabulary, trg_words)
    rows = np.r_[trg[usable], np.arange(len(trg_words))]
    columns = np.r_[src[usable], itself]
    counts = np.r_[lexicon.count[usable], np.ones(len(trg_words))]
    counts /= np.bincount(rows, counts, len(trg_words))[rows]
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
    ends = np.r_[0, np.cumsum(kept)][weights.indptr]
    return csr_matrix((data[kept], weights.indices[kept], ends), weights.shape)
