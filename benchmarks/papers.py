"""The systems of the papers, each as a whole, beside the default.

    python -m benchmarks.papers pools POOLS     content only: no URL, no link
    python -m benchmarks.papers sites WORLDS    recorded sites as they are
    python -m benchmarks.papers strand WORLDS   Resnik & Smith's (2003) experiments
    python -m benchmarks.papers uszkoreit WORLDS   figure 2 of Uszkoreit et al. (2010)

Behind the folder sites or pools may be named; the figures of all others then stay. The
folders are those of `aligner_quality`. Results go to benchmarks/results/papers_*.json.

The papers translate by resources of their own; here each is given the lexicon that the
default has learned on the same pages. settings/align says what the systems are.
Precision is that of Uszkoreit et al. (2010, section 4): of the matching pairs and the
touching ones, which are wrong and have a page of which the truth knows a partner.

`strand`: the pairs that URLs and links name, on all sites together, are judged by the
manual thresholds and, in three folds, by a decision tree on dp, n, r and p, and on the
same and tsim (sections 2.2.1, 2.2.2, 3.2.2). tsim alone, above 0.15, decides by greedy
linking, with cognates in the lexicon, and by both best matchings (section 3.1). Cohen's
kappa is of a system and the truth (the paper's: of a system and people).

`uszkoreit`: the system with other orders of n-grams, and with other thresholds, on the
first pair of languages of each site.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benchmarks.aligner_quality import (
    align,
    chosen_pools,
    harmonic_mean,
    has_partner,
    is_among,
    lexicon_of,
    measure,
    read_pool,
    read_truth,
)
from benchmarks.machine import machine
from crawler.aligner.bridges.cognates import cognates
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.combine import Thresholds
from crawler.aligner.words import words_of
from crawler.config import Plugin, load_profile
from crawler.data import Document, LangPair, PairScore
from crawler.extract.document import read_page
from crawler.reports.quality import Gold, judge_pairs
from crawler.warc.reader import iter_pages
from training.align_weights import TREE_FEATURES

RESULTS = Path(__file__).parent / "results"
SYSTEMS = Path(__file__).parents[1] / "settings" / "align"
FOLDS = 3
ORDERS = (2, 3, 4, 5)  # figure 2
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
TSIM = 0.15  # section 3.2.2 of Resnik & Smith (2003)

Figures = dict[str, float]
Rows = Iterator[tuple[str, Figures]]


def pools(folder: Path, names: Sequence[str]) -> Rows:
    """Each system on each pool; STRAND's, which need a URL, find nothing there."""
    for pool, langs in chosen_pools(folder, names):
        documents, truth, _ = read_pool(pool)
        lexicon = lexicon_of(documents, langs)
        for name, profile in systems():
            if name.startswith("strand"):
                continue
            known = None if name == "default" else lexicon
            found, seconds = align(documents, langs, profile, known)
            figures = measure(found, truth, documents, None, profile.min_score)
            yield f"{pool.name} {name}", figures | {"seconds": round(seconds, 1)}


def sites(worlds: Path, names: Sequence[str]) -> Rows:
    """Each system on each recorded site, in each of its pairs of languages."""
    for title, documents, langs, (gold, doubtful) in recorded(worlds, names):
        lexicon = lexicon_of(documents, langs)
        for name, profile in systems():
            known = None if name == "default" else lexicon
            found, seconds = align(documents, langs, profile, known)
            figures = judged(found, gold, doubtful)
            yield f"{title} {name}", figures | {"seconds": round(seconds, 1)}


def judged(found: Sequence[PairScore], gold: Gold, doubtful: Gold) -> Figures:
    """Precision over matching and touching pairs, recall, and F1."""
    judged = judge_pairs(found, gold)
    touching = [
        pair
        for pair in judged.wrong
        if has_partner(pair, gold) and not is_among(pair, doubtful)
    ]
    precision = judged.right / max(judged.right + len(touching), 1)
    return {
        "precision": round(precision, 3),
        "recall": round(judged.recall, 3),
        "f1": round(harmonic_mean(precision, judged.recall), 3),
    }


def uszkoreit(worlds: Path, names: Sequence[str]) -> Rows:
    """F1 by the orders of matching and scoring n-grams, and by the threshold."""
    profile = load_profile(AlignProfile, SYSTEMS / "uszkoreit2010.toml")
    options = profile.search.options
    seen = set()
    for title, documents, langs, (gold, doubtful) in recorded(worlds, names):
        if title.split()[0] in seen:
            continue
        seen.add(title.split()[0])
        lexicon = lexicon_of(documents, langs)
        for matching, scoring in product(ORDERS, ORDERS):
            orders = {"matching_order": matching, "scoring_order": scoring}
            search = Plugin(profile.search.use, {**options, **orders})
            found, _ = align(documents, langs, replace(profile, search=search), lexicon)
            yield (
                f"{title} matching{matching},scoring{scoring}",
                judged(found, gold, doubtful),
            )
        search = Plugin(profile.search.use, {**options, "min_cosine": 0.0})
        every = replace(profile, search=search, min_score=0.0)
        found, _ = align(documents, langs, every, lexicon)
        for threshold in THRESHOLDS:
            kept = [pair for pair in found if pair.score >= threshold]
            yield f"{title} threshold{threshold}", judged(kept, gold, doubtful)


def systems() -> Iterator[tuple[str, AlignProfile]]:
    """The profiles that ship, by name."""
    for path in sorted(SYSTEMS.glob("*.toml")):
        yield path.stem, load_profile(AlignProfile, path)


def recorded(
    worlds: Path, names: Sequence[str]
) -> Iterator[tuple[str, list[Document], LangPair, tuple[Gold, Gold]]]:
    """The pages of each recorded site in two languages, and their truth."""
    for site, pairs in json.loads((worlds / "pairs.json").read_text()).items():
        files = list((worlds / "warcs").glob(f"{site}.warc*"))
        if not files or (names and site not in names):
            continue
        documents = [
            document
            for page in iter_pages(files)
            if (document := read_page(page).document)
        ]
        for pair in pairs:
            langs = LangPair.parse(pair.replace("-", ","))
            yield (
                f"{site} {pair}",
                documents,
                langs,
                read_truth(worlds / "truth", site, langs),
            )


# ---------------------------------------------------------------- STRAND


@dataclass(frozen=True, slots=True)
class Named:
    """The pairs that URLs and links name."""

    features: NDArray[np.float64]  # (pairs, dp n r p tsim)
    tsim: Mapping[str, NDArray[np.float64]]  # by other definitions; (pairs,) each
    right: NDArray[np.bool_]  # (pairs,)


def strand(worlds: Path, names: Sequence[str]) -> Rows:
    """The manual thresholds and both trees, over the pairs of all sites."""
    named = _named(worlds, names)
    columns = TREE_FEATURES["lexicon"]
    model = Thresholds()
    rows = [dict(zip(columns, row)) for row in named.features.tolist()]
    shapes = [{n: v for n, v in row.items() if n != "tsim.score"} for row in rows]
    for title, tables in (("thresholds", shapes), ("thresholds, tsim", rows)):
        found = np.array([model.probability(row) > 0 for row in tables])
        yield title, _agreement(named.right, found)
    for title, values in named.tsim.items():
        yield f"tsim alone, {title}", _agreement(named.right, values > TSIM)
    for title, width in (("tree", len(columns) - 1), ("tree, tsim", len(columns))):
        found = np.zeros(len(named.right), bool)
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        for number, (known, rest) in enumerate(
            folds.split(named.features, named.right), 1
        ):
            tree = DecisionTreeClassifier(
                max_depth=6, min_samples_leaf=20, random_state=0
            )
            tree.fit(named.features[known, :width], named.right[known])
            found[rest] = tree.predict(named.features[rest, :width])
            figures = _agreement(named.right[rest], found[rest])
            yield f"{title}, fold {number}", figures
        yield title, _agreement(named.right, found)


def _named(worlds: Path, names: Sequence[str]) -> Named:
    """All of them, whatever their score, with the features of both experiments."""
    profile = load_profile(AlignProfile, SYSTEMS / "strand2003.toml")
    all_pass = Plugin("thresholds", {"max_dp": 2.0, "max_p": 2.0})
    open_to_all = replace(profile, model=all_pass, min_score=-1.0)
    features, right = [], []
    tsim: dict[str, list[float]] = {name: [] for name in _DEFINITIONS}
    for _, documents, langs, (gold, doubtful) in recorded(worlds, names):
        # a small site teaches no lexicon: tsim is 0
        lexicon = lexicon_of(documents, langs) or Lexicon.empty(langs)
        more = lexicon + cognates(*_words(documents, langs), lexicon, langs)
        values: dict[str, dict[tuple[str, str], PairScore]] = {}
        for name, (plugin, with_cognates) in _DEFINITIONS.items():
            scorers = replace(open_to_all.scorers, lexicon=(Plugin(plugin),))
            found, _ = align(
                documents,
                langs,
                replace(open_to_all, scorers=scorers),
                more if with_cognates else lexicon,
            )
            values[name] = {(pair.src_url, pair.trg_url): pair for pair in found}
        for ends, pair in values["greedy"].items():
            if is_among(pair, doubtful):
                continue
            columns = TREE_FEATURES["lexicon"]
            features.append([pair.features.get(name, 0.0) for name in columns])
            right.append(ends in gold.pairs)
            for name, of_pairs in values.items():
                tsim[name].append(of_pairs[ends].features.get("tsim.score", 0.0))
    others = {name: np.array(scores) for name, scores in tsim.items()}
    return Named(np.array(features), others, np.array(right))


# name → plug-in, and whether the lexicon has cognates as well
_DEFINITIONS = {
    "greedy": ("tsim", False),
    "greedy, cognates": ("tsim", True),
    "cardinality": ("tsim_cardinality", False),
    "weighted": ("tsim_weighted", False),
}


def _words(documents: Sequence[Document], langs: LangPair) -> Iterator[Counter[str]]:
    """How often each word comes in either language."""
    for lang in langs:
        texts = (" ".join(d.chunks).lower() for d in documents if d.lang == lang)
        yield Counter(word for text in texts for word in words_of(text))


def _agreement(right: NDArray[np.bool_], found: NDArray[np.bool_]) -> Figures:
    return {
        "pairs": len(right),
        "right": int(right.sum()),
        "precision": round(float(precision_score(right, found, zero_division=0)), 3),
        "recall": round(float(recall_score(right, found)), 3),
        "kappa": round(float(cohen_kappa_score(right, found)), 3),
    }


def means(table: dict[str, Figures]) -> dict[str, Figures]:
    """Of each system that has F1 of sites the means over them, languages before."""
    found: dict[str, dict[str, list[Figures]]] = {}
    for row, figures in table.items():
        if "f1" in figures:
            site, _, name = row.split()
            found.setdefault(name, {}).setdefault(site, []).append(figures)
    return {
        name: {
            figure: round(
                mean(mean(f[figure] for f in rows) for rows in of.values()), 3
            )
            for figure in ("precision", "recall", "f1")
        }
        for name, of in found.items()
    }


KINDS: dict[str, Callable[[Path, Sequence[str]], Rows]] = {
    "pools": pools,
    "sites": sites,
    "strand": strand,
    "uszkoreit": uszkoreit,
}


def main(kind: str, folder: Path, names: Sequence[str]) -> None:
    """Measure, and write after every row; figures of what was not named stay."""
    path = RESULTS / f"papers_{kind}.json"
    table: dict[str, Figures] = {}
    if names and path.exists():
        table = json.loads(path.read_text("utf-8"))["rows"]
    for name, figures in KINDS[kind](folder, names):
        table[name] = figures
        print(name, figures, flush=True)
        result = {"machine": machine(), "means": means(table), "rows": table}
        path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
