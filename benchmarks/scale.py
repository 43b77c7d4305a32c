"""Does a page cost more when the frontier is larger, or has more sites?

    python -m benchmarks.scale                 # to 1 M URLs and 20,000 sites: 15 min
    python -m benchmarks.scale --urls 10000 --sites 10,20000 --rounds 3

Results and a figure go to benchmarks/results/scale.json and scale.svg; rows that are
not measured again stay, each with its machine. Everything of a crawl that knows of
other pages is run, in the process and without a network: the site gate with 32 sites in
flight, the frontier in SQLite, the scorer of the profile. First it is filled with so
many URLs of so many sites, by a crawl whose pages have 40 new links; then pages have
eight. What is measured is the processor time of a page, the latency of taking the next
URL, and the process's memory. All else that a page costs (benchmarks/throughput.py)
knows of no other page: it is flat by construction.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.drawing import pyplot, save
from benchmarks.machine import machine, spread, status_mb
from crawler.data import LangPair, Link, PageFacts
from crawler.frontier.frontier import Frontier, Lease
from crawler.frontier.gate import SiteGate
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.frontier.scorers.papers import UniformScorer
from crawler.frontier.stores.open import open_frontier
from models.url_language import HashedUrlLanguageModel
from models.url_pair import HashedUrlPairModel
from settings.base import SCORER_MAX_URLS

RESULTS = Path(__file__).parent / "results" / "scale.json"
LANGS = LangPair("en", "is")
LINKS, NEW = 40, 8  # of a page; most links of a page are known already
FLIGHT = 32  # sites at a time, as the profiles have it
WARM, PAGES = 300, 1500  # taken before measuring, and measured


def url_of(site: int, number: int) -> str:
    """Pages of both languages, in folders of a hundred."""
    lang = "is/" if number % 2 else ""
    return (
        f"https://site{site:05}.example/{lang}part-{number // 200}/page-{number}.html"
    )


def document(url: str, site: int, links: tuple[Link, ...]) -> PageFacts:
    """A page of one paragraph, which nothing here but the scorer reads."""
    lang = "is" if "/is/" in url else "en"
    name = f"site{site:05}.example"
    return PageFacts(
        url=url,
        site=name,
        lang=lang,
        links=links,
        digest=url,
    )


class Web:
    """Sites that grow as they are read."""

    def __init__(self, sites: int) -> None:
        self._random = random.Random(1)
        self.known = [1] * sites

    def page(self, url: str, new: int) -> PageFacts:
        """A page with links to known pages of its site, and to so many new ones."""
        site = int(url[12:17])
        known = self.known[site]
        numbers = [known + n for n in range(new)]
        self.known[site] = known + new
        draw = self._random.random
        numbers += [int(draw() * known) for _ in range(LINKS - new)]
        links = tuple(Link(url_of(site, n), url, f"page {n}", depth=1) for n in numbers)
        return document(url, site, links)


class Crawl:
    """What a crawl does with a page, but for the network and its text."""

    def __init__(self, frontier: Frontier, web: Web) -> None:
        self._frontier, self._web = frontier, web
        self._gate = SiteGate()
        self._flight: deque[Lease] = deque()
        self._most = min(FLIGHT, len(web.known))
        self.restart()

    def restart(self) -> None:
        """Measure from now on."""
        self.cpu = 0.0
        self.latencies: list[float] = []

    def page(self, new: int) -> None:
        """Take what may be taken, and read one page, with so many new links."""
        frontier, gate = self._frontier, self._gate
        start, start_cpu = perf_counter(), process_time()
        while len(self._flight) < self._most:
            lease = frontier.next(gate.busy(0.0))
            if lease is None:
                break
            gate.start(lease.site)
            self._flight.append(lease)
            self.latencies.append(perf_counter() - start)
            start = perf_counter()
        self.cpu += process_time() - start_cpu
        lease = self._flight.popleft()
        fetched = self._web.page(lease.url, new)  # made up outside the clock
        start_cpu = process_time()
        frontier.fetched(lease, fetched, size=20_000, seconds=0.1)
        frontier.found(fetched, fetched.links)
        frontier.commit()
        gate.finish(lease.site, 0.0, 0.0)
        self.cpu += process_time() - start_cpu


def measure(profile: str, urls: int, sites: int, folder: str) -> dict[str, Any]:
    """In a process of its own."""
    scorer: Any = UniformScorer()
    if profile == "adaptive":
        scorer = AdaptiveScorer(
            LANGS,
            HashedUrlLanguageModel(),
            HashedUrlPairModel(),
            max_urls=SCORER_MAX_URLS,
        )
    store = open_frontier(f"sqlite:{folder}/frontier.sqlite")
    frontier = Frontier(store, scorer, Scope("site"))
    frontier.seed([url_of(site, 0) for site in range(sites)])
    frontier.commit()
    crawl = Crawl(frontier, Web(sites))
    while len(frontier) < urls:
        crawl.page(LINKS)
    before = status_mb("VmRSS")
    for _ in range(WARM):
        crawl.page(NEW)
    crawl.restart()
    for _ in range(PAGES):
        crawl.page(NEW)
    latencies = sorted(crawl.latencies)
    return {
        "ms_per_page": 1000 * crawl.cpu / PAGES,
        "pop_ms_median": 1000 * latencies[len(latencies) // 2],
        "pop_ms_99": 1000 * latencies[int(len(latencies) * 0.99)],
        "filled_mb": before,
        "peak_mb": status_mb("VmHWM"),
        "pending": len(frontier),
    }


def run(profile: str, urls: int, sites: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        options = json.dumps([profile, urls, sites, folder])
        command = [sys.executable, "-m", "benchmarks.scale", "one", options]
        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    row: dict[str, Any] = json.loads(child.stdout)
    print(f"{profile:14} {urls:>9,} URLs {sites:>6,} sites {child.stdout}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--urls", default="10000,100000,1000000")
    parser.add_argument("--sites", default="10,1000,20000")
    parser.add_argument("--profiles", default="breadth_first,adaptive")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    grid = [
        (profile, int(urls), int(sites))
        for profile in args.profiles.split(",")
        for urls in args.urls.split(",")
        for sites in args.sites.split(",")
        if int(urls) >= int(sites)
    ]
    facts = machine("scrapy")
    found: dict[tuple[str, int, int], list[dict[str, Any]]] = {key: [] for key in grid}
    for _ in range(args.rounds):
        for key, rows in found.items():
            rows.append(run(*key))
    rows = [
        {
            "profile": profile,
            "urls": urls,
            "sites": sites,
            "rounds": args.rounds,
            "machine": facts,
            **{name: spread([row[name] for row in rows], 3) for name in rows[0]},
        }
        for (profile, urls, sites), rows in found.items()
    ]
    before = json.loads(args.out.read_text())["rows"] if args.out.exists() else []
    others = [row for row in before if key_of(row) not in found]
    report = {"rows": sorted(others + rows, key=key_of)}
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    draw(report["rows"], args.out.with_suffix(".svg"))


def key_of(row: dict[str, Any]) -> tuple[str, int, int]:
    return row["profile"], row["urls"], row["sites"]


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Time of a page, latency of the next URL, and memory, against URLs."""
    values = {
        "ms_per_page": "frontier and scorer, ms of processor time a page",
        "pop_ms_99": "next URL, ms, 99th percentile",
        "filled_mb": "memory, MB",
    }
    figure, axes = pyplot().subplots(1, len(values), figsize=(12, 3.6))
    for axis, (name, title) in zip(axes, values.items()):
        for profile in dict.fromkeys(row["profile"] for row in rows):
            for sites in sorted({row["sites"] for row in rows}):
                line = [
                    (row["urls"], row[name]["median"])
                    for row in rows
                    if (row["profile"], row["sites"]) == (profile, sites)
                ]
                label = f"{profile}, {sites:,} sites"
                axis.plot(*zip(*line), marker="o", label=label)
        axis.set_xscale("log")
        axis.set_ylim(bottom=0)
        axis.set_xlabel("URLs in the frontier")
        axis.set_title(title, fontsize=9)
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    save(figure, path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(measure(*json.loads(sys.argv[2]))))
    else:
        main()
