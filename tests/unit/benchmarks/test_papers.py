from __future__ import annotations

from benchmarks.papers import judged
from crawler.data import PairScore
from crawler.reports.quality import Gold


def pair(src: str, trg: str) -> PairScore:
    return PairScore(src, trg, 0.9, {})


def test_a_pair_of_pages_that_the_truth_does_not_know_counts_neither_way():
    # Uszkoreit et al., section 4: matching over matching and touching pairs
    gold = Gold(frozenset({("e1", "f1"), ("e2", "f2")}))
    doubtful = Gold(frozenset({("e2", "f9")}))
    found = [pair("e1", "f1"), pair("e3", "f3"), pair("e4", "f2"), pair("e2", "f9")]
    assert judged(found, gold, doubtful) == {
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }
    assert judged([], gold, doubtful) == {"precision": 0, "recall": 0, "f1": 0}
