"""Do several workers on one frontier in Redis find what one finds, as early?

    python -m benchmarks.many_workers WORLDS [--langs en,fr] [--workers 1 2 4]

All recorded sites are crawled to the end in the default profile, replayed, by one
worker, by two and by four: real processes, a real redis-server. Compared are

* the pairs that `bifocal align` accepts from the WARC files of all workers together,
* how often each URL was fetched,
* the order: the area under "true pairs whose both pages are downloaded, against pages
  downloaded", relative to the oracle's, which has another pair with every two
  downloads. Of each site by its own downloads (mean over the sites that have pairs, as
  in crawl_curve.py), and of all sites together, by the time of the downloads.

Together, more workers cannot keep the order of one: in a replay nobody waits, so one
worker asks the best site of all, and four ask the best of a quarter each at the same
time. On the web every site waits between two pages, and all sites move at once, with
one worker as with four; what is left of the order is the order within each site.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.crawl_curve import hits_of
from benchmarks.machine import machine
from benchmarks.worlds import RecordedSite, load_sites
from crawler.data import LangPair
from crawler.replay.world import address_of
from crawler.sinks.pairs import read_pairs
from tests.redis_server import RedisServer

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results" / "many_workers.json"
ENVIRONMENT = dict(os.environ, SCRAPY_PROJECT="adaptive")


def crawl(
    sites: Sequence[RecordedSite], langs: LangPair, workers: int, folder: Path
) -> list[dict[str, Any]]:
    """The visits of all workers, in the order of time."""
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(url for site in sites for url in site.seeds(langs)))
    warcs = ",".join(str(site.warc) for site in sites)
    runs = [folder / f"worker{n}" for n in range(workers)]
    with RedisServer(folder) as server:
        # a replay has nobody to be polite to
        urls = [server.url("all", worker=run.name, pause=0) for run in runs]
        processes = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "scrapy", "crawl", "bilingual"),
                    *("-L", "WARNING", "-a", f"seeds={seeds}", "-a", f"langs={langs}"),
                    *("-s", f"REPLAY_WARCS={warcs}", "-s", f"RUN_DIR={run}"),
                    *("-s", f"FRONTIER_URL={url}", "-s", "SENTENCES=False"),
                ],
                cwd=ROOT,
                env=ENVIRONMENT,
                stdout=subprocess.DEVNULL,
            )
            for run, url in zip(runs, urls, strict=True)
        ]
        try:
            for process in processes:
                if process.wait():
                    sys.exit(f"a worker failed with status {process.returncode}")
        finally:
            for process in processes:
                process.kill()
    visits = [
        json.loads(line)
        for run in runs
        for line in (run / "crawl.jsonl").read_text("utf-8").splitlines()
    ]
    return sorted(visits, key=lambda visit: visit["time"])


def align(folder: Path, langs: LangPair) -> set[tuple[str, str]]:
    """The reference result: the pairs of everything that was stored."""
    warcs = [str(path) for path in sorted(folder.glob("worker*/warc"))]
    out = folder / "out"
    command = [str(Path(sys.executable).with_name("bifocal")), "align", *warcs]
    command += ["--langs", str(langs), "--out", str(out)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return {(pair.src_url, pair.trg_url) for pair in read_pairs(out / "pairs.tsv.gz")}


def area(pages: Sequence[str], pairs: set[tuple[str, str]]) -> float:
    """Relative to the oracle's, up to all these downloads."""
    reach = len(pages)
    found = sum(reach - hit + 1 for hit in hits_of(pages, pairs))
    best = sum(reach - 2 * n + 1 for n in range(1, len(pairs) + 1))
    return found / best if best else 0.0


def judge(
    visits: Sequence[dict[str, Any]], sites: Sequence[RecordedSite], langs: LangPair
) -> dict[str, Any]:
    """The figures of one crawl."""
    pages = list(
        dict.fromkeys(
            address_of(visit["url"])
            for visit in visits
            if visit["kept"] or visit["reason"] == "language"
        )
    )
    fetched = set(pages)
    of_site, of_all = {}, set()
    for site in sites:
        pairs = {pair for pair in site.true_pairs(langs) if fetched.issuperset(pair)}
        host = address_of(site.home).partition("/")[0]
        if pairs:
            ours = [page for page in pages if page.partition("/")[0] == host]
            of_site[site.name] = round(area(ours, pairs), 4)
            of_all |= pairs
    times = Counter(visit["url"] for visit in visits)
    return {
        "pages": len(pages),
        "true_pairs": len(of_all),
        "fetched_twice": sum(times.values()) - len(times),
        "area": round(area(pages, of_all), 4),
        "area_of_sites": round(statistics.fmean(of_site.values()), 4),
        "sites": of_site,
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("worlds", type=Path, help="folder of recorded worlds")
    parser.add_argument("--sites", nargs="*", default=[], help="default: all")
    parser.add_argument("--langs", default="en,fr")
    parser.add_argument("--workers", nargs="*", type=int, default=[1, 2, 4])
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args(argv)
    langs = LangPair.parse(args.langs)
    sites = load_sites(args.worlds, names=args.sites)
    facts = machine("redis", "scrapy")
    rows: list[dict[str, Any]] = []
    reference: set[tuple[str, str]] = set()
    for workers in args.workers:
        with tempfile.TemporaryDirectory(prefix="workers-") as name:
            folder = Path(name)
            started = time.perf_counter()
            visits = crawl(sites, langs, workers, folder)
            seconds = round(time.perf_counter() - started)
            pairs = align(folder, langs)
        reference = reference or pairs
        row = {"workers": workers, "seconds": seconds, "pairs": len(pairs)}
        row |= {"other_pairs": len(pairs ^ reference), **judge(visits, sites, langs)}
        rows.append(row)
        print(json.dumps(row), flush=True)
    args.out.write_text(
        json.dumps({"machine": facts, "langs": str(langs), "rows": rows}, indent=1)
        + "\n"
    )
    head = ("workers", "pages", "pairs", "other_pairs", "fetched_twice")
    head += ("area", "area_of_sites", "seconds")
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(row[name]) for name in head) + " |")


if __name__ == "__main__":
    main()
