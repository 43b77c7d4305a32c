"""Features → one score: the probability that a pair is a translation.

Resnik & Smith (2003), section 5.3, let a learner weigh the features instead of setting
thresholds by hand. A profile names one way (`model`):

- `logistic`, the default: a logistic model over what the two pages say. What URLs and
  links say comes on top, as a fixed number of nats, small enough that pages which look
  and read differently are refused whatever they are called.
- `tree`: a decision tree over the same features, as the paper's C5.0.
- `thresholds`: the paper's manual ones, section 2.1.3: dp < 20 % and p < 0.05; with a
  lexicon tsim > 0.15 besides, or instead, section 3.2.2.
- `cosine`: the cosine by which a search found the pair, and nothing else, as the
  systems decide that compare pages by content alone (Uszkoreit et al. 2010, Yandex at
  WMT16, Ture et al. 2011).

Weights and trees are data: weights/*.json, with the sites that they were fitted on.
They are written by training/align_weights.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec
import numpy as np

from crawler.aligner.scorers.adaptation import ADAPTED, adapt
from crawler.errors import ProfileError

Features = Mapping[str, float]
_SHIPPED = f"{__package__}.weights"


class Model(Protocol):
    """P(translation | features); a feature that is absent counts as 0."""

    def probability(self, features: Features) -> float:
        """The score of a pair, from 0 to 1."""
        ...

    def best_case(self, features: Features) -> float:
        """The most that the score can become once absent features are known."""
        ...

    def adapted(self, pairs: Sequence[Features], right: Sequence[bool]) -> Model:
        """The same for one site, of which some pairs are known."""
        ...


@dataclass(frozen=True, slots=True)
class Logistic:
    """Weights of features, and of the evidence outside the pages."""

    bias: float
    weights: Features
    evidence: Features
    fitted_on: tuple[str, ...]

    def probability(self, features: Features) -> float:
        """The logistic function of the weighted sum."""
        return _sigmoid(self._logit(features))

    def best_case(self, features: Features) -> float:
        """Every feature that may be absent lies between 0 and 1, or below."""
        absent = [
            weight for name, weight in self.weights.items() if name not in features
        ]
        return _sigmoid(self._logit(features) + sum(w for w in absent if w > 0))

    def adapted(self, pairs: Sequence[Features], right: Sequence[bool]) -> Logistic:
        """The model of a site, from pairs that are surely right or wrong."""
        names = [name for name in ADAPTED if name in self.weights]
        terms = np.array([[self.weights[n] * f[n] for n in names] for f in pairs])
        logits = np.array([self._logit(features) for features in pairs])
        factors, change = adapt(logits - terms.sum(axis=1), terms, np.array(right))
        weights = {n: f * self.weights[n] for n, f in zip(names, factors.tolist())}
        return replace(
            self, bias=self.bias + change, weights={**self.weights, **weights}
        )

    def _logit(self, features: Features) -> float:
        return self.bias + sum(
            weight * features.get(name, 0.0)
            for table in (self.weights, self.evidence)
            for name, weight in table.items()
        )


@dataclass(frozen=True, slots=True)
class Tree:
    """A decision tree: node n asks for a feature, or is a leaf with a probability."""

    features: Sequence[str]  # by node; "" for a leaf
    thresholds: Sequence[float]  # at most: to the left
    left: Sequence[int]
    right: Sequence[int]
    values: Sequence[float]
    fitted_on: tuple[str, ...]

    def probability(self, features: Features) -> float:
        """The share of translations among the training pairs of the leaf."""
        node = 0
        while self.features[node]:
            value = features.get(self.features[node], 0.0)
            down = self.left if value <= self.thresholds[node] else self.right
            node = down[node]
        return self.values[node]

    def best_case(self, _: Features) -> float:
        """A tree says nothing before it has everything."""
        return 1.0

    def adapted(self, _pairs: Sequence[Features], _right: Sequence[bool]) -> Model:
        """The same everywhere."""
        return self


@dataclass(frozen=True, slots=True)
class Thresholds:
    """STRAND's manual thresholds; the score ranks what passes by dp and tsim."""

    max_dp: float = 0.20  # section 2.1.3
    max_p: float = 0.05
    min_tsim: float = 0.15  # section 3.2.2

    def probability(self, features: Features) -> float:
        """1 for equal pages, at least a half for a translation, else 0."""
        dp, tsim = features.get("strand.dp", 1.0), features.get("tsim.score", 0.0)
        same_shape = dp < self.max_dp and features.get("strand.p", 1.0) < self.max_p
        if not same_shape and tsim <= self.min_tsim:
            return 0.0
        return 0.5 + 0.5 * max((1 - dp) * same_shape, tsim)

    def best_case(self, _: Features) -> float:
        """Any shape may follow."""
        return 1.0

    def adapted(self, _pairs: Sequence[Features], _right: Sequence[bool]) -> Model:
        """The same everywhere."""
        return self


@dataclass(frozen=True, slots=True)
class Cosine:
    """The cosine of a search as the score; 0 for pairs that no search found."""

    def probability(self, features: Features) -> float:
        """The cosine, from 0 to 1."""
        return min(1.0, max(0.0, features.get("nearest.cosine", 0.0)))

    def best_case(self, features: Features) -> float:
        """The same: it is known before all else."""
        return self.probability(features)

    def adapted(self, _pairs: Sequence[Features], _right: Sequence[bool]) -> Model:
        """The same everywhere."""
        return self


M = TypeVar("M", Logistic, Tree)
Content = Literal["words", "lexicon"]  # by what content was compared


@dataclass(frozen=True, slots=True)
class TreeConfig:
    """The tree that a profile means."""

    folder: str = ""  # of files as `training.align_weights` writes; "": the shipped one


@dataclass(frozen=True, slots=True)
class LogisticConfig:
    """The weights that a profile means, and those that it adds."""

    folder: str = (
        ""  # of files as `training.align_weights` writes; "": the shipped ones
    )
    # Nats for a feature of 1: of a scorer that the weights do not know, or in place of
    # its weight. Until such a feature is known, it counts as 1 if that is more than 0.
    weights: Features = field(default_factory=dict)


def logistic(content: Content, config: LogisticConfig) -> Model:
    """The logistic model with the weights of a profile."""
    model: Logistic = _load(Logistic, config.folder, f"logistic_{content}.json")
    return replace(model, weights={**model.weights, **config.weights})


def tree(content: Content, config: TreeConfig) -> Model:
    """The decision tree of a profile."""
    model: Tree = _load(Tree, config.folder, f"tree_{content}.json")
    return model


def thresholds(config: Thresholds) -> Model:
    """STRAND's manual thresholds, whatever content was compared by."""
    return config


def cosine() -> Model:
    """The cosine of the search, whatever content was compared by."""
    return Cosine()


@cache
def _load(kind: type[M], folder: str, name: str) -> M:
    file = Path(folder) / name if folder else resources.files(_SHIPPED) / name
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError) as error:
        raise ProfileError(
            f"{file}: {error} (make it by: python -m training.align_weights)"
        ) from error


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
