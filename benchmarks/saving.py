"""How long a crawl stops to save what `adaptive` has learned, and to forget the oldest.

    python -m benchmarks.saving [--urls 500000]

A scorer comes to know pages of 500 sites. What it learned is saved as a crawl does it,
a part at each commit, into SQLite: how long the parts and their commits take, and what
they take together, which is how long a crawl stopped when all was saved at once. Then
the oldest quarter of the URLs is forgotten.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count, islice
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.machine import machine, status_mb
from crawler.data import LangPair, Link, PageFacts
from crawler.frontier.frontier import Frontier
from crawler.frontier.learned import MIN_SAVE
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.frontier.stores.sqlite import SqliteFrontier
from models.rules import UrlLanguageRules, UrlPairRules

RESULTS = Path(__file__).parent / "results" / "saving.json"
SITES, LINKS = 500, 8
LANGS = ("en", "is")


def document(number: int) -> PageFacts:
    """A page with new links in fifty folders of its site, and its other version."""
    host = f"www.site{number % SITES}.example"
    url = f"https://{host}/en/{number}/a.html"
    links = [
        Link(f"https://{host}/en/s{number % 50}/{number}-{n}.html", url, f"link {n}")
        for n in range(LINKS)
    ]
    links.append(Link(f"https://{host}/is/{number}/a.html", url, "x", "is"))
    return PageFacts(
        url=url,
        site=host,
        lang="en",
        links=tuple(links),
        digest=url,
    )


def learn(scorer: AdaptiveScorer, page: PageFacts) -> None:
    """Fetch a page and score its links."""
    scorer.fetched(Link(page.url), page)
    scorer.score(page, page.links)


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


def measure(urls: int, folder: Path) -> dict[str, Any]:
    """Learn, save, forget."""
    scorer = AdaptiveScorer(
        LangPair(*LANGS), UrlLanguageRules(), UrlPairRules(), max_urls=urls
    )
    store = SqliteFrontier.open(folder / "frontier.sqlite")
    frontier = Frontier(store, scorer, Scope())
    frontier.seed(f"https://www.site{n}.example/" for n in range(SITES))
    pages = map(document, count())
    for page in islice(pages, (urls - SITES) // (LINKS + 2)):
        learn(scorer, page)
    learned = status_mb("VmRSS")
    for _ in range(MIN_SAVE):  # so many are due to be saved
        lease = frontier.next()
        assert lease is not None
        frontier.fetched(lease, None)
    frontier.commit()  # the next ones save
    stops = [seconds(frontier.commit)]
    while store.load("scorer") is None:
        stops.append(seconds(frontier.commit))
    row = {
        "urls": urls,
        "mb_learned": learned,
        "mb_most": status_mb("VmHWM"),
        "parts": len(stops),
        "all_s": round(sum(stops), 2),
    }
    stops.sort()
    for name, share in (("p50", 0.5), ("p99", 0.99), ("longest", 1.0)):
        row[f"{name}_ms"] = round(stops[int((len(stops) - 1) * share)] * 1e3, 1)
    while not scorer.counts["frontier/forgotten"]:
        row["forget_s"] = round(seconds(partial(learn, scorer, next(pages))), 2)
    frontier.close()
    return row


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--urls", type=int, default=500_000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    facts = machine()
    with tempfile.TemporaryDirectory() as folder:
        report = {"machine": facts, **measure(args.urls, Path(folder))}
    print(json.dumps(report, indent=1))
    args.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
