from __future__ import annotations

from crawler.aligner.one_to_one import Scored, n_best, one_to_one, ranked, symmetric
from crawler.unionfind import UnionFind


def decide(candidates, *copies):
    clusters = UnionFind[int]()
    for a, b in copies:
        clusters.join(a, b)
    return [(c.src, c.trg) for c in one_to_one(ranked(candidates, str), clusters)]


def test_the_best_pair_comes_first_and_takes_its_pages():
    candidates = [Scored(1, 11, 0.8, False), Scored(1, 12, 0.9, False)]
    assert decide([*candidates, Scored(2, 11, 0.7, False)]) == [(1, 12), (2, 11)]


def test_a_declared_pair_wins_a_tie_and_then_the_url():
    candidates = [Scored(1, 12, 0.9, False), Scored(1, 13, 0.9, True)]
    assert decide([*candidates, Scored(1, 11, 0.9, False)]) == [(1, 13)]


def test_a_twin_of_a_paired_page_is_not_paired_again():
    candidates = [Scored(1, 11, 0.9, False), Scored(2, 12, 0.8, False)]
    assert decide(candidates, (1, 2)) == [(1, 11)]


def test_twins_that_their_urls_join_are_two_pairs():
    candidates = [Scored(1, 11, 0.9, True), Scored(2, 12, 0.9, True)]
    assert decide(candidates, (1, 2), (11, 12)) == [(1, 11), (2, 12)]


CROSSED = [
    Scored(1, 11, 0.9, False),
    Scored(1, 12, 0.8, False),
    Scored(2, 12, 0.7, False),
]


def test_n_best_are_the_first_of_each_page():
    assert n_best(CROSSED, 1) == {
        1: CROSSED[:1],
        11: CROSSED[:1],
        12: CROSSED[1:2],
        2: CROSSED[2:],
    }
    assert n_best(CROSSED, 5)[1] == CROSSED[:2]


def test_symmetric_pairs_are_among_the_best_of_both_pages():
    assert symmetric(CROSSED, 1) == CROSSED[:1]
    assert symmetric(CROSSED, 2) == CROSSED


def test_symmetric_keeps_no_pair_of_a_page_that_is_only_second_best():
    # page 2 has no other partner, but its partner has a better one
    assert Scored(2, 12, 0.7, False) not in symmetric(CROSSED, 1)
