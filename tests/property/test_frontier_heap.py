"""A lazy heap gives what a search of all keys would give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.stores.heap import LazyHeap

keys = st.sampled_from("abcdef")
steps = st.one_of(
    st.tuples(st.just("set"), keys, st.integers(0, 5)),
    st.tuples(st.just("discard"), keys),
    st.tuples(st.just("best"), st.sets(keys)),
)


@given(st.lists(steps, max_size=200))
def test_the_best_key_is_the_one_a_search_finds(program):
    heap = LazyHeap()
    ranks: dict[str, tuple[float, int]] = {}
    for step in program:
        match step:
            case "set", key, score:
                ranks[key] = (score, ord(key))
                heap.set(key, ranks[key])
            case "discard", key:
                ranks.pop(key, None)
                heap.discard(key)
            case "best", busy:
                free = ranks.keys() - busy
                assert heap.best(busy) == min(free, key=ranks.__getitem__, default=None)
        assert len(heap) == len(ranks)
