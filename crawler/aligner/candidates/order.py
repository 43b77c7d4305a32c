"""Order: whether two pages have their common n-grams in the same order.

Uszkoreit et al. (2010), section 2.2: the n-grams that both pages have, each in the
order of its page, are two permutations; their normalised edit distance (Cormode et al.
2001: how many must be moved) is small for translations and large for lists of the same
names.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray


def permutation_distance(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> float:
    """Share of the common n-grams that must be moved; 0 if there are none.

    Of an n-gram that a page has several times the first counts.

    >>> permutation_distance(np.array([1, 2, 3, 4]), np.array([1, 9, 4, 2, 3]))
    0.25
    """
    values, first_a = np.unique(a, return_index=True)
    others, first_b = np.unique(b, return_index=True)
    _, in_a, in_b = np.intersect1d(
        values, others, assume_unique=True, return_indices=True
    )
    if not len(in_a):
        return 0.0
    order = first_b[in_b][np.argsort(first_a[in_a], kind="stable")]
    return 1 - longest_increasing(order.tolist()) / len(order)


def longest_increasing(values: list[int]) -> int:
    """Length of the longest increasing subsequence, by patience sorting.

    >>> longest_increasing([0, 8, 4, 12, 2, 10])
    3
    """
    tops: list[int] = []
    for value in values:
        place = bisect_left(tops, value)
        tops[place : place + 1] = [value]
    return len(tops)
