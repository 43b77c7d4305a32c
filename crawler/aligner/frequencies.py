"""Page frequencies of words, images and blocks: weights, and what is boilerplate.

Counts are kept in hashed buckets, so their size does not grow with the crawl: 4 MB of
words, 2 MB of blocks. A collision makes a word look a little more common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.features import BOILERPLATE_BLOCK, CODE
from crawler.data import LangPair, PageFeatures

_WORD_BUCKETS = 1 << 20
_BLOCK_BUCKETS = 1 << 18


@dataclass(frozen=True, slots=True)
class RepeatedConfig:
    """The number of pages of a side that may have a block as text of theirs."""

    # Without blocks on more than max(5, 1 %) of a side's pages recall at 99 % precision
    # rises from .14 to .955 (docs/sources.md#repeated-blocks); here more may stay,
    # because many sites hold several editions of one text.
    min_pages: int = 10
    min_share: float = 0.02

    def ceiling(self, pages: int) -> float:
        """A block of more pages than this, of so many on its side, is boilerplate."""
        return max(self.min_pages, self.min_share * pages)


@dataclass(frozen=True, slots=True)
class BoilerplateConfig(RepeatedConfig):
    """The blocks of a page that are not its text."""

    # With fewer characters than this outside nav, header, footer and form, a page has
    # its text inside.
    min_main: int = 30
    # A page's own blocks, which decide whether it has a text at all, are those that at
    # most a quarter of the pages have.
    own_share: float = 0.25
    min_own_pages: int = 2


class Frequencies:
    """Page frequencies of words, over both sides, and of blocks, for each side.

    Outside links and names of images count as words.
    """

    def __init__(
        self, langs: LangPair, config: BoilerplateConfig | None = None
    ) -> None:
        self.langs = langs
        self.config = config or BoilerplateConfig()
        self.pages = [0, 0]
        self._words = np.zeros(_WORD_BUCKETS, np.int32)
        self._blocks = np.zeros((2, _BLOCK_BUCKETS), np.int32)

    def add(self, page: PageFeatures) -> None:
        """Count a page. Of several copies of one text only one should be counted."""
        side = self._side(page)
        self.pages[side] += 1
        # numpy adds 1 to each place once, however often the index names it
        for ids in (page.words, page.outlinks, page.images):
            self._words[_word_bucket(ids)] += 1
        self._blocks[side][_block_bucket(page.blocks)] += 1

    def idf(self, words: NDArray[np.uint32]) -> NDArray[np.float32]:
        """(words,): log(pages / pages with the word); Uszkoreit et al. (2010), 2.2."""
        frequency = np.maximum(self._words[_word_bucket(words)], 1)
        total = max(sum(self.pages), 1)
        return np.maximum(np.log(total / frequency), 0).astype(np.float32)

    def clean(self, page: PageFeatures) -> PageFeatures:
        """The page without its boilerplate.

        These are blocks that too many pages of its side have, and those in boilerplate
        markup, unless the page has all its text inside.
        """
        pages = self.pages[self._side(page)]
        repeated = self._pages_with(page) > self.config.ceiling(pages)
        kept = ~repeated & (page.blocks & BOILERPLATE_BLOCK == 0)
        sizes = page.block_sizes.astype(np.int64)
        if sizes[kept].sum() < self.config.min_main:
            kept = ~repeated
        if kept.all():
            return page
        counts = page.block_words.astype(np.int64)
        return replace(
            page,
            size=round(page.size * sizes[kept].sum() / max(sizes.sum(), 1)),
            words=page.words[np.repeat(kept, counts)[: len(page.words)]],
            blocks=page.blocks[kept],
            block_words=page.block_words[kept],
            block_sizes=page.block_sizes[kept],
        )

    def own_size(self, page: PageFeatures) -> int:
        """Characters of text that at most a quarter of the pages of its side have.

        Code is left out: a page may show a template in another language than its own.
        So are menus, unless the page has all its text inside.
        """
        pages = self.pages[self._side(page)]
        ceiling = max(self.config.min_own_pages, self.config.own_share * pages)
        own = (self._pages_with(page) <= ceiling) & (page.blocks & CODE == 0)
        sizes = page.block_sizes.astype(np.int64)
        is_main = page.blocks & BOILERPLATE_BLOCK == 0
        if sizes[own & is_main].sum() >= self.config.min_main:
            own &= is_main
        return round(page.size * float(sizes[own].sum() / max(sizes.sum(), 1)))

    def _pages_with(self, page: PageFeatures) -> NDArray[np.int32]:
        pages: NDArray[np.int32] = self._blocks[self._side(page)]
        return pages[_block_bucket(page.blocks)]

    def _side(self, page: PageFeatures) -> int:
        return int(page.lang != self.langs.src)


def _word_bucket(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return (words >> np.uint32(1)) % np.uint32(_WORD_BUCKETS)


def _block_bucket(blocks: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return blocks % np.uint32(_BLOCK_BUCKETS)
