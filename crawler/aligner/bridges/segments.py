"""Segments: the blocks of two parallel pages that stand side by side.

A monotone alignment of the two block sequences by dynamic programming (1-1, 1-0, 0-1):
blocks of like length belong together, all the more if they share words. It is only
meant to feed `lexicon`; sentences are another room.

Source: the length-based alignment of Gale & Church (1993) on HTML blocks, costs from
docs/sources.md#the-lexicon.
In: two pages, boilerplate removed.  Out: pairs of word-id arrays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import places_in, unique
from crawler.aligner.features import CODE
from crawler.data import PageFeatures

MAX_BLOCKS = 300  # the time of an alignment grows with the square: 3 ms here
SKIP = 2.5  # a block without a partner
_LENGTH = 2.0  # for a ratio of e
_OVERLAP = 4.0  # for the same words
_SKIP_COLUMN, _SKIP_ROW = 1, 2  # steps of a path; else a bead
_CELLS = 1 << 17  # of matrices that are aligned together: some 10 MB


def segments_of(
    pairs: Sequence[tuple[PageFeatures, PageFeatures]], usual: float = 0.0
) -> list[list[tuple[NDArray[np.uint32], NDArray[np.uint32]]]]:
    """Of each pair of pages the words of its aligned blocks, code left out.

    `usual` is the log length ratio (src over trg) that translations have here.
    """
    found = []
    for (src, trg), path in zip(pairs, align_blocks(pairs, usual)):
        ends = [np.cumsum(page.block_words).tolist() for page in (src, trg)]
        found.append(
            [
                (_words(src, ends[0], i), _words(trg, ends[1], j))
                for i, j in path
                if not (src.blocks[i] | trg.blocks[j]) & CODE
            ]
        )
    return found


def align_blocks(
    pairs: Sequence[tuple[PageFeatures, PageFeatures]], usual: float = 0.0
) -> list[list[tuple[int, int]]]:
    """Of each pair (block of src, block of trg), in reading order."""
    found: list[list[tuple[int, int]]] = [[]] * len(pairs)
    shapes = [
        (len(src.blocks[:MAX_BLOCKS]), len(trg.blocks[:MAX_BLOCKS]))
        for src, trg in pairs
    ]
    for chosen in batches(shapes):
        paths = cheapest_paths([_costs(*pairs[number], usual) for number in chosen])
        for number, path in zip(chosen, paths):
            found[number] = path
    return found


def _costs(src: PageFeatures, trg: PageFeatures, usual: float) -> NDArray[np.float64]:
    """The cost of having each two blocks stand side by side."""
    lengths = [
        np.log(page.block_sizes[:MAX_BLOCKS].astype(float) + 1) for page in (src, trg)
    ]
    difference = np.abs(lengths[0][:, None] - lengths[1][None, :] - usual)
    costs: NDArray[np.float64] = _LENGTH * difference - _OVERLAP * _overlap(src, trg)
    return costs


def batches(shapes: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """The places of matrices that can be aligned together, being of like size.

    Each counts as large as the largest of its batch.
    """
    batch: list[int] = []
    rows = columns = 0
    for number in sorted(range(len(shapes)), key=lambda n: math.prod(shapes[n])):
        rows = max(rows, shapes[number][0])
        columns = max(columns, shapes[number][1])
        if batch and (len(batch) + 1) * rows * columns > _CELLS:
            yield batch
            batch = []
            rows, columns = shapes[number]
        batch.append(number)
    if batch:
        yield batch


def cheapest_paths(
    costs: Sequence[NDArray[np.float64]],
) -> list[list[tuple[int, int]]]:
    """Of each matrix of costs the cells (1-1 beads) on its cheapest monotone path.

    A row of all of them at a time; `batches` says which.

    >>> cheapest_paths([np.array([[0.0, 9, 9], [9, 9, 0]]), np.zeros((1, 2))])
    [[(0, 0), (1, 2)], [(0, 0)]]
    """
    rows, columns = np.max([cost.shape for cost in costs], axis=0)
    # by a bead in place of two skips; a bead beside a matrix saves nothing
    saved = np.full((rows, len(costs), columns), -1.0)
    for number, cost in enumerate(costs):
        np.subtract(2 * SKIP, cost, out=saved[: len(cost), number, : cost.shape[1]])
    best = np.zeros((rows + 1, len(costs), columns + 1))  # the most that can be saved
    for i in range(rows):
        row = np.maximum(best[i, :, 1:], best[i, :, :-1] + saved[i])
        np.maximum.accumulate(row, axis=1, out=best[i + 1, :, 1:])
    here = best[1:, :, 1:] - 1e-9  # what is equal differs by rounding
    skips = (best[1:, :, :-1] >= here).view(np.uint8)
    skips[best[:-1, :, 1:] >= here] = _SKIP_ROW
    return [
        _path(skips[: len(cost), number, : cost.shape[1]])
        for number, cost in enumerate(costs)
    ]


def _path(steps: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """The beads of a path that takes these steps, from its end."""
    i, columns = steps.shape
    j = columns
    step = steps.tobytes()
    path = []
    while i and j:
        taken = step[(i - 1) * columns + j - 1]
        if taken == _SKIP_ROW:
            i -= 1
        elif taken == _SKIP_COLUMN:
            j -= 1
        else:
            i, j = i - 1, j - 1
            path.append((i, j))
    return path[::-1]


def _words(page: PageFeatures, ends: Sequence[int], block: int) -> NDArray[np.uint32]:
    """The words of a block; `ends`: where each block's words end."""
    return page.words[ends[block - 1] if block else 0 : ends[block]]


def _overlap(src: PageFeatures, trg: PageFeatures) -> NDArray[np.float64]:
    """Dice's coefficient of the words of every two blocks."""
    (src_sizes, src_block, src_words), (trg_sizes, trg_block, trg_words) = (
        _distinct_words(page) for page in (src, trg)
    )
    common = np.intersect1d(unique(src_words), unique(trg_words), assume_unique=True)
    # sums of ones in float32 are exact, and BLAS knows it
    shared = _incidence(src_block, src_words, common, len(src_sizes)) @ (
        _incidence(trg_block, trg_words, common, len(trg_sizes)).T
    )
    overlap: NDArray[np.float64] = (
        2 * shared / np.maximum(src_sizes[:, None] + trg_sizes[None, :], 1)
    )
    return overlap


def _distinct_words(
    page: PageFeatures,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]:
    """The number of different words of each block; (block, word) of each of them."""
    counts = page.block_words[:MAX_BLOCKS].astype(np.int64)
    words = page.words[: counts.sum()]
    block = np.repeat(np.arange(len(counts), dtype=np.uint64), counts)[: len(words)]
    keys = unique(block << np.uint64(32) | words)
    block_of = (keys >> np.uint64(32)).astype(np.int64)
    sizes = np.bincount(block_of, minlength=len(counts))
    return sizes, block_of, keys.astype(np.uint32)


def _incidence(
    block: NDArray[np.int64],
    words: NDArray[np.uint32],
    vocabulary: NDArray[np.uint32],
    blocks: int,
) -> NDArray[np.float32]:
    """1 where a block has a word of the vocabulary, one row for each block."""
    incidence = np.zeros((blocks, len(vocabulary)), np.float32)
    place, there = places_in(vocabulary, words)
    incidence[block[there], place[there]] = 1
    return incidence
