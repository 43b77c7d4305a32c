"""Estimates of sites, corrected by a small crawl of the best of them.

The crawl is the ordinary one, polite and resumable, in a run directory of its own: a
larger crawl with the same directory goes on from the pages that were probed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from crawler.prospect.estimate import REQUESTS, Prospect, expected
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from crawler.urls import site_of
from crawler.visits import read_visits

# What URLs say of a site counts as much as so many pages of it that were fetched.
_WEIGHT = 5


def seeds_of(prospects: Iterable[Prospect]) -> list[str]:
    """Where the probe of each site starts: its home page, and its likeliest pair."""
    return [url for prospect in prospects for url in dict.fromkeys(_starts(prospect))]


def _starts(prospect: Prospect) -> Iterator[str]:
    example = urlsplit(prospect.example[0] or f"https://{prospect.sites[0]}/")
    yield f"{example.scheme}://{example.netloc}/"
    yield from filter(None, prospect.example)


def corrected(prospects: Iterable[Prospect], run: RunDir) -> list[Prospect]:
    """The prospects with what a crawl found; sites without a page of it as they were.

    Raises RunDirError if `run` is not the directory of a crawl.
    """
    asked = Counter(visit.site for visit in read_visits(run.crawl_log) if visit.status)
    pairs = Counter(site_of(pair.src_url) for pair in read_pairs(run.pairs))
    return [
        _corrected(
            prospect,
            sum(asked[site] for site in prospect.sites),
            sum(pairs[site] for site in prospect.sites),
        )
        for prospect in prospects
    ]


def _corrected(prospect: Prospect, probed: int, found: int) -> Prospect:
    """Pairs a page before and after the probe, whose mean is weighted by evidence."""
    if not probed:
        return prospect
    pages = max(prospect.pages, float(probed))
    promised = expected(prospect.pairs, pages, probed) / probed
    shown = (found + _WEIGHT * promised) / (probed + _WEIGHT)
    factor = shown / promised if promised else 0.0
    pairs = max(found, prospect.pairs * factor if promised else shown * pages)
    return replace(
        prospect,
        score=max(found, expected(pairs, pages, REQUESTS)),
        pairs=pairs,
        low=max(found, min(pairs, prospect.low * factor)),
        high=max(pairs, prospect.high * factor),
        pages=pages,
        probed=probed,
        found=found,
    )
