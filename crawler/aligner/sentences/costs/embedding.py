"""Embedding: cosine of sentence vectors, from any callable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.sentences.costs.cost import BeadCosts, Matrix, windows
from crawler.aligner.sentences.split import Side

Encode = Callable[[Sequence[str]], NDArray[np.float32]]  # n texts → (n, dimensions)


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Cosines of sentence vectors as a cost."""

    weight: float = 10.0  # nats between a cosine like that of strangers and one of 1


class EmbeddingCost:
    """How far apart sentence vectors are, in units of how far strangers are.

    The normalisation of vecalign (Thompson & Koehn 2019, section 3.1), by the mean over
    all pairs; the vector of several sentences is the mean of theirs.
    """

    def __init__(self, encode: Encode, config: EmbeddingConfig | None = None) -> None:
        self.encode = encode
        self.config = config or EmbeddingConfig()

    def prepare(self, src: Side, trg: Side) -> BeadCosts:
        """One call of the encoder for each side."""
        vectors = [
            np.asarray(self.encode(list(side.texts)), np.float64) for side in (src, trg)
        ]
        usual = float((_unit(vectors[0]) @ _unit(vectors[1]).T).mean())
        return _Embedded(self.config, vectors[0], vectors[1], min(usual, 0.99))


def _unit(vectors: Matrix) -> Matrix:
    unit: Matrix = vectors / np.maximum(
        np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9
    )
    return unit


@dataclass(frozen=True, slots=True, eq=False)
class _Embedded:
    config: EmbeddingConfig
    src: Matrix
    trg: Matrix
    usual: float

    def matrix(self, a: int, b: int) -> Matrix:
        if not (a and b):
            return np.zeros(len(self.src if a else self.trg))
        cosine = _unit(windows(self.src, a)) @ _unit(windows(self.trg, b)).T
        # 0 for strangers, -1 for equal vectors
        cost: Matrix = -self.config.weight * (cosine - self.usual) / (1 - self.usual)
        return cost
