"""Encoders as classifiers of URLs: any that transformers knows, by name or folder.

García-Romero et al. (2024) fine-tune XLM-R base: first token, dense layer, tanh,
projection; a softmax over languages, or one logit for a pair. Any other encoder with a
sequence classification head serves as well. Needs the extra `xlmr`.

`model` is a Hugging Face name, downloaded once, or a folder with config.json, a
tokenizer and safetensors, such as `bifocal train` writes. Code that comes with a model
is never run. The authors' released models (the defaults, and native files) are read by
`models.released`.

XLM-R base scores some 20 URLs/s on a CPU core, 60 as int8 (`models.onnx`); the hashed
models, which are the default of a crawl, some thousands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging as transformers_logging

from crawler.data import Lang
from crawler.errors import ModelError
from crawler.languages import known_code
from models.preprocess import pair_text, url_text
from models.released import (
    BASE,
    PAIR_CLASSIFIER,
    URL2LANG,
    load_released,
    native_file,
)
from models.rules import UNKNOWN, URL2LANG_LABELS

MAX_LENGTH = 256  # tokens; the authors' default
IntArray = npt.NDArray[np.int64]

transformers_log: Any = transformers_logging  # its functions are untyped


class TextEncoder:
    """Texts → (texts, tokens) arrays `input_ids` and `attention_mask`."""

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        """Texts are cut after `max_tokens`, special tokens included."""
        self.tokenizer, self.max_tokens = tokenizer, max_tokens

    def __call__(self, texts: Sequence[str]) -> dict[str, IntArray]:
        """The arrays, as wide as the longest text."""
        # lone surrogates cannot be tokenized
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        rows = self._fast(texts) if self.tokenizer.is_fast else self._slow(texts)
        lengths = np.array([len(row) for row in rows])
        mask = np.arange(max(lengths, default=0)) < lengths[:, None]
        ids = np.full(mask.shape, self.tokenizer.pad_token_id or 0, dtype=np.int64)
        ids[mask] = [number for row in rows for number in row]
        return {"input_ids": ids, "attention_mask": mask.astype(np.int64)}

    def _fast(self, texts: list[str]) -> list[list[int]]:
        backend = self.tokenizer.backend_tokenizer
        backend.no_padding()
        backend.enable_truncation(self.max_tokens)
        return [encoded.ids for encoded in backend.encode_batch_fast(texts)]

    def _slow(self, texts: list[str]) -> list[list[int]]:
        # bytes and characters are tokens: halves of a pair are cut alike, so that the
        # separator, which some networks look for, stays
        room = self.max_tokens // 2 - 1
        texts = [
            "</s>".join(_first_bytes(half, room) for half in text.split("</s>"))
            if "</s>" in text
            else text
            for text in texts
        ]
        answer = self.tokenizer(texts, truncation=True, max_length=self.max_tokens)
        ids: list[list[int]] = answer["input_ids"]
        return ids


def _first_bytes(text: str, count: int) -> str:
    return text.encode()[:count].decode("utf-8", "ignore")


class _Encoder:
    """Loading, and logits for batches of texts: the part that both models share."""

    def __init__(
        self,
        model: str | Path,
        *,
        batch_size: int = 32,  # 128 is no faster on a CPU (measured)
        device: str | None = None,
        tokenizer: str | Path | None = None,
    ) -> None:
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.batch_size = batch_size
        network = load_classifier(model)
        self.network: Any = network.to(self.device).eval()
        self.labels: list[Lang] = []
        self.tokenizer = load_tokenizer(model, tokenizer)
        self.encode = TextEncoder(self.tokenizer, max_tokens(network.config))

    @torch.inference_mode()
    def logits(self, texts: Sequence[str]) -> torch.Tensor:
        """(texts, labels), calibrated; sorted by length so that batches pad little."""
        if not texts:
            return torch.empty(0, self.network.config.num_labels)
        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), i))
        rows: list[torch.Tensor] = []
        for start in range(0, len(order), self.batch_size):
            batch = [texts[i] for i in order[start : start + self.batch_size]]
            arrays = self.encode(batch)
            inputs = {
                name: torch.from_numpy(array).to(self.device)
                for name, array in arrays.items()
            }
            rows.append(self.network(**inputs).logits.float().cpu())
        logits = torch.cat(rows) / temperature_of(self.network.config)
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return logits[back]


class XlmrUrlLanguageModel(_Encoder):
    """P(language | URL) by XLM-R or another encoder (setting: URL_LANGUAGE_MODEL)."""

    def __init__(self, model: str | Path = URL2LANG, **options: Any) -> None:
        """`model` is a hub name, a folder or a native checkpoint file.

        Options: `batch_size`, `device`, `tokenizer` (where a checkpoint has none).
        """
        super().__init__(model, **options)
        self.labels = labels_of(self.network.config, model)

    def predict(self, urls: Sequence[str]) -> list[Mapping[Lang, float]]:
        """The softmax over the model's languages, in Bifocal's codes."""
        texts = [url_text(url) for url in urls]
        probabilities = self.logits(texts).double().softmax(-1)
        answers: list[Mapping[Lang, float]] = []
        for row in probabilities.tolist():
            answer: dict[Lang, float] = {UNKNOWN: 0.0}
            for label, p in zip(self.labels, row):
                answer[label] = answer.get(label, 0.0) + p
            answers.append(answer)
        return answers


class XlmrUrlPairModel(_Encoder):
    """P(parallel | URL, URL) by XLM-R or another encoder (setting: URL_PAIR_MODEL)."""

    def __init__(
        self,
        model: str | Path = PAIR_CLASSIFIER,
        *,
        both_directions: bool = False,
        **options: Any,
    ) -> None:
        """`both_directions` averages over both orders, at twice the cost.

        The released model was trained on one order only and is not symmetric.
        """
        super().__init__(model, **options)
        self.both_directions = both_directions
        if not is_pair_model(self.network.config.num_labels):
            raise ModelError(
                f"{model}: {self.network.config.num_labels} outputs where a pair model"
                " has 1 or 2 (is it a language model?)"
            )

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Sigmoid of one logit, or the second share of two."""
        forth = self._probabilities([pair_text(a, b) for a, b in pairs])
        if not self.both_directions:
            return forth
        back = self._probabilities([pair_text(b, a) for a, b in pairs])
        return [(p + q) / 2 for p, q in zip(forth, back)]

    def _probabilities(self, texts: Sequence[str]) -> list[float]:
        logits = self.logits(texts).double()
        if self.network.config.num_labels == 1:
            one: list[float] = logits.sigmoid()[:, 0].tolist()
            return one
        two: list[float] = logits.softmax(-1)[:, 1].tolist()
        return two


def is_pair_model(outputs: int) -> bool:
    """True for the numbers of outputs that a pair model has."""
    return outputs in (1, 2)


def labels_of(config: Any, model: str | Path) -> list[Lang]:
    """The languages of a model's outputs, in Bifocal's codes; ModelError without."""
    names = [str(config.id2label.get(i, i)) for i in range(config.num_labels)]
    if all(re.fullmatch(r"(?:LABEL_)?\d+", name) for name in names):
        if len(names) != len(URL2LANG_LABELS):
            raise ModelError(
                f"{model}: {len(names)} outputs without names, and url2lang has"
                f" {len(URL2LANG_LABELS)} (is it a pair model? else put id2label in"
                " config.json)"
            )
        names = URL2LANG_LABELS
    if is_pair_model(len(names)):
        raise ModelError(f"{model}: {len(names)} outputs (is it a pair model?)")
    return [known_code(name) or name for name in names]


# ------------------------------------------------------------------ loading


def local_folder(model: str | Path) -> Path:
    """The folder of a model: itself, or where its download lies."""
    path = Path(model)
    return path if path.exists() else _download(str(model))


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download

    patterns = ["*.json", "*.safetensors", "*.model", "*.txt"]
    if name in (URL2LANG, PAIR_CLASSIFIER):
        patterns.append("*.bin")
    try:
        return Path(snapshot_download(name, allow_patterns=patterns))
    except Exception as error:  # the hub client's errors have no common root
        raise ModelError(
            f"{name}: not a folder here, and it cannot be downloaded"
            f" ({type(error).__name__}; give a folder, or connect to the network)"
        ) from error


def has_safetensors(folder: Path) -> bool:
    """True if the weights are safetensors, in one file or several."""
    return any(folder.glob("model*.safetensors"))


def load_classifier(model: str | Path) -> Any:  # the class depends on the model
    """The network of a hub name, a folder or a native file; its head must be there."""
    path = local_folder(model)
    pickled = native_file(path) or (path / "pytorch_model.bin").exists()
    if pickled and not has_safetensors(path):
        return load_released(path)
    network, missing = load_network(path)
    if missing:
        raise ModelError(
            f"{path}: {len(missing)} weights are missing, {missing[0]} first (is it an"
            " encoder without a head? train it with `bifocal train`)"
        )
    return network


def load_network(path: Path, **changes: Any) -> tuple[Any, list[str]]:
    """A classifier from a folder of safetensors, and the weights that it lacks.

    `changes` are of its configuration, such as `num_labels`.
    """
    if not (path / "config.json").exists():
        raise ModelError(
            f"{path}: config.json is missing (give a folder with config.json, a"
            " tokenizer and model.safetensors, or a native checkpoint file)"
        )
    if not has_safetensors(path):
        raise ModelError(
            f"{path}: model.safetensors is missing (other forms are not read, because"
            " a pickle can hold code)"
        )
    talk = transformers_log.get_verbosity()
    transformers_log.set_verbosity_error()  # what is missing, the caller says
    transformers_log.disable_progress_bar()
    try:
        network, report = AutoModelForSequenceClassification.from_pretrained(
            path,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=bool(changes),
            **changes,
        )
    except (
        Exception
    ) as error:  # OSError, ValueError, RuntimeError, SafetensorError, ...
        text = " ".join(str(error).split())[:200]
        raise ModelError(
            f"{path}: cannot be loaded as a sequence classifier"
            f" ({type(error).__name__}: {text})"
        ) from error
    finally:
        transformers_log.set_verbosity(talk)
    lacking = {*report["missing_keys"], *(row[0] for row in report["mismatched_keys"])}
    return network, sorted(lacking)


def temperature_of(config: Any) -> float:
    """The divisor of the logits that calibrates them; `bifocal train` sets it."""
    return float(getattr(config, "bifocal_temperature", 1.0))


def max_tokens(config: Any) -> int:
    """The longest input: that of the training, or as long as there are positions."""
    trained: int | None = getattr(config, "bifocal_max_tokens", None)
    if trained:
        return trained
    positions: int = getattr(config, "max_position_embeddings", None) or 2 * MAX_LENGTH
    return min(MAX_LENGTH, positions - 2)  # two of XLM-R's are not for tokens


SPECIAL_TOKENS = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


def load_tokenizer(model: str | Path, tokenizer: str | Path | None = None) -> Any:
    """The tokenizer of a model, or another one."""
    path = Path(tokenizer or model)
    if native := native_file(path):
        path = native.parent
        if not (path / "tokenizer.json").exists():
            path = Path(BASE)
    if (path / "tokenizer.json").exists() and not _tokenizer_class(path):
        kind: Any = PreTrainedTokenizerFast  # untyped constructor
        return kind(tokenizer_file=str(path / "tokenizer.json"), **SPECIAL_TOKENS)
    try:
        return AutoTokenizer.from_pretrained(path, trust_remote_code=False)
    except Exception as error:  # as for weights: no common root
        raise ModelError(
            f"{path}: a tokenizer is missing ({type(error).__name__}; put its files"
            " beside the weights)"
        ) from error


def _tokenizer_class(folder: Path) -> str | None:
    try:
        settings = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        found: str | None = settings.get("tokenizer_class")
    except (OSError, ValueError, AttributeError):
        return None
    return found
