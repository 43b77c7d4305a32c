"""The rows that URL models are measured on, fixed before the first one was trained.

Language: at most 100 rows per host and language, three kinds of URL, macro figures over
the languages with at least 20 rows.

Pairs: at most 100 pairs per host; for each the paper's 13 negatives from the same site,
half of them near in tokens, none of which may be true (`negatives.site_negatives`).

WMT16: the gold pairs of the document alignment task, with every gold URL of a host as
candidate. The full task has more distractors, so its figures are lower.

All is drawn with one seed; `digest` names the exact set.
"""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import xxhash

from crawler.data import Lang, Site
from crawler.errors import UsageError
from crawler.handles import handle_of
from crawler.urls import host_labels, host_of, registered_domain, split
from training.data.splits import read_splits, split_of
from training.data.tables import (
    COLUMNS,
    PairRow,
    UrlRow,
    clean_url,
    find_table,
    read_negatives,
    read_pairs,
    read_urls,
)
from training.negatives import Closure, site_negatives

SEED = 71213
MAX_PER_HOST = 100
MIN_ROWS = 20  # of a language, to count in the macro figures

T = TypeVar("T")

CODE, CCTLD, UNMARKED = "code", "cctld", "unmarked"


def kind_of(url: str) -> str:
    """The way in which a URL shows its language: a code or name, a country, or none.

    >>> kind_of("https://example.org/is/x"), kind_of("https://example.is/x")
    ('code', 'cctld')
    >>> kind_of("https://example.org/frettir")
    'unmarked'
    """
    if handle_of(url).markers:
        return CODE
    suffix = host_labels(split(url).host)[2].rpartition(".")[2]
    # .io, .me and .co are of countries, but sites all over the world use them.
    return CCTLD if len(suffix) == 2 and suffix not in _VANITY else UNMARKED


_VANITY = frozenset("io me co tv ai cc fm ly gg to ws".split())


@dataclass(frozen=True, slots=True)
class Collection:
    """The URL data of a folder, each row with the split of its site."""

    urls: Mapping[str, list[UrlRow]]  # by split
    pairs: Mapping[str, list[PairRow]]
    pools: Mapping[Site, list[str]]  # all known URLs of the sites that have pairs
    linked: Mapping[str, list[str]]  # genuine negatives of a URL, if the data have them
    closure: Closure
    counts: Counter[str]  # rows read, and bad ones by reason

    @classmethod
    def read(cls, folder: Path, only: str | None = None) -> Collection:
        """Read the tables of a folder of data; UsageError without URLs and pairs.

        `only` reads the URLs and pairs of one split, to need less memory.
        """
        counts: Counter[str] = Counter()
        found = {name: find_table(folder, name) for name in COLUMNS}
        missing = [name for name in ("url_lang", "url_pairs") if not found[name]]
        if len(missing) == 2:
            raise UsageError(
                f"{folder}: neither a table url_lang nor url_pairs is there (make them"
                " with `bifocal data build`)"
            )
        fixed = read_splits(folder)
        if only:
            found = {name: _of_split(path, only) for name, path in found.items()}
        urls: dict[str, list[UrlRow]] = defaultdict(list)
        pairs: dict[str, list[PairRow]] = defaultdict(list)
        pools: dict[Site, set[str]] = defaultdict(set)
        if path := found["url_lang"]:
            for row in read_urls(path, counts):
                split = split_of(row.site, fixed)
                if row.lang and only in (None, split):
                    urls[split].append(row)
        if path := found["url_pairs"]:
            for pair in read_pairs(path, counts):
                split = split_of(pair.site, fixed)
                if only not in (None, split):
                    continue
                pairs[split].append(pair)
                for url in (pair.url_a, pair.url_b):
                    pools[registered_domain(host_of(url))].add(url)
        if path := found["host_urls"]:
            others = read_urls(path, counts, "host_urls")
        else:
            others = (row for rows in urls.values() for row in rows)
        for row in others:
            if row.site in pools:
                pools[row.site].add(row.url)
        linked: dict[str, list[str]] = defaultdict(list)
        if path := found["negatives"]:
            for a, b in read_negatives(path, counts):
                linked[a].append(b)
        return cls(
            urls,
            pairs,
            {site: sorted(pool) for site, pool in sorted(pools.items())},
            linked,
            Closure.of((p.url_a, p.url_b) for rows in pairs.values() for p in rows),
            counts,
        )


def _of_split(path: Path | None, split: str) -> Path | None:
    """The file of a split, where a table has one for each."""
    part = path / f"{split}.parquet" if path else None
    return part if part and part.exists() else path


def capped(
    rows: Iterable[T], key: Callable[[T], object], limit: int, seed: int = SEED
) -> list[T]:
    """At most `limit` rows of each key, drawn at random, in their first order."""
    by_key: dict[object, list[tuple[int, T]]] = defaultdict(list)
    for i, row in enumerate(rows):
        by_key[key(row)].append((i, row))
    rng = random.Random(seed)
    kept: list[tuple[int, T]] = []
    for group in by_key.values():
        kept += group if len(group) <= limit else rng.sample(group, limit)
    return [row for _, row in sorted(kept, key=lambda item: item[0])]


def language_rows(collection: Collection, name: str) -> list[UrlRow]:
    """The rows of a split that language models are judged on."""
    rows = {row.url: row for row in collection.urls[name]}  # a URL counts once
    return capped(
        sorted(rows.values(), key=lambda row: row.url),
        lambda row: (row.host, row.lang),
        MAX_PER_HOST,
    )


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """One pair to be classified. A negative has the kind of the pair that it is of."""

    url_a: str
    url_b: str
    parallel: bool
    translated: bool  # not equal once language codes and names go
    host: str


def pair_rows(
    collection: Collection, name: str, max_per_host: int = MAX_PER_HOST
) -> list[JudgedPair]:
    """The pairs of a split that pair models are judged on, with their negatives."""
    rng = random.Random(SEED)
    positives = capped(
        sorted(collection.pairs[name], key=lambda row: (row.url_a, row.url_b)),
        lambda row: row.host,
        max_per_host,
    )
    judged: list[JudgedPair] = []
    for row in positives:
        translated = not row.code_only
        pair = (row.url_a, row.url_b)
        judged.append(JudgedPair(*pair, True, translated, row.host))
        pool = collection.pools[row.site]
        for a, b in site_negatives(pair, pool, collection.closure, rng=rng):
            judged.append(JudgedPair(a, b, False, translated, row.host))
    return judged


def wmt16_rows(folder: Path) -> list[tuple[str, str]]:
    """The gold pairs (English, French) of the WMT16 test set; never to be tuned on."""
    path = folder / "wmt16_test_pairs.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(clean_url(row["url_en"]), clean_url(row["url_fr"])) for row in rows]


def wmt16_candidates(gold: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Every English with every French gold URL of a host."""
    by_host: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for english, french in gold:
        by_host[host_of(english)][0].add(english)
        by_host[host_of(french)][1].add(french)
    return [
        (a, b)
        for _, (sources, targets) in sorted(by_host.items())
        for a in sorted(sources)
        for b in sorted(targets)
    ]


def digest(rows: Iterable[object]) -> str:
    """A name for exactly these rows, in this order."""
    hashed = xxhash.xxh64()
    for row in rows:
        hashed.update(repr(row).encode("utf-8", "backslashreplace"))
    return hashed.hexdigest()


def label_of(row: UrlRow) -> Lang:
    """The language of a row that has one."""
    assert row.lang is not None
    return row.lang
