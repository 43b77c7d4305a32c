"""Distillation (Hinton et al., 2015): a small model also learns a large one's answers.

The teacher is any classifier that `models.encoder` loads, such as a fine-tuned XLM-R
base (`language-base`, `pair-base`, or the released models). It scores every batch, so
it wants a GPU; the student runs anywhere afterwards.

    bifocal train distil --teacher FOLDER --profile compact --data DATA
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from crawler.data import Lang
from models.encoder import XlmrUrlLanguageModel, XlmrUrlPairModel
from models.preprocess import pair_text, url_text


@dataclass(frozen=True, slots=True)
class DistillationConfig:
    """The model whose answers are learned beside the truth, and their weight."""

    teacher: str | None = None  # hub name, folder or native checkpoint
    weight: float = 0.5  # of the teacher's answers; the truth has the rest
    temperature: float = 2.0  # of both sides, so that small probabilities count


class LanguageTeacher:
    """P(language | URL) of a larger model over a student's labels."""

    def __init__(
        self, config: DistillationConfig, model: XlmrUrlLanguageModel, columns: Tensor
    ) -> None:
        """`columns`: for each label of the teacher the number of the student's."""
        self._config = config
        self._model = model
        self._columns = columns

    @classmethod
    def load(cls, config: DistillationConfig, labels: Sequence[Lang]) -> Self:
        """Languages of the teacher that `labels` lacks become its first one, `unk`."""
        assert config.teacher
        model = XlmrUrlLanguageModel(config.teacher)
        index = {label: i for i, label in enumerate(labels)}
        columns = torch.tensor([index.get(label, 0) for label in model.labels])
        return cls(config, model, columns)

    def blend(self, truth: Tensor, scores: Tensor, urls: Sequence[str]) -> Tensor:
        """The summed loss; `truth` is that of the labels, `scores` (URLs, labels)."""
        # a copy: tensors of inference mode cannot take part in a gradient
        logits = self._model.logits([url_text(url) for url in urls]).clone()
        shares = (logits / self._config.temperature).softmax(1)
        target = torch.zeros(scores.shape).index_add(1, self._columns, shares)
        cooled = scores / self._config.temperature
        learned = nn.functional.cross_entropy(
            cooled, target.to(scores.device), reduction="sum"
        )
        return _blended(truth, learned, self._config)


class PairTeacher:
    """P(parallel | URL, URL) of a larger model."""

    def __init__(self, config: DistillationConfig, model: XlmrUrlPairModel) -> None:
        self._config = config
        self._model = model

    @classmethod
    def load(cls, config: DistillationConfig) -> Self:
        """The teacher may have one logit, or two, whose difference counts."""
        assert config.teacher
        return cls(config, XlmrUrlPairModel(config.teacher))

    def blend(
        self, truth: Tensor, scores: Tensor, pairs: Sequence[tuple[str, str]]
    ) -> Tensor:
        """The summed loss; `truth` is that of the labels, `scores` (pairs,) logits."""
        logits = self._model.logits([pair_text(a, b) for a, b in pairs]).clone()
        odds = logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0)
        learned = nn.functional.binary_cross_entropy_with_logits(
            scores / self._config.temperature,
            (odds / self._config.temperature).sigmoid().to(scores.device),
            reduction="sum",
        )
        return _blended(truth, learned, self._config)


def _blended(truth: Tensor, learned: Tensor, config: DistillationConfig) -> Tensor:
    # the square: gradients through a temperature shrink by it (section 2.1)
    return (1 - config.weight) * truth + (
        config.weight * config.temperature**2 * learned
    )
