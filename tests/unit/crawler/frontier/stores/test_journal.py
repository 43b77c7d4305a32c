"""The journal of a site, and the filter that may stand in it."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import FrontierEntry, StoredUrl, UrlState
from crawler.errors import FrontierError
from crawler.frontier.stores.bloom import BloomFilter
from crawler.frontier.stores.journal import (
    History,
    events_of,
    pack,
    pushed,
    replay,
    unpack,
)

known_urls = st.builds(
    StoredUrl,
    st.builds(
        FrontierEntry,
        st.text(),
        st.just("a.is"),
        st.floats(allow_nan=False),
        st.integers(0, 9),
        st.binary(),
    ),
    st.sampled_from(["pending", "done"]),
)


@given(st.lists(known_urls, unique_by=lambda known: known.entry.url))
def test_what_is_written_anew_comes_to_the_same(known):
    history = History(known, place=3)
    assert replay("a.is", unpack(pack(events_of(history)), "redis")) == history


def test_events_follow_each_other():
    first = FrontierEntry("u", "a.is", 0.5, 1, b"first")
    raised = FrontierEntry("u", "a.is", 0.7, 2, b"raised")
    events = [("d", "unknown", None, None), pushed(first), pushed(raised)]
    assert replay("a.is", events).known == [StoredUrl(raised, UrlState.PENDING)]
    events += [("b", "u", 0.1, "back"), pushed(first), ("d", "u", None, None)]
    done = FrontierEntry("u", "a.is", 0.5, 1, b"first")
    events += [pushed(raised)]  # too late
    assert replay("a.is", events).known == [StoredUrl(done, UrlState.DONE)]


@pytest.mark.parametrize(
    "event",
    [
        ["p", "u", 0.5, 1, "\u20ac"],  # no character a byte
        ["d", "u", None, "\u20ac"],
        ["p", "u", "0.5", 1, ""],
        ["o", "first"],
        ["x"],
        "p",
    ],
)
def test_what_no_worker_writes_is_refused(event):
    with pytest.raises(FrontierError, match="damaged"):
        unpack(zlib.compress(json.dumps([event]).encode()), "redis")
    with pytest.raises(FrontierError, match="damaged"):
        unpack(pack([event]), "redis")


def test_a_filter_says_the_same_after_it_was_kept():
    done = BloomFilter(0.01)
    for n in range(2500):  # more than fit into the first
        done.add(f"u{n}")
    again = BloomFilter.restore(json.loads(json.dumps(done.state())))
    assert len(again) == len(done) == 2500
    names = [f"u{n}" for n in range(10_000)]
    assert [n in again for n in names] == [n in done for n in names]
    assert sum(n in again for n in names[2500:]) < 0.01 * 7500


@pytest.mark.parametrize(
    "state",
    [[], [[2.0]], [[0.1], [10**15, 0.1, 1, ""]], [[0.1], [8, 0.1, 1, "!"]], [3]],
)
def test_a_file_that_is_not_a_filter_is_refused(state):
    with pytest.raises(ValueError, match=r"."):
        BloomFilter.restore(state)
