"""A trained encoder → int8 ONNX: `python -m training.export MODEL OUT [temperature]`.

MODEL is a folder that `training.url_language` or `training.url_pair` wrote (or any that
`models.encoder` loads); OUT is what `models.onnx` loads. Weights of the linear layers
and the embeddings become 8-bit integers, activations do so on the fly.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from crawler.errors import UsageError
from models.encoder import load_classifier
from training.command import run_script


def export(model: Path, out: Path, *, temperature: float = 1.0) -> Path:
    """Write model.onnx, tokenizer.json and model.json; the first one's path."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    if not (model / "tokenizer.json").exists():
        raise UsageError(
            f"{model}: no tokenizer.json (give a folder of a trained model)"
        )
    network: Any = load_classifier(model)
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
    shutil.copy(model / "tokenizer.json", out / "tokenizer.json")
    labels = network.config.id2label
    (out / "model.json").write_text(
        json.dumps(
            {
                "labels": [labels[i] for i in range(network.config.num_labels)],
                "max_tokens": network.config.max_position_embeddings - 2,
                "temperature": temperature,
            }
        ),
        "utf-8",
    )
    return out / "model.onnx"


class _Logits(torch.nn.Module):
    """Tensors in, a tensor out: what the exporter wants."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        return self.network(input_ids=input_ids, attention_mask=attention_mask).logits


def main(words: Sequence[str]) -> None:
    """Export, and say how large the result is."""
    if len(words) not in (2, 3):
        raise UsageError("give MODEL OUT [TEMPERATURE]")
    temperature = float(words[2]) if len(words) == 3 else 1.0
    path = export(Path(words[0]), Path(words[1]), temperature=temperature)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    run_script(main)
