"""Features → one score: the probability that a pair is a translation.

Resnik & Smith (2003), section 5.3, let a learner weigh the features instead of setting
thresholds by hand. Here it is a logistic model over what the two pages say, whose
weights are data (`logistic.json`, with the sites that they were fitted on). What URLs
and links say comes on top, as a fixed number of nats, small enough that pages which
look and read differently are refused whatever they are called.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Logistic:
    """Weights of features, and of the evidence outside the pages."""

    bias: float
    weights: Mapping[str, float]
    evidence: Mapping[str, float]
    fitted_on: tuple[str, ...]

    def probability(self, features: Mapping[str, float]) -> float:
        """P(translation | features); a feature that is absent counts as 0."""
        return _sigmoid(self._logit(features))

    def best_case(self, features: Mapping[str, float]) -> float:
        """The most that the probability can become once absent features are known.

        Every feature that may be absent lies between 0 and 1, or below.
        """
        absent = [
            weight for name, weight in self.weights.items() if name not in features
        ]
        return _sigmoid(self._logit(features) + sum(w for w in absent if w > 0))

    def _logit(self, features: Mapping[str, float]) -> float:
        return self.bias + sum(
            weight * features.get(name, 0.0)
            for table in (self.weights, self.evidence)
            for name, weight in table.items()
        )


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


@cache
def load_model(name: str) -> Logistic:
    """A model that comes with the package: `words`, or `lexicon` where there is one."""
    text = resources.files(__package__).joinpath(f"logistic_{name}.json").read_text()
    table = json.loads(text)
    return Logistic(
        table["bias"],
        table["weights"],
        table["evidence"],
        tuple(table["fitted_on"]),
    )
