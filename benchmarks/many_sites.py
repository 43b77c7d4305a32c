"""Many sites, one budget: who gets the downloads?

    python -m benchmarks.many_sites WORLDS [--built FOLDER] [--langs en,fr]

All recorded sites are crawled as one, in the default profile, until a share of all
their pages is fetched. Beside it the paper's formula with the same number of downloads,
as many for each site (what one configures without such a frontier). Pairs count when
both pages are downloaded; the truth takes the place of the aligner.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.crawl_curve import Site, hits_of, load_models, scorer_of, walk
from benchmarks.worlds import load_sites
from crawler.data import LangPair
from crawler.extract.document import Reading
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.site_yield import SiteBudget, SiteYield
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.protocols import UrlScorer
from crawler.replay.world import address_of
from crawler.urls import host_of
from crawler.wanted import WantedPairs


class Worlds:
    """Several recorded sites that answer as one web."""

    def __init__(self, sites: Sequence[Site]) -> None:
        self.sites = sites
        self._hosts = {
            host_of(url): site for site in sites for url in site.world.urls()
        }

    def read(self, url: str) -> Reading:
        """What the crawler would read at a URL."""
        site = self._hosts.get(host_of(url))
        return site.read(url) if site else Reading(reason="no such host")


def crawl(
    worlds: Worlds,
    sites: Sequence[Site],
    langs: LangPair,
    scorer: UrlScorer,
    budget: int,
    *,
    gated: bool,
    scout: int = 0,
) -> list[str]:
    """Addresses of the pages in the order of download."""
    frontier = Frontier(
        MemoryFrontier(),
        scorer,
        Scope("host"),  # two of the recorded sites share a registered domain
        sites=SiteYield(WantedPairs((langs,)), SiteBudget(scout=scout)),
    )
    for site in sites:
        frontier.seed(site.recorded.seeds(langs))
        for url in site.world.urls():
            frontier.scope.extend(url)
    pairs = {pair for site in sites for pair in site.recorded.true_pairs(langs)}
    pages: list[str] = []
    for url, reading in walk(frontier, worlds.read, langs, pairs, gated=gated):
        if reading.document is not None:
            pages.append(address_of(url))
        if len(pages) == budget:
            break
    return pages


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("worlds", type=Path, help="folder of recorded worlds")
    parser.add_argument("--built", type=Path, help="folder of sites from packages")
    parser.add_argument("--sites", nargs="*", default=[], help="default: all")
    parser.add_argument("--langs", default="en,fr")
    parser.add_argument("--share", type=float, default=0.2, help="of all pages")
    parser.add_argument("--out", type=Path, help="JSON file for the figures")
    args = parser.parse_args(argv)
    langs = LangPair.parse(args.langs)
    sites = [Site(site) for site in load_sites(args.worlds, args.built, args.sites)]
    worlds = Worlds(sites)
    total = sum(len(site.world) for site in sites)
    budget = int(args.share * total)
    truth = {site: site.recorded.true_pairs(langs) for site in sites}

    models = load_models()
    scorer, gated = scorer_of("adaptive", langs, models)
    scout = import_module("settings.adaptive").SITE_SCOUT_PAGES
    together = crawl(worlds, sites, langs, scorer, budget, gated=gated, scout=scout)
    alone = {}
    for site in sites:
        scorer, gated = scorer_of("focused", langs, models)
        share = budget // len(sites)
        alone[site] = crawl(worlds, [site], langs, scorer, share, gated=gated)
    rows: list[dict[str, Any]] = []
    for site, pairs in truth.items():
        hosts = {host_of(url) for url in site.world.urls()}
        mine = [a for a in together if host_of(f"http://{a}") in hosts]
        rows.append(
            {
                "site": site.recorded.name,
                "pages": len(site.world),
                "true_pairs": len(pairs),
                "adaptive": {"pages": len(mine), "pairs": len(hits_of(mine, pairs))},
                "focused": {
                    "pages": len(alone[site]),
                    "pairs": len(hits_of(alone[site], pairs)),
                },
            }
        )
    rows.sort(key=lambda row: -int(row["true_pairs"]))
    print(f"{len(sites)} sites, {total} pages, {budget} downloads, {langs}")
    print(f"{'':28}{'true pairs':>11}{'adaptive':>20}{'focused':>20}")
    for row in rows:
        cells = "".join(
            f"{row[name]['pairs']:8} of {row[name]['pages']:5} p."
            for name in ("adaptive", "focused")
        )
        print(f"{row['site']:28}{row['true_pairs']:11}{cells}")
    found = {
        name: sum(row[name]["pairs"] for row in rows)
        for name in ("adaptive", "focused")
    }
    ratio = found["adaptive"] / max(1, found["focused"])
    print(
        f"adaptive {found['adaptive']}, focused {found['focused']}: {ratio:.2f} times"
    )
    if args.out:
        facts = {"langs": str(langs), "budget": budget, "found": found, "sites": rows}
        args.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
