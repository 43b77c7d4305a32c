"""Word vectors in which translations are near: a part of the hashed pair model.

Slugs, titles and dictionary entries that translate each other are to be nearer than the
other texts of a batch (InfoNCE; van den Oord et al., 2018). A word is the sum of its
hashed character n-grams, a text the sum of its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from crawler.data import Site
from models.url_pair import UrlView, word_ngrams
from training.data.splits import DEV
from training.feed import Batch, ListRows
from training.loop import LoopConfig, Task, train
from training.pair_data import TextPair, Texts
from training.protocol import Collection
from training.url_language import as_array, quantize


@dataclass(frozen=True, slots=True)
class WordVectorConfig:
    """The size and the training of the vectors: 2**17 x 48 bytes are 6.3 MB."""

    buckets: int = 2**17
    width: int = 48
    dropout: float = 0.15  # of n-grams
    temperature: float = 0.07  # of the softmax over a batch (CLIP's first value)
    texts: int = 120_000  # pairs of texts per epoch
    loop: LoopConfig = field(
        default_factory=lambda: LoopConfig(
            learning_rate=3e-3,
            schedule="linear",
            weight_decay=0.0,
            max_epochs=12,
            patience=12,
            batch_size=512,
        )
    )


class TextBatches:
    """Pairs of texts → flat arrays of n-grams, with the start and scale of each."""

    def __init__(self, buckets: int) -> None:
        """`buckets`: rows of the table of vectors."""
        self._buckets = buckets
        self._ngrams: dict[str, npt.NDArray[np.int64]] = {}

    def __call__(self, pairs: Sequence[TextPair]) -> Batch:
        """A text that comes twice would be its own negative: each comes once."""
        once = {b: (a, b) for a, b in {a: (a, b) for a, b in pairs}.values()}
        sides = list(zip(*once.values()))
        return {
            f"{name}{i}": array
            for i, texts in enumerate(sides)
            for name, array in self._arrays(texts).items()
        }

    def _arrays(self, texts: Sequence[str]) -> Batch:
        words = [text.split() for text in texts]
        new = sorted({w for row in words for w in row} - self._ngrams.keys())
        if new:
            for word, row in zip(new, word_ngrams(new, self._buckets)):
                self._ngrams[word] = row[row > 0]
        found = [self._ngrams[word] for row in words for word in row]
        counts = np.array([len(ngrams) for ngrams in found])
        sizes = np.array([sum(len(self._ngrams[w]) for w in row) for row in words])
        return {
            "ngrams": np.concatenate(found),
            "starts": np.cumsum(sizes) - sizes,
            "scales": np.repeat(counts**-0.5, counts).astype(np.float32),
        }


class WordVectors(nn.Module):
    """(texts, width) vectors of length 1 for one side of a batch."""

    def __init__(self, config: WordVectorConfig) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.table = nn.EmbeddingBag(config.buckets, config.width, mode="sum")
        nn.init.normal_(self.table.weight, std=0.1)

    def forward(self, batch: Batch, side: int) -> Tensor:
        """The texts of side 0 or 1."""
        scales = batch[f"scales{side}"]
        if self.training:
            kept = torch.rand(len(scales), device=scales.device) > self.dropout
            scales = scales * kept
        summed = self.table(
            batch[f"ngrams{side}"], batch[f"starts{side}"], per_sample_weights=scales
        )
        return nn.functional.normalize(summed, dim=1)


def train_words(
    config: WordVectorConfig,
    texts: Texts,
    collection: Collection,
    out: Path,
    left_out: AbstractSet[Site] = frozenset(),
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A table of n-gram vectors in 8 bits, and the scale of its columns."""
    network = WordVectors(config)
    views = [
        (UrlView.of(row.url_a), UrlView.of(row.url_b))
        for row in collection.pairs[DEV]
        if not row.code_only
    ]
    dev = [(" ".join(a.name), " ".join(b.name)) for a, b in views if a.name and b.name]

    def loss(net: nn.Module, batch: Batch) -> Tensor:
        one, two = net(batch, 0), net(batch, 1)
        scores = one @ two.T / config.temperature
        truth = torch.arange(len(scores), device=scores.device)
        both = (scores, scores.T)
        sums = [nn.functional.cross_entropy(s, truth, reduction="sum") for s in both]
        return (sums[0] + sums[1]) / 2

    def margin(outputs: Tensor) -> float:
        """The mean cosine of true slugs of dev less that of all."""
        one, two = outputs.chunk(2, dim=1)
        return float((one * two).sum(1).mean() - (one @ two.T).mean())

    task = Task(
        network,
        lambda n, limit: ListRows(texts.epoch(n, min(config.texts, limit), left_out)),
        TextBatches(config.buckets),
        loss,
        dev,
        lambda net, batch: torch.cat([net(batch, 0), net(batch, 1)], dim=1),
        margin,
        "margin",
        divisible=False,  # the other texts of a batch are the negatives
    )
    train(task, config.loop, out)
    return quantize(as_array(network.table.weight))
