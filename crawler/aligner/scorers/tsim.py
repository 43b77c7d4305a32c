"""tsim: the share of the words of two pages that translate each other.

Resnik & Smith (2003), section 3: the two-word links of a best matching of the words,
over all links, where a word without a partner is linked to NULL. The matching is found
by competitive linking (Melamed 2000): the likeliest link first, each word once. Only
the first 500 words of each page are looked at.

In: CandidatePair, boilerplate removed; a Lexicon. A word that the lexicon does not know
may be linked to itself.  Out: tsim.score.
See also: `bipartite`, the best matching instead of the greedy one, as the paper defines
tsim; greedy linking, which it measures with, finds at least half of its links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import (
    order_of,
    pack_keys,
    places_in,
    ranges,
    unique_inverse,
)
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import CandidatePair, PageFeatures

FIRST_WORDS = 500  # section 3.3
AT_ONCE = 256  # pairs whose words are looked up together, some 10 MB

Words = NDArray[np.uint32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TsimScorer:
    """tsim by competitive linking."""

    lexicon: Lexicon
    name: ClassVar[str] = "tsim"

    @cached_property
    def links(self) -> LinkTable:
        """The lexicon, ready to be asked."""
        return LinkTable.of(self.lexicon)

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """tsim.score of each pair."""
        found: list[float] = []
        for start in range(0, len(pairs), AT_ONCE):
            batch = pairs[start : start + AT_ONCE]
            sides, ends = sides_of(batch)
            src, trg = ([page.words[:FIRST_WORDS] for page in side] for side in sides)
            found += competitive(self.links, src, trg, ends)
        return [{"tsim.score": score} for score in found]


def sides_of(
    pairs: Sequence[CandidatePair],
) -> tuple[list[list[PageFeatures]], Numbers]:
    """The pages of either side, each once, and where those of each pair stand there."""
    src = {pair.src: 0 for pair in pairs}
    trg = {pair.trg: 0 for pair in pairs}
    for side in (src, trg):
        side.update(zip(side, range(len(side))))
    ends = [(src[pair.src], trg[pair.trg]) for pair in pairs]
    return [list(src), list(trg)], np.array(ends, np.int64).reshape(-1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class PageWords:
    """The words of some pages; of each page each word once, sorted."""

    words: Words
    starts: Numbers  # of each page the first of its words; and their end
    number: Numbers  # of each word of a page, as it is read, its place in `words`

    @classmethod
    def of(cls, pages: Sequence[Words]) -> PageWords:
        """Numbered through, page by page."""
        keys, number = unique_inverse(pack_keys(pages))
        above = np.arange(len(pages) + 1, dtype=np.uint64) << np.uint64(32)
        starts = np.searchsorted(keys, above)
        return cls(keys.astype(np.uint32), starts, number)

    @property
    def lengths(self) -> Numbers:
        """(pages,): the number of different words of each page."""
        return np.diff(self.starts)

    @property
    def counts(self) -> Numbers:
        """(words,): how often each word comes on its page."""
        return np.bincount(self.number, minlength=len(self.words))


@dataclass(frozen=True, slots=True, eq=False)
class LinkTable:
    """A lexicon ready to be asked which words of two pages may be linked."""

    rank: Numbers  # of each entry of the lexicon, best first
    src: Words  # each word of src once, sorted
    starts: Numbers  # where its entries begin; and their end, twice
    trg: Words  # each word of trg once, sorted
    trg_of: Numbers  # of each entry its place in `trg`

    @classmethod
    def of(cls, lexicon: Lexicon) -> LinkTable:
        """The table of a lexicon."""
        weight = np.sqrt(lexicon.p_src() * lexicon.p_trg())
        rank = np.empty(len(weight), np.int64)
        rank[np.argsort(-weight, kind="stable")] = np.arange(len(weight))
        src, starts = np.unique(lexicon.src, return_index=True)
        return cls(
            rank,
            src,
            np.append(starts, [len(weight)] * 2),
            *unique_inverse(lexicon.trg),
        )

    def between(
        self, src: PageWords, trg: PageWords, ends: Numbers
    ) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """(pair, word of src, word of trg, rank) of all possible links, best first.

        `ends` has the (src page, trg page) of each pair. A word that both pages have is
        linked to itself with the least weight of all: its rank is that of no entry.
        """
        place, known = places_in(self.src, src.words)
        first, last = self.starts[place], self.starts[place + 1]
        entries = ranges(first, (last - first) * known)
        word = np.repeat(np.arange(len(src.words)), (last - first) * known)
        translation = self.trg_of[entries]
        # where the entries of each src page begin, and the known words of each trg page
        starts = np.searchsorted(word, src.starts)
        place, known = places_in(self.trg, trg.words)
        words = np.flatnonzero(known)
        numbers = place[words]
        bounds = np.searchsorted(words, trg.starts).tolist()
        cuts = starts.tolist()
        lengths = np.diff(starts)[ends[:, 0]]
        found = np.empty(lengths.sum(), np.int64)
        # which word of the trg page in hand is one of the lexicon's
        there = np.full(len(self.trg), -1)
        done = 0
        for one, other in ends.tolist():
            mine = translation[cuts[one] : cuts[one + 1]]
            here = slice(bounds[other], bounds[other + 1])
            there[numbers[here]] = words[here]
            there.take(mine, out=found[done : done + len(mine)])
            there[numbers[here]] = -1
            done += len(mine)
        hits = np.flatnonzero(found >= 0)
        pair = np.repeat(np.arange(len(ends)), lengths)[hits]
        hit = hits + (starts[ends[:, 0]] - np.cumsum(lengths) + lengths)[pair]
        same_pair, same_src, same_trg = _same_words(src, trg, ends)
        pairs = np.concatenate([pair, same_pair])
        ranks = np.concatenate([self.rank[entries[hit]], len(self.rank) + same_src])
        order = order_of(pairs << 32 | ranks)
        return (
            pairs[order],
            np.concatenate([word[hit], same_src])[order],
            np.concatenate([found[hits], same_trg])[order],
            ranks[order],
        )


def _same_words(
    src: PageWords, trg: PageWords, ends: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """(pair, word of src, word of trg) of all words that both pages of a pair have."""
    pairs, words, keys = [], [], []
    for pages, side in zip(ends.T, (src, trg)):
        lengths = side.lengths[pages]
        pairs.append(np.repeat(np.arange(len(ends)), lengths))
        words.append(ranges(side.starts[pages], lengths))
        keys.append(pairs[-1] << 32 | side.words[words[-1]])
    place, same = places_in(keys[1], keys[0])
    return pairs[0][same], words[0][same], words[1][place[same]]


def competitive(
    links: LinkTable, src: Sequence[Words], trg: Sequence[Words], ends: Numbers
) -> list[float]:
    """The tsim of pairs of pages by greedy linking; 0 if both are empty.

    A link that is the best of both its words is made whatever becomes of the others. So
    all of these are made at once, in all pairs, and again of what is left.
    """
    pages = PageWords.of(src), PageWords.of(trg)
    pair, *words, _ = links.between(*pages, ends)
    left, places = [], []
    for side, mine, of_pair in zip(pages, words, ends.T):
        lengths = side.lengths[of_pair]
        first = side.starts[of_pair]
        left.append(side.counts[ranges(first, lengths)])
        places.append(mine - (first - np.cumsum(lengths) + lengths)[pair])
    one, other = places
    sizes = np.array([[len(src[a]), len(trg[b])] for a, b in ends.tolist()])
    linked = np.zeros(len(ends))
    while len(pair):
        best = _is_first(one, len(left[0])) & _is_first(other, len(left[1]))
        a, b = one[best], other[best]
        count = np.minimum(left[0][a], left[1][b])
        left[0][a] -= count
        left[1][b] -= count
        linked += np.bincount(pair[best], count, len(ends))
        still = np.flatnonzero(np.minimum(left[0][one], left[1][other]))
        pair, one, other = pair[still], one[still], other[still]
    return [
        share_of_links(n, of)
        for n, of in zip(linked.tolist(), sizes.sum(axis=1).tolist())
    ]


def _is_first(numbers: Numbers, size: int) -> NDArray[np.bool_]:
    """(numbers,): whether each number, below `size`, comes for the first time."""
    first = np.empty(size, np.int64)
    places = np.arange(len(numbers))
    first[numbers[::-1]] = places[::-1]  # what is written last stays
    is_first: NDArray[np.bool_] = first[numbers] == places
    return is_first


def share_of_links(linked: float, words: int) -> float:
    """Two-word links over all links; a word left over has a link to NULL."""
    return linked / (words - linked) if words else 0.0
