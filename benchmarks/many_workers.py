"""Do several workers on one frontier in Redis find what one finds, as early?

    python -m benchmarks.many_workers WORLDS    # replayed, to the end: nobody waits
    python -m benchmarks.many_workers WORLDS --delay 0.25 --pages 5000 --runs FOLDER

All recorded sites are crawled in the default profile, by one worker, by two and by
four: real processes, a real redis-server. With `--delay` they come from a web server
(benchmarks/webserver.py) and each site is asked again so many seconds after its last
page, as on the web; with 0 they are replayed. `--pages`: until so many answers, of all
workers together. FOLDER keeps the crawls, so that the numbers of workers can be run one
at a time (`--workers 1`, later `--workers 4`). Compared are

* the pairs that `bifocal align` accepts from the WARC files of all workers together
  (of crawls to the end: others have other pages),
* how often each URL was fetched,
* the order: the area under "true pairs whose both pages are downloaded, against pages
  downloaded", up to as many downloads as each of the crawls has, relative to the
  oracle's, which has another pair with every two downloads, of all pairs that any of
  the crawls has reached. Of each site by its own downloads (mean over the sites that
  have pairs, as in crawl_curve.py), and of all sites together, by the time of the
  downloads.

Replayed, more workers cannot keep the order of one over all sites together: as nobody
waits, one worker asks the best site of all, and four ask the best of a quarter each at
the same time. On the web every site waits between two pages, and all sites move at
once, with one worker as with four.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.crawl_curve import hits_of
from benchmarks.machine import machine
from benchmarks.throughput import web
from benchmarks.worlds import RecordedSite, load_sites
from crawler.data import LangPair
from crawler.replay.world import address_of
from crawler.sinks.pairs import read_pairs
from tests.redis_server import RedisServer

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results" / "many_workers.json"


def crawl(
    sites: Sequence[RecordedSite],
    langs: LangPair,
    workers: int,
    folder: Path,
    *,
    delay: float,
    pages: int,
) -> None:
    """Let all workers crawl, into directories of this folder."""
    seeds = [url for site in sites for url in site.seeds(langs)]
    warcs = ",".join(str(site.warc) for site in sites)
    with ExitStack() as stack:
        server = stack.enter_context(RedisServer(folder))
        environment = dict(os.environ)
        settings = ["REPLAY_WARCS=" + warcs]
        if delay:
            environment = stack.enter_context(web(warcs, cores=2))
            settings = [f"DOWNLOAD_DELAY={delay}"]
            seeds = [url.replace("https://", "http://") for url in seeds]
        (folder / "seeds.txt").write_text("\n".join(seeds))
        processes = []
        for name in (f"worker{n}" for n in range(workers)):
            url = server.url("all", worker=name, pause=delay)
            words = ["-L", "WARNING", "-a", f"seeds={folder}/seeds.txt"]
            words += ["-a", f"langs={langs}"]
            for setting in (
                *settings,
                f"RUN_DIR={folder / name}",
                f"FRONTIER_URL={url}",
                f"RUN_MAX_PAGES={pages}",
                "SENTENCES=False",
            ):
                words += ["-s", setting]
            process = subprocess.Popen(
                [sys.executable, "-m", "scrapy", "crawl", "bilingual", *words],
                cwd=ROOT,
                env=environment | {"SCRAPY_PROJECT": "adaptive"},
                stdout=subprocess.DEVNULL,
            )
            stack.callback(process.kill)
            processes.append(process)
        for process in processes:
            if process.wait():
                sys.exit(f"a worker failed with status {process.returncode}")


def visits_of(folder: Path) -> list[dict[str, Any]]:
    """The visits of all workers, in the order of time."""
    visits = [
        json.loads(line)
        for log in folder.glob("worker*/crawl.jsonl")
        for line in log.read_text("utf-8").splitlines()
    ]
    return sorted(visits, key=lambda visit: visit["time"])


def align(folder: Path, langs: LangPair) -> None:
    """The reference result: the pairs of everything that was stored."""
    warcs = [str(path) for path in sorted(folder.glob("worker*/warc"))]
    command = [str(Path(sys.executable).with_name("bifocal")), "align", *warcs]
    command += ["--langs", str(langs), "--out", str(folder / "out")]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def pairs_of(folder: Path) -> set[tuple[str, str]]:
    """What `align` has found."""
    found = read_pairs(folder / "out" / "pairs.tsv.gz")
    return {(pair.src_url, pair.trg_url) for pair in found}


class Crawl:
    """What several workers have fetched."""

    def __init__(self, workers: int, folder: Path) -> None:
        """Read what is in their directories."""
        visits = visits_of(folder)
        times = Counter(visit["url"] for visit in visits)
        start, end = (datetime.fromisoformat(visits[n]["time"]) for n in (0, -1))
        self.workers = workers
        self.pairs = pairs_of(folder)
        self.seconds = round((end - start).total_seconds())
        self.fetched_twice = times.total() - len(times)
        self.pages = list(
            dict.fromkeys(
                address_of(visit["url"])
                for visit in visits
                if visit["kept"] or visit["reason"] == "language"
            )
        )

    def of(self, host: str) -> list[str]:
        """The pages of a site."""
        return [page for page in self.pages if page.partition("/")[0] == host]


def areas(orders: Sequence[Sequence[str]], pairs: set[tuple[str, str]]) -> list[float]:
    """Of each order relative to the oracle's, up to the downloads that all have."""
    reach = min(map(len, orders))
    known = [pair for pair in pairs if any(map(set(pair).issubset, orders))]
    best = sum(max(reach - 2 * n + 1, 0) for n in range(1, len(known) + 1))
    return [
        sum(max(reach - hit + 1, 0) for hit in hits_of(pages, pairs)) / best
        if best
        else 0.0
        for pages in orders
    ]


def judge(
    crawls: Sequence[Crawl], sites: Sequence[RecordedSite], langs: LangPair
) -> list[dict[str, Any]]:
    """The figures of crawls of the same sites, the first one the reference."""
    true_pairs = {site: site.true_pairs(langs) for site in sites}
    of_all = areas([crawl.pages for crawl in crawls], set().union(*true_pairs.values()))
    of_sites: list[dict[str, float]] = [{} for _ in crawls]
    for site, pairs in true_pairs.items():
        host = address_of(site.home).partition("/")[0]
        found = areas([crawl.of(host) for crawl in crawls], pairs)
        for mine, value in zip(of_sites, found, strict=True):
            if any(found):
                mine[site.name] = round(value, 4)
    return [
        {
            "workers": crawl.workers,
            "seconds": crawl.seconds,
            "pages": len(crawl.pages),
            "fetched_twice": crawl.fetched_twice,
            "pairs": len(crawl.pairs),
            "other_pairs": len(crawl.pairs ^ crawls[0].pairs),
            "area": round(area, 4),
            "mean_area": round(statistics.fmean(mine.values()), 4),
            "areas": mine,
        }
        for crawl, area, mine in zip(crawls, of_all, of_sites, strict=True)
    ]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("worlds", type=Path, help="folder of recorded worlds")
    parser.add_argument("--sites", nargs="*", default=[], help="default: all")
    parser.add_argument("--langs", default="en,fr")
    parser.add_argument("--workers", nargs="*", type=int, default=[1, 2, 4])
    parser.add_argument("--delay", type=float, default=0.0, help="seconds (0: replay)")
    parser.add_argument("--pages", type=int, default=0, help="default: to the end")
    parser.add_argument("--runs", type=Path, help="folder that keeps the crawls")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args(argv)
    langs = LangPair.parse(args.langs)
    sites = load_sites(args.worlds, names=args.sites)
    with ExitStack() as stack:
        runs = args.runs or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="workers-"))
        )
        for workers in args.workers:
            folder = runs / f"{workers}"
            folder.mkdir(parents=True)
            crawl(sites, langs, workers, folder, delay=args.delay, pages=args.pages)
            align(folder, langs)
        crawls = [
            Crawl(int(folder.name), folder)
            for folder in sorted(runs.iterdir(), key=lambda folder: int(folder.name))
        ]
    common = {"sites": len(sites), "langs": str(langs), "delay": args.delay}
    rows = [common | row for row in judge(crawls, sites, langs)]
    known = json.loads(args.out.read_text())["rows"] if args.out.exists() else []
    others = [row for row in known if any(row[name] != common[name] for name in common)]
    facts = machine("redis", "scrapy")
    rows = [*others, *(row | {"machine": facts} for row in rows)]
    args.out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    head = ("sites", "delay", "workers", "pages", "pairs", "other_pairs")
    head += ("fetched_twice", "area", "mean_area", "seconds")
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(row[name]) for name in head) + " |")


if __name__ == "__main__":
    main()
