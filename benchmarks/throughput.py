"""How many pages a second does a crawl take, next to Scrapy that only fetches them?

    python -m benchmarks.throughput rates     # 10 made-up sites; or a recorded one:
    python -m benchmarks.throughput rates --web WARC --seeds URL --langs en,fr
    python -m benchmarks.throughput memory    # 50,000 pages

Results go to benchmarks/results/throughput.json, one entry per mode and web. Every run
is a process of its own, pinned to one core; the pages come from another process on
another core (benchmarks/webserver.py).

* rates: in turns, so many rounds, `bare` and the profiles of `--profiles`. `bare` is a
  Scrapy spider that fetches the URLs that the first crawl fetched, and does nothing
  with them: Scrapy's defaults with the same concurrency, redirects and errors taken as
  they come. The profiles are settings/*.py with everything on: WARC, language, links,
  scores, the aligner and all outputs; only the politeness delay is 0. A run with an
  exception, or with other answers than the first one had, ends the benchmark.
* memory: one crawl of each profile, and the process's resident memory after every 1000
  pages.

`pages_per_cpu_s` is per second of the processor time of the crawling process, which
waits neither for others on the machine nor for the server; `pages_per_s` is by the
clock on the wall. Both are from the first request to the last page; what the final
pairing takes after that is `finish_s`. `ratio` is `pages_per_cpu_s` against that of
`bare` in the same round.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Self

from scrapy import Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings

from benchmarks.machine import machine, spread, status_mb
from benchmarks.webserver import TOWN, towns

RESULTS = Path(__file__).parent / "results" / "throughput.json"
CLIENT_CORE, SERVER_CORE = 0, (os.cpu_count() or 1) - 1
SAMPLE_EVERY = 1000  # pages
RATES_WEB, MEMORY_WEB = "town:10:30:1500", "town:10:2500:150"


# --------------------------------------------------- in the process of a crawl


class Stopwatch:
    """Scrapy extension: what a crawl took, as JSON on standard output."""

    def __init__(self, crawler: Crawler) -> None:
        """Watch this crawler."""
        self._crawler = crawler
        self._statuses: Counter[int] = Counter()
        self._memory: list[tuple[int, float]] = []
        self._marks: list[tuple[float, float]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for the start, every answer, and the two ends."""
        watch = cls(crawler)
        connect = crawler.signals.connect
        connect(watch.mark, signal=signals.engine_started)
        connect(watch.mark, signal=signals.spider_closed)
        connect(watch.report, signal=signals.engine_stopped)
        connect(watch.count, signal=signals.response_received)
        return watch

    def mark(self) -> None:
        """Note the time."""
        self._marks.append((perf_counter(), process_time()))

    def count(self, response: Any) -> None:
        """Count an answer; now and then look at the memory."""
        self._statuses[response.status] += 1
        if self._statuses.total() % SAMPLE_EVERY == 0:
            self._memory.append((self._statuses.total(), status_mb("VmRSS")))

    def report(self) -> None:
        """Print what was measured."""
        self.mark()
        (start, start_cpu), (end, end_cpu), (closed, _) = self._marks
        stats = self._crawler.stats.get_stats()
        print(
            json.dumps(
                {
                    "answers": self._statuses.total(),
                    "statuses": dict(sorted(self._statuses.items())),
                    "wall_s": end - start,
                    "cpu_s": end_cpu - start_cpu,
                    "finish_s": closed - end,
                    "rss_mb": self._memory,
                    "peak_mb": status_mb("VmHWM"),
                    "errors": sum(
                        count
                        for name, count in stats.items()
                        if name.startswith(("spider_exceptions/", "log_count/ERROR"))
                        or name.endswith("exception_count")
                    ),
                }
            )
        )


class BareSpider(Spider):
    """Fetches a list of URLs."""

    name = "bare"

    def __init__(self, urls: str) -> None:
        """Take the name of a file of URLs."""
        super().__init__()
        self.start_urls = Path(urls).read_text().split()

    def parse(self, response: Any) -> None:
        """Do nothing."""


def bare_settings(concurrency: int) -> Settings:
    return Settings(
        {
            "CONCURRENT_REQUESTS": concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
            # every answer is counted as it is, as the crawl does
            "REDIRECT_ENABLED": False,
            "METAREFRESH_ENABLED": False,
            "RETRY_ENABLED": False,
            "HTTPERROR_ALLOW_ALL": True,
            # servers of Scrapy's own have nothing to do with fetching
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "LOG_LEVEL": "WARNING",
        }
    )


def profile_settings(profile: str, concurrency: int, run_dir: str) -> Settings:
    settings = Settings()
    settings.setmodule(f"settings.{profile}", priority="project")
    changed = {
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": concurrency,
        "RUN_DIR": run_dir,
        "LOG_LEVEL": "WARNING",
        # Scrapy counts what is logged as an error only with this one
        "EXTENSIONS_BASE": {
            **settings["EXTENSIONS_BASE"],
            "scrapy.extensions.logcount.LogCount": 0,
        },
    }
    settings.update(changed, priority="cmdline")
    return settings


def crawl(profile: str, options: dict[str, Any]) -> None:
    """In a child: one crawl."""
    os.sched_setaffinity(0, {CLIENT_CORE})
    concurrency = options["concurrency"]
    if profile == "bare":
        spider: Any = BareSpider
        settings = bare_settings(concurrency)
        arguments = {"urls": options["urls"]}
    else:
        spider = "bilingual"
        settings = profile_settings(profile, concurrency, options["run_dir"])
        arguments = {"seeds": options["seeds"], "langs": options["langs"]}
    settings.set("EXTENSIONS", {**settings["EXTENSIONS"], Stopwatch: 1}, "cmdline")
    process = AsyncCrawlerProcess(settings)
    process.crawl(process.create_crawler(spider), **arguments)
    process.start()


# ------------------------------------------------------------ around the crawls


@contextmanager
def web(source: str) -> Iterator[dict[str, str]]:
    """The environment of a process that crawls this web."""
    command = [sys.executable, str(Path(__file__).with_name("webserver.py")), source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        os.sched_setaffinity(server.pid, {SERVER_CORE})
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            others = {k: v for k, v in os.environ.items() if "_proxy" not in k.lower()}
            yield others | {"http_proxy": f"http://127.0.0.1:{port}"}
        finally:
            server.kill()


def run(profile: str, env: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "crawl", profile, json.dumps(options)]
    child = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, text=True, check=False
    )
    lines = [line for line in child.stdout.splitlines() if line.startswith("{")]
    if child.returncode or not lines:
        sys.exit(f"{profile}: failed with status {child.returncode}\n{child.stdout}")
    row: dict[str, Any] = json.loads(lines[-1])
    if row["errors"]:
        sys.exit(f"{profile}: {row['errors']} errors in the crawl\n{row}")
    row["pages_per_s"] = row["answers"] / row["wall_s"]
    row["pages_per_cpu_s"] = row["answers"] / row["cpu_s"]
    return row


def measure_rates(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    options = common_options(args)
    rows: dict[str, list[dict[str, Any]]] = {"bare": []}
    rows |= {profile: [] for profile in args.profiles.split(",")}
    options["urls"] = str(folder / "urls")
    with web(args.web) as env:
        options["run_dir"] = str(folder / "first")
        first = run(args.profiles.partition(",")[0], env, options)["statuses"]
        log = (folder / "first" / "crawl.jsonl").read_text().splitlines()
        visits = [json.loads(line) for line in log]
        Path(options["urls"]).write_text("\n".join(visit["url"] for visit in visits))
        logged = dict(Counter(str(visit["status"]) for visit in visits))
        for number in range(args.rounds):
            for profile, found in rows.items():
                options["run_dir"] = str(folder / f"{profile}{number}")
                row = run(profile, env, options)
                if row["statuses"] != (logged if profile == "bare" else first):
                    sys.exit(f"{profile}: {row['statuses']}, and at first {first}")
                found.append(row)
                print(
                    f"{profile:15} {row['answers']} answers,"
                    f" {row['pages_per_cpu_s']:6.1f} pages/CPU s,"
                    f" {row['pages_per_s']:6.1f} pages/s",
                    flush=True,
                )
    bare = [row["pages_per_cpu_s"] for row in rows["bare"]]
    return {
        "answers": first,
        "rounds": args.rounds,
        "concurrency": args.concurrency,
        "profiles": {
            profile: {
                "pages_per_cpu_s": spread([row["pages_per_cpu_s"] for row in found]),
                "pages_per_s": spread([row["pages_per_s"] for row in found]),
                "ratio": spread(
                    [row["pages_per_cpu_s"] / b for row, b in zip(found, bare)], 3
                ),
                "finish_s": spread([row["finish_s"] for row in found], 2),
                "peak_mb": spread([row["peak_mb"] for row in found]),
            }
            for profile, found in rows.items()
        },
    }


def measure_memory(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    found = {}
    with web(args.web) as env:
        for profile in args.profiles.split(","):
            options = common_options(args) | {"run_dir": str(folder / profile)}
            row = run(profile, env, options)
            found[profile] = {
                "answers": row["statuses"],
                "pages_per_cpu_s": round(row["pages_per_cpu_s"], 1),
                "rss_mb_after_pages": row["rss_mb"],
                "finish_s": round(row["finish_s"], 1),
                "peak_mb_with_finish": row["peak_mb"],
            }
            print(profile, json.dumps(found[profile]), flush=True)
    return {"profiles": found}


def common_options(args: argparse.Namespace) -> dict[str, Any]:
    seeds = args.seeds
    if args.web.startswith(TOWN):
        homes = [url for site in towns(args.web) for url in site.seeds]
        seeds = ",".join(homes).replace("https:", "http:")
    return {"concurrency": args.concurrency, "seeds": seeds, "langs": args.langs}


def table(rates: dict[str, Any]) -> str:
    lines = [
        "| crawl | pages/CPU s | pages/s | of bare | peak MB |",
        "|---|---|---|---|---|",
    ]
    for profile, row in rates["profiles"].items():
        cpu, wall = row["pages_per_cpu_s"], row["pages_per_s"]
        ratio = row["ratio"]
        lines.append(
            f"| {profile} | {cpu['median']} ({cpu['min']}-{cpu['max']})"
            f" | {wall['median']} ({wall['min']}-{wall['max']})"
            f" | {ratio['median']:.0%} ({ratio['min']:.0%}-{ratio['max']:.0%})"
            f" | {row['peak_mb']['median']} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("mode", choices=("rates", "memory"))
    parser.add_argument("--web", help="WARC file, or town:SITES:CONCEPTS:WORDS")
    parser.add_argument("--seeds", help="of a recorded site")
    parser.add_argument("--langs", default="en,is")
    parser.add_argument("--profiles", default="breadth_first,adaptive")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    rates = args.mode == "rates"
    args.web = args.web or (RATES_WEB if rates else MEMORY_WEB)
    report = json.loads(args.out.read_text()) if args.out.exists() else {}
    facts = machine("scrapy", "twisted")
    with tempfile.TemporaryDirectory() as folder:
        measure = measure_rates if rates else measure_memory
        result = {"machine": facts} | measure(args, Path(folder))
    report[f"{args.mode} {args.web.rpartition('/')[2]}"] = result
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    if rates:
        print(table(result))


if __name__ == "__main__":
    if sys.argv[1:2] == ["crawl"]:
        crawl(sys.argv[2], json.loads(sys.argv[3]))
    else:
        main()
