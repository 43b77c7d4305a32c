"""The URL models that are there: their kind, size, digest and card.

A model is a file of weights (`.npz`) of the hashed models, a folder of an encoder, or a
folder of an encoder as ONNX.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crawler.config import load_object
from crawler.errors import ModelError

WEIGHTS = Path(__file__).parent / "weights"
_CLASSES = {
    ("language", "hashed"): "models.url_language.HashedUrlLanguageModel",
    ("pair", "hashed"): "models.url_pair.HashedUrlPairModel",
    ("language", "encoder"): "models.encoder.XlmrUrlLanguageModel",
    ("pair", "encoder"): "models.encoder.XlmrUrlPairModel",
    ("language", "onnx"): "models.onnx.OnnxUrlLanguageModel",
    ("pair", "onnx"): "models.onnx.OnnxUrlPairModel",
}
_PAGE = "https://www.example.org/en/about-us"
_OTHER = "https://www.example.org/is/um-okkur"


@dataclass(frozen=True, slots=True)
class Installed:
    """A model on disk."""

    path: Path
    kind: str  # language or pair
    form: str  # hashed, encoder or onnx
    outputs: int
    size: int  # bytes
    digest: str  # SHA-256 of the file of weights
    card: Path | None

    @property
    def dotted_path(self) -> str:
        """The class that a setting names."""
        return _CLASSES[self.kind, self.form]

    def settings(self) -> dict[str, str]:
        """The settings of a crawl that uses this model."""
        name = f"URL_{self.kind.upper()}_MODEL"
        return {name: self.dotted_path, f"{name}_DIR": str(self.path.resolve())}


def find_models(paths: Iterable[Path]) -> Iterator[Installed]:
    """The models that paths are, or that folders below them hold."""
    for path in paths:
        if not path.exists():
            raise ModelError(f"{path}: there is no such file or folder")
        inside = [path] if path.is_file() else [path, *sorted(path.rglob("*"))]
        found = [model for place in inside if (model := look_at(place))]
        if not found:
            raise ModelError(f"{path}: not a model (make one with `bifocal train`)")
        yield from found


def load_model(path: Path, kind: str) -> Any:  # Any: a protocol of either kind
    """The model that a file or folder is; ModelError if it is none of this kind."""
    (model,) = find_models([path])
    if model.kind != kind:
        raise ModelError(f"{path}: a {model.kind} model where a {kind} model belongs")
    return load_object(model.dotted_path)(model.path)


def look_at(path: Path) -> Installed | None:
    """The model that a file or folder is, if it is one."""
    if path.suffix == ".npz":
        return _hashed(path)
    for form, names in (
        ("onnx", ("model.json", "model.onnx")),
        ("encoder", ("config.json", "model.safetensors")),
    ):
        head, weights = (path / name for name in names)
        if head.is_file() and weights.is_file():
            outputs = _outputs(head)
            kind = "pair" if outputs in (1, 2) else "language"
            return _installed(path, kind, form, outputs, weights)
    return None


def _hashed(path: Path) -> Installed | None:
    try:
        with np.load(path, allow_pickle=False) as content:
            meta = json.loads(str(content["meta"]))
    except (OSError, ValueError, KeyError, EOFError):
        return None
    kind = "language" if "labels" in meta else "pair"
    return _installed(path, kind, "hashed", len(meta.get("labels", "1")), path)


def _outputs(head: Path) -> int:
    try:
        content = json.loads(head.read_text("utf-8"))
        return len(content.get("labels") or content.get("id2label") or "12")
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ModelError(f"{head}: cannot be read ({error})") from error


def _installed(
    path: Path, kind: str, form: str, outputs: int, weights: Path
) -> Installed:
    cards = (path.with_suffix(".md"), path / "README.md")
    return Installed(
        path,
        kind,
        form,
        outputs,
        weights.stat().st_size,
        sha256(weights.read_bytes()).hexdigest(),
        next((card for card in cards if card.is_file()), None),
    )


def verify(model: Installed) -> str:
    """Check its digest, load a model and ask it: a line, or ModelError."""
    sums = model.path.parent / "SHA256SUMS"
    checked = "its digest is in no SHA256SUMS"
    if sums.is_file():
        lines = (line.split() for line in sums.read_text("utf-8").splitlines())
        known = {words[-1]: words[0] for words in lines if words}
        if model.path.name in known:
            checked = "its digest is that of SHA256SUMS"
        if known.get(model.path.name, model.digest) != model.digest:
            raise ModelError(
                f"{model.path}: its digest is not that of SHA256SUMS (a damaged or"
                " changed file: install it again)"
            )
    loaded = load_object(model.dotted_path)(model.path)
    if model.kind == "language":
        (answer,) = loaded.predict([_OTHER])
        best = max(answer, key=answer.__getitem__)
        return f"{checked}; P({best} | {_OTHER}) = {answer[best]:.2f}"
    (p,) = loaded.predict([(_PAGE, _OTHER)])
    return f"{checked}; P(parallel | {_PAGE}, {_OTHER}) = {p:.2f}"
