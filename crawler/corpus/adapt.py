"""Scores of sentence pairs, adapted to what a person says of some of them.

Platt scaling (Platt 1999): the log-odds of the score are stretched and shifted so that
they fit the verdicts, right as 1, partly as 1/2, wrong as 0. The order of the pairs
stays, what changes is where a threshold lies. A penalty pulls towards the score as it
is, so that some dozens of marks do little. Pairs that are marked wrong are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from crawler.corpus.marks import Mark
from crawler.data import SentencePair
from crawler.sinks.tsv import one_cell

MIN_MARKS = 50  # below, two numbers follow the chance of the choice
_TARGET = {"right": 1.0, "partly": 0.5, "wrong": 0.0}
_EDGE = 1e-4  # of a score: marks.tsv has four digits
_STEPS = 25  # of Newton's method; some five suffice


@dataclass(frozen=True, slots=True)
class AdaptedScores:
    """How scores are changed; without marks they are not."""

    stretch: float = 1.0
    shift: float = 0.0
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
        scores = np.clip([m.score for m in judged], _EDGE, 1 - _EDGE)
        inputs = np.stack([np.log(scores / (1 - scores)), np.ones(len(judged))], axis=1)
        target = np.array([_TARGET[m.verdict or ""] for m in judged])
        prior = weights = np.array([1.0, 0.0])
        for _ in range(_STEPS):
            fitted = 1 / (1 + np.exp(-inputs @ weights))
            slope = inputs.T @ (fitted - target) + (weights - prior)
            curve = (inputs.T * (fitted * (1 - fitted))) @ inputs + np.eye(2)
            weights = weights - np.linalg.solve(curve, slope)
        # a score that says the opposite is not turned round by some marks
        return cls(max(float(weights[0]), 0.0), float(weights[1]), wrong)

    def score(self, score: float) -> float:
        """The adapted score.

        >>> AdaptedScores().score(0.3), round(AdaptedScores(1.0, 1.0).score(0.5), 3)
        (0.3, 0.731)
        """
        if (self.stretch, self.shift) == (1.0, 0.0):
            return score
        inner = min(max(score, _EDGE), 1 - _EDGE)
        odds = self.stretch * np.log(inner / (1 - inner)) + self.shift
        return float(1 / (1 + np.exp(-odds)))

    def is_wrong(self, pair: SentencePair) -> bool:
        """Was this pair marked wrong?"""
        return (one_cell(pair.src_text), one_cell(pair.trg_text)) in self.wrong
