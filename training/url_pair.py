"""Trains P(parallel | URL, URL): `bifocal train pair --profile PROFILE --data DATA`.

The folders are those of `training.url_language`, which comes first: the hashed pair
model sees the languages that one finds in both URLs. It is trained in two stages:

1. word vectors (`training.word_vectors`);
2. boosted trees on the features of `models.url_pair`. They must not see vectors that
   know a pair's own slugs, or they would trust vectors more than new sites deserve. So
   the features of a site's pairs are made with vectors that were trained without its
   fold (cross-fitting), and only the weights that ship have vectors of all sites.

The encoders see both URLs as one text, and have one logit. Their rows are written to
OUT/rows.parquet once, and streamed from there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from accelerate import PartialState
from torch import Tensor, nn

from crawler.atomic import atomic_file
from crawler.errors import UsageError
from models.encoder import TextEncoder
from models.preprocess import pair_text
from models.trees import Trees
from models.url_language import HashedUrlLanguageModel
from models.url_pair import FEATURES, PairFeatures
from training.data.splits import DEV, fold_of
from training.distillation import DistillationConfig, PairTeacher
from training.encoders import EncoderConfig, EncoderNet
from training.feed import Batch, Rows, TableRows
from training.loop import LoopConfig, Task, predict, seed_everything, train, writes
from training.metrics import binary
from training.pair_data import (
    LabelledPair,
    PairDataConfig,
    Texts,
    labelled_pairs,
    sites_left_out,
)
from training.profile import how_to_crawl, term_tables, without_paths
from training.protocol import Collection, JudgedPair, pair_rows
from training.temperature import fit_temperature
from training.trees import TreesConfig, grow
from training.url_language import write_encoder
from training.word_vectors import WordVectorConfig, train_words

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PairProfile:
    """One training run."""

    data: str = ""
    out: str = ""
    terms: tuple[str, ...] = ()  # tables; default: that of DATA
    languages: str | None = None  # weights of the language model; default: shipped
    architecture: str = "hashed"  # or encoder
    folds: int = 2  # of the train sites, for vectors that do not know them
    translated: float = 2.0  # weight of translated slugs, which codes outnumber
    trees: TreesConfig = field(default_factory=TreesConfig)
    rows: PairDataConfig = field(default_factory=PairDataConfig)
    words: WordVectorConfig = field(default_factory=WordVectorConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    distillation: DistillationConfig = field(default_factory=DistillationConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)


def run(profile: PairProfile) -> Path:
    """Train, calibrate, and write the weights; their path."""
    folder, out = Path(profile.data), Path(profile.out)
    seed_everything(profile.loop.seed)
    collection = Collection.read(folder)
    dev = pair_rows(collection, DEV)
    rows = labelled_pairs(collection, profile.rows, profile.loop.seed)
    positives = sum(row.parallel for row in rows)
    if not positives or not dev:
        raise UsageError(f"{folder}: no pairs to learn from, or none of dev")
    logger.info(
        "%d pairs and %d negatives to learn from; %d rows of dev",
        positives,
        len(rows) - positives,
        len(dev),
    )
    if profile.architecture == "encoder":
        return _train_encoder(profile, rows, dev)
    if profile.distillation.teacher:
        raise UsageError("trees have no teacher (distillation is for encoders)")
    texts = Texts.read(
        collection,
        term_tables(folder, profile.terms),
        sites_left_out(collection, profile.rows, profile.loop.seed),
        seed=profile.loop.seed,
    )
    languages = HashedUrlLanguageModel(profile.languages)
    inputs = np.zeros((len(rows), len(FEATURES)), dtype=np.float32)
    folds = np.array([fold_of(row.site, profile.folds) for row in rows])
    for fold in sorted(set(folds.tolist())):
        chosen = np.flatnonzero(folds == fold)
        unknown = {rows[i].site for i in chosen}
        vectors = train_words(
            profile.words, texts, collection, out / f"words-{fold}", unknown
        )
        features = PairFeatures(_read_back(*vectors), languages)
        inputs[chosen] = _inputs(features, [rows[i] for i in chosen])
    table, scale = train_words(profile.words, texts, collection, out / "words")
    features = PairFeatures(_read_back(table, scale), languages)
    trees = _grow_trees(profile, inputs, rows)
    scores = torch.from_numpy(trees.scores(_inputs(features, dev)))
    truth = [row.parallel for row in dev]
    temperature = fit_temperature(scores, torch.tensor(truth))
    best = binary(truth, scores.sigmoid().tolist()).macro_f1
    meta = {
        "features": FEATURES,
        "temperature": temperature,
        "dev_macro_f1": best,
        "texts": {name: len(found) for name, found in texts.sources.items()},
        "profile": without_paths(profile),
    }
    path = out / "url_pair.npz"
    if writes():
        np.savez_compressed(
            path,
            meta=json.dumps(meta),
            table=table,
            table_scale=scale,
            **trees.arrays(),
        )
    print(f"dev macro F1 {best:.4f}\n{how_to_crawl('pair', path)}")
    return path


def _read_back(table: npt.NDArray[Any], scale: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The vectors as the model will read them, of 8 bits."""
    vectors: npt.NDArray[Any] = table.astype(np.float32) * scale
    return vectors


# ------------------------------------------------------------------ trees


# Along these the score only rises. Constraints on the measures of meaning as well made
# dev worse (log loss 0.082 against 0.078 without any).
_RISING = ("same_handle", "shared_form")


def _grow_trees(
    profile: PairProfile, inputs: npt.NDArray[Any], rows: Sequence[LabelledPair]
) -> Trees:
    return grow(
        inputs,
        [row.parallel for row in rows],
        np.array([profile.translated if row.translated else 1.0 for row in rows]),
        monotone={FEATURES.index(name): 1 for name in _RISING},
        config=profile.trees,
        seed=profile.loop.seed,
    )


def _inputs(
    features: PairFeatures, rows: Sequence[LabelledPair] | Sequence[JudgedPair]
) -> npt.NDArray[Any]:
    pairs = [(row.url_a, row.url_b) for row in rows]
    chunks = [features(pairs[i : i + 512]) for i in range(0, len(pairs), 512)]
    return np.concatenate(chunks)


# ------------------------------------------------------------------ encoders


@dataclass(frozen=True)
class PairBatches:
    """(URL, URL, parallel) rows → arrays of one text each, and the truth."""

    inputs: TextEncoder
    urls: bool  # the URLs themselves too, for a teacher

    def __call__(self, rows: Sequence[Sequence[Any]]) -> Batch:
        """The arrays of a batch."""
        batch: Batch = dict(self.inputs([pair_text(row[0], row[1]) for row in rows]))
        batch["parallel"] = np.array([float(row[2]) for row in rows], dtype=np.float32)
        if self.urls:
            batch["urls"] = [(row[0], row[1]) for row in rows]
        return batch


def _length(row: Sequence[Any]) -> int:
    return len(row[0]) + len(row[1])


def encoder_task(
    network: EncoderNet,
    rows: Callable[[int, int], Rows[Sequence[Any]]],
    judged: Sequence[tuple[str, str, bool]],
    teacher: PairTeacher | None = None,
) -> Task[Sequence[Any]]:
    """The training of an encoder on (URL, URL, parallel) rows; `judged` is dev."""
    truth = [row[2] for row in judged]

    def loss(net: nn.Module, batch: Batch) -> Tensor:
        scores = net(batch)[:, 0]
        told = nn.functional.binary_cross_entropy_with_logits(
            scores, batch["parallel"], reduction="sum"
        )
        return teacher.blend(told, scores, batch["urls"]) if teacher else told

    def macro_f1(scores: Tensor) -> float:
        return binary(truth, scores.sigmoid().tolist()).macro_f1

    return Task(
        network,
        rows,
        PairBatches(network.encode, urls=teacher is not None),
        loss,
        judged,
        lambda net, batch: net(batch)[:, 0],
        macro_f1,
        "macro F1",
        _length,
    )


def _train_encoder(
    profile: PairProfile, rows: Sequence[LabelledPair], dev: Sequence[JudgedPair]
) -> Path:
    out = Path(profile.out)
    table = _write_rows(out / "rows.parquet", rows, profile.loop.seed)
    positives = (pair_text(row.url_a, row.url_b) for row in rows if row.parallel)
    network = EncoderNet(profile.encoder, ["parallel"], positives)
    learned = profile.distillation
    task = encoder_task(
        network,
        lambda _, limit: TableRows(table, ("url_a", "url_b", "parallel"), limit),
        [(row.url_a, row.url_b, row.parallel) for row in dev],
        PairTeacher.load(learned) if learned.teacher else None,
    )
    best = train(task, profile.loop, out)
    truth = torch.tensor([row.parallel for row in dev])
    temperature = fit_temperature(predict(task), truth)
    meta = {
        "temperature": temperature,
        "dev_macro_f1": best,
        "profile": without_paths(profile),
    }
    path = write_encoder(out / "model", network, meta)
    print(f"dev macro F1 {best:.4f}\n{how_to_crawl('pair', path)}")
    return path


def _write_rows(path: Path, rows: Sequence[LabelledPair], seed: int) -> Path:
    """The rows in a random order, in which every prefix is a sample."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    resumes = path.exists() and path.with_name("last.pt").exists()
    if writes() and not resumes:
        path.parent.mkdir(parents=True, exist_ok=True)
        order = np.random.default_rng(seed).permutation(len(rows))
        columns = {
            name: [getattr(rows[i], name) for i in order]
            for name in ("url_a", "url_b", "parallel")
        }
        with atomic_file(path) as file:
            write_table(pa.table(columns), file, row_group_size=65_536)
    PartialState().wait_for_everyone()
    return path
