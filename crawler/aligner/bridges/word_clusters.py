"""Bilingual word clusters: a word of either language becomes the number of its cluster.

Yandex at WMT16 (2016), Algorithm 1: the words of both languages are nodes, a link of
the lexicon is an edge of weight N(f,e)² / (N(f) N(e)). CLUSTER(G, S, F) emits every
connected component of at most S nodes; of a larger one the F % weakest edges are
removed, and what is left is clustered again.

In: a Lexicon.  Out: a Bridge. A word without a cluster stands for itself.
Differs from the paper: without a phrase table (`bridges.dictionary` reads one) the
edges are those of a lexicon that was induced on the site. F is not given there; 10 %
here (docs/sources.md#alignment-by-content).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix

from crawler.aligner.arrays import places_in, unique_inverse
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import Lang, PageFeatures

Edges = tuple[NDArray[np.int64], NDArray[np.int64]]  # ends, weakest edge first


@dataclass(frozen=True, slots=True)
class WordClustersConfig:
    """S and F of the algorithm."""

    max_size: int = 90  # S
    removed: float = 0.1  # F


@dataclass(frozen=True, eq=False)
class WordClusters:
    """Terms of a page: cluster numbers, with the words that have none."""

    lexicon: Lexicon
    config: WordClustersConfig = field(default_factory=WordClustersConfig)

    @cached_property
    def tables(self) -> dict[Lang, tuple[NDArray[np.uint32], NDArray[np.uint64]]]:
        """Of each language the words that are in a cluster, sorted, and its number."""
        lexicon, config = self.lexicon, self.config
        src_words, src = unique_inverse(lexicon.src)
        trg_words, trg = unique_inverse(lexicon.trg)
        trg = trg + len(src_words)
        weight = lexicon.p_src() * lexicon.p_trg()
        order = np.lexsort((trg, src, weight))
        number = np.zeros(len(src_words) + len(trg_words), np.uint64)
        for n, nodes in enumerate(
            cluster((src[order], trg[order]), config.max_size, config.removed)
        ):
            number[nodes] = n + (1 << 32)  # no word has such an id
        return {
            lexicon.langs.src: (src_words, number[: len(src_words)]),
            lexicon.langs.trg: (trg_words, number[len(src_words) :]),
        }

    def encode(self, page: PageFeatures) -> NDArray[np.uint64]:
        """The terms of a page, in reading order."""
        words, numbers = self.tables[page.lang]
        terms = page.words.astype(np.uint64)
        places, known = places_in(words, page.words)
        terms[known] = numbers[places[known]]
        return terms


def cluster(edges: Edges, max_size: int, removed: float) -> Iterator[NDArray[np.int64]]:
    """CLUSTER(G, S, F): disjoint sets of at least two nodes."""
    from scipy.sparse.csgraph import connected_components  # brings scipy.linalg

    waiting = [edges]
    while waiting:
        one, other = waiting.pop()
        nodes, places = np.unique(np.concatenate([one, other]), return_inverse=True)
        ends = places[: len(one)], places[len(one) :]
        graph = coo_matrix((np.ones(len(one)), ends), (len(nodes), len(nodes)))
        count, component = connected_components(graph, directed=False)
        of_edge = component[ends[0]]
        sizes = np.bincount(component, minlength=count)
        by_component = np.argsort(of_edge, kind="stable")
        starts = np.searchsorted(of_edge[by_component], np.arange(count + 1))
        members = np.split(np.argsort(component, kind="stable"), np.cumsum(sizes)[:-1])
        for n in range(count):
            if sizes[n] <= max_size:
                yield nodes[members[n]]
                continue
            # weakest first: `edges` came in that order, and a stable sort keeps it
            mine = by_component[starts[n] : starts[n + 1]]
            mine = mine[max(1, int(removed * len(mine))) :]
            if len(mine):
                waiting.append((one[mine], other[mine]))
