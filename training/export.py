"""A trained encoder → int8 ONNX: `python -m training.export MODEL OUT [temperature]`.

MODEL is a folder that `bifocal train` wrote (or any other that `models.encoder` loads);
`models.onnx` loads OUT. Weights of the linear layers and the embeddings become 8-bit
integers, activations do so on the fly. The default temperature is that of the training.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from crawler.errors import UsageError
from models.encoder import (
    is_pair_model,
    labels_of,
    load_classifier,
    load_tokenizer,
    max_tokens,
    temperature_of,
)
from training.command import run_script


def export(model: Path, out: Path, *, temperature: float | None = None) -> Path:
    """Write model.onnx, tokenizer.json and model.json; the path of the first."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    if not (model / "config.json").exists():
        raise UsageError(f"{model}: config.json is missing (give a trained model)")
    network, tokenizer = load_classifier(model), load_tokenizer(model)
    if not tokenizer.is_fast:
        raise UsageError(
            f"{model}: a {type(tokenizer).__name__} cannot be exported (ONNX models"
            " read tokenizer.json, of the library tokenizers)"
        )
    if network.config.num_labels == 2:
        raise UsageError(f"{model}: two outputs (export pair models of one output)")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own deprecations
        full = Path(folder) / "model.onnx"
        torch.onnx.export(
            _Logits(network.eval()),
            (torch.ones(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.long)),
            str(full),
            input_names=["input_ids", "attention_mask"],
            output_names=["logits"],
            dynamic_shapes=({0: "batch", 1: "length"}, {0: "batch", 1: "length"}),
            dynamo=True,
            verbose=False,
        )
        graph = onnx.load(str(full))
        del graph.graph.value_info[:]  # or quantization finds shapes that differ
        onnx.save(graph, str(full))
        quantize_dynamic(
            str(full), str(out / "model.onnx"), weight_type=QuantType.QInt8
        )
    tokenizer.backend_tokenizer.save(str(out / "tokenizer.json"))
    pair = is_pair_model(network.config.num_labels)
    (out / "model.json").write_text(
        json.dumps(
            {
                "labels": ["parallel"] if pair else labels_of(network.config, model),
                "max_tokens": max_tokens(network.config),
                "pad_id": tokenizer.pad_token_id or 0,
                "temperature": temperature or temperature_of(network.config),
            }
        ),
        "utf-8",
    )
    return out / "model.onnx"


class _Logits(torch.nn.Module):
    """Tensors in, a tensor out, as the exporter needs it."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        return self.network(input_ids=input_ids, attention_mask=attention_mask).logits


def main(words: Sequence[str]) -> None:
    """Export, and print path and size of the result."""
    if len(words) not in (2, 3):
        raise UsageError("give MODEL OUT [TEMPERATURE]")
    temperature = float(words[2]) if len(words) == 3 else None
    path = export(Path(words[0]), Path(words[1]), temperature=temperature)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    run_script(main, __doc__)
