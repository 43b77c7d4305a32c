"""Train P(language | URL): `python -m training.url_language PROFILE key=value ...`.

Profiles are TOML files in `training/profiles`, or of your own:

    language-hashed   what ships: hashed n-grams and markers, minutes on a CPU core
    language-compact  the paper's architecture at a hundredth of its size
    language-base     the paper's: XLM-R base, fine-tuned; wants a GPU

    python -m training.url_language language-hashed data=DATA out=runs/language

DATA is a folder with `url_lang.tsv.gz`, `url_pairs.tsv.gz`, `host_urls.tsv.gz` and
`splits.tsv.gz`. In `out` are then the curve, the checkpoints (a second start resumes)
and the weights: `url_language.npz` for `models.url_language`, or a folder `model` for
`models.encoder`. Dev decides when to stop and sets the temperature; nothing reads test.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from crawler.config import load_profile, to_table
from crawler.errors import UsageError
from models.preprocess import url_text
from training.command import run_script
from training.data.splits import DEV
from training.distillation import DistillationConfig, LanguageTeacher
from training.language_data import Example, LanguageData, LanguageDataConfig
from training.loop import LoopConfig, Task, seed_everything, train, writes
from training.metrics import multi_class
from training.networks import EncoderConfig, EncoderNet, HashedLanguageNet
from training.protocol import MIN_ROWS, Collection, label_of, language_rows
from training.temperature import fit_temperature

T = TypeVar("T")

# Beyond 2 dev gains less than its noise, and probabilities are believed too much.
_TRUST = (1.0, 1.25, 1.5, 1.75, 2.0)
PROFILES = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True)
class HashedConfig:
    """The size of the hashed model: 2**17 x 48 bytes are 6.3 MB."""

    buckets: int = 2**17
    width: int = 48
    dropout: float = 0.4


@dataclass(frozen=True, slots=True)
class LanguageProfile:
    """One training run."""

    data: str = ""
    out: str = ""
    terms: tuple[str, ...] = ()  # tables of `training.data.terms`
    architecture: str = "hashed"  # or encoder
    label_smoothing: float = 0.02
    rows: LanguageDataConfig = field(default_factory=LanguageDataConfig)
    hashed: HashedConfig = field(default_factory=HashedConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    distillation: DistillationConfig = field(default_factory=DistillationConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)


def main(words: Sequence[str]) -> None:
    """Read the profile, train, calibrate, and write the weights."""
    profile = read_profile(LanguageProfile, words)
    run(profile)


def run(profile: LanguageProfile) -> Path:
    """Train; the path of the weights."""
    started = time.monotonic()
    out = Path(profile.out)
    seed_everything(profile.loop.seed)
    collection = Collection.read(Path(profile.data))
    data = LanguageData(
        collection,
        [Path(table) for table in profile.terms],
        profile.rows,
        profile.loop.seed,
    )
    dev = language_rows(collection, DEV)
    network: HashedLanguageNet | EncoderNet
    text: Callable[[str], str]
    if profile.architecture == "hashed":
        size = profile.hashed
        network = HashedLanguageNet(data.labels, size.buckets, size.width, size.dropout)
        text = str  # the n-grams are taken from the URL itself
    else:
        text = url_text
        texts = (url_text(row.url) for row in data.rows)
        network = EncoderNet(profile.encoder, data.labels, texts)
    print(
        f"{len(data.rows)} URLs in {len(data.labels) - 1} languages, {len(dev)} of dev;"
        f" {sum(p.numel() for p in network.parameters()):,} parameters",
        flush=True,
    )
    index = {label: i for i, label in enumerate(data.labels)}
    learned = profile.distillation
    teacher = LanguageTeacher(learned, data.labels) if learned.teacher else None

    def loss(batch: Sequence[Example]) -> Tensor:
        urls = [row.url for row in batch]
        scores = network([text(url) for url in urls])
        truth = nn.functional.cross_entropy(
            scores,
            torch.tensor([index[row.lang] for row in batch], device=scores.device),
            label_smoothing=profile.label_smoothing,
        )
        return teacher.blend(truth, scores, urls) if teacher else truth

    def dev_scores() -> Tensor:
        urls = [text(row.url) for row in dev]
        chunks = [urls[i : i + 256] for i in range(0, len(urls), 256)]
        return torch.cat([network(chunk).float().cpu() for chunk in chunks])

    def macro_f1() -> float:
        answers = [data.labels[i] for i in dev_scores().argmax(1).tolist()]
        return multi_class([label_of(row) for row in dev], answers, MIN_ROWS).f1

    best = train(Task(network, data.epoch, loss, macro_f1), profile.loop, out)
    with torch.inference_mode():
        if isinstance(network, HashedLanguageNet):
            best, network.trust = fit_trust(network, macro_f1)
        truth = torch.tensor([index.get(label_of(row), 0) for row in dev])
        temperature = fit_temperature(dev_scores(), truth)
    meta = {
        "labels": data.labels,
        "temperature": temperature,
        "trust": network.trust if isinstance(network, HashedLanguageNet) else None,
        "dev_macro_f1": best,
        "minutes": round((time.monotonic() - started) / 60, 1),
        "profile": without_paths(to_table(profile)),
    }
    if isinstance(network, EncoderNet):
        return write_encoder(out / "model", network, meta)
    path = out / "url_language.npz"
    if writes():
        write_hashed(path, network, meta)
    print(f"dev macro F1 {best:.4f}, temperature {temperature:.3f}: {path}")
    return path


def fit_trust(
    network: HashedLanguageNet, macro_f1: Callable[[], float]
) -> tuple[float, float]:
    """The best macro F1 on dev, and how much more the markers count for it.

    Training shows markers less often than they come, and with slugs in any language,
    for words to be read at all; so it believes them too little.
    """
    scores = []
    for network.trust in _TRUST:
        scores.append((macro_f1(), -network.trust))  # of equals the smallest
    best, trust = max(scores)
    return best, -trust


def write_encoder(folder: Path, network: EncoderNet, meta: object) -> Path:
    """A folder that `models.encoder` loads, with what it was trained by."""
    if writes():
        network.save(folder)
        (folder / "training.json").write_text(json.dumps(meta, indent=1), "utf-8")
    return folder


def write_hashed(path: Path, network: HashedLanguageNet, meta: object) -> None:
    """The weights of a hashed model, its table in 8 bits."""
    table, scale = quantize(as_array(network.table.weight))
    np.savez_compressed(
        path,
        meta=json.dumps(meta),
        table=table,
        table_scale=scale,
        out_weight=as_array(network.out.weight),
        out_bias=as_array(network.out.bias),
        gate_weight=as_array(network.gate.weight),
        gate_bias=as_array(network.gate.bias),
    )


def quantize(table: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """8-bit numbers and the scale of each column; rows of zeros stay so."""
    scale = np.maximum(np.abs(table).max(axis=0, keepdims=True), 1e-9) / 127
    return np.round(table / scale).astype(np.int8), scale.astype(np.float32)


def as_array(weights: Tensor) -> npt.NDArray[Any]:
    """Trained weights, from whatever device."""
    array: npt.NDArray[Any] = weights.detach().cpu().numpy()
    return array


def without_paths(table: dict[str, Any]) -> dict[str, Any]:
    """A profile as it may be published: no folders of the machine that it ran on."""
    paths = ("data", "out", "terms", "languages", "distillation")
    return {key: value for key, value in table.items() if key not in paths}


def read_profile(kind: type[T], words: Sequence[str]) -> T:
    """A profile by name or file, and `key=value` words; with data and out."""
    if not words:
        names = ", ".join(sorted(path.stem for path in PROFILES.glob("*.toml")))
        raise UsageError(f"no profile (give one of {names}, or a TOML file)")
    path = PROFILES / f"{words[0]}.toml"
    profile = load_profile(kind, path if path.exists() else words[0], words[1:])
    for key in ("data", "out"):
        if not getattr(profile, key):
            raise UsageError(f"{words[0]}: no {key} folder (add {key}=FOLDER)")
    return profile


if __name__ == "__main__":
    run_script(main)
