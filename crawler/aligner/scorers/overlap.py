"""What two pages hold in common as it is: untranslated text, outside links, images.

Copies that were never translated are the commonest lie of hreflang: the page has the
right address, the right `lang`, a translated menu, and the text of the other language.

In: CandidatePair, boilerplate removed.  Out: overlap.identical, how much of the shorter
page's prose stands in the other as it is, in characters; overlap.outlinks and
overlap.images, of the links that leave the site and of the names of images: the share
that both pages have, each by its rarity (a logo says nothing).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from crawler.aligner.frequencies import Frequencies
from crawler.aligner.sketch import CODE
from crawler.data import CandidatePair, Sketch

_MIN_BLOCK = 20  # shorter blocks are names, dates and words that languages share


class OverlapScorer:
    """Identical blocks, shared outside links and images."""

    name: ClassVar[str] = "overlap"

    def __init__(self, frequencies: Frequencies) -> None:
        self.frequencies = frequencies

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The three features of each pair."""
        return [
            {
                "overlap.identical": identical(pair.src, pair.trg),
                "overlap.outlinks": self._shared(pair.src.outlinks, pair.trg.outlinks),
                "overlap.images": self._shared(pair.src.images, pair.trg.images),
            }
            for pair in pairs
        ]

    def _shared(self, a: np.ndarray, b: np.ndarray) -> float:
        """Jaccard's coefficient of two sorted sets, weighted by rarity; 0 if none."""
        if not len(a) or not len(b):
            return 0.0
        idf = self.frequencies.idf
        shared = float(idf(np.intersect1d(a, b, assume_unique=True)).sum())
        return shared / (float(idf(a).sum() + idf(b).sum()) - shared) if shared else 0.0


def identical(a: Sketch, b: Sketch) -> float:
    """Share of the shorter page's prose that the other has too, block by block."""
    shorter, longer = sorted((_prose(a), _prose(b)), key=_size)
    total = _size(shorter)
    if not total:
        return 0.0
    there = {block for block, _ in longer}
    return _size(found for found in shorter if found[0] in there) / total


def _prose(sketch: Sketch) -> list[tuple[int, int]]:
    """The blocks that are neither code nor short, and their sizes."""
    blocks = zip(sketch.blocks.tolist(), sketch.block_sizes.tolist())
    return [(b, size) for b, size in blocks if size >= _MIN_BLOCK and not b & CODE]


def _size(blocks: Iterable[tuple[int, int]]) -> int:
    return sum(size for _, size in blocks)
