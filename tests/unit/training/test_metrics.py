from __future__ import annotations

import pytest

from training.metrics import (
    authors_recall,
    binary,
    calibration,
    multi_class,
    official_recall,
)


def test_macro_figures_agree_with_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="extra `train`")
    truth = list("aaabbbccd")
    predicted = list("aabbbcccc")
    ours = multi_class(truth, predicted)
    labels = sorted(set(truth))
    p, r, f, _ = metrics.precision_recall_fscore_support(
        truth, predicted, labels=labels, average="macro", zero_division=0
    )
    assert (ours.precision, ours.recall, ours.f1) == pytest.approx((p, r, f))


def test_thin_classes_are_left_out_of_the_macro_figures_but_confuse():
    scores = multi_class(["a"] * 3 + ["b"], ["a"] * 4, min_rows=2)
    assert scores.classes == 1
    assert scores.per_class["a"].precision == pytest.approx(3 / 4)
    assert scores.per_class["b"].f1 == 0


def test_both_classes_of_a_decision():
    scores = binary([True, True, False, False, False], [0.9, 0.4, 0.6, 0.1, 0.2])
    assert scores.positive.precision == scores.positive.recall == 0.5
    assert scores.negative.recall == pytest.approx(2 / 3)
    assert scores.macro_f1 == pytest.approx((0.5 + 2 / 3) / 2)


def test_perfect_confidence_has_no_calibration_error():
    right = [True] * 8 + [False] * 2
    assert calibration(right, [0.8] * 10).error == pytest.approx(0)
    assert calibration(right, [1.0] * 10).error == pytest.approx(0.2)


GOLD = [("e1", "f1"), ("e2", "f2")]


def test_official_rule_takes_the_best_first_and_each_url_once():
    scored = [
        (0.9, "e1", "f2"),
        (0.8, "e1", "f1"),
        (0.1, "e2", "f1"),
        (0.7, "e2", "f2"),
    ]
    assert official_recall(scored, GOLD) == 0
    assert official_recall(scored[1:], GOLD) == 1


def test_official_rule_needs_no_threshold_and_the_authors_has_one():
    scored = [(0.4, "e1", "f1"), (0.3, "e2", "f2")]
    assert official_recall(scored, GOLD) == 1
    assert authors_recall(scored, GOLD) == 0
    assert authors_recall(scored, GOLD, threshold=0.35) == 0.5


def test_a_url_may_be_on_both_sides_in_the_authors_rule_only():
    scored = [(0.9, "x", "y"), (0.8, "z", "x")]
    assert official_recall(scored, [("x", "y"), ("z", "x")]) == 0.5
    assert authors_recall(scored, [("x", "y"), ("z", "x")]) == 1
