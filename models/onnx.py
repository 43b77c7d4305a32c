"""Encoders as int8 ONNX: the paper's models at the speed of a CPU.

`python -m training.export` writes the folder that is loaded here: `model.onnx`,
`tokenizer.json`, `model.json` (labels and temperature). Needs the extra `onnx` and no
torch. The smaller hashed models (`models.url_language`, `models.url_pair`) are the
default; this is how an encoder that was trained on more data takes their place:

    scrapy crawl bilingual ... -s URL_LANGUAGE_MODEL=models.onnx.OnnxUrlLanguageModel \
        -s URL_LANGUAGE_MODEL_DIR=onnx/language
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crawler.data import Lang
from crawler.errors import ModelError
from models.preprocess import pair_text, url_text
from models.rules import UNKNOWN

try:
    import onnxruntime
    from tokenizers import Tokenizer
except ImportError as error:
    raise ModelError(
        f"models.onnx needs onnxruntime and tokenizers: {error}"
        " (pip install 'bifocal-crawler[onnx]')"
    ) from error

FloatArray = npt.NDArray[np.float64]


class _OnnxEncoder:
    """Loading, and logits for batches of texts: the part that both models share."""

    def __init__(self, folder: str | Path | None, kind: str, threads: int) -> None:
        """`kind`: language or pair."""
        if folder is None:
            setting = f"URL_{kind.upper()}_MODEL_DIR"
            raise ModelError(f"which model? (set {setting} to its folder)")
        path = Path(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        try:
            self.meta: dict[str, Any] = json.loads(
                (path / "model.json").read_text("utf-8")
            )
            self._tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
            self._session = onnxruntime.InferenceSession(
                str(path / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            self._temperature = float(self.meta["temperature"])
            self._tokenizer.enable_truncation(int(self.meta["max_tokens"]))
            self._tokenizer.enable_padding(pad_id=int(self.meta["pad_id"]))
            found = "pair" if len(self.meta["labels"]) == 1 else "language"
        except Exception as error:  # neither library's errors have a common root
            raise ModelError(
                f"{path}: not an exported model ({type(error).__name__}: {error}; write"
                " one with `python -m training.export`)"
            ) from error
        if found != kind:
            raise ModelError(f"{path}: a {found} model where a {kind} model belongs")

    def logits(self, texts: Sequence[str], batch_size: int = 32) -> FloatArray:
        """(texts, labels), by temperature; sorted by length so that little is padded.

        More than 32 texts at a time are no faster on a CPU (128 were measured).
        """
        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), i))
        rows: list[FloatArray | None] = [None] * len(texts)
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            encoded = self._tokenizer.encode_batch(
                # lone surrogates cannot be tokenized
                [texts[i].encode("utf-8", "replace").decode() for i in batch]
            )
            inputs = {
                "input_ids": np.array([e.ids for e in encoded], dtype=np.int64),
                "attention_mask": np.array(
                    [e.attention_mask for e in encoded], dtype=np.int64
                ),
            }
            answers = self._session.run(None, inputs)[0].astype(np.float64)
            for i, row in zip(batch, answers):
                rows[i] = row / self._temperature
        return np.array(rows)


class OnnxUrlLanguageModel(_OnnxEncoder):
    """P(language | URL) by an exported encoder (setting: URL_LANGUAGE_MODEL)."""

    def __init__(self, folder: str | Path | None = None, *, threads: int = 1) -> None:
        """`folder` is what `training.export` wrote (URL_LANGUAGE_MODEL_DIR)."""
        super().__init__(folder, "language", threads)
        self.labels: tuple[Lang, ...] = tuple(self.meta["labels"])

    def predict(self, urls: Sequence[str]) -> list[Mapping[Lang, float]]:
        """The softmax over the model's languages."""
        if not urls:
            return []
        scores = self.logits([url_text(url) for url in urls])
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return [
            {UNKNOWN: 0.0, **dict(zip(self.labels, row))} for row in shares.tolist()
        ]


class OnnxUrlPairModel(_OnnxEncoder):
    """P(parallel | URL, URL) by an exported encoder (setting: URL_PAIR_MODEL)."""

    def __init__(self, folder: str | Path | None = None, *, threads: int = 1) -> None:
        """`folder` is what `training.export` wrote (URL_PAIR_MODEL_DIR)."""
        super().__init__(folder, "pair", threads)

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The sigmoid of the one logit."""
        if not pairs:
            return []
        scores = self.logits([pair_text(a, b) for a, b in pairs])[:, 0]
        answers: list[float] = (1 / (1 + np.exp(-scores))).tolist()
        return answers
