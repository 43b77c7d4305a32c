"""The hashed language model as a network, and the arrays that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from crawler.data import Lang
from models.ngrams import PADDING
from models.url_language import PLACES, language_inputs
from training.feed import Batch


@dataclass(frozen=True)
class HashedInputs:
    """URLs → arrays for `HashedLanguageNet`."""

    label_index: Mapping[Lang, int]
    buckets: int

    def __call__(self, urls: Sequence[str]) -> Batch:
        """`ngrams` (URLs, n-grams); `marks` (URLs, markers) place · labels + label."""
        inputs = language_inputs(urls, self.label_index, self.buckets)
        counts = np.bincount(inputs.rows, minlength=len(urls))
        there = np.arange(max(1, counts.max(initial=0))) < counts[:, None]
        marks = np.full(there.shape, -1)
        marks[there] = inputs.places * len(self.label_index) + inputs.labels
        return {"ngrams": inputs.ngrams, "marks": marks}


class HashedLanguageNet(nn.Module):
    """The computation of `models.url_language` in torch."""

    def __init__(
        self, labels: Sequence[Lang], buckets: int, width: int, dropout: float
    ) -> None:
        """`dropout` is the share of n-grams that are left out, half that of markers."""
        super().__init__()
        self.encode = HashedInputs({x: i for i, x in enumerate(labels)}, buckets)
        self.dropout = dropout
        self.trust = 1.0  # factor of the gates outside training; fitted on dev
        self.table = nn.EmbeddingBag(buckets, width, mode="sum", padding_idx=PADDING)
        self.out = nn.Linear(width, len(labels))
        self.gate = nn.Linear(width, len(PLACES))
        nn.init.normal_(self.table.weight, std=0.1)
        nn.init.zeros_(self.table.weight.data[PADDING])
        # Markers are believed at first: odds of 150 to 1 for the language they name.
        # From 2.0 the thousand steps of a run do not get there (measured: 2.2).
        nn.init.constant_(self.gate.bias, 5.0)

    def forward(self, batch: Batch) -> Tensor:
        """(URLs, labels) scores."""
        ngrams, marks = batch["ngrams"], batch["marks"]
        counts = (ngrams != PADDING).sum(1, keepdim=True).clamp(min=1)
        if self.training:
            seen = torch.rand(ngrams.shape, device=ngrams.device) > self.dropout
            ngrams = ngrams * seen
        hidden = self.table(ngrams) / counts.sqrt()
        gates = nn.functional.softplus(self.gate(hidden))
        if self.training:
            kept = torch.rand(len(gates), 1, device=gates.device) > self.dropout / 2
            gates = gates * kept
        else:
            gates = gates * self.trust
        scores: Tensor = self.out(hidden)
        rows, columns = (marks >= 0).nonzero(as_tuple=True)
        marked = marks[rows, columns]
        places, labels = marked // scores.shape[1], marked % scores.shape[1]
        return scores.index_put((rows, labels), gates[rows, places], accumulate=True)
