"""The networks that are trained: the hashed linear one, and XLM-R's architecture.

Both take URLs and give scores, so that one loop trains either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, pre_tokenizers, processors, trainers
from tokenizers import models as tokenizer_models
from torch import Tensor, nn
from transformers import (
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from crawler.data import Lang
from models.encoder import SPECIAL_TOKENS, load_classifier, load_tokenizer
from models.ngrams import PADDING
from models.url_language import PLACES, language_inputs


class HashedLanguageNet(nn.Module):
    """What `models.url_language` computes, in torch."""

    def __init__(
        self, labels: Sequence[Lang], buckets: int, width: int, dropout: float
    ) -> None:
        """`dropout` is the share of n-grams, and of marked URLs' markers, unseen."""
        super().__init__()
        self.label_index = {label: i for i, label in enumerate(labels)}
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

    def forward(self, urls: Sequence[str]) -> Tensor:
        """(URLs, labels) scores."""
        inputs = language_inputs(urls, self.label_index, self.table.weight.shape[0])
        device = self.table.weight.device
        ngrams, rows, places, labels = (
            torch.from_numpy(array).to(device) for array in inputs
        )
        counts = (ngrams != PADDING).sum(1, keepdim=True).clamp(min=1)
        if self.training:
            ngrams = ngrams * (torch.rand(ngrams.shape, device=device) > self.dropout)
        hidden = self.table(ngrams) / counts.sqrt()
        gates = nn.functional.softplus(self.gate(hidden))
        if self.training:
            seen = torch.rand(len(gates), 1, device=device) > self.dropout / 2
            gates = gates * seen
        else:
            gates = gates * self.trust
        scores: Tensor = self.out(hidden)
        return scores.index_put((rows, labels), gates[rows, places], accumulate=True)


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """XLM-R's architecture; `pretrained` names a model to go on from."""

    pretrained: str | None = None
    vocabulary: int = 8_000  # of a tokenizer that is trained on URLs
    layers: int = 4
    width: int = 192
    heads: int = 3  # 64 dimensions each, as in XLM-R
    max_tokens: int = 64  # of a text; the full model has 256


class EncoderNet(nn.Module):
    """An encoder over texts with a classification head on the first token."""

    def __init__(
        self, config: EncoderConfig, labels: Sequence[str], texts: Iterable[str]
    ) -> None:
        """`texts` train the tokenizer of a model that starts from nothing."""
        super().__init__()
        self.max_tokens = config.max_tokens
        names = dict(enumerate(labels))
        if config.pretrained:
            self.tokenizer = load_tokenizer(config.pretrained)
            network = load_classifier(config.pretrained)
            network.config.num_labels = len(labels)
            network.config.id2label = names
            network.classifier = XLMRobertaForSequenceClassification(
                network.config
            ).classifier
            reinitialise_top(network)
        else:
            self.tokenizer = url_tokenizer(texts, config.vocabulary)
            config_of: Any = XLMRobertaConfig  # its stub knows no labels
            network = XLMRobertaForSequenceClassification(
                config_of(
                    vocab_size=len(self.tokenizer),
                    hidden_size=config.width,
                    num_hidden_layers=config.layers,
                    num_attention_heads=config.heads,
                    intermediate_size=4 * config.width,
                    max_position_embeddings=config.max_tokens + 2,
                    type_vocab_size=1,
                    layer_norm_eps=1e-5,
                    num_labels=len(labels),
                    id2label=names,
                )
            )
        self.network: Any = network

    def forward(self, texts: Sequence[str]) -> Tensor:
        """(texts, labels) scores."""
        encoded = self.tokenizer(
            list(texts),
            truncation=True,
            max_length=self.max_tokens,
            padding=True,
            return_tensors="pt",
        ).to(self.network.device)
        scores: Tensor = self.network(**encoded).logits
        return scores

    def save(self, folder: Path) -> None:
        """A folder that `models.encoder` loads."""
        self.network.save_pretrained(folder)
        self.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))


def reinitialise_top(network: Any) -> None:
    """Start the last encoder layer anew (section 3.2; the authors' do_reinit)."""
    deviation = network.config.initializer_range
    for module in network.roberta.encoder.layer[-1].modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=deviation)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)


def url_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """A byte-level BPE over URLs as the released models write them."""
    tokenizer = Tokenizer(tokenizer_models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer: Any = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],  # XLM-R's numbers
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    kind: Any = PreTrainedTokenizerFast  # untyped constructor
    return kind(tokenizer_object=tokenizer, **SPECIAL_TOKENS)
