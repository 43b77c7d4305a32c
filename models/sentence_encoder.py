"""Sentence vectors of an encoder from a folder or a hub: LaBSE, LEALLA, static ones.

What `costs.embedding` asks for: a callable from texts to vectors. Read are

* folders of Sentence Transformers (modules.json): transformer, pooling, dense layers,
  as of LaBSE and multilingual E5; the pooling and the dense layers that it names;
* static embeddings, a table of token vectors whose mean is the sentence's, as of
  Sentence Transformers and model2vec;
* any other folder of an encoder: the mean of its last layer.

Weights are read from safetensors alone, and code that comes with a model is never run.
Needs `pip install 'bifocal-crawler[encode]'`. Uses a GPU if there is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crawler.errors import ModelError

try:
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer
    from transformers import AutoModel, AutoTokenizer
except ImportError as missing:
    raise ModelError(
        f"sentence vectors: {missing} (pip install 'bifocal-crawler[encode]')"
    ) from missing

MAX_LENGTH = 256  # tokens: four long sentences; LaBSE and E5 have positions for 512
_BATCH = 64  # texts; of like length, so that batches pad little

_FILES = ["*.json", "*.safetensors", "*.model", "*.txt"]  # no pickle is downloaded


class Network(Protocol):
    """Texts → vectors, a batch at a time."""

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        """Of some texts: (texts, dimensions)."""
        ...


@dataclass(frozen=True)
class SentenceEncoder:
    """Texts → one vector a text, of any number of texts."""

    network: Network
    batch_size: int = _BATCH

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, dimensions); texts of like length stand in one batch."""
        order = sorted(range(len(texts)), key=lambda n: (len(texts[n]), n))
        rows: list[NDArray[np.float32]] = []
        for start in range(0, len(order), self.batch_size):
            # lone surrogates cannot be tokenized
            batch = [
                texts[n].encode("utf-8", "replace").decode()
                for n in order[start : start + self.batch_size]
            ]
            rows.append(self.network(batch).float().cpu().numpy())
        vectors = np.concatenate(rows) if rows else np.zeros((0, 1), np.float32)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return vectors[back]


@lru_cache(2)
def load(model: str) -> SentenceEncoder:
    """The encoder of a folder, or of a name on the hub, which is downloaded once."""
    folder = Path(model) if Path(model).is_dir() else _download(model)
    if not list(folder.rglob("*.safetensors")):
        raise ModelError(
            f"{folder}: no .safetensors file (weights in a pickle are not read: convert"
            " them, or take a model that has both)"
        )
    try:
        return SentenceEncoder(_network(folder))
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ModelError(
            f"{folder}: {error} (give the folder of a sentence encoder)"
        ) from error


def _network(folder: Path) -> Network:
    parts = _modules(folder)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if parts[0].kind == "StaticEmbedding" or _is_static(folder):
        network: Network = StaticNetwork.load(parts[0].folder, device)
    else:
        network = TransformerNetwork.load(parts, device)
    return network


@dataclass(frozen=True)
class _Module:
    """A part of a model of Sentence Transformers."""

    kind: str  # the last word of its class: Transformer, Pooling, Dense, Normalize
    folder: Path

    def settings(self) -> dict[str, Any]:  # whatever JSON has
        """Its config.json; none if it has none."""
        path = self.folder / "config.json"
        return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def _modules(folder: Path) -> list[_Module]:
    """The parts of a model in their order; of another folder, the transformer alone."""
    path = folder / "modules.json"
    if not path.exists():
        return [_Module("Transformer", folder)]
    return [
        _Module(row["type"].rpartition(".")[2], folder / row["path"])
        for row in json.loads(path.read_text("utf-8"))
    ]


def _is_static(folder: Path) -> bool:
    settings = _Module("", folder).settings()
    return settings.get("model_type") == "model2vec"


@dataclass(frozen=True)
class TransformerNetwork:
    """A transformer, the pooling of its last layer, and dense layers."""

    model: Any  # of transformers, whose stubs are incomplete
    tokenizer: Any
    pooling: str  # mean or cls
    dense: Sequence[Callable[[torch.Tensor], torch.Tensor]]
    device: str

    @classmethod
    def load(cls, parts: Sequence[_Module], device: str) -> TransformerNetwork:
        """From the parts of a folder; half precision on a GPU."""
        safe = {"local_files_only": True, "trust_remote_code": False}
        folder = parts[0].folder
        model: Any = AutoModel.from_pretrained(folder, use_safetensors=True, **safe)
        tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
        if device == "cuda":
            model = model.half()
        return cls(
            model.to(device).eval(),
            tokenizer,
            _pooling(parts),
            [_dense(part, device) for part in parts if part.kind == "Dense"],
            device,
        )

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        """The vectors of a batch."""
        positions = getattr(self.model.config, "max_position_embeddings", MAX_LENGTH)
        encoded = self.tokenizer(
            list(texts),
            truncation=True,
            # some count from 2 (RoBERTa)
            max_length=min(MAX_LENGTH, positions - 2),
            padding=True,
            return_tensors="pt",
        ).to(self.device)
        output = self.model(**encoded)
        vectors: torch.Tensor
        if self.pooling == "cls":
            vectors = output[0][:, 0]
        else:
            mask = encoded["attention_mask"][:, :, None].to(output[0].dtype)
            vectors = (output[0] * mask).sum(1) / mask.sum(1).clamp(min=1)
        vectors = vectors.float()
        for layer in self.dense:
            vectors = layer(vectors)
        return vectors


def _pooling(parts: Sequence[_Module]) -> str:
    """What the model's own description says; the mean where there is none."""
    for part in parts:
        if part.kind == "Pooling":
            settings = part.settings()
            if settings.get("pooling_mode_cls_token"):
                return "cls"
            if settings.get("pooling_mode_mean_tokens", True):
                return "mean"
            raise ModelError(
                f"{part.folder}: neither the mean of tokens nor the first one (that"
                " pooling is not known here)"
            )
    return "mean"


def _dense(part: _Module, device: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """A linear layer with its activation, as LaBSE has one after the pooling."""
    tensors = load_file(part.folder / "model.safetensors", device=device)
    weight, bias = tensors["linear.weight"].float(), tensors.get("linear.bias")
    name = str(part.settings().get("activation_function", "Identity"))
    activation = getattr(torch.nn, name.rpartition(".")[2])()

    def layer(vectors: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = activation(
            torch.nn.functional.linear(vectors, weight, bias)
        )
        return result

    return layer


@dataclass(frozen=True)
class StaticNetwork:
    """The mean of the vectors of a text's tokens."""

    table: torch.Tensor
    tokenizer: Tokenizer
    device: str

    @classmethod
    def load(cls, folder: Path, device: str) -> StaticNetwork:
        """From tokenizer.json and the one table in model.safetensors."""
        tensors = load_file(folder / "model.safetensors", device=device)
        tables = [tensor for tensor in tensors.values() if tensor.ndim == 2]
        if len(tables) != 1:
            raise ModelError(f"{folder}: {len(tables)} tables of vectors where one is")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        return cls(tables[0].float(), tokenizer, device)

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        """The vectors of a batch; a text without tokens has none."""
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ids = [torch.tensor(text.ids, dtype=torch.long) for text in encoded]
        offsets = torch.tensor([0, *(len(text) for text in ids[:-1])]).cumsum(0)
        return torch.nn.functional.embedding_bag(
            torch.cat(ids).to(self.device),
            self.table,
            offsets.to(self.device),
            mode="mean",
        )


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=_FILES))
    except Exception as error:  # what the hub client raises has no common root
        raise ModelError(
            f"{name}: no such folder, and not to be had from the hub"
            f" ({type(error).__name__}; give a folder, or connect to the network)"
        ) from error
