"""One crawl for all the pairs of languages of a site, against a crawl for each pair.

    python -m benchmarks.many_languages WORLDS [--sites NAME …] [--out FILE]

Recorded sites with three languages or more are replayed, whole, in the profile
`adaptive`: once for all pairs of their languages together, and once for each pair. Of a
site in n languages the least that can be told is 1 / (n - 1) of the sum. Told of each
pair: precision and recall of the document pairs of both crawls. Told of each site: the
downloads until 90 % of the true pairs of all pairs of languages were complete (both
pages fetched), of those that the crawl completes in the end; the sum of the same over
the separate crawls; and the processor seconds of both.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

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


def measure(site: RecordedSite) -> dict[str, Any]:
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
        f" {row['share']:.1%} of the sum; {row['seconds']} s of processor time,"
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
    for folder in args.worlds:
        for site in load_sites(folder, names=args.sites):
            if len(languages(site)) > 2:
                rows.append(measure(site))
                report(rows[-1])
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
