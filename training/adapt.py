"""The hashed language model, continued on crawls: `bifocal train adapt RUN… --out OUT`.

Fine-tuning forgets. Three things hold against it: every epoch has the crawled URLs a
second time with the markers of other languages; the old model's answers are learned
beside the truth (Li & Hoiem, 2016); and the weights that are kept lie between the old
and the new ones (Wortsman et al., 2022), as far towards the new as a reference allows:
the dev split of DATA, else the made-up sample that comes with the project. A fifth of
the crawled URLs is not learned, and chooses. If nothing is gained, no model is written.
"""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch
from torch import Tensor, nn

from crawler.errors import UsageError
from models.url_language import load_weights
from training.data import sample
from training.data.build import build
from training.data.splits import DEV, TRAIN
from training.data.tables import UrlRow
from training.feed import Batch, ListRows
from training.language_data import LanguageData, LanguageDataConfig
from training.loop import LoopConfig, Task, predict, train
from training.metrics import MultiClass, multi_class
from training.networks import HashedLanguageNet
from training.profile import how_to_crawl
from training.protocol import MIN_ROWS, Collection, label_of, language_rows
from training.url_language import LanguageBatches, write_hashed

logger = logging.getLogger(__name__)

MAX_LOSS = 0.005  # macro F1 that the reference may lose
_WAYS = (1.0, 0.75, 0.5, 0.25)  # from the old weights (0) to the new ones
_OLD = 0.5  # weight of the old model's answers beside the truth
_LOOP = LoopConfig(
    learning_rate=2e-3,  # less than half of that of a training from random weights
    schedule="linear",
    batch_size=32,
    workers=0,
)
_UPDATES = 300  # at least, in at most so many epochs: few pages are seen more often
_EPOCHS = 30


def adapt(
    runs: Sequence[str], out: Path, data: Path | None = None, weights: str | None = None
) -> Path | None:
    """The adapted weights, or None if the old ones (default: shipped) are better."""
    build("runs", out / "data", runs)
    found = Collection.read(out / "data")
    crawled = [row for rows in found.urls.values() for row in rows]
    held_out = [row for row in crawled if crc32(row.url.encode()) % 5 == 0]
    learned = sorted({*crawled} - {*held_out}, key=lambda row: row.url)
    if not learned or not held_out:
        raise UsageError(f"{runs[0]}: too few pages whose language is sure")
    if data:
        reference = language_rows(Collection.read(data, only=DEV), DEV)
    else:
        reference = list(sample.tables("sample", Counter(), None).urls)
    network, meta = read_network(weights)
    old = copy.deepcopy(network.state_dict())
    encode = LanguageBatches(
        network.encode, str, {x: i for i, x in enumerate(meta["labels"])}, None, False
    )

    def judged(rows: Sequence[UrlRow], least: int = 1) -> MultiClass:
        task = replace(fine_tuning, dev=[(row.url, label_of(row)) for row in rows])
        best = (meta["labels"][i] for i in predict(task).argmax(1).tolist())
        return multi_class([label_of(row) for row in rows], list(best), least)

    fine_tuning = _task(network, encode, found, learned, held_out)
    before = judged(held_out).accuracy, judged(reference, MIN_ROWS).f1
    updates = -(-2 * len(learned) // _LOOP.batch_size)  # of an epoch
    epochs = min(_EPOCHS, max(4, -(-_UPDATES // updates)))
    train(fine_tuning, replace(_LOOP, max_epochs=epochs, patience=epochs), out)
    new = copy.deepcopy(network.state_dict())
    for way in _WAYS:
        network.load_state_dict(
            {name: torch.lerp(old[name], new[name], way) for name in old}
        )
        after = judged(held_out).accuracy, judged(reference, MIN_ROWS).f1
        print(
            f"{way:.2f} of the way: accuracy on held-out pages {before[0]:.4f} →"
            f" {after[0]:.4f}, macro F1 of the reference {before[1]:.4f} →"
            f" {after[1]:.4f}"
        )
        if after[0] > before[0] and after[1] >= before[1] - MAX_LOSS:
            path = out / "url_language.npz"
            write_hashed(path, network, meta | {"adapted": {"way": way}})
            print(how_to_crawl("language", path))
            return path
    print("nothing is gained without a loss elsewhere: keep the model that you have")
    return None


def read_network(weights: str | None) -> tuple[HashedLanguageNet, dict[str, Any]]:
    """A file of weights as a network that can be trained, and its `meta`."""
    arrays, meta = load_weights(weights, "url_language.npz")
    buckets, width = arrays["table"].shape
    network = HashedLanguageNet(meta["labels"], buckets, width, dropout=0.2)
    network.trust = meta["trust"]
    table = arrays["table"].astype(np.float32) * arrays["table_scale"]
    layers = {
        f"{a}.{b}": f"{a}_{b}" for a in ("out", "gate") for b in ("weight", "bias")
    }
    state = {name: arrays[key] for name, key in layers.items()} | {
        "table.weight": table
    }
    network.load_state_dict({name: torch.tensor(a) for name, a in state.items()})
    return network.eval(), meta


def _task(
    network: HashedLanguageNet,
    encode: LanguageBatches,
    found: Collection,
    learned: Sequence[UrlRow],
    held_out: Sequence[UrlRow],
) -> Task[Any]:
    """Learn the crawled URLs; the share of the others that is right is the score."""
    kept = {row.url for row in learned}
    pairs = [
        row
        for rows in found.pairs.values()
        for row in rows
        if {row.url_a, row.url_b} <= kept
    ]
    rows = replace(found, urls={TRAIN: list(learned)}, pairs={TRAIN: pairs})
    variants = LanguageDataConfig(remarked=len(learned), slugs=0, without=())
    examples = LanguageData(rows, config=variants)
    teacher = copy.deepcopy(network).eval()
    teacher.trust = 1.0  # as in training

    def loss(net: nn.Module, batch: Batch) -> Tensor:
        scores = net(batch)
        truth = nn.functional.cross_entropy(scores, batch["label"], reduction="sum")
        with torch.no_grad():
            answers = teacher(batch).softmax(1)
        return truth + _OLD * nn.functional.cross_entropy(
            scores, answers, reduction="sum"
        )

    numbers = torch.tensor([encode.index.get(label_of(row), 0) for row in held_out])
    return Task(
        network,
        lambda number, limit: ListRows(examples.epoch(number, limit)),
        encode,
        loss,
        [(row.url, label_of(row)) for row in held_out],
        lambda net, batch: net(batch),
        lambda scores: float((scores.argmax(1) == numbers).float().mean()),
        "accuracy",
        lambda row: len(row[0]),
    )
