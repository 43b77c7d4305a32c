"""Laws of disjoint sets, against sets that are merged by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.unionfind import UnionFind

JOINS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20)


def by_hand(joins: list[tuple[int, int]]) -> dict[int, set[int]]:
    """Each item with its set, made by merging Python sets."""
    sets = {item: {item} for item in range(13)}
    for a, b in joins:
        merged = sets[a] | sets[b]
        sets.update(dict.fromkeys(merged, merged))
    return sets


def joined(joins: list[tuple[int, int]]) -> UnionFind[int]:
    made = UnionFind[int]()
    for a, b in joins:
        made.join(a, b)
    return made


@given(JOINS)
def test_sets_are_those_that_merging_by_hand_gives(joins):
    sets, expected = joined(joins), by_hand(joins)
    for item, members in expected.items():
        assert sets.members(item) == sorted(members)
        assert sets.find(item) == min(members)
    assert sets.sets() == sorted(
        {tuple(sorted(m)): sorted(m) for m in expected.values() if len(m) > 1}.values()
    )


@given(JOINS, st.randoms())
def test_the_order_of_joining_changes_nothing(joins, chance):
    shuffled = chance.sample(joins, len(joins))
    assert joined(joins).sets() == joined(shuffled).sets()


@given(JOINS, st.integers(0, 12), st.integers(0, 12))
def test_joining_says_whether_two_sets_became_one(joins, a, b):
    sets = joined(joins)
    apart = sets.find(a) != sets.find(b)
    assert sets.join(a, b) == apart
    assert not sets.join(b, a)


@given(JOINS)
def test_a_copy_is_joined_without_changing_the_original(joins):
    sets = joined(joins)
    before = sets.sets()
    sets.copy().join(0, 12)
    assert sets.sets() == before
