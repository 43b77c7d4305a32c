"""Embedding: how near sentence vectors are, of any callable that makes vectors.

Vecalign (Thompson & Koehn 2019, section 3.1): the texts of beads are embedded as they
are, so several sentences have a vector of their own; and a cosine says something only
beside the cosines that the same two texts have with strangers (the margin of Artetxe &
Schwenk 2019, section 3.1, here against a sample as Vecalign does).

See also: `models.sentences` (encoders from a folder or a hub).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.costs.cost import Hints, Matrix
from crawler.aligner.sentences.path import LONGEST
from crawler.aligner.sentences.split import Side

Encode = Callable[[Sequence[str]], NDArray[np.float32]]  # n texts → (n, dimensions)


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Margins of sentence vectors as a cost."""

    # Nats for two sentences between the margin of strangers, 0, and that of equal
    # vectors, 1: translations have 0.6 to 0.9 by LaBSE and its like, so they gain what
    # two sentences without a partner cost.
    weight: float = 15.0
    stranger: float = 0.35  # a margin that speaks neither for nor against
    sample: int = 200  # sentences of the other side that stand for all strangers


class EmbeddingCost:
    """How much nearer the vectors of a bead are than those of strangers."""

    def __init__(self, encode: Encode, config: EmbeddingConfig | None = None) -> None:
        self.encode = encode
        self.config = config or EmbeddingConfig()

    def prepare(self, src: Side, trg: Side) -> Embedded:
        """Encode every run of up to four sentences of a block, each text once."""
        runs = [_runs(side) for side in (src, trg)]
        texts = sorted({text for side in runs for size in side for text in size} - {""})
        place = {text: number for number, text in enumerate([*texts, ""])}
        vectors = self._vectors(texts)
        sides = [
            tuple(vectors[[place[text] for text in size]] for size in side)
            for side in runs
        ]
        samples = [_sample(side[0], self.config.sample) for side in sides]
        return Embedded(
            self.config,
            EmbeddedSide.beside(sides[0], samples[1]),
            EmbeddedSide.beside(sides[1], samples[0]),
        )

    def _vectors(self, texts: Sequence[str]) -> Matrix:
        """A unit vector for each text, and then one of nothing."""
        if not texts:
            return np.zeros((1, 1), np.float32)
        vectors = _unit(np.asarray(self.encode(texts), np.float32))
        return np.concatenate([vectors, np.zeros_like(vectors[:1])])


def _runs(side: Side) -> list[list[str]]:
    """For each size the text of every run; "" where it would leave its block."""
    return [
        [
            side.join(start, size)
            if side.blocks[start] == side.blocks[start + size - 1]
            else ""
            for start in range(len(side) - size + 1)
        ]
        for size in range(1, LONGEST + 1)
    ]


def _sample(vectors: Matrix, count: int) -> Matrix:
    """Some sentences from all over a text."""
    chosen = np.linspace(0, max(len(vectors) - 1, 0), min(count, len(vectors)))
    return vectors[chosen.astype(np.int64)]


def _unit(vectors: Matrix) -> Matrix:
    unit: Matrix = vectors / np.maximum(
        np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9
    )
    return unit


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedSide:
    """Unit vectors of the runs of each size, and their mean cosine with strangers."""

    vectors: tuple[Matrix, ...]  # of size 1, 2, …: (runs, dimensions)
    usual: tuple[Matrix, ...]  # (runs,)

    @classmethod
    def beside(cls, vectors: Sequence[Matrix], strangers: Matrix) -> EmbeddedSide:
        """Compare with a sample of the other side."""
        mean = strangers.mean(axis=0) if len(strangers) else None
        return cls(
            tuple(vectors),
            tuple(
                np.zeros(len(run), np.float32) if mean is None else run @ mean
                for run in vectors
            ),
        )

    def part(self, chosen: slice) -> EmbeddedSide:
        """The runs that lie inside of some sentences."""
        ends = [slice(chosen.start, chosen.stop - k) for k in range(len(self.vectors))]
        return EmbeddedSide(
            tuple(run[end] for run, end in zip(self.vectors, ends)),
            tuple(run[end] for run, end in zip(self.usual, ends)),
        )

    def grouped(self, runs: Sequence[slice]) -> EmbeddedSide:
        """Whole runs as one sentence: the mean of their sentences."""
        vectors = [self.vectors[0][run].mean(axis=0) for run in runs]
        usual = [self.usual[0][run].mean() for run in runs]
        return EmbeddedSide((_unit(np.stack(vectors)),), (np.array(usual, np.float32),))


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """The vectors of two sides."""

    config: EmbeddingConfig
    src: EmbeddedSide
    trg: EmbeddedSide

    def part(self, rows: slice, columns: slice) -> Embedded:
        """The vectors of some sentences."""
        return Embedded(self.config, self.src.part(rows), self.trg.part(columns))

    def grouped(self, src: Sequence[slice], trg: Sequence[slice]) -> Embedded:
        """The vectors of whole runs."""
        return Embedded(self.config, self.src.grouped(src), self.trg.grouped(trg))

    def hints(self) -> Hints:
        """Left to the words: all cosines of two long texts are too many."""
        return Hints.none()

    def learn(self, beads: Sequence[Bead]) -> Embedded:
        """The encoder has learned already."""
        return self

    def matrix(self, a: int, b: int) -> Matrix:
        """Less than 0 where the margin is greater than that of strangers."""
        config = self.config
        cosine = self.src.vectors[a - 1] @ self.trg.vectors[b - 1].T
        usual = (self.src.usual[a - 1][:, None] + self.trg.usual[b - 1]) / 2
        margin = (cosine - usual) / np.maximum(1 - usual, 1e-3, dtype=np.float32)
        cost: Matrix = np.subtract(config.stranger, margin, dtype=np.float32)
        cost *= config.weight * (a + b) / 2
        return cost
