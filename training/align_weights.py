"""Makes the aligner's weights that ship: `python -m training.align_weights`.

    worlds=FOLDER  sites built from packages: built/SITE.warc.gz,
                   truth/SITE.{truth,pages}.tsv[.gz]
    out=FOLDER     for logistic_*.json and tree_*.json
    sites=A,B      only some of the sites, to test that all of it runs
    orders=1,2     print besides what content n-grams of these orders would add

A candidate is right if the truth has it (or a twin of it), left out if the two pages
are versions of one page that the truth does not count (half translated, hardly any
text), else wrong. Of every site there are samples of 20 and 60 families of pages, on
which a lexicon is small, one of some 1,000 pages, and the same with half of its
families without a version in the other language.

Which candidates there are depends on the weights in use, so there are two rounds: the
first begins with the manual thresholds of Resnik & Smith (2003), the second with what
the first has fitted. The same sites give the same files. No site judges the aligner.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from crawler.aligner.aligner import Aligner
from crawler.aligner.collection import Collection
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.combine import Content, Features
from crawler.config import Plugin, load_profile
from crawler.data import Document, LangPair
from crawler.errors import UsageError
from crawler.extract.document import read_page
from crawler.reports.quality import Gold, read_gold
from crawler.warc.reader import iter_pages
from training.command import run_script

SITES = {
    "aptitude.alioth.debian.org": ("en-cs", "es-fr"),
    "debian-handbook.info": ("en-es", "en-nb"),
    "docs.gimp.org": ("es-ca", "en-fi"),
    "help.libreoffice.org": ("en-eu",),
    "live-team.pages.debian.net": ("en-ca", "en-fr"),
    "packaging.ubuntu.com": ("en-fr", "en-ru"),
    "slug.handbook.test": ("en-fr", "en-es"),
    "www.debian.org": ("en-fr", "en-ja"),
}
_COMMON = (
    "strand.dp strand.r lengths.difference numbers.cosine nearest.cosine"
    " margin.src margin.trg overlap.outlinks"
).split()
# Of each model, by what content is compared. (Names of images, `overlap.images`, have
# no weight: fitted with it, the aligner loses pairs of the recorded sites.)
FEATURES: Mapping[Content, Sequence[str]] = {
    "words": _COMMON,
    "lexicon": [*_COMMON, "tsim.score"],
}
# Of the trees, those of Resnik & Smith (2003), sections 2.2.2 and 3.2.2.
_STRAND = ["strand.dp", "strand.n", "strand.r", "strand.p"]
TREE_FEATURES: Mapping[Content, Sequence[str]] = {
    "words": _STRAND,
    "lexicon": [*_STRAND, "tsim.score"],
}
# What a URL or a link says is not learned: on these sites it is nearly always right. It
# outweighs the half of the pages that ALONE leaves without a version.
NAMED = {"handles.same": 3.5, "links.declared": 3.5}
# These are nats already, from the site itself. Of differences half counts: what they
# are made of has weights besides, and so have the words of blocks. Of likelihoods all
# does: more finds more halves of pages, and accepts more pages without a partner.
EVIDENCE = {
    **dict.fromkeys(
        (f"isotonic.{name}" for name in "markup chunks length numbers blocks".split()),
        0.5,
    ),
    **dict.fromkeys(("likelihood.src", "likelihood.trg"), 1.0),
    "links.elsewhere": -1.0,
    # Of pages without a partner by words, alike by so much more than their rivals: at
    # most 6 nats, since a margin is at most 0.2.
    "shapes.margin": 30.0,
}
ALONE = 0.5  # of the families of a sample: on most sites many pages are not translated
SAMPLES = (20, 60)  # families of pages
LARGEST = 1000  # pages of the largest sample: no site weighs ten times another
ROUNDS = 2


@dataclass(frozen=True, slots=True)
class AlignWeightsProfile:
    """The folders of a run."""

    worlds: str = ""
    out: str = ""
    sites: tuple[str, ...] = tuple(SITES)
    orders: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """Some pages of a site in two languages."""

    name: str
    langs: LangPair
    documents: Sequence[Document]
    families: Mapping[str, str]  # URL → the page of which it is a version
    gold: Gold


@dataclass(frozen=True, slots=True)
class Rows:
    """The candidates that the truth judges."""

    features: NDArray[np.float64]  # (candidates, FEATURES)
    strand: NDArray[np.float64]  # (candidates, TREE_FEATURES)
    evidence: NDArray[np.float64]  # of each the nats that are not fitted
    right: NDArray[np.bool_]


def main(words: Sequence[str]) -> None:
    """Both rounds; the files of the last one stay."""
    profile = load_profile(AlignWeightsProfile, None, words)
    if not (profile.worlds and profile.out):
        raise UsageError("give worlds=FOLDER and out=FOLDER")
    samples = [s for name in profile.sites for s in read_samples(profile.worlds, name)]
    model, out = Plugin("thresholds"), Path(profile.out)
    for folder in (*(out / f"round_{n}" for n in range(1, ROUNDS)), out):
        folder.mkdir(parents=True, exist_ok=True)
        for content in FEATURES:
            fit(content, rows_of(samples, content, model), folder, samples)
        model = Plugin("logistic", {"folder": str(folder)})
    if profile.orders:
        compare_ngrams(samples, model, profile.orders)


def compare_ngrams(
    samples: Sequence[Sample], model: Plugin, orders: tuple[int, ...]
) -> None:
    """Print the held-out log loss of the fit with and without bridged n-grams."""
    scorers = AlignProfile().scorers
    more = Plugin("bridged_ngrams", {"orders": list(orders)})
    profile = AlignProfile(
        min_score=0.0,
        model=model,
        scorers=replace(scorers, lexicon=(*scorers.lexicon, more)),
    )
    names = [*FEATURES["lexicon"], *(f"bridged.{order}" for order in orders)]
    rows = [row for sample in samples for row in _rows(sample, "lexicon", profile)]
    table = np.array([[f.get(name, 0.0) for name in names] for f, _ in rows])
    right = [right for _, right in rows]
    for columns in (len(FEATURES["lexicon"]), len(names)):
        line = LogisticRegression(max_iter=3000)
        loss = -cross_val_score(
            line, table[:, :columns], right, cv=KFold(8), scoring="neg_log_loss"
        ).mean()
        print(f"{names[columns - 1]} and before: log loss {loss:.5f}", flush=True)


# ---------------------------------------------------------------- samples


def read_samples(worlds: str, site: str) -> Iterator[Sample]:
    """The samples of a site, in each of its language pairs."""
    pages = find(worlds, site, "pages")
    opener = gzip.open if pages.suffix == ".gz" else open
    with opener(pages, "rt", encoding="utf-8") as file:
        table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        families = {row["url"]: row["group"] for row in table if row["group"]}
    wanted = [LangPair.parse(pair.replace("-", ",")) for pair in SITES[site]]
    documents = [
        document
        for page in iter_pages([Path(worlds, "built", f"{site}.warc.gz")])
        if (document := read_page(page).document) and document.url in families
        if any(document.lang in langs for langs in wanted)
    ]
    for langs in wanted:
        gold = read_gold(find(worlds, site, "truth"), langs)
        mine = [d for d in documents if d.lang in langs]
        for sample in some_of(mine, families):
            yield Sample(
                f"{site} {langs.src}-{langs.trg}", langs, sample, families, gold
            )
        print(f"{site} {langs.src}-{langs.trg}: {len(mine)} pages", flush=True)


def find(worlds: str, site: str, kind: str) -> Path:
    """A table of the truth; UsageError if it is not there."""
    found = sorted(Path(worlds, "truth").glob(f"{site}.{kind}.tsv*"))
    if not found:
        raise UsageError(f"{worlds}: there is no truth/{site}.{kind}.tsv")
    return found[0]


def some_of(
    documents: Sequence[Document], families: Mapping[str, str]
) -> Iterator[list[Document]]:
    """Small sites made of some pages of one, most of it, and many pages alone."""
    members = defaultdict(list)
    for document in documents:
        members[families[document.url]].append(document)
    largest = round(LARGEST * len(members) / max(len(documents), 1))
    for seed, size in enumerate((*SAMPLES, largest)):
        chance = random.Random(seed)
        chosen = set(chance.sample(sorted(members), min(size, len(members))))
        sample = [d for d in documents if families[d.url] in chosen]
        yield sample
    yield without_partners(sample, families)


def without_partners(
    documents: Sequence[Document], families: Mapping[str, str]
) -> list[Document]:
    """Of half of the families one language goes: the rest have no version to find."""
    chance = random.Random(0)
    langs = sorted({document.lang or "" for document in documents})
    lost = {
        family: chance.choice(langs)
        for family in sorted({families[document.url] for document in documents})
        if chance.random() < ALONE
    }
    return [d for d in documents if lost.get(families[d.url]) != d.lang]


# ---------------------------------------------------------------- candidates


def rows_of(samples: Sequence[Sample], content: Content, model: Plugin) -> Rows:
    """The candidates of all samples, compared through a lexicon or by shared words."""
    profile = AlignProfile(min_score=0.0, model=model)
    if content == "words":
        profile = replace(profile, bootstrap=replace(profile.bootstrap, shares=()))
    rows = [row for sample in samples for row in _rows(sample, content, profile)]

    def table(names: Sequence[str]) -> NDArray[np.float64]:
        return np.array([[f.get(name, 0.0) for name in names] for f, _ in rows])

    return Rows(
        table(FEATURES[content]),
        table(TREE_FEATURES[content]),
        table([*EVIDENCE]) @ np.array([*EVIDENCE.values()]),
        np.array([right for _, right in rows]),
    )


def _rows(
    sample: Sample, content: Content, profile: AlignProfile
) -> Iterator[tuple[Features, bool]]:
    """The features of every candidate that the truth judges, and if it is right."""
    with Aligner(sample.langs, profile) as aligner:
        for document in sample.documents:
            aligner.put(document)
        for site in aligner.store.sites():
            found = aligner.align(site)
            if (found.lexicon is None) != (content == "words"):
                continue  # too small a sample to teach a lexicon
            url = Collection.of(aligner.store, site, profile.boilerplate).url
            for pair, score in found.scores.items():
                ends = [map(url, found.clusters.members(page)) for page in pair]
                right = not sample.gold.pairs.isdisjoint(product(*ends))
                one, other = map(sample.families.get, (score.src_url, score.trg_url))
                if right or one != other:
                    yield score.features, right


# ---------------------------------------------------------------- models


def fit(content: Content, rows: Rows, out: Path, samples: Sequence[Sample]) -> None:
    """Write both models of a feature set."""
    names = FEATURES[content]
    line = LogisticRegression(max_iter=2000).fit(rows.features, rows.right)
    tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=20, random_state=0)
    tree.fit(rows.strand, rows.right)
    weights = line.coef_[0].round(3)
    # With the evidence as many candidates are accepted as without.
    accepted = np.count_nonzero(line.decision_function(rows.features) > 0)
    logits = np.sort(rows.features @ weights + rows.evidence)
    bias = -float(logits[len(logits) - accepted])
    for model, inputs in ((line, rows.features), (tree, rows.strand)):
        accuracy = model.score(inputs, rows.right)
        print(f"{model} {content}: {len(rows.right)} candidates, {accuracy:.4f} right")
    with_evidence = (rows.features @ weights + rows.evidence + bias > 0) == rows.right
    print(f"with evidence: {with_evidence.mean():.4f} right", flush=True)
    fitted_on = list(dict.fromkeys(sample.name for sample in samples))
    nodes = tree.tree_
    shares = nodes.value[:, 0, 1] / nodes.value[:, 0].sum(axis=1)
    tables: dict[str, dict[str, object]] = {
        "logistic": {
            "bias": round(bias, 3),
            "weights": dict(zip(names, weights.tolist())),
            "evidence": {**NAMED, **EVIDENCE},
        },
        "tree": {
            "features": [
                TREE_FEATURES[content][n] if n >= 0 else "" for n in nodes.feature
            ],
            "thresholds": nodes.threshold.round(4).tolist(),
            "left": nodes.children_left.tolist(),
            "right": nodes.children_right.tolist(),
            "values": shares.round(4).tolist(),
        },
    }
    for kind, table in tables.items():
        text = json.dumps({**table, "fitted_on": fitted_on}, indent=1)
        (out / f"{kind}_{content}.json").write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    run_script(main)
