"""The outcomes of all downloads: by site, reason, language and score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from crawler.data import PairScore
from crawler.fetch.errors import cure_of
from crawler.urls import site_of
from crawler.visits import Visit

PAIRED, COPY, ALONE = "paired", "copy", "alone"
# The outcomes of a download (docs/formats.md) and their descriptions. A part after a
# slash is counted apart: status/404.
REASONS = {
    PAIRED: "documents of a pair",
    COPY: "other addresses of documents of a pair: copies, which add nothing",
    ALONE: "documents in one of the two languages, without a partner",
    "language": "pages in another language, or with too little text for any",
    "redirect": "redirects",
    "status": "errors of the server: missing, forbidden, failing",
    "sitemap": "sitemaps",
    "empty": "answers without a body",
    "not_html": "not HTML",
    "unreadable": "pages that broke the reader",
    "no_answer": "no answer",
    "robots": "no answer to robots.txt",
    "later": "to be asked again",
}
_FAILURES = ("no_answer", "status", "robots", "later")
BINS = 20  # of a score from 0 to 1

# What a person can do about a failure: the start of its reason, and the cure.
_CURES = {
    "status/401": "the site wants a password",
    "status/403": "the site forbids crawlers, or this address",
    "status/404": "missing pages: are the seeds old?",
    "status/429": "raise DOWNLOAD_DELAY",
    "status/5": "errors of the server: try another day",
}


@dataclass(slots=True)
class SiteTally:
    """One site's share of the crawl."""

    site: str
    downloads: int = 0
    bytes: int = 0
    pairs: int = 0  # final ones
    outcomes: Counter[str] = field(default_factory=Counter)  # by REASONS, in detail
    languages: Counter[str] = field(default_factory=Counter)  # of documents

    @property
    def failures(self) -> Counter[str]:
        """The outcomes that are failures."""
        named = self.outcomes.items()
        return Counter({o: n for o, n in named if o.partition("/")[0] in _FAILURES})


@dataclass(slots=True)
class Tally:
    """All downloads of a crawl, and its pairs, counted."""

    sites: dict[str, SiteTally] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)  # "" is none known
    pair_scores: list[int] = field(default_factory=lambda: [0] * BINS)
    # by the score that the frontier gave a URL: downloads, of them documents of pairs,
    # and copies of these
    url_scores: list[int] = field(default_factory=lambda: [0] * BINS)
    url_scores_paired: list[int] = field(default_factory=lambda: [0] * BINS)
    url_scores_copies: list[int] = field(default_factory=lambda: [0] * BINS)

    @property
    def outcomes(self) -> Counter[str]:
        """Over all sites."""
        return sum((site.outcomes for site in self.sites.values()), Counter())


def tally(visits: Iterable[Visit], pairs: Iterable[PairScore]) -> Tally:
    """Count the downloads of a crawl and its final pairs."""
    counted = Tally()
    in_pairs: set[str] = set()
    copies: set[str] = set()
    for pair in pairs:
        in_pairs.update((pair.src_url, pair.trg_url))
        copies.update((*pair.src_twins, *pair.trg_twins))
        counted.pair_scores[_bin(pair.score)] += 1
        _site(counted, site_of(pair.src_url)).pairs += 1
    copies -= in_pairs
    for visit in visits:
        site = _site(counted, visit.site)
        outcome = _outcome(visit, in_pairs, copies)
        site.downloads += 1
        site.bytes += visit.size
        site.outcomes[outcome] += 1
        if visit.kept and visit.lang:
            site.languages[visit.lang] += 1
        if visit.kept or visit.reason == "language":
            counted.languages[visit.lang or ""] += 1
        if 0 <= visit.score <= 1:  # seeds and sitemaps come first whatever they are
            counted.url_scores[_bin(visit.score)] += 1
            counted.url_scores_paired[_bin(visit.score)] += outcome == PAIRED
            counted.url_scores_copies[_bin(visit.score)] += outcome == COPY
    return counted


def _outcome(visit: Visit, in_pairs: set[str], copies: set[str]) -> str:
    if not visit.kept:
        return str(visit.reason)
    if visit.url in in_pairs:
        return PAIRED
    return COPY if visit.url in copies else ALONE


def failed_sites(
    counted: Tally, seeds: Iterable[str], counters: Mapping[str, object]
) -> Iterator[tuple[str, int, int, str]]:
    """(site, downloads, failed, cause) of the sites of which most downloads failed.

    Sites of seeds without any download come first: their cause is among the counters of
    the last session (`robots/failed/…`), which do not tell sites apart.
    """
    prefix = "robots/failed/"
    robots = [n.removeprefix(prefix) for n in counters if n.startswith(prefix)]
    for name in sorted({site_of(url) for url in seeds} - counted.sites.keys()):
        why = _with_cure(f"no_answer/{robots[0]}") if robots else "not asked yet"
        yield name, 0, 0, why
    for site in sorted(counted.sites.values(), key=lambda s: (-s.downloads, s.site)):
        failures = site.failures
        if 2 * failures.total() > site.downloads:
            ((most, _),) = failures.most_common(1)
            yield site.site, site.downloads, failures.total(), _with_cure(most)


def _with_cure(reason: str) -> str:
    found = cure_of(reason) or next(
        (cure for part, cure in _CURES.items() if reason.startswith(part)), ""
    )
    return f"{reason} ({found})" if found else reason


def _site(counted: Tally, site: str) -> SiteTally:
    return counted.sites.setdefault(site, SiteTally(site))


def _bin(score: float) -> int:
    return min(int(score * BINS), BINS - 1)
