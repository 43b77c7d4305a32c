from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import PairScore
from crawler.reports.curves import evenly, harvest
from crawler.reports.quality import Gold
from crawler.visits import Visit


def visit(
    url: str, second: int, added: int = 0, pairs: int = 0, source: str | None = None
) -> Visit:
    time = datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC)
    return Visit(url, "a.example", 200, time, added=added, pairs=pairs, source=source)


VISITS = [visit("a", 0, 3), visit("b", 2), visit("c", 4, 1, pairs=1), visit("d", 9)]


def test_a_pair_is_complete_with_the_second_of_its_pages():
    found = harvest(VISITS, [PairScore("a", "c", 1.0), PairScore("d", "b", 1.0)])
    assert found.complete == [0, 0, 0, 1, 2]
    assert found.seconds == [0, 0, 2, 4, 9]
    assert found.streamed == [0, 0, 0, 1, 1]
    assert found.true is None


def test_a_twin_completes_a_pair_and_what_was_not_fetched_does_not():
    pairs = [PairScore("a", "c", 1.0, trg_twins=("b",)), PairScore("a", "x", 1.0)]
    assert harvest(VISITS, pairs).complete == [0, 0, 1, 1, 1]


def test_known_pairs_are_counted_under_any_address():
    gold = Gold(frozenset({("a", "page")}), {"d": "page"})
    assert harvest(VISITS, [], gold).true == [0, 0, 0, 0, 1]


def test_urls_that_were_found_and_not_fetched_are_waiting():
    assert harvest(VISITS, [], seeds=1).waiting == [1, 3, 2, 2, 1]


def test_shares_and_tenths():
    found = harvest(VISITS, [PairScore("a", "b", 1.0), PairScore("c", "d", 1.0)])
    assert found.downloads_for(0.5) == 2
    assert found.downloads_for(0.9) == 4
    assert found.tenths()[-1] == (4, 2)
    assert harvest(VISITS, []).downloads_for(0.5) is None


def test_few_points_are_drawn_of_many_the_ends_among_them():
    points = evenly(5000, 100)
    assert len(points) == 100
    assert points[0] == 0
    assert points[-1] == 5000
    assert evenly(4) == [0, 1, 2, 3, 4]


def test_a_run_without_a_crawl_has_an_empty_curve():
    nothing = harvest([], [PairScore("a", "b", 1.0)])
    assert nothing.downloads == 0
    assert nothing.complete == [0]


def test_in_hindsight_the_nearest_pair_comes_first_and_ways_are_shared():
    visits = [
        visit("home", 0),
        visit("far", 1, source="home"),
        visit("far/a", 2, source="far"),
        visit("far/b", 3, source="far"),
        visit("useless", 4, source="home"),
        visit("a", 5, source="home"),
        visit("b", 6, source="a"),
        visit("far/c", 7, source="far"),
    ]
    pairs = [
        PairScore("far/a", "far/b", 1.0),
        PairScore("a", "b", 1.0),
        PairScore("far/c", "a", 1.0),
        PairScore("a", "never", 1.0),
    ]
    found = harvest(visits, pairs)
    #           home, a, b | far, far/c | far/a, far/b | nothing is left to find
    assert found.hindsight == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    assert found.complete == [0, 0, 0, 0, 1, 1, 1, 2, 3]
    assert found.order == pytest.approx(8 / 12)


def test_pages_that_link_to_each_other_make_no_endless_path():
    visits = [visit("a", 0, source="b"), visit("b", 1, source="a")]
    assert harvest(visits, [PairScore("a", "b", 1.0)]).hindsight == [0, 0, 1]


@given(st.lists(st.integers(0, 30), max_size=30), st.randoms(use_true_random=False))
def test_hindsight_ends_with_all_pairs_and_begins_with_the_nearest(parents, random):
    urls = [str(n) for n in range(len(parents) + 1)]
    visits = [visit(urls[0], 0)]
    for n, parent in enumerate(parents, 1):
        visits.append(visit(urls[n], 0, source=urls[min(parent, n - 1)]))
    pairs = [
        PairScore(*random.sample(urls, 2), 1.0)
        for _ in range(len(urls) // 3 if len(urls) > 1 else 0)
    ]
    found = harvest(visits, pairs)
    assert len(found.hindsight) == len(found.complete)
    assert found.hindsight[-1] == found.complete[-1] == len(pairs)
    assert found.hindsight == sorted(found.hindsight)
    if pairs:  # no order has its first pair earlier
        first = next(n for n, pairs in enumerate(found.complete) if pairs)
        assert next(n for n, pairs in enumerate(found.hindsight) if pairs) <= first
