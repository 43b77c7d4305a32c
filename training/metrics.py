"""Figures from truth and predictions: P, R, F1, rankings, calibration, WMT16 recall.

scikit-learn computes what it has; the dataclasses are what a report and its JSON hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    precision_recall_curve,
    precision_recall_fscore_support,
    roc_auc_score,
)


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Precision, recall and F1 of one class; 0 where nothing was predicted."""

    precision: float
    recall: float
    f1: float
    rows: int  # of the truth


def _class_scores(
    truth: Sequence[object], predicted: Sequence[object], classes: Sequence[object]
) -> list[ClassScore]:
    figures = precision_recall_fscore_support(
        truth, predicted, labels=classes, zero_division=0
    )
    return [ClassScore(*row) for row in zip(*(column.tolist() for column in figures))]


@dataclass(frozen=True, slots=True)
class MultiClass:
    """Macro figures over the classes with enough rows, and every class alone."""

    precision: float
    recall: float
    f1: float
    accuracy: float
    rows: int
    classes: int  # that the macro figures are over
    per_class: Mapping[str, ClassScore]


def multi_class(
    truth: Sequence[str], predicted: Sequence[str], min_rows: int = 1
) -> MultiClass:
    """Macro figures count classes with `min_rows`; all rows count as confusions.

    >>> scores = multi_class(["a", "a", "b", "c"], ["a", "b", "b", "b"], min_rows=1)
    >>> round(scores.f1, 3), scores.classes, scores.accuracy
    (0.389, 3, 0.5)
    """
    if not truth:
        return MultiClass(0.0, 0.0, 0.0, 0.0, 0, 0, {})
    names = sorted(set(truth))
    per_class = dict(zip(names, _class_scores(truth, predicted, names)))
    counted = [score for score in per_class.values() if score.rows >= min_rows]
    return MultiClass(
        _mean([score.precision for score in counted]),
        _mean([score.recall for score in counted]),
        _mean([score.f1 for score in counted]),
        float(accuracy_score(truth, predicted)),
        len(truth),
        len(counted),
        per_class,
    )


@dataclass(frozen=True, slots=True)
class Binary:
    """Both classes of a yes/no decision, as the paper's Table 4."""

    positive: ClassScore
    negative: ClassScore

    @property
    def macro_f1(self) -> float:
        """Mean of the two F1."""
        return (self.positive.f1 + self.negative.f1) / 2


def binary(
    truth: Sequence[bool], probabilities: Sequence[float], threshold: float = 0.5
) -> Binary:
    """P, R and F1 of both classes at a threshold.

    >>> binary([True, True, False], [0.9, 0.2, 0.1]).positive.recall
    0.5
    """
    if not truth:
        return Binary(ClassScore(0.0, 0.0, 0.0, 0), ClassScore(0.0, 0.0, 0.0, 0))
    answers = [p >= threshold for p in probabilities]
    return Binary(*_class_scores(truth, answers, [True, False]))


@dataclass(frozen=True, slots=True)
class Ranking:
    """How well the pairs are in order, whatever the threshold."""

    auc: float  # a pair is above a negative, so often
    average_precision: float
    f1_at_80: float  # the best F1 at a precision of 0.80 or more


def ranking(truth: Sequence[bool], probabilities: Sequence[float]) -> Ranking:
    """From the order of the probabilities; 0 where one of the classes is not there.

    >>> ranking([True, False, True, False], [0.9, 0.8, 0.7, 0.1]).auc
    0.75
    """
    if len(set(truth)) < 2:
        return Ranking(0.0, 0.0, 0.0)
    precision, recall, _ = precision_recall_curve(truth, probabilities)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    return Ranking(
        float(roc_auc_score(truth, probabilities)),
        float(average_precision_score(truth, probabilities)),
        float(f1[precision >= 0.8].max(initial=0.0)),
    )


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar confidence: what was claimed, and how often it was true."""

    confidence: float
    accuracy: float
    rows: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Expected calibration error, and the points of a reliability plot."""

    error: float
    bins: tuple[Bin, ...]


def calibration(
    right: Sequence[bool], confidence: Sequence[float], bins: int = 10
) -> Calibration:
    """Guo et al. (2017): equal-width bins, their gaps weighted by rows.

    >>> calibration([True, False], [0.5, 0.5]).error
    0.0
    """
    true, claimed = np.array(right, dtype=float), np.array(confidence, dtype=float)
    places = np.minimum(bins - 1, (claimed * bins).astype(int))
    found = tuple(
        Bin(float(claimed[here].mean()), float(true[here].mean()), int(here.sum()))
        for here in (places == place for place in np.unique(places))
    )
    gaps = sum(abs(b.confidence - b.accuracy) * b.rows for b in found)
    return Calibration(gaps / max(1, len(true)), found)


Scored = tuple[float, str, str]


def one_to_one_recall(
    scored: Iterable[Scored],
    gold: Collection[tuple[str, str]],
    threshold: float = 0.0,
) -> tuple[float, float]:
    """Recall of the gold pairs, and the share of the pairs kept that are gold.

    Best first, a pair is kept if neither URL was in a pair kept before, with a set of
    seen URLs for each side: the task's eval.py, where every candidate may be handed in
    (`threshold` 0), and the wmt16.py of García-Romero et al., where only what passes
    0.5 counts. The list of gold pairs is not complete, so the second figure is a
    precision only if all candidates are of gold URLs.

    >>> one_to_one_recall([(0.9, "e1", "f1"), (0.4, "e1", "f2")], [("e1", "f1")])
    (1.0, 1.0)
    """
    seen: tuple[set[str], set[str]] = (set(), set())
    kept: set[tuple[str, str]] = set()
    for p, a, b in sorted(scored, key=_best_first):
        if p >= threshold and a not in seen[0] and b not in seen[1]:
            seen[0].add(a)
            seen[1].add(b)
            kept.add((a, b))
    found = len(kept & set(gold))
    return found / max(1, len(set(gold))), found / max(1, len(kept))


def n_best_recall(
    scored: Iterable[Scored], gold: Collection[tuple[str, str]], n: int
) -> float:
    """Share of the gold pairs whose second URL is among the n best of the first one.

    Without a 1-1 rule, as Yandex (2016), table 1.

    >>> scored = [(0.9, "e1", "f2"), (0.4, "e1", "f1")]
    >>> [n_best_recall(scored, [("e1", "f1")], n) for n in (1, 2)]
    [0.0, 1.0]
    """
    best: dict[str, list[str]] = {}
    for _, a, b in sorted(scored, key=_best_first):
        best.setdefault(a, []).append(b)
    found = sum(b in best.get(a, [])[:n] for a, b in set(gold))
    return found / max(1, len(set(gold)))


def _best_first(row: Scored) -> tuple[float, int]:
    """Equal scores come in the order of a hash.

    In that of their names, two lists of gold URLs run in parallel: a rule that knows
    nothing of half of the pairs then gets a third of those for nothing.
    """
    name = f"{row[1]} {row[2]}".encode("utf-8", "backslashreplace")
    return -row[0], xxhash.xxh64_intdigest(name)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
