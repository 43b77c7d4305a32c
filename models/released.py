"""The released checkpoints of García-Romero et al. (2024), which are not safetensors.

Two forms: a Hugging Face folder with `pytorch_model.bin`, and the authors' native file
with the tables `encoder` and `tasks`. Both are pickles, read with `weights_only`, which
takes tensors and plain containers and refuses anything else. All other encoders must be
safetensors (`models.encoder`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

from crawler.errors import ModelError

URL2LANG = "Transducens/xlm-roberta-base-url2lang"
PAIR_CLASSIFIER = "Transducens/xlm-roberta-base-parallel-urls-classifier"
BASE = "FacebookAI/xlm-roberta-base"  # a native checkpoint uses its tokenizer

_NATIVE_SUFFIXES = (".pt", ".pth", ".ckpt", ".model")
_NATIVE_TASKS = ("urls_classification", "language-identification")


def native_file(path: Path) -> Path | None:
    """The native checkpoint that a path is, or that a folder without config has."""
    if path.is_file():
        return path
    if not path.is_dir() or (path / "config.json").exists():
        return None
    files = [f for f in sorted(path.iterdir()) if f.suffix in _NATIVE_SUFFIXES]
    return files[0] if len(files) == 1 else None


def load_released(path: Path) -> XLMRobertaForSequenceClassification:
    """The network of a native file, or of a folder with `pytorch_model.bin`."""
    if native := native_file(path):
        return _native(native)
    weights = _read_pickle(path / "pytorch_model.bin")
    return _with_weights(XLMRobertaConfig.from_pretrained(path), weights, path)


def _read_pickle(path: Path) -> dict[str, Any]:
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # UnpicklingError, RuntimeError, EOFError, ...
        raise ModelError(
            f"{path}: not a file of tensors ({type(error).__name__}; code in a"
            " checkpoint is never run)"
        ) from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: a {type(content).__name__}, not a table of tensors")
    return content


def _with_weights(
    config: XLMRobertaConfig, weights: Mapping[str, torch.Tensor], where: Path
) -> XLMRobertaForSequenceClassification:
    head = weights.get("classifier.out_proj.weight")
    if head is not None:  # a config.json that forgot its labels means 2
        config.num_labels = head.shape[0]
    network = XLMRobertaForSequenceClassification(config)
    missing, _ = network.load_state_dict(dict(weights), strict=False)
    missing = [name for name in missing if not name.endswith("position_ids")]
    if missing:
        raise ModelError(
            f"{where}: {len(missing)} weights are missing, {missing[0]} first (is it a"
            " sequence classifier of XLM-R architecture?)"
        )
    return network


def _native(path: Path) -> XLMRobertaForSequenceClassification:
    content = _read_pickle(path)
    if not {"encoder", "tasks"} <= set(content):
        raise ModelError(
            f"{path}: not a native checkpoint (expected tables `encoder` and `tasks`)"
        )
    weights = {
        "roberta." + key.removeprefix("roberta."): value
        for key, value in content["encoder"].items()
        if not key.startswith("pooler.")  # unused: the head reads the first token
    }
    for task in _NATIVE_TASKS:
        for key, value in content["tasks"].items():
            if key.startswith(f"{task}."):
                weights["classifier." + key.removeprefix(f"{task}.")] = value
    beside = path.with_name("config.json")
    config = (
        XLMRobertaConfig.from_pretrained(beside)
        if beside.exists()
        else _config_of(weights, path)
    )
    return _with_weights(config, weights, path)


def _config_of(weights: Mapping[str, torch.Tensor], path: Path) -> XLMRobertaConfig:
    """The shape of a network from its tensors; heads have 64 dimensions as in XLM-R."""
    try:
        vocabulary, hidden = weights["roberta.embeddings.word_embeddings.weight"].shape
        positions = weights["roberta.embeddings.position_embeddings.weight"].shape[0]
        inner = weights["roberta.encoder.layer.0.intermediate.dense.weight"].shape[0]
    except KeyError as error:
        raise ModelError(f"{path}: not an XLM-R encoder, {error} is missing") from error
    layers = {key.split(".")[3] for key in weights if ".encoder.layer." in key}
    return XLMRobertaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=len(layers),
        num_attention_heads=max(1, hidden // 64),
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
    )
