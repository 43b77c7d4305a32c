from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.candidates.order import longest_increasing, permutation_distance


@given(st.lists(st.integers(0, 9), max_size=9))
def test_no_increasing_subsequence_is_longer(values):
    longest = max(
        size
        for size in range(len(values) + 1)
        if any(
            all(a < b for a, b in pairwise(chosen))
            for chosen in combinations(values, size)
        )
    )
    assert longest_increasing(values) == longest


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_the_distance_is_symmetric_and_zero_only_for_the_same_order(one, other):
    a, b = np.array(one, np.uint64), np.array(other, np.uint64)
    distance = permutation_distance(a, b)
    assert distance == pytest.approx(permutation_distance(b, a))
    assert 0 <= distance < 1
    assert (distance == 0) == (one == other)
