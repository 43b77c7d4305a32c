from __future__ import annotations

from crawler.data import PairScore
from crawler.reports.curves import harvest
from crawler.reports.quality import Gold


def visit(url: str, second: int, added: int = 0, pairs: int = 0) -> dict[str, object]:
    time = f"2026-01-01T00:00:{second:02}.000+00:00"
    return {"url": url, "time": time, "added": added, "pairs": pairs}


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


def test_what_waits_is_what_was_found_and_not_fetched():
    assert harvest(VISITS, [], seeds=1).waiting == [1, 3, 2, 2, 1]


def test_shares_and_tenths():
    found = harvest(VISITS, [PairScore("a", "b", 1.0), PairScore("c", "d", 1.0)])
    assert found.downloads_for(0.5) == 2
    assert found.downloads_for(0.9) == 4
    assert found.tenths()[-1] == (4, 2)
    assert harvest(VISITS, []).downloads_for(0.5) is None


def test_few_points_are_drawn_of_many_the_ends_among_them():
    many = harvest([visit(str(n), 0) for n in range(5000)], [])
    points = many.points(100)
    assert len(points) == 100
    assert points[0] == 0
    assert points[-1] == 5000
    assert harvest(VISITS, []).points() == [0, 1, 2, 3, 4]


def test_no_crawl_is_an_empty_curve():
    nothing = harvest([], [PairScore("a", "b", 1.0)])
    assert nothing.downloads == 0
    assert nothing.complete == [0]
