"""Do several workers on one frontier in Redis find what one finds, as early?

    python -m benchmarks.many_workers WORLDS --delay 0.3 --runs FOLDER --workers 1
    python -m benchmarks.many_workers WORLDS --delay 0.3 --runs FOLDER --workers 2 4
    python -m benchmarks.many_workers WORLDS    # replayed: nobody waits

All recorded sites are crawled to the end in the default profile, by one worker, by two
and by four: real processes, a real redis-server. With `--delay` they come from a web
server (benchmarks/webserver.py) and each site is asked again so many seconds after its
last page, as on the web; with 0 they are replayed. FOLDER keeps the crawls, so that the
numbers of workers can be run one at a time: the first one there is the reference.
Compared are

* the pairs that `bifocal align` accepts from the WARC files of all workers together,
* how often each URL was fetched,
* the order: the area under "true pairs whose both pages are downloaded, against pages
  downloaded", relative to the oracle's, which has another pair with every two
  downloads. Of each site by its own downloads (mean over the sites that have pairs, as
  in crawl_curve.py), and of all sites together, by the time of the downloads.

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
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
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
    delay: float,
    folder: Path,
) -> None:
    """Let all workers crawl to the end, into directories of this folder."""
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
        "mean_area": round(statistics.fmean(of_site.values()), 4),
        "areas": of_site,
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("worlds", type=Path, help="folder of recorded worlds")
    parser.add_argument("--sites", nargs="*", default=[], help="default: all")
    parser.add_argument("--langs", default="en,fr")
    parser.add_argument("--workers", nargs="*", type=int, default=[1, 2, 4])
    parser.add_argument("--delay", type=float, default=0.0, help="seconds (0: replay)")
    parser.add_argument("--runs", type=Path, help="folder that keeps the crawls")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args(argv)
    langs = LangPair.parse(args.langs)
    sites = load_sites(args.worlds, names=args.sites)
    rows: list[dict[str, Any]] = json.loads(args.out.read_text())["rows"]
    with ExitStack() as stack:
        runs = args.runs or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="workers-"))
        )
        for workers in args.workers:
            folder = runs / f"{len(sites)}-{args.delay}-{workers}"
            folder.mkdir(parents=True)
            started = time.perf_counter()
            crawl(sites, langs, workers, args.delay, folder)
            seconds = round(time.perf_counter() - started)
            align(folder, langs)
            first = min(runs.glob(f"{len(sites)}-{args.delay}-*"))
            pairs = pairs_of(folder)
            row = {
                "sites": len(sites),
                "delay": args.delay,
                "workers": workers,
                "langs": str(langs),
                "seconds": seconds,
                "pairs": len(pairs),
                "other_pairs": len(pairs ^ pairs_of(first)),
                **judge(visits_of(folder), sites, langs),
                "machine": machine("redis", "scrapy"),
            }
            same = ("sites", "delay", "workers", "langs")
            rows = [old for old in rows if any(old[name] != row[name] for name in same)]
            rows.append(row)
            args.out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
            print(json.dumps(row), flush=True)
    head = ("sites", "delay", "workers", "pages", "pairs", "other_pairs")
    head += ("fetched_twice", "area", "mean_area", "seconds")
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(row[name]) for name in head) + " |")


if __name__ == "__main__":
    main()
