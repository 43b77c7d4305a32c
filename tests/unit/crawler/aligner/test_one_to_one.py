from __future__ import annotations

from crawler.aligner.near_duplicates import Clusters
from crawler.aligner.one_to_one import Scored, one_to_one


def decide(candidates, *copies):
    clusters = Clusters()
    for a, b in copies:
        clusters.join(a, b)
    return [(c.src, c.trg) for c in one_to_one(candidates, clusters, str)]


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
