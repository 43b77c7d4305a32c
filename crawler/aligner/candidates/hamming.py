"""Hamming distances: pairs of signatures, or neighbours in a table, of few bits.

The inner loop is one `popcnt` per 64 bits. With numba (extra `lsh`) it
takes 2 to 5 ns for a pair of 1,024 bits; numpy does the same some ten times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Signatures = NDArray[np.uint64]  # (pages, words of 64 bits)
Pairs = NDArray[np.int64]  # (pairs, 3): row, row, distance
# Compared at a time: the sums of the columns stay in the nearest cache; without numba
# the words take 32 MB.
_ROWS, _COLUMNS = 256, 1024


def all_pairs(src: Signatures, trg: Signatures, max_distance: int) -> Pairs:
    """Brute force: (row of src, row of trg, distance) within a distance, sorted."""
    found = [np.empty((0, 3), np.int64)]
    compiled = _compiled()
    for start in range(0, len(src), _ROWS):
        rows_here = src[start : start + _ROWS]
        for first in range(0, len(trg), _COLUMNS):
            others = trg[first : first + _COLUMNS]
            if compiled:
                distance = compiled[0](rows_here, np.ascontiguousarray(others.T))
            else:
                different = rows_here[:, None, :] ^ others[None, :, :]
                distance = np.bitwise_count(different).sum(axis=2, dtype=np.int64)
            rows, columns = np.nonzero(distance <= max_distance)
            ends = rows + start, columns + first, distance[rows, columns]
            found.append(np.stack(ends, axis=1).astype(np.int64))
    pairs = np.concatenate(found)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def window_pairs(
    table: Signatures, in_trg: NDArray[np.bool_], window: int, max_distance: int
) -> Pairs:
    """Pairs at most `window` rows apart, one of either language, within a distance."""
    compiled = _compiled()
    if compiled:
        found: Pairs = compiled[1](table, in_trg, window, max_distance)
        return found
    parts = [np.empty((0, 3), np.int64)]
    for offset in range(1, min(window, len(table) - 1) + 1):
        (rows,) = np.nonzero(in_trg[:-offset] != in_trg[offset:])
        different = table[rows] ^ table[rows + offset]
        distance = np.bitwise_count(different).sum(axis=1, dtype=np.int64)
        near = distance <= max_distance
        rows = rows[near]
        parts.append(np.stack([rows, rows + offset, distance[near]], axis=1))
    return np.concatenate(parts)


@cache
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """Both loops in machine code; None without numba."""
    try:
        from numba import njit, types
        from numba.extending import intrinsic
    except ImportError:
        return None

    @intrinsic
    def _popcount(_context: Any, _word: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.uint64(types.uint64), generate

    popcount: Any = _popcount  # one argument: numba fills in the context

    @njit
    def distances(src: Signatures, by_word: Signatures) -> NDArray[np.uint16]:
        # one word of all pages of trg after the other: eight pages at a time in the
        # registers of the processor, 3 ns a pair instead of 5
        pages = by_word.shape[1]
        result = np.empty((len(src), pages), np.uint16)
        total = np.empty(pages, np.uint64)
        for i in range(len(src)):
            total[:] = 0
            for k in range(src.shape[1]):
                word = src[i, k]
                for j in range(pages):
                    total[j] += popcount(word ^ by_word[k, j])
            for j in range(pages):
                result[i, j] = total[j]
        return result

    @njit
    def near(
        table: Signatures, in_trg: NDArray[np.bool_], window: int, max_distance: int
    ) -> Pairs:
        found = []
        for i in range(len(table)):
            for j in range(i + 1, min(i + window + 1, len(table))):
                if in_trg[i] != in_trg[j]:
                    total = np.uint64(0)
                    for k in range(table.shape[1]):
                        total += popcount(table[i, k] ^ table[j, k])
                    if total <= max_distance:
                        found.append((i, j, np.int64(total)))
        result = np.empty((len(found), 3), np.int64)
        for n in range(len(found)):
            result[n, 0], result[n, 1], result[n, 2] = found[n]
        return result

    return distances, near
