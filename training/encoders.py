"""Encoders to be trained: any of transformers, or a small one with random weights."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, pre_tokenizers, processors, trainers
from tokenizers import models as tokenizer_models
from torch import Tensor, nn
from transformers import (
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from crawler.errors import ModelError
from models.encoder import (
    SPECIAL_TOKENS,
    TextEncoder,
    has_safetensors,
    load_classifier,
    load_network,
    load_tokenizer,
    local_folder,
    max_tokens,
)
from training.feed import Batch

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """`pretrained` names an encoder to go on from; else one is made of this size."""

    pretrained: str | None = None  # hub name or folder of safetensors
    reinitialise: int = 1  # top layers that start anew (section 2.2 of the paper)
    vocabulary: int = 8_000  # of a byte-level BPE over URLs; 260: bytes
    layers: int = 4
    width: int = 192
    heads: int = 3  # 64 dimensions each, as in XLM-R
    max_tokens: int = 64  # of a text; the paper has 256


class EncoderNet(nn.Module):
    """An encoder with a classification head, over arrays that `encode` makes."""

    def __init__(
        self, config: EncoderConfig, labels: Sequence[str], texts: Iterable[str]
    ) -> None:
        """`texts` train the tokenizer of a model that starts from nothing."""
        super().__init__()
        names = dict(enumerate(labels))
        network: Any
        if config.pretrained:
            folder = local_folder(config.pretrained)
            network, tokenizer = pretrained(folder, names), load_tokenizer(folder)
            start_anew(top_layers(network, config.reinitialise), network.config)
        else:
            tokenizer = url_tokenizer(texts, config.vocabulary)
            network = small_encoder(config, names, len(tokenizer))
        self.network = network
        width = min(config.max_tokens, max_tokens(network.config))
        self.encode = TextEncoder(tokenizer, width)

    def forward(self, batch: Batch) -> Tensor:
        """(texts, labels) scores."""
        scores: Tensor = self.network(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).logits
        return scores

    def save(self, folder: Path, temperature: float) -> None:
        """A folder that `models.encoder` loads."""
        self.network.config.bifocal_temperature = temperature
        self.network.config.bifocal_max_tokens = self.encode.max_tokens
        self.network.save_pretrained(folder)
        self.encode.tokenizer.save_pretrained(folder)


def pretrained(folder: Path, labels: dict[int, str]) -> Any:
    """An encoder with a head for these labels: its own if it has them, else a new one.

    Checkpoints of masked language models, bare encoders and classifiers are read.
    """
    if not has_safetensors(folder) and (folder / "pytorch_model.bin").exists():
        with tempfile.TemporaryDirectory() as safe:  # a released model
            load_classifier(folder).save_pretrained(safe)
            network, missing = load_network(Path(safe), num_labels=len(labels))
    else:
        network, missing = load_network(folder, num_labels=len(labels))
    prefix = network.base_model_prefix + "."
    body = [n for n in missing if n.startswith(prefix) and ".pooler." not in n]
    if body:
        raise ModelError(
            f"{folder}: {len(body)} weights of the encoder are missing, {body[0]} first"
            f" (is it a {type(network).__name__}?)"
        )
    same = len(labels) == 1 or network.config.id2label == labels
    if missing or not same:
        head = [m for n, m in network.named_children() if n + "." != prefix]
        start_anew(head, network.config)
        logger.info(
            "%s: the head is new, %d outputs (%s)",
            folder,
            len(labels),
            f"{len(missing)} weights missing" if missing else "other labels",
        )
    network.config.id2label = labels
    network.config.label2id = {name: i for i, name in labels.items()}
    return network


def top_layers(network: Any, count: int) -> list[nn.Module]:
    """The last `count` of the encoder's layers: of its longest list of modules."""
    lists = [m for m in network.base_model.modules() if isinstance(m, nn.ModuleList)]
    layers = max(lists, key=len, default=nn.ModuleList())
    return list(layers)[len(layers) - count :] if count else []


def start_anew(modules: Iterable[nn.Module], config: Any) -> None:
    """Draw the weights as before any training (the authors' do_reinit)."""
    deviation = getattr(config, "initializer_range", 0.02)
    for module in (part for whole in modules for part in whole.modules()):
        for name, parameter in module.named_parameters(recurse=False):
            if name == "bias":
                nn.init.zeros_(parameter)
            elif parameter.dim() == 1:  # of a layer norm
                nn.init.ones_(parameter)
            else:
                nn.init.normal_(parameter, std=deviation)


def small_encoder(config: EncoderConfig, labels: dict[int, str], tokens: int) -> Any:
    """XLM-R's architecture in a small size, with random weights."""
    kind: Any = XLMRobertaConfig  # its stub knows no labels
    return XLMRobertaForSequenceClassification(
        kind(
            vocab_size=tokens,
            hidden_size=config.width,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=4 * config.width,
            max_position_embeddings=config.max_tokens + 2,
            type_vocab_size=1,
            layer_norm_eps=1e-5,
            num_labels=len(labels),
            id2label=labels,
        )
    )


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
