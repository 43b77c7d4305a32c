"""Shingles: pages that share a rare run of words, without comparing all pairs.

Uszkoreit et al. (2010), section 2.1. Two sets of n-grams a page: the matching ones
(order 5) go into an inverted index, of which singletons, postings in one language only
and postings of more than 50 pages are dropped; every pair of pages of different
languages in a posting is a candidate. The scoring ones (order 2) then give the idf
cosine of section 2.2. Work is at most pages × matching n-grams × 50: linear in pages.

In: the terms of each page in one vocabulary (a Bridge has made them), in reading order.
Out: candidate pairs; their cosines.
See also: `nearest` (all pairs, exact), `signatures` (hashes of whole vectors).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.arrays import ngrams
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.candidates.nearest import NearestConfig, ranked
from crawler.aligner.candidates.order import permutation_distance
from crawler.aligner.plugins import check, make
from crawler.config import Plugin
from crawler.data import Neighbours
from crawler.protocols import Bridge, SitePages

Terms = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class ShinglesConfig:
    """The paper's numbers."""

    bridge: Plugin = Plugin("word_for_word")  # the terms of which n-grams are made
    matching_order: int = 5  # section 3.1
    scoring_order: int = 2
    max_pages: int = 50  # c: a posting of more pages is dropped
    max_scoring_pages: int = 100_000  # a scoring n-gram of more is dropped
    # Section 3.2, for books: matching n-grams are kept if as many given bits of their
    # fingerprint are set, and at most so many of a page.
    sampled_bits: int = 0
    max_ngrams: int = 20_000
    # If all pages have more words than this, more bits bring the matching n-grams below
    # it: 10 M take 0.5 GB while they are sorted.
    max_words: int = 10_000_000
    min_cosine: float = 0.1  # section 3.1
    max_disorder: float = 1.0  # permutation distance; the paper gives no value
    nearest: NearestConfig = field(default_factory=NearestConfig)

    def __post_init__(self) -> None:
        """Refuse a bridge that is not there."""
        check("bridge", self.bridge)


def bridge_of(lexicon: Lexicon, config: ShinglesConfig) -> Bridge:
    """The bridge over which n-grams are compared."""
    bridge: Bridge = make("bridge", config.bridge, lexicon=lexicon)
    return bridge


@dataclass(frozen=True, slots=True, eq=False)
class Shingles:
    """The pages that share a rare n-gram over a bridge, best cosine first."""

    lexicon: Lexicon
    config: ShinglesConfig = field(default_factory=ShinglesConfig)
    compares_all: ClassVar[bool] = False

    def near(
        self, pages: SitePages, src: Sequence[int], trg: Sequence[int]
    ) -> Neighbours:
        """The nearest pages of each of `src` and `trg`."""
        bridge = bridge_of(self.lexicon, self.config)
        terms = [bridge.encode(pages.features(page)) for page in (*src, *trg)]
        return shingles(src, trg, terms, self.config)


def shingles(
    src: Sequence[int],
    trg: Sequence[int],
    terms: Sequence[Terms],
    config: ShinglesConfig,
) -> Neighbours:
    """The pages that each page shares an n-gram with, best cosine first.

    `terms` has those of `src`, then those of `trg`.
    """
    pairs = candidates(terms, len(src), config)
    cosines = _cosines(terms, pairs, config)

    def near() -> Iterator[tuple[tuple[int, int], float]]:
        for place in np.lexsort((pairs[:, 1], pairs[:, 0], -cosines)).tolist():
            cosine = float(cosines[place])
            if cosine < config.min_cosine:
                return
            one, other = pairs[place].tolist()
            if config.max_disorder >= 1 or config.max_disorder >= permutation_distance(
                *(ngrams(terms[n], config.scoring_order) for n in (one, other))
            ):
                yield (src[one], trg[other - len(src)]), cosine

    return ranked(near(), config.nearest.n_best)


def candidates(
    terms: Sequence[Terms], first_trg: int, config: ShinglesConfig
) -> NDArray[np.int64]:
    """Pairs (page of src, page of trg) with a posting in common, each once, sorted.

    Pages are numbered as in `terms`; those from `first_trg` on are of trg.
    """
    words = sum(map(len, terms))
    bits = config.sampled_bits + max(
        0, math.ceil(math.log2(1 + words) - math.log2(1 + config.max_words))
    )
    grams, pages = _postings([matching(page, config, bits) for page in terms])
    one, other, _ = meetings(grams, pages >= first_trg, config.max_pages)
    keys = np.unique(pages[one] * len(terms) + pages[other])
    return np.stack([keys // len(terms), keys % len(terms)], axis=1)


def meetings(
    grams: NDArray[np.integer], is_trg: NDArray[np.bool_], max_pages: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every two rows of different languages with the same n-gram.

    Rows are sorted by n-gram, those of src first; n-grams of more than `max_pages` are
    left out. Out, of each meeting: row of src, row of trg, number of the n-gram.
    """
    starts = np.flatnonzero(np.r_[True, grams[1:] != grams[:-1]][: len(grams)])
    sizes = np.diff(np.r_[starts, len(grams)])
    in_trg = np.r_[0, np.cumsum(is_trg)]
    trg_sizes = in_trg[starts + sizes] - in_trg[starts]
    src_sizes = sizes - trg_sizes
    kept = np.flatnonzero((src_sizes > 0) & (trg_sizes > 0) & (sizes <= max_pages))
    starts, src_sizes, trg_sizes = starts[kept], src_sizes[kept], trg_sizes[kept]
    # the n-th pair of a posting is its page n // width of src and n % width of trg
    products = src_sizes * trg_sizes
    within = np.arange(products.sum()) - np.repeat(
        np.cumsum(products) - products, products
    )
    width, start = np.repeat(trg_sizes, products), np.repeat(starts, products)
    return (
        start + within // width,
        start + np.repeat(src_sizes, products) + within % width,
        np.repeat(kept, products),
    )


def matching(terms: Terms, config: ShinglesConfig, sampled_bits: int) -> Terms:
    """The matching n-grams of a page, sorted, or a sample of them."""
    grams = np.unique(ngrams(terms, config.matching_order))
    if sampled_bits:
        mask = np.uint64((1 << sampled_bits) - 1)
        grams = grams[grams & mask == mask]
    return grams[: config.max_ngrams]  # hashes: the smallest are a fair sample


def _postings(grams: Sequence[Terms]) -> tuple[Terms, NDArray[np.int64]]:
    """The n-grams of all pages and the page of each, sorted by both."""
    if not grams:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    pages = np.repeat(np.arange(len(grams)), [len(page) for page in grams])
    flat = np.concatenate(grams)
    order = np.argsort(flat, kind="stable")
    return flat[order], pages[order]


def _cosines(
    terms: Sequence[Terms], pairs: NDArray[np.int64], config: ShinglesConfig
) -> NDArray[np.float64]:
    """(pairs,): section 2.2, idf cosines of the scoring n-grams, each once a page."""
    if not len(pairs):
        return np.empty(0)
    grams = [np.unique(ngrams(page, config.scoring_order)) for page in terms]
    distinct, columns, frequency = np.unique(
        np.concatenate(grams), return_inverse=True, return_counts=True
    )
    used = (frequency > 1) & (frequency <= config.max_scoring_pages)
    idf = np.where(used, np.log(len(terms) / frequency), 0.0)
    rows = np.repeat(np.arange(len(grams)), [len(page) for page in grams])
    matrix = csr_matrix((idf[columns], (rows, columns)), (len(grams), len(distinct)))
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    cosines = np.empty(len(pairs))
    for start in range(0, len(pairs), 10_000):  # bounds memory
        one, other = pairs[start : start + 10_000].T
        dots = np.asarray(matrix[one].multiply(matrix[other]).sum(axis=1)).ravel()
        cosines[start : start + 10_000] = dots / np.maximum(
            norms[one] * norms[other], 1e-12
        )
    return cosines
