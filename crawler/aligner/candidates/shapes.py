"""Same shape: pages whose markup is alike, where nothing that they say can be compared.

Two languages may share no word, not a name nor a number. What is left is the shape:
how often each tag comes, and how long the chunks of text are, by octaves. The pages
nearest by these counts are aligned by STRAND, and (1 - dp)(1 + r)/2 takes the place of
a cosine. It is only good for the first seeds of a lexicon.

Measured (docs/sources.md#alignment-by-content): the tag histogram alone finds 84 to
94 % of the pages of software manuals.
See also: `shared_words`, which comes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.candidates.nearest import ranked
from crawler.data import CandidatePair, Neighbours, PageFeatures
from crawler.protocols import PairScorer, SitePages

_OCTAVES = 17  # of a chunk's length, which is below 2¹⁶


@dataclass(frozen=True, slots=True)
class ShapesConfig:
    """How many pages are aligned."""

    # The right page is among the first 20 in 98 to 100 %
    # (docs/sources.md#alignment-by-content).
    n_best: int = 20
    max_pages: int = 4000  # of a side: 64 MB; and 40 alignments for each take 6 s


def shapes(
    pages: SitePages,
    src: Sequence[int],
    trg: Sequence[int],
    strand: PairScorer,
    config: ShapesConfig,
    *,
    among: Callable[[PageFeatures], bool] | None = None,
) -> Neighbours:
    """The pages most alike in shape, of each of `src` and `trg`.

    `strand` compares two pages; with `among` only pairs of which one is such a page.
    """
    if not 0 < min(len(src), len(trg)) <= max(len(src), len(trg)) <= config.max_pages:
        return Neighbours()  # so large a site shares some word
    sides = [[pages.features(page) for page in side] for side in (src, trg)]
    near: list[tuple[int, int]] = []
    wanted = [[among is None or among(page) for page in side] for side in sides]
    if any(map(any, wanted)):
        near = _near(_counts(sides[0]), _counts(sides[1]), config.n_best)
        near = [(i, j) for i, j in near if wanted[0][i] or wanted[1][j]]
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
    """Log counts of tags, and of chunks by the octave of their length; a row a page."""
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
    """(row of src, row of trg): the nearest of each row, by Euclidean distance."""
    squares = [np.square(side).sum(axis=1) for side in (src, trg)]
    distance = squares[0][:, None] + squares[1][None, :] - 2 * src @ trg.T
    found = {(i, j) for i, row in enumerate(_least(distance, count)) for j in row}
    found |= {(i, j) for j, row in enumerate(_least(distance.T, count)) for i in row}
    return sorted(found)


def _least(values: NDArray[np.float32], count: int) -> list[list[int]]:
    """In each row the columns of the least values, in no order."""
    if values.shape[1] <= count:
        return [list(range(values.shape[1]))] * len(values)
    least: list[list[int]] = np.argpartition(values, count - 1, axis=1)[
        :, :count
    ].tolist()
    return least
