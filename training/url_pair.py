"""Train P(parallel | URL, URL): `python -m training.url_pair PROFILE key=value ...`.

Profiles are TOML files in `training/profiles`, or of your own:

    pair-hashed   what ships: word vectors and a small network, minutes on a CPU core
    pair-compact  the paper's architecture at a hundredth of its size
    pair-base     the paper's: XLM-R base, fine-tuned; wants a GPU

    python -m training.url_pair pair-hashed data=DATA out=runs/pair \
        languages=runs/language/url_language.npz 'terms=["titles.tsv.gz", ...]'

The folders are those of `training.url_language`, which comes first: the hashed pair
model sees what languages that one finds in both URLs. It is trained in two stages:

1. word vectors: slugs, titles and dictionary entries that translate each other are to
   be nearer than the other texts of a batch (InfoNCE; van den Oord et al., 2018);
2. boosted trees on the features of `models.url_pair`. They must not see vectors that
   know a pair's own slugs, or they would trust vectors more than new sites deserve. So
   the features of a site's pairs are made with vectors that were trained without its
   fold (cross-fitting), and only what ships has vectors of all sites.

The encoders see both URLs as one text, and have one logit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from crawler.config import to_table
from crawler.data import Site
from crawler.errors import UsageError
from models.preprocess import pair_text
from models.trees import Trees
from models.url_language import HashedUrlLanguageModel
from models.url_pair import FEATURES, PairFeatures, UrlView, word_ngrams
from training.command import run_script
from training.data.splits import DEV, fold_of
from training.distillation import DistillationConfig, PairTeacher
from training.loop import LoopConfig, Task, seed_everything, train, writes
from training.metrics import binary
from training.networks import EncoderConfig, EncoderNet
from training.pair_data import (
    LabelledPair,
    PairDataConfig,
    TextPair,
    Texts,
    labelled_pairs,
    sites_left_out,
)
from training.protocol import Collection, JudgedPair, pair_rows
from training.temperature import fit_temperature
from training.trees import TreesConfig, grow
from training.url_language import (
    as_array,
    quantize,
    read_profile,
    without_paths,
    write_encoder,
)


@dataclass(frozen=True, slots=True)
class WordVectorConfig:
    """The first stage: 2**17 x 48 bytes are 6.3 MB."""

    buckets: int = 2**17
    width: int = 48
    dropout: float = 0.15  # of n-grams
    temperature: float = 0.07  # of the softmax over a batch (CLIP's first value)
    texts: int = 120_000  # pairs of texts per epoch
    loop: LoopConfig = field(
        default_factory=lambda: LoopConfig(
            learning_rate=3e-3,
            schedule="linear",
            weight_decay=0.0,
            max_epochs=12,
            patience=12,
            batch_size=512,
        )
    )


@dataclass(frozen=True, slots=True)
class PairProfile:
    """One training run."""

    data: str = ""
    out: str = ""
    terms: tuple[str, ...] = ()  # tables of `training.data.terms`
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


def main(words: Sequence[str]) -> None:
    """Read the profile, train, calibrate, and write the weights."""
    run(read_profile(PairProfile, words))


def run(profile: PairProfile) -> Path:
    """Train; the path of the weights."""
    started = time.monotonic()
    seed_everything(profile.loop.seed)
    collection = Collection.read(Path(profile.data))
    dev = pair_rows(collection, DEV)
    rows = labelled_pairs(collection, profile.rows, profile.loop.seed)
    print(
        f"{sum(row.parallel for row in rows)} pairs and"
        f" {sum(not row.parallel for row in rows)} negatives; {len(dev)} rows of dev",
        flush=True,
    )
    if profile.architecture == "encoder":
        return _train_encoder(profile, rows, dev)
    if profile.distillation.teacher:
        raise UsageError("trees have no teacher (distillation is for encoders)")
    texts = Texts(
        collection,
        [Path(table) for table in profile.terms],
        sites_left_out(collection, profile.rows, profile.loop.seed),
        seed=profile.loop.seed,
    )
    languages = HashedUrlLanguageModel(profile.languages)
    inputs = np.zeros((len(rows), len(FEATURES)), dtype=np.float32)
    folds = np.array([fold_of(row.site, profile.folds) for row in rows])
    for fold in sorted(set(folds.tolist())):
        chosen = np.flatnonzero(folds == fold)
        unknown = {rows[i].site for i in chosen}
        vectors = _train_words(profile, texts, collection, f"words-{fold}", unknown)
        features = PairFeatures(_read_back(*vectors), languages)
        inputs[chosen] = _inputs(features, [rows[i] for i in chosen])
    table, scale = _train_words(profile, texts, collection, "words")
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
        "minutes": round((time.monotonic() - started) / 60, 1),
        "profile": without_paths(to_table(profile)),
    }
    path = Path(profile.out) / "url_pair.npz"
    if writes():
        np.savez_compressed(
            path,
            meta=json.dumps(meta),
            table=table,
            table_scale=scale,
            **trees.arrays(),
        )
    print(f"dev macro F1 {best:.4f}, temperature {temperature:.3f}: {path}")
    return path


def _read_back(table: npt.NDArray[Any], scale: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The vectors as the shipped model will see them, in their 8 bits."""
    vectors: npt.NDArray[Any] = table.astype(np.float32) * scale
    return vectors


# ------------------------------------------------------------------ word vectors


class WordVectors(nn.Module):
    """Texts as the sum of their words, a word as the scaled sum of its n-grams."""

    def __init__(self, config: WordVectorConfig) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.table = nn.EmbeddingBag(config.buckets, config.width, mode="sum")
        nn.init.normal_(self.table.weight, std=0.1)
        self._ngrams: dict[str, npt.NDArray[np.int64]] = {}

    def forward(self, texts: Sequence[str]) -> Tensor:
        """(texts, width), of length 1."""
        words = [text.split() for text in texts]
        self._learn({word for row in words for word in row})
        ngrams = [self._ngrams[word] for row in words for word in row]
        counts = np.array([len(found) for found in ngrams])
        per_text = np.array([sum(len(self._ngrams[w]) for w in row) for row in words])
        device = self.table.weight.device
        weight = torch.from_numpy(np.repeat(counts**-0.5, counts)).float().to(device)
        if self.training:
            weight = weight * (torch.rand(len(weight), device=device) > self.dropout)
        summed = self.table(
            torch.from_numpy(np.concatenate(ngrams)).to(device),
            torch.from_numpy(np.cumsum(per_text) - per_text).to(device),
            per_sample_weights=weight,
        )
        return nn.functional.normalize(summed, dim=1)

    def _learn(self, words: set[str]) -> None:
        new = sorted(words - self._ngrams.keys())
        if new:
            rows = word_ngrams(new, self.table.weight.shape[0])
            for word, row in zip(new, rows):
                self._ngrams[word] = row[row > 0]


def _train_words(
    profile: PairProfile,
    texts: Texts,
    collection: Collection,
    name: str,
    left_out: AbstractSet[Site] = frozenset(),
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A table of n-gram vectors in 8 bits, and the scale of its columns."""
    config = profile.words
    network = WordVectors(config)
    dev = [
        (UrlView.of(row.url_a), UrlView.of(row.url_b))
        for row in collection.pairs[DEV]
        if not row.code_only
    ]
    held_out = [
        (" ".join(a.name), " ".join(b.name)) for a, b in dev if a.name and b.name
    ]

    def loss(batch: Sequence[TextPair]) -> Tensor:
        # a text that stands twice would be its own negative
        unique = list(
            {b: (a, b) for a, b in {a: (a, b) for a, b in batch}.values()}.values()
        )
        one, two = (network(side) for side in zip(*unique))
        scores = one @ two.T / config.temperature
        truth = torch.arange(len(unique), device=scores.device)
        forth = nn.functional.cross_entropy(scores, truth)
        back = nn.functional.cross_entropy(scores.T, truth)
        return (forth + back) / 2

    def margin() -> float:
        """How much nearer true slugs of dev are than those of other pages."""
        one, two = (network(side) for side in zip(*held_out))
        return float((one * two).sum(1).mean() - (one @ two.T).mean())

    def epoch(number: int, limit: int) -> Sequence[TextPair]:
        return texts.epoch(number, min(config.texts, limit), left_out)

    task = Task(network, epoch, loss, margin)
    train(task, config.loop, Path(profile.out) / name)
    return quantize(as_array(network.table.weight))


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


def _train_encoder(
    profile: PairProfile, rows: Sequence[LabelledPair], dev: Sequence[JudgedPair]
) -> Path:
    network = EncoderNet(
        profile.encoder,
        ["parallel"],
        (pair_text(row.url_a, row.url_b) for row in rows if row.parallel),
    )

    def scores(batch: Sequence[LabelledPair] | Sequence[JudgedPair]) -> Tensor:
        logits: Tensor = network([pair_text(row.url_a, row.url_b) for row in batch])
        return logits[:, 0]

    def epoch(number: int, limit: int) -> Sequence[LabelledPair]:
        first = torch.Generator().manual_seed(profile.loop.seed)
        grown = torch.randperm(len(rows), generator=first)[:limit]
        order = torch.Generator().manual_seed(profile.loop.seed + number)
        return [rows[i] for i in grown[torch.randperm(len(grown), generator=order)]]

    learned = profile.distillation
    teacher = PairTeacher(learned) if learned.teacher else None

    def loss(batch: Sequence[LabelledPair]) -> Tensor:
        logits = scores(batch)
        labels = torch.tensor([float(row.parallel) for row in batch]).to(logits.device)
        truth = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        pairs = [(row.url_a, row.url_b) for row in batch]
        return teacher.blend(truth, logits, pairs) if teacher else truth

    def dev_scores() -> Tensor:
        chunks = [dev[i : i + 256] for i in range(0, len(dev), 256)]
        return torch.cat([scores(chunk).float().cpu() for chunk in chunks])

    def macro_f1() -> float:
        truth = [row.parallel for row in dev]
        return binary(truth, dev_scores().sigmoid().tolist()).macro_f1

    best = train(Task(network, epoch, loss, macro_f1), profile.loop, Path(profile.out))
    meta = {"dev_macro_f1": best, "profile": without_paths(to_table(profile))}
    return write_encoder(Path(profile.out) / "model", network, meta)


if __name__ == "__main__":
    run_script(main)
