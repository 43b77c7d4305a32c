"""Overlap: untranslated text, outside links and images that two pages both have.

Copies that were never translated are the commonest lie of hreflang: the page has the
right address, the right `lang`, a translated menu, and the text of the other language.

In: CandidatePair, boilerplate removed.  Out: overlap.identical, how much of the shorter
page's prose stands in the other as it is, in characters; overlap.outlinks and
overlap.images, of the links that leave the site and of the names of images: the share
that both pages have, each by its rarity (a logo says nothing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import concat_with_ids, overlaps, pack_keys, places_in
from crawler.aligner.features import CODE
from crawler.aligner.frequencies import Frequencies
from crawler.data import CandidatePair, PageFeatures

_MIN_BLOCK = 20  # shorter blocks are names, dates and words that languages share


@dataclass(frozen=True, slots=True, eq=False)
class OverlapScorer:
    """Identical blocks, shared outside links and images."""

    frequencies: Frequencies
    name: ClassVar[str] = "overlap"

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The three features of each pair."""
        columns = (
            identical(pairs),
            self._shared([(pair.src.outlinks, pair.trg.outlinks) for pair in pairs]),
            self._shared([(pair.src.images, pair.trg.images) for pair in pairs]),
        )
        names = ("overlap.identical", "overlap.outlinks", "overlap.images")
        return [dict(zip(names, row)) for row in zip(*columns)]

    def _shared(
        self, pairs: Sequence[tuple[NDArray[np.uint32], NDArray[np.uint32]]]
    ) -> list[float]:
        """Jaccard's coefficient of each two sets, weighted by rarity; 0 if none."""
        chosen = [number for number, pair in enumerate(pairs) if all(map(len, pair))]
        if not chosen:
            return [0.0] * len(pairs)
        one, other = zip(*(pairs[number] for number in chosen))
        a, b, both = overlaps(one, other, self.frequencies.idf)
        found = np.zeros(len(pairs))
        found[chosen] = both / np.where(both > 0, a + b - both, 1)
        jaccard: list[float] = found.tolist()
        return jaccard


def identical(pairs: Sequence[CandidatePair]) -> list[float]:
    """Share of the shorter page's prose that the other has too, block by block."""
    prose = {page: _prose(page) for pair in pairs for page in (pair.src, pair.trg)}
    total = {page: int(sizes.sum()) for page, (_, sizes) in prose.items()}
    ends = [sorted((pair.src, pair.trg), key=total.__getitem__) for pair in pairs]
    blocks = pack_keys([prose[page][0] for page, _ in ends])
    longer = np.sort(pack_keys([prose[page][0] for _, page in ends]))
    pair, sizes = concat_with_ids([prose[page][1] for page, _ in ends])
    _, there = places_in(longer, blocks)
    same = np.bincount(pair, sizes * there, len(pairs)).tolist()
    return [size / max(total[page], 1) for size, (page, _) in zip(same, ends)]


def _prose(page: PageFeatures) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The blocks that are neither code nor short, and their sizes."""
    chosen = (page.block_sizes >= _MIN_BLOCK) & (page.blocks & CODE == 0)
    return page.blocks[chosen], page.block_sizes[chosen].astype(np.uint32)
