"""tsim by a best matching of the words of two pages, as the paper defines it.

Resnik & Smith (2003), section 3.1. A word is a vertex as often as it comes; the lexicon
gives the edges. `tsim_cardinality` counts the links of a maximum cardinality matching
(equation 4, all links equally likely). `tsim_weighted` takes the most probable matching
and log probabilities in place of counts (equation 2). Either takes the place of `tsim`
in a profile: `lexicon = ["tsim_weighted"]` under `[scorers]`.

In: CandidatePair, boilerplate removed; a Lexicon.  Out: tsim.score.
Differs from the paper: its weights come from a model of both texts; here a link has the
count of its entry, and a word that is linked to itself or to NULL `NULL_COUNT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.scorers.tsim import (
    AT_ONCE,
    FIRST_WORDS,
    LinkTable,
    Numbers,
    PageWords,
    share_of_links,
    sides_of,
)
from crawler.data import CandidatePair

# Half a sighting, the least that an entry of a learned lexicon has been seen.
NULL_COUNT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """The words of two pages and the links that they may have."""

    sizes: tuple[int, int]  # words of src, of trg
    src: Numbers  # of each edge the word of src
    trg: Numbers
    rank: Numbers  # of its entry; beyond the lexicon's for a word linked to itself


@dataclass(frozen=True, eq=False)
class TsimCardinality:
    """tsim by a maximum cardinality matching, equation 4."""

    lexicon: Lexicon
    name: ClassVar[str] = "tsim"

    @cached_property
    def _links(self) -> LinkTable:
        return LinkTable.of(self.lexicon)

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """tsim.score of each pair."""
        return [{"tsim.score": self.share(g)} for g in graphs(self._links, pairs)]

    def share(self, graph: Graph) -> float:
        """Two-word links over all links."""
        ones = np.ones(len(graph.src), bool)
        edges = csr_array((ones, (graph.src, graph.trg)), shape=graph.sizes)
        matched = maximum_bipartite_matching(edges, perm_type="column")
        return share_of_links(float((matched >= 0).sum()), sum(graph.sizes))


@dataclass(frozen=True, eq=False)
class TsimWeighted:
    """tsim by the most probable matching, equation 2."""

    lexicon: Lexicon
    name: ClassVar[str] = "tsim"

    @cached_property
    def _links(self) -> LinkTable:
        return LinkTable.of(self.lexicon)

    @cached_property
    def _costs(self) -> NDArray[np.float64]:
        """-log p of each link by rank; the last: of a word with NULL or itself."""
        counts = np.full(len(self.lexicon) + 1, NULL_COUNT)
        counts[self._links.rank] = np.maximum(self.lexicon.count, NULL_COUNT)
        # the weight of all NULL links together, in a lexicon of one entry too
        costs: NDArray[np.float64] = -np.log(counts / (counts.sum() + NULL_COUNT))
        return costs

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """tsim.score of each pair."""
        return [{"tsim.score": self.share(g)} for g in graphs(self._links, pairs)]

    def share(self, graph: Graph) -> float:
        """Log p(two-word links) over log p(all links) of the best matching.

        A link takes the place of two NULL links, so what it gains is their cost less
        its own, which is never below 0.
        """
        if not sum(graph.sizes):
            return 0.0
        null = float(self._costs[-1])
        cost = self._costs[np.minimum(graph.rank, len(self.lexicon))]
        gains = np.zeros(graph.sizes)
        np.maximum.at(gains, (graph.src, graph.trg), 2 * null - cost)
        rows, columns = linear_sum_assignment(gains, maximize=True)
        gained = gains[rows, columns]
        linked = gained > 0
        two_words = float((2 * null - gained[linked]).sum())
        alone = sum(graph.sizes) - 2 * int(linked.sum())
        return two_words / (two_words + alone * null)


def graphs(links: LinkTable, pairs: Sequence[CandidatePair]) -> Iterator[Graph]:
    """The graph of each pair, over the first 500 words of its pages."""
    for start in range(0, len(pairs), AT_ONCE):
        sides, ends = sides_of(pairs[start : start + AT_ONCE])
        texts = [[page.words[:FIRST_WORDS] for page in side] for side in sides]
        src, trg = (PageWords.of(side) for side in texts)
        pair, one, other, rank = links.between(src, trg, ends)
        bounds = np.searchsorted(pair, np.arange(len(ends) + 1)).tolist()
        for number, (a, b) in enumerate(ends.tolist()):
            mine = slice(bounds[number], bounds[number + 1])
            yield _expanded(src, trg, (a, b), (one[mine], other[mine], rank[mine]))


def _expanded(
    src: PageWords,
    trg: PageWords,
    pages: tuple[int, int],
    edges: tuple[Numbers, Numbers, Numbers],
) -> Graph:
    """Edges between words as edges between each of the times that they come."""
    one, other, rank = edges
    counts = src.counts, trg.counts
    first, sizes = [], []
    for side, count, page in zip((src, trg), counts, pages):
        mine = slice(side.starts[page], side.starts[page + 1])
        ends = np.cumsum(count[mine])
        first.append(ends - count[mine])
        sizes.append(int(ends[-1]) if len(ends) else 0)
    a, b = one - src.starts[pages[0]], other - trg.starts[pages[1]]
    width, height = counts[0][one], counts[1][other]
    edge = np.repeat(np.arange(len(one)), width * height)
    inside = np.arange(len(edge)) - np.repeat(
        np.cumsum(width * height) - width * height, width * height
    )
    return Graph(
        (sizes[0], sizes[1]),
        first[0][a[edge]] + inside // height[edge],
        first[1][b[edge]] + inside % height[edge],
        rank[edge],
    )
