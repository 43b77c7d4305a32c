"""The dataset card of a corpus: its contents and their origin.

A dataset card is a README.md with metadata in YAML at its top, as Hugging Face's hub
and `datasets` read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.languages import all_languages

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_LARGER = (
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
_LISTED = 30  # sites in the card's table; sites.tsv has all


@dataclass(slots=True)
class SiteFacts:
    """The share of a site in a corpus."""

    pages: int = 0
    page_pairs: int = 0
    sentence_pairs: int = 0
    licences: Counter[str] = field(default_factory=Counter)
    marks: Counter[str] = field(default_factory=Counter)


_TEXT = """# {names} sentence pairs from the web

{pairs:,} sentence pairs from {page_pairs:,} pairs of pages of {sites:,} sites, made by
Bifocal {version} on {date}.

## Contents

| content | count |
|---|---|
{contents}

## What was left out

| reason | count |
|---|---|
{dropped}

## Sites

| site | page pairs | sentence pairs | licences that pages name | marks |
|---|---|---|---|---|
{table}

## Rights

The texts belong to their authors. The licence that a page links to is a hint, not a
finding. Every row names its pages, and `bifocal corpus --remove FILE` makes the corpus
again without sites that ask for it.

{robots}

Honoured marks of pages: {honoured}. Marks that were found: {marks}.

Personal data: {personal}.

## How it was made

Pages were paired, sentences aligned and filtered by Bifocal, without machine
translation (its docs/corpus.md says how). Every setting is in corpus.json. A score is
the estimated probability that two sentences are translations of each other.
"""


def card(about: Mapping[str, Any], sites: Mapping[str, SiteFacts]) -> str:
    """The text of the card; `about` is the contents of corpus.json."""
    src, trg = about["langs"]
    counts = about["counts"]
    pairs = counts.get("corpus/sentence_pairs", 0)
    contents = {
        "sentence pairs, each once": "corpus/sentence_pairs",
        "further copies of them": "corpus/copies",
        f"words {src}": "corpus/words_src",
        f"words {trg}": "corpus/words_trg",
        f"characters {src}": "corpus/characters_src",
        f"characters {trg}": "corpus/characters_trg",
        "sentences without a partner": "sentences/unpaired",
    }
    profile = about["profile"]
    text = _TEXT.format(
        names="-".join(all_languages()[code].name for code in (src, trg)),
        pairs=pairs,
        page_pairs=counts.get("corpus/page_pairs", 0),
        sites=len(sites),
        version=about["bifocal"],
        date=about["date"],
        contents=_rows((what, counts.get(name, 0)) for what, name in contents.items()),
        dropped=_rows((k, n) for k, n in counts.items() if "/dropped/" in k),
        table="\n".join(_site_rows(sites)),
        robots="\n".join(map(_robots, about["runs"])),
        honoured=", ".join(profile["honour"]) or "none",
        marks=_listed(about["marks"]),
        personal=", ".join(f"{k}: {v}" for k, v in profile["privacy"].items()),
    )
    files = {"parquet": f"{src}-{trg}.parquet", "jsonl": f"{src}-{trg}.jsonl.gz"}
    return "\n".join([*_front_matter(about, pairs, files), text])


_SEVERAL = """# Sentences in {names} from the web

Made by Bifocal {version} on {date}: a corpus for each pair of languages, in its
folder, and `multiway.*`, where rows of these that share a sentence are one.

## Sentence pairs

| |{heads}|
|---|{rules}|
{matrix}

## Sentences in several languages

| languages | units |
|---|---|
{units}

Rights, sites and reasons for what was left out: the README.md of each folder.
"""


def card_of_pairs(about: Mapping[str, Any]) -> str:
    """The text of the card of several corpora; `about` is their corpus.json."""
    langs: list[str] = about["langs"]
    counts = {
        frozenset(name.split("-")): corpus.get("corpus/sentence_pairs", 0)
        for name, corpus in about["pairs"].items()
    }
    cells = {pair: f"{count:,}" for pair, count in counts.items()}
    matrix = [
        "|".join(
            ("", src, *(cells.get(frozenset((src, trg)), "") for trg in langs), "")
        )
        for src in langs
    ]
    text = _SEVERAL.format(
        names=", ".join(all_languages()[code].name for code in langs),
        version=about["bifocal"],
        date=about["date"],
        heads="|".join(langs),
        rules="|".join("---" for _ in langs),
        matrix="\n".join(matrix),
        units=_rows(about["units"].items()),
    )
    total = sum(about["units"].values())
    files = {"jsonl": "multiway.jsonl.gz"}
    return "\n".join([*_front_matter(about, total, files), text])


def _rows(counts: Iterable[tuple[str, int]]) -> str:
    return "\n".join(f"| {name} | {count:,} |" for name, count in counts)


def _site_rows(sites: Mapping[str, SiteFacts]) -> Iterator[str]:
    best = sorted(sites.items(), key=lambda item: (-item[1].sentence_pairs, item[0]))
    for site, facts in best[:_LISTED]:
        yield (
            f"| {site} | {facts.page_pairs} | {facts.sentence_pairs} |"
            f" {', '.join(facts.licences)} | {', '.join(facts.marks)} |"
        )
    if len(sites) > _LISTED:
        yield f"| {len(sites) - _LISTED} more: sites.tsv | | | | |"


def _front_matter(
    about: Mapping[str, Any], pairs: int, files: Mapping[str, str]
) -> list[str]:
    """Metadata in YAML; `files`: for each format, the one that is loaded."""
    langs: list[str] = about["langs"]
    loaded = [file for kind, file in files.items() if kind in about["formats"]][:1]
    size = next((name for limit, name in _SIZES + _LARGER if pairs < limit), "n>100M")
    return [
        "---",
        "language:",
        *(f"- {lang}" for lang in langs),
        "multilinguality:",
        "- translation",
        "task_categories:",
        "- translation",
        "size_categories:",
        f"- {size}",
        "license: other",
        "license_name: see-sites",
        f"pretty_name: {'-'.join(langs)} sentence pairs from the web",
        *(
            line
            for file in loaded
            for line in (
                "configs:",
                "- config_name: default",
                "  data_files:",
                "  - split: train",
                f"    path: {file}",
            )
        ),
        "---",
        "",
    ]


def _robots(run: Mapping[str, Any]) -> str:
    said = {True: "was obeyed", False: "was ignored"}
    robots = run["robots"]
    name = run["path"].rpartition("/")[2]  # the folder is private
    return f"- {name}: robots.txt {said.get(robots, 'may have been obeyed or not')}."


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in counts.items()) or "none"
