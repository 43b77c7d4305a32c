from __future__ import annotations

import tracemalloc

import pytest

from crawler.frontier.stores.heap import LazyHeap, refuse_nan


def test_ranks_that_change_all_the_time_do_not_make_the_heap_grow():
    heap = LazyHeap()
    tracemalloc.start()
    for i in range(10_000):
        heap.set("ab"[i % 2], (-i, i % 2))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 50_000  # bytes; 10,000 items take a million
    assert (heap.best(), heap.rank("b")) == ("b", (-9999, 1))


def test_a_busy_key_waits_and_comes_back_with_the_rank_it_has_then():
    heap = LazyHeap()
    for order, key in enumerate("abc"):
        heap.set(key, (0.0, order))
    assert heap.best({"a", "b"}) == "c"
    heap.set("b", (-1.0, 1))
    heap.discard("a")
    assert heap.best({"b"}) == "c"
    assert heap.best() == "b"


def test_busy_keys_may_come_in_any_collection():
    heap = LazyHeap()
    heap.set("a", (0.0, 1))
    assert [heap.best(busy) for busy in (["a"], ("a",), {"a": 1}, ())] == (
        [None, None, None, "a"]
    )


def test_nan_is_the_only_score_without_a_rank():
    refuse_nan([0.0, float("inf"), -1e308])
    with pytest.raises(ValueError, match="NaN"):
        refuse_nan([0.0, float("nan")])
