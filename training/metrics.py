"""Numbers from truth and predictions: P, R, F1, macro averages, calibration, WMT16.

Pure functions over lists, so that a figure in a card can be checked by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import xxhash


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Precision, recall and F1 of one class; 0 where nothing was predicted."""

    precision: float
    recall: float
    f1: float
    rows: int  # of the truth

    @classmethod
    def of(cls, hits: int, predicted: int, rows: int) -> ClassScore:
        """From counts.

        >>> ClassScore.of(hits=3, predicted=4, rows=6)
        ClassScore(precision=0.75, recall=0.5, f1=0.6, rows=6)
        """
        precision = hits / predicted if predicted else 0.0
        recall = hits / rows if rows else 0.0
        both = precision + recall
        return cls(
            precision, recall, 2 * precision * recall / both if both else 0.0, rows
        )


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
    rows, answers = Counter(truth), Counter(predicted)
    hits = Counter(t for t, p in zip(truth, predicted) if t == p)
    per_class = {
        name: ClassScore.of(hits[name], answers[name], rows[name])
        for name in sorted(rows)
    }
    counted = [score for score in per_class.values() if score.rows >= min_rows]
    return MultiClass(
        _mean(score.precision for score in counted),
        _mean(score.recall for score in counted),
        _mean(score.f1 for score in counted),
        sum(hits.values()) / len(truth) if truth else 0.0,
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
    counts = Counter((t, p >= threshold) for t, p in zip(truth, probabilities))
    yes, no = counts[True, True] + counts[False, True], counts[True, False]
    return Binary(
        ClassScore.of(counts[True, True], yes, counts[True, True] + no),
        ClassScore.of(
            counts[False, False],
            counts[False, False] + no,
            counts[False, False] + counts[False, True],
        ),
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """How well the pairs are in order, whatever the threshold."""

    auc: float  # a pair is above a negative, so often
    average_precision: float
    f1_at_80: float  # the best F1 at a precision of 0.80 or more


def ranking(truth: Sequence[bool], probabilities: Sequence[float]) -> Ranking:
    """From one walk down the list, best first; equal answers are taken together.

    >>> ranking([True, False, True, False], [0.9, 0.8, 0.7, 0.1]).auc
    0.75
    """
    groups: dict[float, list[int]] = {}  # probability → negatives, positives
    for t, p in zip(truth, probabilities):
        groups.setdefault(p, [0, 0])[t] += 1
    positives = sum(truth)
    negatives = len(truth) - positives
    hits = wrong = 0
    below = precise = best = 0.0
    for _, (no, yes) in sorted(groups.items(), reverse=True):
        below += yes * (negatives - wrong - no / 2)
        hits, wrong = hits + yes, wrong + no
        score = ClassScore.of(hits, hits + wrong, positives)
        precise += yes * score.precision
        if score.precision >= 0.8:
            best = max(best, score.f1)
    return Ranking(
        below / (positives * negatives) if positives and negatives else 0.0,
        precise / positives if positives else 0.0,
        best,
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
    members: dict[int, list[tuple[bool, float]]] = {}
    for r, c in zip(right, confidence):
        members.setdefault(min(bins - 1, int(c * bins)), []).append((r, c))
    found = tuple(
        Bin(_mean(c for _, c in rows), _mean(float(r) for r, _ in rows), len(rows))
        for _, rows in sorted(members.items())
    )
    gaps = sum(abs(b.confidence - b.accuracy) * b.rows for b in found)
    return Calibration(gaps / len(right) if right else 0.0, found)


Scored = tuple[float, str, str]


def official_recall(
    scored: Iterable[Scored], gold: Collection[tuple[str, str]]
) -> float:
    """WMT16's eval.py: best first, a pair counts if neither URL was seen before.

    One set of seen URLs over both sides; precision is not measured, so every candidate
    may be handed in.
    """
    seen: set[str] = set()
    kept: set[tuple[str, str]] = set()
    for _, a, b in _best_first(scored):
        if a not in seen and b not in seen:
            seen.update((a, b))
            kept.add((a, b))
    return _share(kept, gold)


def authors_recall(
    scored: Iterable[Scored],
    gold: Collection[tuple[str, str]],
    threshold: float = 0.5,
) -> float:
    """The authors' wmt16.py: only what passes the threshold; a set per side."""
    seen: tuple[set[str], set[str]] = (set(), set())
    kept: set[tuple[str, str]] = set()
    for p, a, b in _best_first(scored):
        if p >= threshold and a not in seen[0] and b not in seen[1]:
            seen[0].add(a)
            seen[1].add(b)
            kept.add((a, b))
    return _share(kept, gold)


def _best_first(scored: Iterable[Scored]) -> list[Scored]:
    """Equal scores come in the order of a hash.

    In that of their names, two lists of gold URLs run in parallel: a rule that knows
    nothing of half of the pairs then gets a third of those for nothing.
    """

    def order(row: Scored) -> tuple[float, int]:
        name = f"{row[1]} {row[2]}".encode("utf-8", "backslashreplace")
        return -row[0], xxhash.xxh64_intdigest(name)

    return sorted(scored, key=order)


def _share(kept: set[tuple[str, str]], gold: Collection[tuple[str, str]]) -> float:
    wanted = set(gold)
    return len(kept & wanted) / len(wanted) if wanted else 0.0


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
