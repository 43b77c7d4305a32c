"""What every FrontierStore promises (crawler.protocols), whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.data import FrontierEntry, StoredUrl, UrlState
from crawler.frontier.stores.open import open_frontier
from crawler.protocols import FrontierStore, PushCounts

STORES = ["memory:", "sqlite:{}/frontier.sqlite", "redis"]

Reopen = Callable[[FrontierStore], FrontierStore]


@pytest.fixture(params=STORES)
def store(request, tmp_path: Path):
    url = request.param.format(tmp_path)
    if url == "redis":
        url = request.getfixturevalue("redis_run")
    opened = open_frontier(url)
    yield opened
    opened.close()


def entry(name: str, score: float, *, site: str = "a.is", payload: bytes = b""):
    return FrontierEntry(f"https://{site}/{name}", site, score, 1, payload)


def pop_all(store: FrontierStore, busy=()) -> list[str]:
    urls = []
    while found := store.pop(busy):
        urls.append(found.url.removeprefix("https://"))
        store.release(found.url, done=True)
    return urls


# ------------------------------------------------------------------- push


def test_a_popped_entry_is_the_pushed_one(store):
    pushed = FrontierEntry("https://a.is/x?q=ö'\"", "a.is", 0.25, 7, b'{"\x00\xff"}')
    store.push([pushed])
    assert store.pop() == pushed


def test_push_counts_what_became_of_each_entry(store):
    assert store.push([entry("x", 0.5), entry("y", 0.5)]) == PushCounts(2, 0, 0)
    assert store.push([entry("x", 0.6), entry("y", 0.4), entry("z", 0.1)]) == (
        PushCounts(added=1, raised=1, ignored=1)
    )
    assert store.push([]) == PushCounts()


def test_repeats_in_one_batch_count_as_if_pushed_one_by_one(store):
    batch = [entry("x", score) for score in (0.2, 0.1, 0.5, 0.5, 0.9)]
    assert store.push(batch) == PushCounts(added=1, raised=2, ignored=2)
    assert len(store) == 1
    assert store.pop() == entry("x", 0.9)


def test_a_better_score_brings_its_payload_and_depth(store):
    store.push([entry("x", 0.5, payload=b"old")])
    better = FrontierEntry("https://a.is/x", "a.is", 0.6, 4, b"new")
    store.push([better])
    assert store.pop() == better


def test_a_worse_or_equal_score_changes_nothing(store):
    store.push([entry("x", 0.5, payload=b"old")])
    store.push([entry("x", 0.5, payload=b"equal"), entry("x", 0.1, payload=b"worse")])
    assert store.pop() == entry("x", 0.5, payload=b"old")


def test_a_leased_url_is_not_raised(store):
    store.push([entry("x", 0.5)])
    store.pop()
    assert store.push([entry("x", 0.9)]) == PushCounts(ignored=1)
    assert store.pop() is None


def test_a_done_url_never_comes_back(store):
    store.push([entry("x", 0.5)])
    pop_all(store)
    assert store.push([entry("x", 0.9)]) == PushCounts(ignored=1)
    assert store.pop() is None
    assert len(store) == 0


def test_a_nan_is_refused_and_nothing_of_its_batch_is_taken(store):
    with pytest.raises(ValueError, match="NaN"):
        store.push([entry("x", 0.5), entry("y", float("nan"))])
    assert len(store) == 0


def test_urls_that_differ_in_one_letter_are_two(store):
    names = ["x", "X", "x/", "x?", "x%20", "x ", "x\u0301"]
    assert store.push([entry(name, 0.5) for name in names]).added == len(names)


def test_every_kind_of_score_has_its_place(store):
    scores = [0.0, -1.0, 1e-300, float("inf"), 3, 0.1 + 0.2, 0.3, -float("inf"), 2**60]
    store.push([entry(str(i), score) for i, score in enumerate(scores)])
    popped = []
    while found := store.pop():
        popped.append(found.score)
    assert popped == sorted(scores, reverse=True)


# -------------------------------------------------------------------- pop


def test_pop_gives_the_best_url_of_all_sites(store):
    store.push([entry("x", 0.1), entry("y", 0.9, site="b.is"), entry("z", 0.5)])
    assert pop_all(store) == ["b.is/y", "a.is/z", "a.is/x"]


def test_ties_go_to_the_url_that_was_pushed_first(store):
    store.push([entry("x", 0.5), entry("y", 0.5, site="b.is")])
    store.push([entry("z", 0.5), entry("w", 0.1)])
    store.push([entry("w", 0.5)])  # raised last, but pushed before v
    store.push([entry("v", 0.5, site="b.is")])
    assert pop_all(store) == ["a.is/x", "b.is/y", "a.is/z", "a.is/w", "b.is/v"]


def test_busy_sites_are_skipped(store):
    store.push([entry("x", 0.9), entry("y", 0.5, site="b.is"), entry("z", 0.1)])
    assert store.pop({"a.is"}).site == "b.is"
    assert store.pop(["a.is", "b.is"]) is None
    assert store.pop(("b.is", "c.is")).score == 0.9
    assert store.pop().score == 0.1


def test_a_site_that_was_busy_takes_its_place_again(store):
    store.push([entry(f"{i}", i / 10, site=f"{i}.is") for i in range(10)])
    assert store.pop({"9.is", "8.is"}).site == "7.is"
    store.push([entry("better", 2.0, site="8.is"), entry("x", 3.0, site="9.is")])
    assert store.pop({"9.is"}).score == 2.0
    assert [store.pop().score for _ in range(4)] == [3.0, 0.9, 0.8, 0.6]


def test_a_raise_moves_a_url_to_the_front(store):
    store.push([entry("x", 0.5), entry("y", 0.4), entry("z", 0.3, site="b.is")])
    store.push([entry("z", 0.6, site="b.is"), entry("y", 0.55)])
    assert pop_all(store) == ["b.is/z", "a.is/y", "a.is/x"]


def test_a_leased_url_is_not_offered_again(store):
    store.push([entry("x", 0.5), entry("y", 0.5)])
    assert [store.pop().url[-1], store.pop().url[-1]] == ["x", "y"]
    assert store.pop() is None


def test_an_empty_store_has_nothing_to_pop(store):
    assert store.pop() is None
    assert store.pop({"a.is"}) is None


# ---------------------------------------------------------------- release


def test_a_released_url_takes_its_old_place(store):
    store.push([entry("x", 0.5), entry("y", 0.5), entry("z", 0.5, site="b.is")])
    first = store.pop()
    store.release(first.url, done=False)
    assert pop_all(store) == ["a.is/x", "a.is/y", "b.is/z"]


def test_a_released_url_may_have_a_lower_score_and_a_new_payload(store):
    store.push([entry("x", 0.9), entry("y", 0.5)])
    first = store.pop()
    store.release(first.url, done=False, score=0.1, payload=b"second try")
    assert pop_all(store)[0] == "a.is/y"
    [x] = [known for known in store.scan("a.is") if known.entry.url == first.url]
    assert x == StoredUrl(entry("x", 0.1, payload=b"second try"), UrlState.DONE)


def test_a_lowered_url_can_be_raised_again(store):
    store.push([entry("x", 0.9)])
    store.release(store.pop().url, done=False, score=0.1)
    assert store.push([entry("x", 0.2)]) == PushCounts(raised=1)
    assert store.pop() == entry("x", 0.2)


def test_one_of_several_leases_of_a_site_can_be_put_back(store):
    store.push([entry(name, 0.5) for name in "uvwxyz"])
    leased = [store.pop().url for _ in range(4)]
    store.release(leased[1], done=False)
    store.release(leased[3], done=False, score=0.4)
    store.push([entry("t", 0.6)])
    assert pop_all(store) == ["a.is/t", "a.is/v", "a.is/y", "a.is/z", "a.is/x"]


def test_what_came_of_a_done_url_is_kept(store):
    store.push([entry("x", 0.9, payload=b"link")])
    store.release(store.pop().url, done=True, payload=b"page")
    assert [known.entry.payload for known in store.scan("a.is")] == [b"page"]


def test_only_a_leased_url_can_be_released(store):
    store.push([entry("x", 0.9)])
    with pytest.raises(ValueError, match=r"https://a\.is/x is not leased"):
        store.release("https://a.is/x", done=True)
    store.release(store.pop().url, done=True)
    with pytest.raises(ValueError, match="not leased"):
        store.release("https://a.is/x", done=False)
    with pytest.raises(ValueError, match="not leased"):
        store.release("https://a.is/unknown", done=True)


def test_a_lease_is_not_ended_with_a_nan(store):
    store.push([entry("x", 0.9)])
    with pytest.raises(ValueError, match="NaN"):
        store.release(store.pop().url, done=False, score=float("nan"))
    assert store.counts()["leased"] == 1


# ------------------------------------------------- scan, counts, save, load


def test_scan_gives_a_sites_urls_in_the_order_of_first_pushes(store):
    store.push([entry("x", 0.1), entry("y", 0.2), entry("o", 0.9, site="b.is")])
    store.push([entry("z", 0.3), entry("x", 0.5)])
    store.release(store.pop({"a.is"}).url, done=True)
    store.pop()  # x
    store.release(store.pop().url, done=True)  # z
    assert list(store.scan("a.is")) == [
        StoredUrl(entry("x", 0.5), UrlState.LEASED),
        StoredUrl(entry("y", 0.2), UrlState.PENDING),
        StoredUrl(entry("z", 0.3), UrlState.DONE),
    ]
    assert list(store.scan("nowhere.is")) == []


def test_the_frontier_may_change_while_a_site_is_scanned(store):
    many = 3000
    store.push([entry(str(i), 0.5) for i in range(many)])
    seen = []
    for known in store.scan("a.is"):
        seen.append(known.entry.url)
        if len(seen) % 100 == 0:
            store.push([entry(f"new{len(seen)}", 0.9), entry(str(len(seen)), 0.8)])
            store.release(store.pop().url, done=True)
            store.commit()
    assert seen[:many] == [entry(str(i), 0).url for i in range(many)]


def test_counts_follow_every_step(store):
    assert store.counts() == {"pending": 0, "leased": 0, "done": 0}
    store.push([entry(name, 0.5) for name in "uvwxyz"])
    leased = [store.pop().url for _ in range(4)]
    store.release(leased[0], done=True)
    store.release(leased[1], done=False)
    assert store.counts() == {"pending": 3, "leased": 2, "done": 1}
    assert len(store) == 3


def test_sites_in_the_order_of_first_pushes(store):
    assert store.sites() == ()
    store.push([entry("b", 0.1, site="b.is"), entry("a", 0.9, site="a.is")])
    store.push([entry("c", 0.5, site="b.is")])
    store.pop()
    assert store.sites() == ("b.is", "a.is")


def test_values_are_kept_by_name(store):
    assert store.load("yield") is None
    store.save("yield", b"\x00one")
    store.save("other", b"")
    store.save("yield", b"two")
    assert (store.load("yield"), store.load("other")) == (b"two", b"")


def test_many_sites_and_many_busy_ones(store):
    sites = [f"s{i:03}.is" for i in range(500)]
    store.push(
        [entry(str(j), (j * 7919 % 101) / 101, site=s) for s in sites for j in range(4)]
    )
    busy = set(sites[:400])
    popped = [store.pop(busy) for _ in range(400)]
    assert {found.site for found in popped} == set(sites[400:])
    scores = [found.score for found in popped]
    assert scores == sorted(scores, reverse=True)
    assert store.pop(busy) is None
    assert store.pop().site == "s000.is"


def test_a_postponed_url_waits_for_the_next_session(store):
    store.push([entry("x", 0.9), entry("y", 0.5)])
    store.postpone(store.pop().url)
    assert store.push([entry("x", 1.0)]).ignored == 1
    assert pop_all(store) == ["a.is/y"]
    assert dict(store.counts()) == {"pending": 0, "leased": 1, "done": 1}
    assert [known.state for known in store.scan("a.is")] == ["leased", "done"]


def test_counters_of_the_run_add_up(store):
    assert dict(store.tally({"pages": 2, "bytes": 0})) == {"pages": 2, "bytes": 0}
    store.commit()
    assert dict(store.tally({"pages": 1, "bytes": 7})) == {"pages": 3, "bytes": 7}
    assert store.tally({})["pages"] == 3
