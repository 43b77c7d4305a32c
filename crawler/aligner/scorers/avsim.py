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
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import concat_with_ids, ranges, unique
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
        (src, trg), ends = sides_of(pairs)
        sides = _Blocks.of(src), _Blocks.of(trg)
        pair, *linked = self.links.between(sides[0].words, sides[1].words, ends)
        shapes = [sides[n].sizes[ends[:, n]].tolist() for n in (0, 1)]
        found = [0.0] * len(pairs)
        for chosen in batches(list(zip(*shapes))):
            alike = similarities(sides, ends, pair, linked, chosen)
            # two blocks without a common word: as dear as one that stays alone, so
            # nearly every block of the shorter page finds a partner
            paths = cheapest_paths([SKIP * (1 - 2 * share) for share in alike])
            for number, share, path in zip(chosen, alike, paths):
                total = sum(share.item(cell) for cell in path)
                found[number] = total / max(len(path), 1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """The first words of some pages: which block has which word."""

    words: PageWords
    starts: Numbers  # of each word the first of its blocks
    lengths: Numbers  # how many blocks have it
    blocks: Numbers  # counted from the first of their page
    counts: Numbers  # how often each of them has the word
    first: Numbers  # of each page the first of its blocks in `block_sizes`
    sizes: Numbers  # of each page how many blocks it has
    block_sizes: NDArray[np.float32]  # words of each block

    @classmethod
    def of(cls, pages: Sequence[PageFeatures]) -> _Blocks:
        """The last block of a page has those of its words that are among the first."""
        words = PageWords.of([page.words[:FIRST_WORDS] for page in pages])
        # of each block: its page, its words, and how many words stand before it
        of_page, lengths = concat_with_ids([page.block_words for page in pages])
        of_page, lengths = of_page[lengths > 0], lengths[lengths > 0].astype(np.int64)
        blocks = np.bincount(of_page, minlength=len(pages))
        before = np.cumsum(lengths) - lengths
        before -= before[np.cumsum(blocks)[of_page] - blocks[of_page]]
        read = before < FIRST_WORDS
        of_page, before, lengths = of_page[read], before[read], lengths[read]
        block_sizes = np.minimum(lengths, FIRST_WORDS - before)
        sizes = np.bincount(of_page, minlength=len(pages))
        first = np.cumsum(sizes) - sizes
        block = np.repeat(ranges(np.zeros_like(sizes), sizes), block_sizes)
        cells = np.sort(words.number * FIRST_WORDS + block)
        new = np.flatnonzero(np.diff(cells, prepend=-1))
        word, blocks = np.divmod(cells[new], FIRST_WORDS)
        of_word = np.bincount(word, minlength=len(words.words))
        return cls(
            words,
            np.cumsum(of_word) - of_word,
            of_word,
            blocks,
            np.diff(new, append=len(cells)),
            first,
            sizes,
            block_sizes.astype(np.float32),
        )

    def sizes_of(self, page: int) -> NDArray[np.float32]:
        """How many words each block of a page has."""
        return self.block_sizes[self.first[page] : self.first[page] + self.sizes[page]]


def similarities(
    sides: tuple[_Blocks, _Blocks],
    ends: Numbers,
    pair: Numbers,
    linked: Sequence[Numbers],
    chosen: Sequence[int],
) -> list[NDArray[np.float64]]:
    """The share of words of each two blocks that have a translation in the other.

    `ends` has the pages of all pairs, of which some are `chosen`; `linked` the words
    of each link, `pair` its pair.
    """
    place = np.full(len(ends), -1)
    place[list(chosen)] = np.arange(len(chosen))
    mine = np.flatnonzero(place[pair] >= 0)
    ends, pair = ends[list(chosen)], place[pair[mine]]
    linked = [words[mine] for words in linked]
    sizes = [
        np.add.outer(sides[0].sizes_of(src), sides[1].sizes_of(trg))
        for src, trg in ends.tolist()
    ]
    # where each two blocks stand in one array for all pairs, row by row
    areas = [size.size for size in sizes]
    starts = np.cumsum(areas) - areas
    strides = sides[1].sizes[ends[:, 1]], np.ones(len(ends), np.int64)
    found = np.zeros(sum(areas))
    for one, other in ((0, 1), (1, 0)):
        near, far = sides[one], sides[other]
        # the words that have a translation in a block of the other page, each once
        words = linked[other]
        lengths = far.lengths[words]
        blocks = far.blocks[ranges(far.starts[words], lengths)]
        keys = np.repeat(pair * len(near.lengths) + linked[one], lengths)
        keys, blocks = np.divmod(unique(keys * FIRST_WORDS + blocks), FIRST_WORDS)
        pairs, words = np.divmod(keys, len(near.lengths))
        # and how often each block has each of them
        lengths = near.lengths[words]
        cells = ranges(near.starts[words], lengths)
        places = np.repeat(starts[pairs] + blocks * strides[other][pairs], lengths)
        places += near.blocks[cells] * np.repeat(strides[one][pairs], lengths)
        found += np.bincount(places, near.counts[cells], len(found))
    return [
        (share.reshape(size.shape).astype(np.float32) / size).astype(np.float64)
        for share, size in zip(np.split(found, np.cumsum(areas)[:-1]), sizes)
    ]
