"""The outcomes of all downloads: by site, reason, language and score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from crawler.data import PairScore
from crawler.urls import site_of
from crawler.visits import Visit

PAIRED, ALONE = "paired", "alone"
# The outcomes of a download (docs/formats.md) and their descriptions. A part after a
# slash is counted apart: status/404.
REASONS = {
    PAIRED: "documents of a pair",
    ALONE: "documents in one of the two languages, without a partner",
    "language": "pages in another language, or with too little text for any",
    "redirect": "redirects",
    "status": "errors of the server: missing, forbidden, failing",
    "sitemap": "sitemaps",
    "empty": "answers without a body",
    "not_html": "not HTML",
    "unreadable": "pages that broke the reader",
    "no_answer": "no answer",
}
BINS = 20  # of a score from 0 to 1


@dataclass(slots=True)
class SiteTally:
    """One site's share of the crawl."""

    site: str
    downloads: int = 0
    bytes: int = 0
    pairs: int = 0  # final ones
    outcomes: Counter[str] = field(default_factory=Counter)  # by REASONS, in detail
    languages: Counter[str] = field(default_factory=Counter)  # of documents


@dataclass(slots=True)
class Tally:
    """All downloads of a crawl, and its pairs, counted."""

    sites: dict[str, SiteTally] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)  # "" is none known
    pair_scores: list[int] = field(default_factory=lambda: [0] * BINS)
    # by the score that the frontier gave a URL: downloads, and of them those in pairs
    url_scores: list[int] = field(default_factory=lambda: [0] * BINS)
    url_scores_paired: list[int] = field(default_factory=lambda: [0] * BINS)

    @property
    def outcomes(self) -> Counter[str]:
        """Over all sites."""
        return sum((site.outcomes for site in self.sites.values()), Counter())


def tally(visits: Iterable[Visit], pairs: Iterable[PairScore]) -> Tally:
    """Count the downloads of a crawl and its final pairs."""
    counted = Tally()
    in_pairs: set[str] = set()
    for pair in pairs:
        addresses = (pair.src_url, pair.trg_url, *pair.src_twins, *pair.trg_twins)
        in_pairs.update(addresses)
        counted.pair_scores[_bin(pair.score)] += 1
        _site(counted, site_of(pair.src_url)).pairs += 1
    for visit in visits:
        site = _site(counted, visit.site)
        paired = visit.url in in_pairs
        site.downloads += 1
        site.bytes += visit.size
        site.outcomes[_outcome(visit, paired)] += 1
        if visit.kept and visit.lang:
            site.languages[visit.lang] += 1
        if visit.kept or visit.reason == "language":
            counted.languages[visit.lang or ""] += 1
        if 0 <= visit.score <= 1:  # seeds and sitemaps come first whatever they are
            counted.url_scores[_bin(visit.score)] += 1
            counted.url_scores_paired[_bin(visit.score)] += paired
    return counted


def _outcome(visit: Visit, paired: bool) -> str:
    if paired and visit.kept:
        return PAIRED
    return ALONE if visit.kept else str(visit.reason)


def _site(counted: Tally, site: str) -> SiteTally:
    return counted.sites.setdefault(site, SiteTally(site))


def _bin(score: float) -> int:
    return min(int(score * BINS), BINS - 1)
