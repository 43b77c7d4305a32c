"""Training rows of the pair models: pairs with negatives, and texts that translate.

Pairs: of the train split, at most `max_per_host` of each kind (equal but for a code, or
translated) from a host and `max_per_site` from a site, each with the paper's 13
negatives: from the site's other URLs (`negatives.site_negatives`), from the links of
its pages (`negatives.linked_negatives`, as the builders `hreflang` and `lett` write
them), or the paper's synthetic ones.

Texts, for the word vectors: the slugs of translated pairs, folder by folder; titles and
headings of page pairs, dictionaries, and messages of programs (`terms`). The weight of
an entry of the last two is the root of its rarest word's count in URLs and titles, so
that words of the web come first.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from crawler.data import Site
from crawler.errors import UsageError
from crawler.urls import site_of
from models.url_pair import UrlView
from training.data.splits import JUDGED_SITES, TRAIN, left_out
from training.data.tables import PairRow, UrlPair, read_terms
from training.negatives import PAPER_CHOICE, site_negatives, synthetic_negatives
from training.protocol import Collection, capped

_NEGATIVES = 13  # of a pair (the paper's Table 2)
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class PairDataConfig:
    """Numbers of pairs, and the kind of negatives."""

    max_per_host: int = 100  # of each kind; 0: no limit
    max_per_site: int = 1_200  # Wikipedia has hosts in 300 languages; 0: no limit
    negatives: str = "site"  # or linked, where DATA has `negatives`; or synthetic
    methods: tuple[int, ...] = PAPER_CHOICE  # of the synthetic ones
    k: int = 3  # synthetic negatives of a pair and method
    pool: int = 600  # other URLs of a site that negatives are taken from
    without: tuple[Site, ...] = JUDGED_SITES  # sites to leave out
    share: float = 1.0  # of the sites, for learning curves


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One pair to learn from."""

    url_a: str
    url_b: str
    parallel: bool
    translated: bool  # of a negative: whether the pair that it was made from is

    @property
    def site(self) -> Site:
        """Registered domain."""
        return site_of(self.url_a)


def sites_left_out(
    collection: Collection, config: PairDataConfig, seed: int
) -> set[Site]:
    """The train sites that neither pairs nor texts may come from."""
    sites = (row.site for row in collection.pairs[TRAIN])
    return left_out(sites, config.without, config.share, seed=seed)


def labelled_pairs(
    collection: Collection, config: PairDataConfig, seed: int
) -> list[LabelledPair]:
    """The train split's pairs, each followed by its negatives."""
    rng = random.Random(seed)
    positives = _positives(collection, config, seed)
    pools = {
        site: pool if len(pool) <= config.pool else rng.sample(pool, config.pool)
        for site, pool in collection.pools.items()
    }
    found: list[LabelledPair] = []
    if config.negatives not in ("site", "linked", "synthetic"):
        raise UsageError(
            f"unknown negatives {config.negatives!r} (site, linked or synthetic)"
        )
    if config.negatives == "linked" and not collection.linked:
        raise UsageError(
            "the data have no table `negatives` (hreflang and lett make it)"
        )
    if config.negatives == "synthetic":
        by_site: dict[Site, list[UrlPair]] = defaultdict(list)
        for row in positives:
            found.append(LabelledPair(row.url_a, row.url_b, True, not row.code_only))
            by_site[row.site].append((row.url_a, row.url_b))
        for pairs in by_site.values():
            wrong = synthetic_negatives(
                pairs,
                collection.closure,
                methods=config.methods,
                k=config.k,
                seed=seed,
            )
            found += (LabelledPair(a, b, False, True) for a, b in wrong)
        return found
    for row in positives:
        pair, translated = (row.url_a, row.url_b), not row.code_only
        found.append(LabelledPair(*pair, True, translated))
        wrong = (
            _linked(pair, collection, rng)
            if config.negatives == "linked"
            else site_negatives(pair, pools[row.site], collection.closure, rng=rng)
        )
        found += (LabelledPair(a, b, False, translated) for a, b in wrong)
    return found


def _linked(pair: UrlPair, collection: Collection, rng: random.Random) -> list[UrlPair]:
    """At most the paper's 13 negatives, of the links of both pages."""
    linked = [(url, other) for url in pair for other in collection.linked.get(url, ())]
    linked = [(a, b) for a, b in linked if not collection.closure.related(a, b)]
    return rng.sample(linked, min(_NEGATIVES, len(linked)))


def _positives(
    collection: Collection, config: PairDataConfig, seed: int
) -> list[PairRow]:
    dropped = sites_left_out(collection, config, seed)
    rows = [row for row in collection.pairs[TRAIN] if row.site not in dropped]
    if limit := config.max_per_host:
        rows = capped(rows, lambda row: (row.host, row.code_only), limit, seed)
    if limit := config.max_per_site:
        rows = capped(rows, lambda row: row.site, limit, seed)
    return rows


TextPair = tuple[str, str]

# Shares of an epoch. Slugs are few and matter most, so they come again and again.
_SHARES = {
    "encyclopaedia": 0.2,
    "slugs": 0.2,
    "titles": 0.15,
    "messages": 0.2,
    "dictionaries": 0.25,
}


class Texts:
    """Short texts that translate each other, by their source."""

    def __init__(
        self,
        seed: int,
        sources: Mapping[str, list[TextPair]],
        weights: Mapping[str, npt.NDArray[np.float64]],
        sites: Mapping[str, list[Site]],
    ) -> None:
        self.seed = seed
        self.sources = sources
        self._weights = weights
        self._sites = sites

    @classmethod
    def read(
        cls,
        collection: Collection,
        terms: Sequence[Path],
        without: AbstractSet[Site] = frozenset(),
        *,
        max_per_host: int = 400,
        seed: int = 71213,
    ) -> Self:
        """Collect slugs, and what the tables of terms have."""
        rows = [
            row
            for row in collection.pairs[TRAIN]
            if not row.code_only and row.site not in without
        ]
        slugs = sorted(
            {(row.host, row.site, *pair) for row in rows for pair in _slugs(row)}
        )
        kept = capped(slugs, lambda slug: slug[0], max_per_host, seed)
        words: Counter[str] = Counter()
        for _, _, a, b in kept:
            words.update({*a.split(), *b.split()})
        for row in collection.urls[TRAIN]:
            words.update(set(UrlView.of(row.url).name))
        sources: dict[str, list[TextPair]] = {source: [] for source in _SHARES}
        weights: dict[str, list[float]] = {source: [] for source in _SHARES}
        sites: dict[str, list[Site]] = {"encyclopaedia": [], "slugs": []}

        def add(source: str, a: str, b: str, weight: float = 1.0) -> None:
            sources[source].append((a, b))
            weights[source].append(weight)

        for host, site, a, b in kept:
            source = "encyclopaedia" if "wiki" in host else "slugs"
            add(source, a, b)
            sites[source].append(site)
        for table in terms:
            for term in read_terms(table):
                a, b = _plain(term.text_a), _plain(term.text_b)
                if not a or not b or a == b:
                    continue
                source = _kind(term.source)
                if source == "titles":
                    add(source, a, b)
                    words.update({*a.split(), *b.split()})
                elif seen := max(_rarest(a, words), _rarest(b, words)):
                    add(source, a, b, seen**0.5)
        shares = {s: np.array(found) for s, found in weights.items()}
        return cls(seed, sources, shares, sites)

    def epoch(
        self, number: int, limit: int, left_out: AbstractSet[Site] = frozenset()
    ) -> list[TextPair]:
        """`limit` pairs, without slugs of some sites; others fill their place."""
        rng = random.Random(f"{self.seed}/texts/{number}")
        sums: dict[str, npt.NDArray[Any]] = {}
        for source, weights in self._weights.items():
            sites = self._sites.get(source)
            if sites and left_out:
                weights = weights * [site not in left_out for site in sites]
            if weights.any():
                sums[source] = np.cumsum(weights)
        total = sum(_SHARES[source] for source in sums)
        chosen: list[TextPair] = []
        for source, places in sums.items():
            count = round(limit * _SHARES[source] / total)
            drawn = [rng.random() * places[-1] for _ in range(count)]
            found = np.searchsorted(places, drawn, side="right").tolist()
            chosen += (self.sources[source][i] for i in found)
        rng.shuffle(chosen)
        return chosen


def _kind(source: str) -> str:
    if source.startswith("dict-freedict"):
        return "dictionaries"
    return "messages" if source.startswith("l10n/") else "titles"


def _slugs(row: PairRow) -> Iterator[TextPair]:
    """The differing names of two URLs, and their folders one by one."""
    a, b = UrlView.of(row.url_a), UrlView.of(row.url_b)
    pairs = [(" ".join(a.name), " ".join(b.name))]
    if len(a.segments) == len(b.segments):
        pairs += (
            (_plain(x), _plain(y)) for x, y in zip(a.segments[:-1], b.segments[:-1])
        )
    for x, y in pairs:
        if x and y and x != y:
            yield x, y


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _rarest(text: str, words: Counter[str]) -> int:
    return min(words[word] for word in text.split())
