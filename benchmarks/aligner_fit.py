"""Fit the models of the aligner on recorded sites.

    python -m benchmarks.aligner_fit FOLDER

FOLDER holds `built/SITE.warc.gz` and `truth/SITE.{truth,pages}.tsv[.gz]`: sites built
from documentation packages, none of which judges the aligner. A candidate is right if
the truth has it (or a twin of it), left out if the two pages are versions of one page
that the truth does not count (half translated, hardly any text), else wrong.

Of every site there are samples of 20 and 60 families of pages, on which a lexicon is
small, one of some 1,000 pages, and the same with half of its families without a version
in the other language. Writes logistic_*.json and tree_*.json beside
crawler/aligner/scorers/combine.py; each says which sites it was fitted on. Every number
that the aligner has learned is in these files. The same sites give the same files.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from crawler.aligner.aligner import Aligner
from crawler.aligner.collection import Collection
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers import combine
from crawler.data import Document, LangPair
from crawler.extract.document import read_page
from crawler.reports.quality import read_gold
from crawler.warc.reader import iter_pages

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
FEATURES = {
    "words": (
        "strand.dp strand.r lengths.difference numbers.cosine nearest.cosine"
        " margin.src margin.trg overlap.outlinks overlap.images"
    ).split(),
    "lexicon": (
        "strand.dp strand.r lengths.difference numbers.cosine nearest.cosine"
        " margin.src margin.trg overlap.outlinks overlap.images tsim.score"
    ).split(),
}
# What a URL or a link says is not learned: on these sites it is nearly always right. It
# outweighs the half of the pages that ALONE leaves without a version.
EVIDENCE = {
    "handles.same": 3.5,
    "links.declared": 3.5,
    # These are nats already, from the site itself. Half of them counts: the differences
    # that they are made of have weights besides, and so have the words of blocks. (So
    # most candidates of these sites are judged rightly, more than with all or none.)
    "isotonic.markup": 0.5,
    "isotonic.chunks": 0.5,
    "isotonic.length": 0.5,
    "isotonic.numbers": 0.5,
    "isotonic.blocks": 0.5,
    # Nats as well, as they are. (More of them finds more halves of pages, and accepts
    # more pages without a partner.)
    "likelihood.src": 1.0,
    "likelihood.trg": 1.0,
}
ALONE = 0.5  # of the families of a sample: on most sites many pages are not translated
SAMPLES = (20, 60)  # families of pages
LARGEST = 1000  # pages of the largest sample: no site weighs ten times another


def rows_of(
    documents: Sequence[Document],
    langs: LangPair,
    gold: frozenset[tuple[str, str]],
    groups: dict[str, str],
    name: str,
) -> Iterator[tuple[list[float], bool]]:
    """The features of every candidate that the truth judges."""
    profile = AlignProfile(min_score=0.0)
    if name == "words":
        profile = replace(profile, bootstrap=replace(profile.bootstrap, shares=()))
    with Aligner(langs, profile) as aligner:
        for document in documents:
            aligner.add(document)
        for site in aligner.store.sites():
            yield from _rows_of_site(
                aligner, site, profile=profile, gold=gold, groups=groups, name=name
            )


def _rows_of_site(aligner, site, *, profile, gold, groups, name):
    found = aligner.align(site)
    if (found.lexicon is None) != (name == "words"):
        return  # too small a sample to teach a lexicon
    url = Collection.of(aligner.store, site, profile.boilerplate).url
    for (src, trg), score in found.scores.items():
        ends = [[url(p) for p in found.clusters.members(page)] for page in (src, trg)]
        right = not gold.isdisjoint(product(*ends))
        family = {groups.get(url) for url in (score.src_url, score.trg_url)}
        if not right and len(family) == 1 and family != {None}:
            continue
        yield [score.features.get(key, 0.0) for key in FEATURES[name]], right


def sites(
    folder: Path,
) -> Iterator[tuple[str, LangPair, list[Document], dict, frozenset]]:
    for site, pairs in SITES.items():
        documents = [
            reading.document
            for page in iter_pages([folder / "built" / f"{site}.warc.gz"])
            if (reading := read_page(page)).document
        ]
        pages = next((folder / "truth").glob(f"{site}.pages.tsv*"))
        opener = gzip.open if pages.suffix == ".gz" else open
        with opener(pages, "rt", encoding="utf-8") as file:
            table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            groups = {row["url"]: row["group"] for row in table if row["group"]}
        truth = next((folder / "truth").glob(f"{site}.truth.tsv*"))
        for pair in pairs:
            langs = LangPair.parse(pair.replace("-", ","))
            mine = [d for d in documents if d.lang in langs]
            yield site, langs, mine, groups, read_gold(truth, langs).pairs


def samples(
    documents: Sequence[Document], groups: dict[str, str]
) -> Iterator[list[Document]]:
    """Small sites made of some pages of one, most of it, and many pages alone."""
    families = sorted({groups[d.url] for d in documents if d.url in groups})
    of_family = sum(d.url in groups for d in documents) / len(families)
    sample: list[Document] = []
    for seed, size in enumerate((*SAMPLES, round(LARGEST / of_family))):
        chosen = set(random.Random(seed).sample(families, min(size, len(families))))
        sample = [d for d in documents if groups.get(d.url) in chosen]
        yield sample
    yield list(without_partners(sample, groups))


def without_partners(
    documents: Sequence[Document], groups: dict[str, str]
) -> Iterator[Document]:
    """Of half of the families one language goes: the rest have no version to find."""
    chance = random.Random(0)
    langs = sorted({document.lang or "" for document in documents})
    lost = {
        family: chance.choice(langs)
        for family in sorted({groups[document.url] for document in documents})
        if chance.random() < ALONE
    }
    return (d for d in documents if lost.get(groups[d.url]) != d.lang)


def fit(
    name: str, rows: Sequence[tuple[list[float], bool]], fitted_on: Sequence[str]
) -> None:
    """Write both models of a feature set."""
    x, y = (np.array(column) for column in zip(*rows))
    line = LogisticRegression(max_iter=2000).fit(x, y)
    tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=20, random_state=0).fit(
        x, y
    )
    for model in (line, tree):
        accuracy = model.score(x, y)
        print(f"{model} {name}: {len(y)} candidates, accuracy {accuracy:.4f}")
    write(
        f"logistic_{name}",
        {
            "bias": round(float(line.intercept_[0]), 3),
            "weights": dict(zip(FEATURES[name], line.coef_[0].round(3).tolist())),
            "evidence": EVIDENCE,
            "fitted_on": list(fitted_on),
        },
    )
    nodes = tree.tree_
    write(
        f"tree_{name}",
        {
            "features": [FEATURES[name][n] if n >= 0 else "" for n in nodes.feature],
            "thresholds": nodes.threshold.round(4).tolist(),
            "left": nodes.children_left.tolist(),
            "right": nodes.children_right.tolist(),
            "values": (nodes.value[:, 0, 1] / nodes.value[:, 0].sum(axis=1))
            .round(4)
            .tolist(),
            "fitted_on": list(fitted_on),
        },
    )


def write(name: str, table: dict[str, object]) -> None:
    path = Path(combine.__file__).with_name(f"{name}.json")
    path.write_text(json.dumps(table, indent=1) + "\n", "utf-8")


def main(folder: Path) -> None:
    rows: dict[str, list[tuple[list[float], bool]]] = {name: [] for name in FEATURES}
    fitted_on = []
    for site, langs, documents, groups, gold in sites(folder):
        fitted_on.append(f"{site} {langs.src}-{langs.trg}")
        for sample in samples(documents, groups):
            for name, collected in rows.items():
                collected.extend(rows_of(sample, langs, gold, groups, name))
        print(fitted_on[-1], {name: len(r) for name, r in rows.items()}, flush=True)
    for name, collected in rows.items():
        fit(name, collected, fitted_on)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
