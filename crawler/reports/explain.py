"""Explanations of a URL's score: its parts, and when it was given.

A fetched URL is explained by crawl.jsonl, a pending one by the frontier's store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing

from crawler.data import Outcome, Site, StoredUrl, UrlState
from crawler.errors import RunDirError
from crawler.fetch.errors import cure_of
from crawler.frontier.entry import known_of, lease_of
from crawler.frontier.stores.open import open_frontier
from crawler.lines import printable
from crawler.reports.outlook import outlook
from crawler.rundir import RunDir
from crawler.urls import site_of
from crawler.visits import Visit, read_visits

# The parts of a score (crawler.frontier.scorers).
MEANINGS = {
    "p_src": "P(it is in the first language)",
    "p_trg": "P(it is in the second language)",
    "complete": "P(it is the missing half of a page that was fetched)",
    "together": "P(it and a URL that is still pending are two halves)",
    "yield": "pairs per download that its section has given",
    "explore": "worth of a page without a partner in sight",
    "p_page": "P(it is a page: its section has given errors and files too)",
    "irrelevant_parameter": "P(a copy: the one new parameter changes nothing)",
    "irrelevant_number": "P(a copy: the one new number changes nothing)",
    "p_language": "P(other language | URL)",
    "p_parallel": "P(parallel | page that links to it, URL)",
}


def explain(run_dir: RunDir, url: str) -> Iterator[str]:
    """Lines for a person, printable. RunDirError when the run does not know the URL."""
    return map(printable, _explained(run_dir, url))


def _explained(run_dir: RunDir, url: str) -> Iterator[str]:
    visits = list(_visits(run_dir, url))
    for number, visit in visits:
        yield f"{url}: URL {number} of the crawl, {visit.time.isoformat()}"
        yield from _score(visit.score, visit.evidence, visit.scored_at)
        yield from _found_on(visit.source, visit.depth)
        yield from _outcome(visit)
    if not visits:
        stored = _stored(run_dir, url)
        lease = lease_of(stored.entry)
        skipped = known_of(stored)[0].outcome == Outcome.SKIPPED
        yield f"{url}: {'skipped' if skipped else 'not fetched'}"
        yield from _score(lease.score, lease.evidence, lease.scored_at)
        yield from _found_on(lease.link.source_url, lease.link.depth)
        if lease.tries:
            yield f"  tried {lease.tries} times in vain"
    yield from _ahead(run_dir, site_of(url))


def _ahead(run_dir: RunDir, site: Site) -> Iterator[str]:
    """What the URLs of a site that wait should give; nothing before its first page."""
    complete = [0]
    for visit in read_visits(run_dir.crawl_log) if run_dir.crawl_log.exists() else ():
        if visit.site == site:
            complete.append(complete[-1] + visit.pairs)
    waiting = sum(row.state != UrlState.DONE for row in _rows(run_dir, site))
    if found := outlook(complete, waiting):
        yield f"{site}: {found.line}"


def _visits(run_dir: RunDir, url: str) -> Iterator[tuple[int, Visit]]:
    for number, visit in enumerate(read_visits(run_dir.crawl_log), 1):
        if visit.url == url:
            yield number, visit


def _rows(run_dir: RunDir, site: Site) -> Iterator[StoredUrl]:
    """The URLs of a site in the frontier, which a crawl that shares one has not."""
    if run_dir.frontier.exists():
        with closing(open_frontier(f"sqlite:{run_dir.frontier}")) as store:
            yield from store.scan(site)


def _stored(run_dir: RunDir, url: str) -> StoredUrl:
    for stored in _rows(run_dir, site_of(url)):
        if stored.entry.url == url:
            return stored
    raise RunDirError(
        f"{url}: {run_dir.path} does not know this URL (no fetched page links to it)"
    )


def _score(score: float, evidence: Mapping[str, float], at: int) -> Iterator[str]:
    yield f"  score {score:.4f}, given when {at} URLs were done"
    for name, value in evidence.items():
        yield f"    {name:14} {value:.4f}  {MEANINGS.get(name, '')}".rstrip()
    if not evidence:
        yield "    a seed, a sitemap, or an order without evidence"


def _found_on(source: str | None, depth: int) -> Iterator[str]:
    if source:
        yield f"  found on {source}, {depth} clicks from a seed"


def _outcome(visit: Visit) -> Iterator[str]:
    if visit.lang:
        detected = f"in {visit.lang} ({visit.confidence:.2f})"
    else:
        detected = "in no known language"
    not_kept = f", not kept: {visit.reason}" if visit.reason else ""
    if cure := cure_of(visit.reason or ""):
        not_kept += f" ({cure})"
    yield (
        f"  turned out: status {visit.status}, {detected}{not_kept},"
        f" {visit.links} links, {visit.added} of them new,"
        f" {visit.pairs} pairs completed"
    )
