"""AVSIM: the likeness of the blocks of two pages that stand side by side.

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
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.arrays import concat_with_ids, ranges, unique_inverse
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.segments import SKIP, batches, cheapest_paths
from crawler.aligner.scorers.tsim import (
    AT_ONCE,
    FIRST_WORDS,
    LinkTable,
    Numbers,
    PageWords,
    sides_of,
)
from crawler.data import CandidatePair, PageFeatures

# Next and previous stand in one block on many pages, and a site of few pairs links both
# with both: of a word's translations those stay that are half as probable as its best.
_CLEAR = 0.5


@dataclass(frozen=True, eq=False)
class AvsimScorer:
    """AVSIM through the links of a lexicon that several pairs of pages confirm."""

    confirmed: Lexicon
    name: ClassVar[str] = "avsim"

    @cached_property
    def links(self) -> LinkTable:
        """The clearest links of the lexicon, ready to be asked."""
        return LinkTable.of(self.confirmed.clearest(_CLEAR))

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """avsim.difference of each pair, from 0 to 1."""
        found: list[float] = []
        for start in range(0, len(pairs), AT_ONCE):
            found += self._avsim(pairs[start : start + AT_ONCE])
        return [{"avsim.difference": 1 - avsim} for avsim in found]

    def _avsim(self, pairs: Sequence[CandidatePair]) -> list[float]:
        pages, ends = sides_of(pairs)
        sides = BlockWords.of(pages[0]), BlockWords.of(pages[1])
        pair, *words, _ = self.links.between(sides[0].words, sides[1].words, ends)
        shapes = [sides[n].blocks[ends[:, n]].tolist() for n in (0, 1)]
        found = [0.0] * len(pairs)
        for chosen in batches(list(zip(*shapes))):
            place = np.full(len(pairs), -1)
            place[chosen] = np.arange(len(chosen))
            mine = np.flatnonzero(place[pair] >= 0)
            linked = [place[pair[mine]], *(side[mine] for side in words)]
            alike = similarities(sides, ends[chosen], *linked)
            # two blocks without a common word: as dear as one that stays alone, so
            # nearly every block of the shorter page finds a partner
            paths = cheapest_paths([SKIP * (1 - 2 * share) for share in alike])
            for number, share, path in zip(chosen, alike, paths):
                total = sum(share.item(cell) for cell in path)
                found[number] = total / max(len(path), 1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class BlockWords:
    """Which block has which word, of the first words of some pages.

    Words are numbered through all pages as `words` has them, blocks page by page.
    """

    words: PageWords
    blocks: Numbers  # (pages,): how many blocks each page has
    lengths: NDArray[np.float32]  # (blocks,): how many words each block has
    starts: Numbers  # (words + 1,): where in the next two a word's blocks begin
    block: Numbers  # (cells,): a block of the word, counted from the first of its page
    count: Numbers  # (cells,): how often the block has the word

    @classmethod
    def of(cls, pages: Sequence[PageFeatures]) -> BlockWords:
        """The last block of a page has those of its words that are among the first."""
        words = PageWords.of([page.words[:FIRST_WORDS] for page in pages])
        of_page, lengths = concat_with_ids([page.block_words for page in pages])
        ends = np.cumsum(lengths, dtype=np.int64)
        read = np.bincount(of_page, lengths, len(pages)).astype(np.int64)
        ends -= (np.cumsum(read) - read)[of_page]
        sizes = np.minimum(ends, FIRST_WORDS) - np.minimum(ends - lengths, FIRST_WORDS)
        of_page, sizes = of_page[sizes > 0], sizes[sizes > 0]
        counts = np.bincount(of_page, minlength=len(pages))
        block = np.repeat(ranges(np.zeros_like(counts), counts), sizes)
        # each (word, block) once; how far the next is tells how often it comes
        cells = np.sort(words.number * FIRST_WORDS + block)
        new = np.flatnonzero(np.diff(cells, prepend=-1))
        word, block = np.divmod(cells[new], FIRST_WORDS)
        starts = np.searchsorted(word, np.arange(len(words.words) + 1))
        count = np.diff(new, append=len(cells))
        return cls(words, counts, sizes.astype(np.float32), starts, block, count)

    def lengths_of(self, pages: Numbers) -> NDArray[np.float32]:
        """(blocks,): the number of words of each block, page after page."""
        first = np.cumsum(self.blocks) - self.blocks
        return self.lengths[ranges(first[pages], self.blocks[pages])]

    def incidence(self, keys: Numbers, first: Numbers, total: int) -> csr_matrix:
        """(words, blocks): how often each block of a pair has each of some words.

        `keys` has (pair, word) of each row, packed; the blocks of a pair begin at its
        place in `first`, and there are `total`.
        """
        pair, word = keys >> 32, keys & 0xFFFFFFFF
        counts = self.starts[word + 1] - self.starts[word]
        cells = ranges(self.starts[word], counts)
        columns = np.repeat(first[pair], counts) + self.block[cells]
        ends = np.append(0, np.cumsum(counts))
        counted = self.count[cells].astype(np.float32)
        return csr_matrix((counted, columns, ends), (len(keys), total))


def similarities(
    sides: tuple[BlockWords, BlockWords],
    ends: Numbers,
    pair: Numbers,
    src: Numbers,
    trg: Numbers,
) -> list[NDArray[np.float64]]:
    """(blocks of src, blocks of trg) for each pair: Dice's coefficient.

    That is the share of the words of both blocks that have a translation in the other.
    `ends`: (pairs, 2), the pages; `pair`, `src`, `trg`: pair and words of each link.
    """
    sizes = [side.blocks[ends[:, n]] for n, side in enumerate(sides)]
    first = [np.cumsum(size) - size for size in sizes]
    totals = [int(size.sum()) for size in sizes]
    (src_keys, one), (trg_keys, other) = (
        unique_inverse(pair << 32 | words) for words in (src, trg)
    )
    ones = np.ones(len(pair), np.float32)
    links = csr_matrix((ones, (one, other)), (len(src_keys), len(trg_keys)))
    in_src = sides[0].incidence(src_keys, first[0], totals[0])
    in_trg = sides[1].incidence(trg_keys, first[1], totals[1])
    # how many words of a block have a translation in a block of the other page
    found = in_src.T @ _is_there(links @ _is_there(in_trg))
    found += _is_there(links.T @ _is_there(in_src)).T @ in_trg
    found = found.tocoo()
    # where each two blocks stand in one array for all pairs, row by row
    areas = sizes[0] * sizes[1]
    of_pair = np.repeat(np.arange(len(ends)), sizes[0])[found.row]
    places = (np.cumsum(areas) - areas)[of_pair] + found.col - first[1][of_pair]
    places += (found.row - first[0][of_pair]) * sizes[1][of_pair]
    shares = np.zeros(areas.sum(), np.float32)
    shares[places] = found.data
    lengths = [
        np.split(side.lengths_of(ends[:, n]), np.cumsum(sizes[n])[:-1])
        for n, side in enumerate(sides)
    ]
    return [
        (share.reshape(len(a), len(b)) / np.add.outer(a, b)).astype(np.float64)
        for share, a, b in zip(np.split(shares, np.cumsum(areas)[:-1]), *lengths)
    ]


def _is_there(counts: csr_matrix) -> csr_matrix:
    """1 where a matrix has a number."""
    there = counts.copy()
    there.data[:] = 1
    return there
