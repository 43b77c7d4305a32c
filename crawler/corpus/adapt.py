"""Scores of sentence pairs, adapted to what a person says of some of them.

Platt scaling (Platt 1999): the log-odds of the score are stretched and shifted so that
they fit the verdicts, right as 1, partly as 1/2, wrong as 0. Rows of pages that are
less surely a pair than those of most marks lose by it, with a weight that the marks
give, too; among the rows of one pair of pages the order stays. A penalty pulls towards
the score as it is, so that some dozens of marks do little. Pairs that are marked wrong
are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from crawler.corpus.marks import Mark
from crawler.data import SentencePair
from crawler.sinks.tsv import one_cell

Floats = NDArray[np.float64]

MIN_MARKS = 50  # below, two numbers follow the chance of the choice
_TARGET = {"right": 1.0, "partly": 0.5, "wrong": 0.0}
_EDGE = 1e-4  # of a score: marks.tsv has four digits
_FAR = 30.0  # log-odds: beyond, a share is 0 or 1
_CLOSE = 1e-18  # of a step, squared: no nearer
_STEPS = 25  # of Newton's method; some five suffice


@dataclass(frozen=True, slots=True)
class AdaptedScores:
    """How scores are changed; without marks they are not."""

    stretch: float = 1.0
    shift: float = 0.0
    pages: float = 0.0  # weight of the log-odds of the pages' score …
    usual: float = 0.0  # … below their mean in the marks
    wrong: frozenset[tuple[str, str]] = frozenset()  # texts that are marked wrong

    @classmethod
    def of(cls, marks: Iterable[Mark]) -> Self:
        """Fit the marks of sentence pairs."""
        judged = [m for m in marks if m.level == "sentence" and m.verdict]
        wrong = frozenset(
            (one_cell(m.src_text), one_cell(m.trg_text))
            for m in judged
            if m.verdict == "wrong"
        )
        if len(judged) < MIN_MARKS:
            return cls(wrong=wrong)
        scores = _log_odds([m.score for m in judged])
        known = [m.pair_score for m in judged if m.pair_score is not None]
        usual = float(_log_odds(known).mean()) if known else 0.0
        pages = [
            0.0 if m.pair_score is None else _doubt(m.pair_score, usual) for m in judged
        ]
        inputs = np.stack([scores, np.ones(len(judged)), pages], axis=1)
        target = np.array([_TARGET[m.verdict or ""] for m in judged])
        weights = _fitted(inputs, target, np.array([1.0, 0.0, 0.0]))
        # a score that says the opposite is not turned round by some marks
        stretch, added = (max(float(weights[k]), 0.0) for k in (0, 2))
        return cls(stretch, float(weights[1]), added, usual, wrong)

    def score(self, score: float, pair_score: float) -> float:
        """The adapted score of a row of a pair of pages.

        >>> AdaptedScores().score(0.3, 0.9)
        0.3
        >>> round(AdaptedScores(1.0, 1.0).score(0.5, 0.9), 3)
        0.731
        """
        if (self.stretch, self.shift, self.pages) == (1.0, 0.0, 0.0):
            return score
        odds = self.stretch * _log_odds(score) + self.shift
        odds += self.pages * _doubt(pair_score, self.usual)
        return float(_share(odds))

    def is_wrong(self, pair: SentencePair) -> bool:
        """Was this pair marked wrong?"""
        return (one_cell(pair.src_text), one_cell(pair.trg_text)) in self.wrong


def _fitted(inputs: Floats, target: Floats, prior: Floats) -> Floats:
    """Weights of a logistic model, pulled towards `prior`; Newton, never uphill."""

    def loss(weights: Floats) -> float:
        odds = inputs @ weights
        away = weights - prior
        return float((np.logaddexp(0, odds) - target * odds).sum() + away @ away / 2)

    weights = prior
    for _ in range(_STEPS):
        fitted = _share(inputs @ weights)
        slope = inputs.T @ (fitted - target) + (weights - prior)
        curve = (inputs.T * (fitted * (1 - fitted))) @ inputs + np.eye(len(prior))
        step = np.linalg.solve(curve, slope)
        while loss(weights - step) > loss(weights) and step @ step > _CLOSE:
            step = step / 2
        weights = weights - step
    return weights


def _share(odds: Any) -> Any:  # a number, or a list of them
    return 1 / (1 + np.exp(-np.clip(odds, -_FAR, _FAR)))


def _log_odds(score: Any) -> Any:  # a number, or a list of them
    inner = np.clip(score, _EDGE, 1 - _EDGE)
    return np.log(inner / (1 - inner))


def _doubt(pair_score: float, usual: float) -> float:
    """Log-odds below the usual ones; of a row from a file, whose pair is sure, none."""
    return float(min(_log_odds(pair_score) - usual, 0.0))
