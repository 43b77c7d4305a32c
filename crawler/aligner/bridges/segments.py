"""Segments: the blocks of two parallel pages that stand side by side.

A monotone alignment of the two block sequences by dynamic programming (1-1, 1-0, 0-1):
blocks of like length belong together, all the more if they share words. It is only
meant to feed `lexicon`; sentences are another room.

Source: the length-based alignment of Gale & Church (1993) on HTML blocks, costs from
ALIGNMENT section 8.
In: two sketches, boilerplate removed.  Out: pairs of word-id arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import distinct
from crawler.aligner.sketch import CODE
from crawler.data import Sketch

MAX_BLOCKS = 300  # the time of an alignment grows with the square: 3 ms here
SKIP = 2.5  # a block without a partner
_LENGTH = 2.0  # for a ratio of e
_OVERLAP = 4.0  # for the same words
_SKIP_COLUMN, _SKIP_ROW = 1, 2  # steps of a path; else a bead


def segments_of(
    src: Sketch, trg: Sketch, usual: float = 0.0
) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.uint32]]]:
    """The words of aligned blocks, code left out.

    `usual` is the log length ratio (src over trg) that translations have here.
    """
    words = _words(src), _words(trg)
    for i, j in align_blocks(src, trg, usual):
        if not (src.blocks[i] | trg.blocks[j]) & CODE:
            yield words[0][i], words[1][j]


def align_blocks(src: Sketch, trg: Sketch, usual: float = 0.0) -> list[tuple[int, int]]:
    """(block of src, block of trg), in reading order."""
    lengths = [
        np.log(sketch.block_sizes[:MAX_BLOCKS].astype(float) + 1)
        for sketch in (src, trg)
    ]
    difference = np.abs(lengths[0][:, None] - lengths[1][None, :] - usual)
    return cheapest_path(_LENGTH * difference - _OVERLAP * _overlap(src, trg))


def cheapest_path(cost: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The cells (1-1 beads) on the cheapest monotone path through a matrix of costs.

    >>> cheapest_path(np.array([[0.0, 9, 9], [9, 9, 0]]))
    [(0, 0), (1, 2)]
    """
    return cheapest_paths([cost])[0]


def cheapest_paths(
    costs: Sequence[NDArray[np.float64]],
) -> list[list[tuple[int, int]]]:
    """The same for several matrices, a row of all of them at a time."""
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


def _words(sketch: Sketch) -> list[NDArray[np.uint32]]:
    return np.split(sketch.words, np.cumsum(sketch.block_words.astype(np.int64))[:-1])


def _overlap(src: Sketch, trg: Sketch) -> NDArray[np.float64]:
    """Dice's coefficient of the words of every two blocks."""
    (src_sizes, src_block, src_words), (trg_sizes, trg_block, trg_words) = (
        _distinct_words(sketch) for sketch in (src, trg)
    )
    common = np.intersect1d(
        distinct(src_words), distinct(trg_words), assume_unique=True
    )
    # sums of ones in float32 are exact, and BLAS knows it
    shared = _incidence(src_block, src_words, common, len(src_sizes)) @ (
        _incidence(trg_block, trg_words, common, len(trg_sizes)).T
    )
    overlap: NDArray[np.float64] = (
        2 * shared / np.maximum(src_sizes[:, None] + trg_sizes[None, :], 1)
    )
    return overlap


def _distinct_words(
    sketch: Sketch,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]:
    """How many different words each block has; and (block, word) for each of them."""
    counts = sketch.block_words[:MAX_BLOCKS].astype(np.int64)
    words = sketch.words[: counts.sum()]
    block = np.repeat(np.arange(len(counts), dtype=np.uint64), counts)[: len(words)]
    keys = distinct(block << np.uint64(32) | words)
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
    if len(vocabulary):
        place = np.searchsorted(vocabulary, words)
        place[place == len(vocabulary)] = 0
        there = vocabulary[place] == words
        incidence[block[there], place[there]] = 1
    return incidence
