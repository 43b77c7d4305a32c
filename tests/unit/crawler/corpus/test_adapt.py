from __future__ import annotations

from random import Random

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
    after = sum(adapted.score(mark.score) for mark in judged) / len(judged)
    assert right - before > 0.2
    assert abs(right - after) < 0.02


def test_the_order_of_scores_stays():
    adapted = AdaptedScores.of(marks(400, 0.25))
    scores = [adapted.score(n / 100) for n in range(1, 100)]
    assert scores == sorted(scores)
    assert 0 < scores[0] < scores[-1] < 1


def test_few_marks_change_no_score_but_leave_out_what_is_wrong():
    judged = marks(MIN_MARKS - 1, 0.0)
    adapted = AdaptedScores.of(judged)
    assert adapted.score(0.2) == 0.2
    for mark in judged:
        pair = SentencePair("", "", mark.src_text, mark.trg_text, 0.9, 0.9, (1, 1))
        assert adapted.is_wrong(pair) == (mark.verdict == "wrong")
