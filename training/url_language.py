"""Trains P(language | URL): `bifocal train language --profile PROFILE --data DATA`.

DATA is a folder of tables (`training.data.tables`). In the run's folder are then the
curve, the checkpoints (a second start resumes) and the weights: `url_language.npz` for
`models.url_language`, or a folder `model` for `models.encoder`. Dev decides the end of
the training and the temperature; nothing reads test.

With `rows.variants` the rows are those of `training.language_data`, in memory; without,
every URL of the train split as it stands, streamed from Parquet where DATA has it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from crawler.data import Lang
from crawler.errors import UsageError
from crawler.languages import all_languages, known_code
from models.preprocess import url_text
from models.rules import UNKNOWN, URL2LANG_LABELS
from training.data.splits import DEV, TRAIN
from training.data.tables import find_table
from training.distillation import DistillationConfig, LanguageTeacher
from training.encoders import EncoderConfig, EncoderNet
from training.feed import Batch, ListRows, Rows, TableRows
from training.language_data import LanguageData, LanguageDataConfig
from training.loop import LoopConfig, Task, predict, seed_everything, train, writes
from training.metrics import multi_class
from training.networks import HashedLanguageNet
from training.profile import how_to_crawl, term_tables, without_paths
from training.protocol import MIN_ROWS, Collection, label_of, language_rows
from training.temperature import fit_temperature

logger = logging.getLogger(__name__)

# Beyond 2 dev gains less than its noise, and probabilities are believed too much.
_TRUST = (1.0, 1.25, 1.5, 1.75, 2.0)
_IGNORED = -100  # label of rows that are not learned: torch's default
_TOKENIZER_TEXTS = 1_000_000  # that a new tokenizer is trained on


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
    terms: tuple[str, ...] = ()  # tables; default: that of DATA
    architecture: str = "hashed"  # or encoder
    labels: str = "all"  # languages that Bifocal knows, or url2lang: the paper's 161
    label_smoothing: float = 0.0
    rows: LanguageDataConfig = field(default_factory=LanguageDataConfig)
    hashed: HashedConfig = field(default_factory=HashedConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    distillation: DistillationConfig = field(default_factory=DistillationConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)


@dataclass(frozen=True)
class LanguageBatches:
    """(URL, language) rows → arrays: those of the network, and the label of each."""

    inputs: Callable[[Sequence[str]], Batch]
    text: Callable[[str], str]
    index: dict[Lang, int]
    without: re.Pattern[str] | None  # URLs that are not learned
    urls: bool  # the URLs themselves too, for a teacher

    def __call__(self, rows: Sequence[Sequence[Any]]) -> Batch:
        """The arrays of a batch; the first cells of a row are URL and language."""
        urls = [row[0] for row in rows]
        batch = self.inputs([self.text(url) for url in urls])
        labels = [self.index.get(row[1], _IGNORED) for row in rows]
        if self.without:
            left_out = map(self.without.match, urls)
            labels = [_IGNORED if out else n for out, n in zip(left_out, labels)]
        batch["label"] = np.array(labels)
        if self.urls:
            batch["urls"] = urls
        return batch


def _sites(names: Iterable[str]) -> re.Pattern[str] | None:
    """Matches the URLs of sites."""
    listed = "|".join(map(re.escape, names))
    pattern = rf"https?://(?:[^/]*\.)?(?:{listed})(?:[/:?]|$)"
    return re.compile(pattern) if listed else None


def _length(row: Sequence[Any]) -> int:
    return len(row[0])


def run(profile: LanguageProfile) -> Path:
    """Train, calibrate, and write the weights; their path."""
    folder, config = Path(profile.data), profile.loop
    if profile.labels not in ("all", "url2lang"):
        raise UsageError(f"labels: {profile.labels!r} is not all or url2lang")
    everything = (UNKNOWN, *sorted(all_languages()))
    labels = everything if profile.labels == "all" else tuple(URL2LANG_LABELS)
    seed_everything(config.seed)
    epoch, texts, dev_rows = _rows(profile, folder)
    dev = [(row.url, label_of(row)) for row in dev_rows]
    if not dev:
        raise UsageError(f"{folder}: no URLs of dev (are there enough sites?)")
    network: HashedLanguageNet | EncoderNet
    if profile.architecture == "hashed":
        size = profile.hashed
        network = HashedLanguageNet(labels, size.buckets, size.width, size.dropout)
    else:
        network = EncoderNet(profile.encoder, labels, map(url_text, texts()))
    languages = [known_code(label) or label for label in labels]
    index, learned = {x: i for i, x in enumerate(languages)}, profile.distillation
    encode = LanguageBatches(
        network.encode,
        str if profile.architecture == "hashed" else url_text,
        index,
        _sites(profile.rows.without),
        urls=bool(learned.teacher),
    )
    logger.info(
        "%d languages, %d URLs of dev, %s parameters",
        len(labels) - 1,
        len(dev),
        f"{sum(p.numel() for p in network.parameters()):,}",
    )
    teacher = LanguageTeacher.load(learned, languages) if learned.teacher else None

    def loss(net: nn.Module, batch: Batch) -> Tensor:
        scores = net(batch)
        truth = nn.functional.cross_entropy(
            scores,
            batch["label"],
            label_smoothing=profile.label_smoothing,
            reduction="sum",
        )
        return teacher.blend(truth, scores, batch["urls"]) if teacher else truth

    truth = [lang for _, lang in dev]

    def macro_f1(scores: Tensor) -> float:
        answers = [languages[i] for i in scores.argmax(1).tolist()]
        return multi_class(truth, answers, MIN_ROWS).f1

    task = Task(
        network,
        epoch,
        encode,
        loss,
        dev,
        lambda net, batch: net(batch),
        macro_f1,
        "macro F1",
        _length,
    )
    best = train(task, config, Path(profile.out))
    if isinstance(network, HashedLanguageNet):
        best, network.trust = fit_trust(network, lambda: macro_f1(predict(task)))
    numbers = torch.tensor([index.get(lang, 0) for lang in truth])
    temperature = fit_temperature(predict(task), numbers)
    meta = {
        "labels": labels,
        "temperature": temperature,
        "trust": network.trust if isinstance(network, HashedLanguageNet) else None,
        "dev_macro_f1": best,
        "profile": without_paths(profile),
    }
    path = _write(Path(profile.out), network, meta)
    print(f"dev macro F1 {best:.4f}\n{how_to_crawl('language', path)}")
    return path


def _rows(
    profile: LanguageProfile, folder: Path
) -> tuple[Callable[[int, int], Rows[Any]], Callable[[], Iterable[str]], Sequence[Any]]:
    """The rows of an epoch, URLs for a tokenizer, and the rows of dev."""
    if profile.rows.variants:
        collection = Collection.read(folder)
        terms = term_tables(folder, profile.terms)
        data = LanguageData(collection, terms, profile.rows, profile.loop.seed)
        logger.info("%d URLs to learn from", len(data.rows))
        return (
            lambda number, limit: ListRows(data.epoch(number, limit)),
            lambda: (row.url for row in data.rows),
            language_rows(collection, DEV),
        )
    table = find_table(folder, "url_lang")
    if not table or not (table / f"{TRAIN}.parquet").exists():
        raise UsageError(
            f"{folder}: rows without variants come from url_lang/train.parquet (make it"
            " with `bifocal data build`)"
        )
    stream = TableRows(table / f"{TRAIN}.parquet", ("url", "lang"))
    logger.info("%d URLs to learn from", len(stream))
    return (
        lambda _, limit: TableRows(table / f"{TRAIN}.parquet", ("url", "lang"), limit),
        lambda: (row[0] for row in islice(stream.read(0, _TOKENIZER_TEXTS), None)),
        language_rows(Collection.read(folder, only=DEV), DEV),
    )


def fit_trust(
    network: HashedLanguageNet, macro_f1: Callable[[], float]
) -> tuple[float, float]:
    """The best macro F1 on dev, and the factor of the markers that gives it.

    Training has markers less often than the web, and slugs in any language, so that
    words are learned; so it believes markers too little.
    """
    scores = []
    for network.trust in _TRUST:
        scores.append((macro_f1(), -network.trust))  # of equals the smallest
    best, trust = max(scores)
    return best, -trust


def _write(out: Path, network: HashedLanguageNet | EncoderNet, meta: Any) -> Path:
    if isinstance(network, EncoderNet):
        return write_encoder(out / "model", network, meta)
    path = out / "url_language.npz"
    if writes():
        write_hashed(path, network, meta)
    return path


def write_encoder(folder: Path, network: EncoderNet, meta: dict[str, Any]) -> Path:
    """A folder that `models.encoder` loads, and the profile of its training."""
    if writes():
        network.save(folder, float(meta["temperature"]))
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
    """Trained weights as an array, from any device."""
    array: npt.NDArray[Any] = weights.detach().cpu().numpy()
    return array
