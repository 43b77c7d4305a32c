"""Segments: the blocks of two parallel pages that stand side by side.

A monotone alignment of the two block sequences by dynamic programming (1-1, 1-0, 0-1):
blocks of like length belong together, all the more if they share words. It is only
meant to feed `lexicon`; sentences are another room.

Source: the length-based alignment of Gale & Church (1993) on HTML blocks, costs from
ALIGNMENT section 8.
In: two sketches, boilerplate removed.  Out: pairs of word-id arrays.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.sketch import CODE
from crawler.data import Sketch

MAX_BLOCKS = 300  # the time of an alignment grows with the square: 3 ms here
_SKIP = 2.5  # a block without a partner
_LENGTH = 2.0  # for a ratio of e
_OVERLAP = 4.0  # for the same words


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
    rows, columns = cost.shape
    total = np.empty((rows + 1, columns + 1))
    skips = _SKIP * np.arange(columns + 1)
    total[0] = skips
    for i in range(rows):
        row = total[i] + _SKIP
        row[1:] = np.minimum(row[1:], total[i, :-1] + cost[i])
        # skipping to the right costs the same everywhere: a running minimum
        total[i + 1] = np.minimum.accumulate(row - skips) + skips
    path = []
    totals = total.tolist()
    i, j = rows, columns
    while i and j:
        here = totals[i][j] + 1e-9  # a running minimum rounds
        if totals[i - 1][j] + _SKIP <= here:
            i -= 1
        elif totals[i][j - 1] + _SKIP <= here:
            j -= 1
        else:
            i, j = i - 1, j - 1
            path.append((i, j))
    return path[::-1]


def _words(sketch: Sketch) -> list[NDArray[np.uint32]]:
    return np.split(sketch.words, np.cumsum(sketch.block_words.astype(np.int64))[:-1])


def _overlap(src: Sketch, trg: Sketch) -> NDArray[np.float64]:
    """Dice's coefficient of the words of every two blocks."""
    vocabulary = np.unique(np.concatenate([src.words, trg.words]))
    sides = [_incidence(sketch, vocabulary) for sketch in (src, trg)]
    shared = (sides[0] @ sides[1].T).toarray()
    sizes = [np.asarray(side.sum(axis=1)).ravel() for side in sides]
    overlap: NDArray[np.float64] = (
        2 * shared / np.maximum(sizes[0][:, None] + sizes[1][None, :], 1)
    )
    return overlap


def _incidence(sketch: Sketch, vocabulary: NDArray[np.uint32]) -> csr_matrix:
    blocks = min(len(sketch.blocks), MAX_BLOCKS)
    counts = sketch.block_words.astype(np.int64)[:blocks]
    ends = np.minimum(np.cumsum(counts), len(sketch.words))
    words = np.searchsorted(vocabulary, sketch.words[: ends[-1] if blocks else 0])
    matrix = csr_matrix(
        (np.ones(len(words)), words, np.r_[0, ends]),
        shape=(blocks, max(len(vocabulary), 1)),
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
