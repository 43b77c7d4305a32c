from __future__ import annotations

from dataclasses import replace
from math import exp
from random import Random

import pytest

from crawler.corpus.adapt import MIN_MARKS, AdaptedScores
from crawler.corpus.marks import Mark
from crawler.data import SentencePair


def marks(count: int, bias: float) -> list[Mark]:
    """Pairs whose chance to be right is their score and so much more."""
    chance = Random(5)
    scores = [chance.uniform(0.05, 0.7) for _ in range(count)]
    return [
        Mark(
            "sentence",
            src_text=f"one {n}",
            trg_text=f"einn {n}",
            score=score,
            verdict="right" if chance.random() < score + bias else "wrong",
        )
        for n, score in enumerate(scores)
    ]


def test_scores_that_are_too_low_are_lifted_to_what_the_marks_say():
    judged = marks(400, 0.25)
    adapted = AdaptedScores.of(judged)
    right = sum(mark.verdict == "right" for mark in judged) / len(judged)
    before = sum(mark.score for mark in judged) / len(judged)
    after = sum(adapted.score(mark.score, 0.9) for mark in judged) / len(judged)
    assert right - before > 0.2
    assert abs(right - after) < 0.02


def test_the_order_of_scores_stays():
    adapted = AdaptedScores.of(marks(400, 0.25))
    scores = [adapted.score(n / 100, 0.9) for n in range(1, 100)]
    assert scores == sorted(scores)
    assert 0 < scores[0] < scores[-1] < 1


def test_rows_of_pages_that_are_hardly_a_pair_lose_if_the_marks_say_so():
    judged = [
        replace(mark, pair_score=sure, score=0.9, verdict=verdict)
        for mark, sure, verdict in zip(
            marks(100, 0.0), [0.99, 0.6] * 50, ["right", "wrong"] * 50
        )
    ]
    adapted = AdaptedScores.of(judged)
    assert adapted.score(0.9, 0.6) < 0.5 < adapted.score(0.9, 0.99)
    usual = 1 / (1 + exp(-adapted.usual))
    # pages that are more surely one lift nothing, nor do files without pages
    assert adapted.score(0.9, 1.0) == pytest.approx(adapted.score(0.9, usual))


def test_few_marks_change_no_score_but_leave_out_what_is_wrong():
    judged = marks(MIN_MARKS - 1, 0.0)
    adapted = AdaptedScores.of(judged)
    assert adapted.score(0.2, 0.9) == 0.2
    for mark in judged:
        pair = SentencePair("", "", mark.src_text, mark.trg_text, 0.9, 0.9, (1, 1))
        assert adapted.is_wrong(pair) == (mark.verdict == "wrong")
