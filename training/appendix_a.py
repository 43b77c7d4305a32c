r"""Appendix A of the paper on other pairs: synthetic negatives compared.

    python -m training.appendix_a data=DATA out=TABLE.tsv [per_site=30] [folds=10]
    python -m training.appendix_a data=DATA out=TABLE.tsv \
        encoder.pretrained=FacebookAI/xlm-roberta-base

García-Romero et al. (2024), Appendix A, Table 5: classifiers are trained on the true
pairs of the train split with every combination of the six synthetic generators
(`negatives.GENERATORS`), and judged by cross-validation, folds by site, on true pairs
against *genuine* negatives (other URLs of the same site). With `encoder.pretrained` an
encoder is fine-tuned for each combination and fold, 630 times, as in the paper; else a
logistic regression on the features of the shipped pair model is fitted, which takes
minutes and answers the same question for that model.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from crawler.config import load_profile
from crawler.data import Site
from crawler.errors import UsageError
from crawler.urls import site_of
from models.preprocess import pair_text
from models.url_pair import HashedUrlPairModel
from training.command import run_script
from training.data.splits import TRAIN, fold_of
from training.data.tables import UrlPair, write_table
from training.encoders import EncoderConfig, EncoderNet
from training.feed import ListRows
from training.loop import LoopConfig, predict, train
from training.metrics import binary
from training.negatives import GENERATORS, site_negatives, synthetic_negatives
from training.protocol import Collection, capped
from training.url_pair import encoder_task

_GENUINE = 0  # the "method" of negatives that are not synthetic
_POOL = 300  # other URLs of a site that negatives are taken from


@dataclass(frozen=True, slots=True)
class AppendixProfile:
    """The data of a comparison."""

    data: str = ""
    out: str = ""
    per_site: int = 30  # true pairs of a site; generators are quadratic in it
    folds: int = 10
    k: int = 3  # synthetic negatives per pair and generator
    seed: int = 71213
    combinations: str = ""  # only these: 1+2,1+2+3+4+5
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)


Figures = tuple[float, float, float]  # F1: positive, negative, macro
# What is learned from pairs and whether they are parallel says of other pairs.
Classifier = Callable[[list[UrlPair], list[bool], list[UrlPair]], list[float]]


def combinations() -> list[tuple[int, ...]]:
    """All 63 choices of generators, small ones first."""
    return [
        chosen
        for size in range(1, len(GENERATORS) + 1)
        for chosen in itertools.combinations(sorted(GENERATORS), size)
    ]


def collect(
    collection: Collection, profile: AppendixProfile
) -> tuple[list[UrlPair], dict[int, list[UrlPair]]]:
    """True pairs, and the negatives of each generator; `_GENUINE` are the real ones."""
    rng = random.Random(profile.seed)
    rows = capped(
        collection.pairs[TRAIN], lambda row: row.site, profile.per_site, profile.seed
    )
    by_site: dict[Site, list[UrlPair]] = defaultdict(list)
    for row in rows:
        by_site[row.site].append((row.url_a, row.url_b))
    negatives: dict[int, list[UrlPair]] = defaultdict(list)
    for site, pairs in sorted(by_site.items()):
        pool = collection.pools[site]
        pool = pool if len(pool) <= _POOL else rng.sample(pool, _POOL)
        for pair in pairs:
            negatives[_GENUINE] += site_negatives(
                pair, pool, collection.closure, rng=rng
            )
        for method in GENERATORS:
            negatives[method] += synthetic_negatives(
                pairs,
                collection.closure,
                methods=[method],
                k=profile.k,
                seed=profile.seed,
            )
    return [pair for pairs in by_site.values() for pair in pairs], negatives


def cross_validate(
    positives: Sequence[UrlPair],
    negatives: Mapping[int, Sequence[UrlPair]],
    chosen: Sequence[int],
    folds: int,
    classify: Classifier,
) -> Figures:
    """Mean F1 over the folds of a classifier trained on the chosen generators."""
    figures: list[Figures] = []
    made = [pair for method in chosen for pair in negatives[method]]
    for fold in range(folds):

        def of_fold(pairs: Sequence[UrlPair], inside: bool) -> list[UrlPair]:
            return [p for p in pairs if (_fold(p, folds) == fold) == inside]  # noqa: B023

        right, wrong = of_fold(positives, False), of_fold(made, False)
        true_pairs = of_fold(positives, True)
        genuine = of_fold(negatives[_GENUINE], True)
        if not true_pairs or not wrong:
            continue
        truth = [True] * len(right) + [False] * len(wrong)
        p = classify(right + wrong, truth, true_pairs + genuine)
        judged = [True] * len(true_pairs) + [False] * len(genuine)
        scores = binary(judged, p)
        figures.append((scores.positive.f1, scores.negative.f1, scores.macro_f1))
    positive, negative, macro = np.mean(figures, axis=0).tolist()
    return positive, negative, macro


def _fold(pair: UrlPair, folds: int) -> int:
    return fold_of(site_of(pair[0]), folds)


def logistic(pairs: Iterable[UrlPair]) -> Classifier:
    """A logistic regression on the features of the shipped pair model."""
    from sklearn.linear_model import LogisticRegression

    features = HashedUrlPairModel().features
    known = list(dict.fromkeys(pairs))
    chunks = [features(known[i : i + 512]) for i in range(0, len(known), 512)]
    rows = np.concatenate(chunks)
    number = {pair: n for n, pair in enumerate(known)}

    def classify(
        learned: list[UrlPair], truth: list[bool], judged: list[UrlPair]
    ) -> list[float]:
        model = LogisticRegression(max_iter=500)
        model.fit(rows[[number[pair] for pair in learned]], truth)
        found = model.predict_proba(rows[[number[pair] for pair in judged]])
        return [float(value) for value in found[:, 1]]

    return classify


def fine_tuned(profile: AppendixProfile) -> Classifier:
    """An encoder that is fine-tuned anew each time, as in the paper."""

    def classify(
        learned: list[UrlPair], truth: list[bool], judged: list[UrlPair]
    ) -> list[float]:
        rows = [(*pair, right) for pair, right in zip(learned, truth)]
        order = np.random.default_rng(profile.seed).permutation(len(rows))
        held_out = max(1, len(rows) // 20)  # says when to stop
        dev, rest = ([rows[i] for i in part] for part in np.split(order, [held_out]))
        texts = (pair_text(a, b) for a, b, right in rest if right)
        network = EncoderNet(profile.encoder, ["parallel"], texts)
        task = encoder_task(network, lambda _, limit: ListRows(rest[:limit]), dev)
        with TemporaryDirectory() as folder:
            train(task, profile.loop, Path(folder))
        asked = replace(task, dev=[(*pair, False) for pair in judged])
        return [float(value) for value in predict(asked).sigmoid()]

    return classify


def main(words: Sequence[str]) -> None:
    """Compare, printing as it goes, and write the table, best rows first."""
    profile = load_profile(AppendixProfile, None, words)
    if not profile.data or not profile.out:
        raise UsageError("give data=FOLDER and out=TABLE.tsv")
    positives, negatives = collect(Collection.read(Path(profile.data)), profile)
    if profile.encoder.pretrained:
        classify = fine_tuned(profile)
    else:
        classify = logistic(chain(positives, *negatives.values()))
    table = []
    for chosen in _chosen(profile.combinations):
        if set(chosen) <= {method for method, pairs in negatives.items() if pairs}:
            scores = cross_validate(
                positives, negatives, chosen, profile.folds, classify
            )
            trained = sum(len(negatives[method]) for method in chosen)
            table.append(("+".join(map(str, chosen)), trained, *scores))
            print(
                f"{table[-1][0]:14} {trained:8} macro F1 {scores[-1]:.4f}", flush=True
            )
    table.sort(key=lambda row: -row[-1])
    columns = ("generators", "negatives", "positive_f1", "negative_f1", "macro_f1")
    write_table(
        Path(profile.out),
        columns,
        ((*row[:2], *(f"{score:.4f}" for score in row[2:])) for row in table),
    )
    print(f"best: {table[0][0]}; all {len(table)} are in {profile.out}")


def _chosen(names: str) -> list[tuple[int, ...]]:
    """The combinations of these names; all of them if there are none."""
    if not names:
        return combinations()
    by_name = {"+".join(map(str, chosen)): chosen for chosen in combinations()}
    wrong = set(names.split(",")) - by_name.keys()
    if wrong:
        raise UsageError(
            f"combinations: {min(wrong)!r} is not one of the generators 1 to 6 joined"
            " by + (such as 1+2+5)"
        )
    return [by_name[name] for name in names.split(",")]


if __name__ == "__main__":
    run_script(main, __doc__)
