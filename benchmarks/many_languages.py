"""One crawl for all the pairs of languages of a site, against a crawl for each pair.

    python -m benchmarks.many_languages WORLDS NOISY [--sites NAME …] [--out FILE]

Recorded sites with three languages or more are replayed, whole, in the profile
`adaptive`: once for all pairs of their languages together, and once for each pair. Of a
site in n languages the least that can be told is 1 / (n - 1) of the sum. Told of each
pair: precision and recall of the document pairs of both crawls. Told of each site: the
downloads until 90 % of the true pairs of all pairs of languages were complete (both
pages fetched), of those that the crawl completes in the end; the sum of the same over
the separate crawls; the processor seconds of both; and the area under "true pairs of
all pairs of languages against pages downloaded", up to the pages that can be reached,
relative to that of an oracle: the best order for the union that the worlds' own
simulate.py finds with perfect knowledge (its greedy oracle and its `lookahead`).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

from benchmarks.crawl_figures import hits_of
from benchmarks.worlds import RecordedSite, load_sites
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.data import LangPair
from crawler.replay.world import ReplayWorld, address_of
from crawler.reports.quality import judge_pairs, read_gold
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from crawler.visits import read_visits
from crawler.wanted import WantedPairs

_MOST = 0.9  # of the true pairs


@dataclass(frozen=True)
class Crawled:
    """A whole crawl of a site."""

    run: RunDir
    seconds: float  # of processor time

    def downloads(self) -> dict[str, int]:
        """The number of the download that brought each address."""
        found: dict[str, int] = {}
        for number, visit in enumerate(read_visits(self.run.crawl_log), start=1):
            found.setdefault(address_of(visit.url), number)
        return found

    def complete(self, site: RecordedSite, pairs: Sequence[LangPair]) -> list[int]:
        """The download that completed each true pair that was completed, in order."""
        number = self.downloads()
        return sorted(
            max(number[src], number[trg])
            for langs in pairs
            for src, trg in site.true_pairs(langs)
            if src in number and trg in number
        )

    def most(self, site: RecordedSite, pairs: Sequence[LangPair]) -> int:
        """The downloads until most of these pairs were complete."""
        complete = self.complete(site, pairs)
        return complete[int(_MOST * (len(complete) - 1))] if complete else 0

    def pages(self) -> list[str]:
        """The addresses of its pages, in order; redirects and errors are left out."""
        visits = read_visits(self.run.crawl_log)
        pages = (v for v in visits if v.kept or v.reason == "language")
        return list(dict.fromkeys(address_of(visit.url) for visit in pages))

    def quality(self, site: RecordedSite, langs: LangPair) -> dict[str, float]:
        """Precision and recall of one pair of languages."""
        [run] = [run for run in self.run.by_pair() if run.langs() == langs]
        judged = judge_pairs(read_pairs(run.pairs), read_gold(site.truth, langs))
        return {"precision": judged.precision, "recall": judged.recall}


def crawl(site: RecordedSite, wanted: WantedPairs, folder: Path) -> Crawled:
    """Replay a site for these pairs."""
    run = RunDir(folder / str(wanted).replace(",", "+"))
    settings = load_profile_settings(
        "settings.adaptive", RUN_DIR=str(run.path), SENTENCES=False
    )
    seeds = dict.fromkeys(s for pair in wanted.pairs for s in site.seeds(pair))
    with closing(ReplayWorld.open(site.warc)) as world:
        started = process_time()
        replay(list(seeds), str(wanted), settings, world)
        return Crawled(run, process_time() - started)


def languages(site: RecordedSite) -> list[str]:
    """The languages that the site's truth is judged in."""
    return sorted({lang for pair in site.pairs for lang in pair.split("-")})


def area(crawled: Crawled, site: RecordedSite, simulate: ModuleType) -> float:
    """The area under all true pairs by pages, as a share of the oracle's."""
    graph = simulate.load(str(site.graph))
    number = {address_of(url): place for place, url in enumerate(graph["urls"])}
    named = [LangPair.parse(pair.replace("-", ",")) for pair in site.pairs]
    seeds = dict.fromkeys(  # home may be a redirect, which is not in the graph
        number[address_of(s)]
        for s in (graph["home"], *(s for pair in named for s in site.seeds(pair)))
        if address_of(s) in number
    )
    seeds |= dict.fromkeys(graph["seed_ids"][:1])
    reach = set(seeds)
    waiting = list(reach)
    while waiting:
        new = set(graph["links"][waiting.pop()]) - reach
        reach |= new
        waiting += new
    pairs = [
        (number[a], number[b])
        for pair in named
        for a, b in site.true_pairs(pair)
        if {number.get(a), number.get(b)} <= reach
    ]
    partners: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in pairs:
        partners[a].add(b)
        partners[b].add(a)
    langs = {lang for pair in named for lang in pair}
    told = [lang in langs for lang in graph["cld2"]]
    orders = [
        simulate.oracle(graph, list(seeds), partners, reach, tie) for tie in range(3)
    ]
    orders.append(simulate.lookahead(graph, list(seeds), told, partners))

    def under(hits: Sequence[int]) -> float:
        return float(simulate.auc(hits, len(reach), len(pairs)))

    best = max(under(simulate.curve(order, pairs, len(reach))) for order in orders)
    urls = {place: address for address, place in number.items()}
    found = hits_of(crawled.pages(), [(urls[a], urls[b]) for a, b in pairs])
    return round(under(found) / best, 4)


def read_simulate(worlds: Path) -> ModuleType:
    """The worlds' simulate.py as a module."""
    sys.path.insert(0, str(worlds))  # it imports a file beside it
    return import_module("simulate")


def measure(site: RecordedSite, simulate: ModuleType) -> dict[str, Any]:
    """Both ways, for one site."""
    wanted = WantedPairs.parse(",".join(languages(site)), "")
    with tempfile.TemporaryDirectory() as name:
        together = crawl(site, wanted, Path(name))
        alone = {
            pair: crawl(site, WantedPairs((pair,)), Path(name)) for pair in wanted.pairs
        }
        most = [alone[pair].most(site, [pair]) for pair in wanted.pairs]
        return {
            "site": site.name,
            "downloads": len(together.downloads()),
            "downloads_alone": [len(each.downloads()) for each in alone.values()],
            "most": together.most(site, wanted.pairs),
            "most_alone": most,
            "area": area(together, site, simulate),
            "share": round(together.most(site, wanted.pairs) / max(1, sum(most)), 4),
            "seconds": round(together.seconds, 1),
            "seconds_alone": [round(each.seconds, 1) for each in alone.values()],
            "pairs": {
                "-".join(pair): {
                    "together": together.quality(site, pair),
                    "alone": alone[pair].quality(site, pair),
                }
                for pair in wanted.pairs
            },
        }


def report(row: dict[str, Any]) -> None:
    """Print one site."""
    print(
        f"{row['site']}: {row['downloads']} downloads,"
        f" {_MOST:.0%} of the pairs after {row['most']}; alone {row['most_alone']}:"
        f" {row['share']:.1%} of the sum; area {row['area']:.3f};"
        f" {row['seconds']} s of processor time,"
        f" alone {row['seconds_alone']}",
        flush=True,
    )
    for langs, both in row["pairs"].items():
        said = (
            f"{way} P {found['precision']:.3f} R {found['recall']:.3f}"
            for way, found in both.items()
        )
        print(f"  {langs}: {', '.join(said)}", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("worlds", type=Path, nargs="+")
    parser.add_argument("--sites", nargs="+", default=())
    parser.add_argument("--out", type=Path, help="a JSON file with all figures")
    args = parser.parse_args(argv)
    rows = []
    simulate = read_simulate(args.worlds[0])
    for folder in args.worlds:
        for site in load_sites(folder, names=args.sites):
            if len(languages(site)) > 2:
                rows.append(measure(site, simulate))
                report(rows[-1])
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
