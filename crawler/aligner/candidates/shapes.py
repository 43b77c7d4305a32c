"""Shapes: pages whose markup is alike, where their words cannot be compared.

Two languages may share no word, name or number. Then pages are compared by the counts
of each tag, and of chunks of text by their length in octaves. The pages nearest by
these counts are aligned by STRAND, and (1 - dp)(1 + r)/2 takes the place of a cosine.
Among pages of software manuals counts of tags alone find 84 to 94 % of the right ones
(docs/sources.md#alignment-by-content): enough for the first seeds of a lexicon.

In: pages; STRAND as a scorer.  Out: their neighbours.
See also: `shared_words`, which is asked before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.candidates.nearest import ranked
from crawler.data import CandidatePair, Neighbours, PageFeatures
from crawler.protocols import PairScorer, SitePages

_OCTAVES = 17  # of a chunk's length, which is below 2¹⁶


@dataclass(frozen=True, slots=True)
class ShapesConfig:
    """The pages that are aligned: how many, and those of few words."""

    # Among the first 20 the right page is in 98 to 100 %
    # (docs/sources.md#alignment-by-content).
    n_best: int = 20
    max_pages: int = 4000  # of a side: 64 MB; and 40 alignments for each take 6 s
    # A page of fewer words than this, with as many different tags (opening, closing),
    # is compared by shape once the others are paired: no lexicon knows its few words,
    # and pages alike are few then. Title and paragraphs have fewer tags.
    few_words: int = 40
    min_tags: int = 16
    # Other pages are, if they are more alike by this than either is to any rival: on
    # five messy sites all such neighbours are right whose partner is known; of those
    # with half of it most are wrong.
    min_margin: float = 0.1

    def has_few_words(self, page: PageFeatures) -> bool:
        """Whether a page has few words, and tags enough to have a shape."""
        few = len(page.words) < self.few_words
        return few and len(set(page.markup)) >= self.min_tags


def shapes(
    pages: SitePages,
    src: Sequence[int],
    trg: Sequence[int],
    strand: PairScorer,
    config: ShapesConfig,
) -> Neighbours:
    """The pages most alike in shape, of each of `src` and `trg`.

    `strand` compares two pages.
    """
    if not 0 < min(len(src), len(trg)) <= max(len(src), len(trg)) <= config.max_pages:
        return Neighbours()  # a site as large has words in common
    sides = [[pages.features(page) for page in side] for side in (src, trg)]
    near = _near(_counts(sides[0]), _counts(sides[1]), config.n_best)
    features = strand.score(
        [CandidatePair(sides[0][i], sides[1][j], frozenset()) for i, j in near]
    )
    alike = {
        pair: (1 - f["strand.dp"]) * (1 + f["strand.r"]) / 2
        if f["strand.p"] < 1
        else 0.0
        for pair, f in zip(near, features)
    }
    return ranked(
        ((src[i], trg[j]), alike[i, j])
        for i, j in sorted(near, key=lambda pair: (-alike[pair], pair))
    )


def _counts(pages: Sequence[PageFeatures]) -> NDArray[np.float32]:
    """(pages, tags and octaves): log counts of tags, and of chunks by their length."""
    rows = np.empty((len(pages), 256 + _OCTAVES), np.float32)
    for row, page in zip(rows, pages):
        tags = np.frombuffer(page.markup, np.uint8)
        octaves = np.log2(page.chunk_lengths.astype(float) + 1).astype(int)
        row[:256] = np.bincount(tags, minlength=256)
        row[256:] = np.bincount(octaves, minlength=_OCTAVES)
    return np.log1p(rows)


def _near(
    src: NDArray[np.float32], trg: NDArray[np.float32], count: int
) -> list[tuple[int, int]]:
    """Each (row of src, row of trg) of nearest rows, by Euclidean distance."""
    squares = [np.square(side).sum(axis=1) for side in (src, trg)]
    distance = squares[0][:, None] + squares[1][None, :] - 2 * src @ trg.T
    found = {(i, j) for i, row in enumerate(_least(distance, count)) for j in row}
    found |= {(i, j) for j, row in enumerate(_least(distance.T, count)) for i in row}
    return sorted(found)


def _least(values: NDArray[np.float32], count: int) -> list[list[int]]:
    """In each row the columns of the `count` least values, in any order."""
    if values.shape[1] <= count:
        return [list(range(values.shape[1]))] * len(values)
    least: list[list[int]] = np.argpartition(values, count - 1, axis=1)[
        :, :count
    ].tolist()
    return least
