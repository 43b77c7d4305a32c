"""A small made-up table, to see the whole way from data to a crawl; no input.

Data card. Forty invented sites in six languages, 78 words each (`sample.tsv`, written
for this project; CC0), under `.example`, which RFC 2606 reserves. Half of the sites
translate their slugs, the others only change the marker; a quarter has no marker in
English. It is for tests and first steps: a model of it knows nothing about the web.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from itertools import combinations

from crawler.data import Lang, LangPair
from training.data.tables import Tables, TermPair, UrlRow, clean_pair

SITES = 40
PAGES = 12  # of a site and language
_SEED = 7
_FORMS = (  # with a marker, and without
    ("https://www.{site}/{lang}/{path}", "https://www.{site}/{path}"),
    ("https://www.{site}/{path}-{lang}.html", "https://www.{site}/{path}.html"),
    ("https://{lang}.{site}/{path}/", "https://{site}/{path}/"),
    ("https://www.{site}/{path}?lang={lang}", "https://www.{site}/{path}"),
)

Words = list[dict[Lang, str]]


def words() -> Words:
    """The words, each in all languages."""
    text = resources.files("training.data").joinpath("sample.tsv").read_text("utf-8")
    langs, *rows = (line.split("\t") for line in text.splitlines())
    return [dict(zip(langs, row)) for row in rows]


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The whole sample; the three arguments are not used."""
    known = words()
    groups = [group for site in range(SITES) for group in _site(site, known)]
    terms = (
        TermPair("en", word["en"], lang, text, "sample")
        for word in known
        for lang, text in word.items()
        if text != word["en"]
    )
    pairs = (
        clean_pair(group[a], a, group[b], b, source="sample")
        for group in groups
        for a, b in combinations(sorted(group), 2)
        if group[a] != group[b]
    )
    urls = (UrlRow(url, lang, "sample") for g in groups for lang, url in g.items())
    return Tables(urls, pairs, terms=terms)


def _site(number: int, known: Words) -> Iterator[dict[Lang, str]]:
    """The pages of a site, each as its URLs by language."""
    rng = random.Random(f"{_SEED}/{number}")
    site = f"{rng.choice(known)['en']}-{number}.example"
    langs = ["en", *rng.sample(sorted(set(known[0]) - {"en"}), rng.randint(1, 3))]
    marked, bare = rng.choice(_FORMS)
    translated, without = number % 2 == 0, number % 4 == 0
    folders = rng.sample(known, 3)
    for _ in range(PAGES):
        folder, slug = rng.choice(folders), rng.sample(known, rng.randint(1, 3))
        page = {}
        for lang in langs:
            own = lang if translated else "en"
            path = f"{folder[own]}/{'-'.join(word[own] for word in slug)}"
            form = bare if without and lang == "en" else marked
            page[lang] = form.format(site=site, lang=lang, path=path)
        yield page
