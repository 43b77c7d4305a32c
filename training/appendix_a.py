"""Appendix A of the paper on other pairs: synthetic negatives compared.

    python -m training.appendix_a data=DATA out=TABLE.tsv [per_site=30] [folds=10]

García-Romero et al. (2024), Appendix A, Table 5: classifiers are trained on the true
pairs of the train split with every combination of the six synthetic generators
(`negatives.GENERATORS`), and judged by cross-validation, folds by site, on true pairs
against *genuine* negatives (other URLs of the same site). The paper fine-tunes XLM-R 63
times 10; here a logistic regression on the features of the shipped pair model is fitted
instead, which takes minutes and answers the same question for that model.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crawler.config import load_profile
from crawler.data import Site
from crawler.errors import UsageError
from crawler.urls import site_of
from models.url_pair import HashedUrlPairModel
from training.command import run_script
from training.data.splits import TRAIN, fold_of
from training.data.tables import UrlPair, write_table
from training.metrics import binary
from training.negatives import GENERATORS, site_negatives, synthetic_negatives
from training.protocol import Collection, capped

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


@dataclass(frozen=True, slots=True)
class Rows:
    """Feature rows of one kind, with the fold of each."""

    inputs: npt.NDArray[Any]  # (rows, features)
    folds: npt.NDArray[Any]  # (rows,)


Figures = tuple[float, float, float]  # F1: positive, negative, macro


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
    positives: Rows, negatives: dict[int, Rows], chosen: Sequence[int], folds: int
) -> Figures:
    """Mean F1 over the folds of a classifier trained on the chosen generators."""
    from sklearn.linear_model import LogisticRegression

    figures: list[Figures] = []
    for fold in range(folds):
        learned = [
            rows.inputs[rows.folds != fold]
            for rows in (positives, *(negatives[method] for method in chosen))
        ]
        judged = [
            rows.inputs[rows.folds == fold] for rows in (positives, negatives[_GENUINE])
        ]
        if not len(judged[0]) or not sum(map(len, learned[1:])):
            continue
        inputs = np.concatenate(learned)
        truth = np.arange(len(inputs)) < len(learned[0])
        classifier = LogisticRegression(max_iter=500).fit(inputs, truth)
        p = classifier.predict_proba(np.concatenate(judged))[:, 1]
        scores = binary(
            [i < len(judged[0]) for i in range(len(p))], [float(value) for value in p]
        )
        figures.append((scores.positive.f1, scores.negative.f1, scores.macro_f1))
    positive, negative, macro = np.mean(figures, axis=0).tolist()
    return positive, negative, macro


def main(words: Sequence[str]) -> None:
    """Compare, printing as it goes, and write the table, best rows first."""
    profile = load_profile(AppendixProfile, None, words)
    if not profile.data or not profile.out:
        raise UsageError("give data=FOLDER and out=TABLE.tsv")
    positives, negatives = collect(Collection.read(Path(profile.data)), profile)
    features = HashedUrlPairModel().features

    def rows(pairs: Sequence[UrlPair]) -> Rows:
        chunks = [features(pairs[i : i + 512]) for i in range(0, len(pairs), 512)]
        folds = [fold_of(site_of(a), profile.folds) for a, _ in pairs]
        return Rows(np.concatenate(chunks), np.array(folds))

    true_rows = rows(positives)
    made = {method: rows(found) for method, found in negatives.items() if found}
    table = []
    for chosen in combinations():
        if set(chosen) <= made.keys():
            scores = cross_validate(true_rows, made, chosen, profile.folds)
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


if __name__ == "__main__":
    run_script(main, __doc__)
