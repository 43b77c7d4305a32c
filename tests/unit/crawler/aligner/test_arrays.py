from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.arrays import (
    order_of,
    overlaps,
    places_in,
    ranges,
    unique,
    unique_inverse,
)

small = st.lists(st.integers(0, 9), max_size=9)
# with 64 bits value and place do not fit into one number
values = st.lists(st.integers(0, 2**64 - 1), max_size=9) | small
sets = st.lists(st.tuples(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9))))


@given(values)
def test_values_are_numbered_as_by_unique(ids):
    array = np.array(ids, np.uint64)
    found, number = unique_inverse(array)
    expected, places = np.unique(array, return_inverse=True)
    assert found.tolist() == expected.tolist() == unique(array).tolist()
    assert number.tolist() == places.tolist()
    assert order_of(array).tolist() == np.argsort(array, kind="stable").tolist()


@given(small.map(sorted), small)
def test_places_are_those_of_the_same_value(known, asked):
    places, there = places_in(np.array(known, np.int64), np.array(asked, np.int64))
    for value, place, is_there in zip(asked, places.tolist(), there.tolist()):
        assert is_there == (value in known)
        assert known[place] == value if is_there else place == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4))))
def test_ranges_follow_each_other(pairs):
    starts, counts = (np.array([p[side] for p in pairs], np.int64) for side in (0, 1))
    expected = [n for start, count in pairs for n in range(start, start + count)]
    assert ranges(starts, counts).tolist() == expected


@given(sets)
def test_sets_overlap_in_what_both_have(pairs):
    one, other = (
        [np.array(sorted(pair[side]), np.uint32) for pair in pairs] for side in (0, 1)
    )
    found = overlaps(one, other, np.float32)
    expected = [(sum(a), sum(b), sum(a & b)) for a, b in pairs]
    assert list(zip(*(array.tolist() for array in found))) == expected
