from __future__ import annotations

import pytest

pytest.importorskip("sklearn", reason="extra `train` is not installed")

from training.metrics import (
    binary,
    calibration,
    multi_class,
    one_to_one_recall,
    ranking,
)


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


def test_the_best_pair_counts_first_and_each_url_once():
    scored = [
        (0.9, "e1", "f2"),
        (0.8, "e1", "f1"),
        (0.1, "e2", "f1"),
        (0.7, "e2", "f2"),
    ]
    assert one_to_one_recall(scored, GOLD) == (0, 0)
    assert one_to_one_recall(scored[1:], GOLD) == (1, 1)


def test_what_does_not_pass_the_threshold_is_not_kept():
    scored = [(0.4, "e1", "f1"), (0.3, "e2", "f2")]
    assert one_to_one_recall(scored, GOLD)[0] == 1
    assert one_to_one_recall(scored, GOLD, threshold=0.5) == (0, 0)
    assert one_to_one_recall(scored, GOLD, threshold=0.35) == (0.5, 1)


def test_a_url_may_be_on_both_sides():
    """As in the task's eval.py, which keeps a table of seen URLs for each side."""
    scored = [(0.9, "x", "y"), (0.8, "z", "x")]
    assert one_to_one_recall(scored, [("x", "y"), ("z", "x")]) == (1, 1)


def test_the_best_f1_is_looked_for_at_a_precision_of_eighty_percent():
    truth = [True] * 4 + [False, True]
    found = ranking(truth, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    assert found.f1_at_80 == pytest.approx(2 * 5 / 6 / (1 + 5 / 6))  # 5 of 6 are right
    assert ranking([True, True], [0.5, 0.6]).auc == 0


def test_no_rows_give_zeros():
    assert multi_class([], []).rows == 0
    assert binary([], []).macro_f1 == 0
    assert calibration([], []).error == 0
