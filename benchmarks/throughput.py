"""How many pages a second does a crawl take, next to Scrapy that only fetches them?

    python -m benchmarks.throughput rates     # 10 made-up sites; or recorded ones:
    python -m benchmarks.throughput rates --web WARC,WARC --seeds URL,URL --langs en,fr
    python -m benchmarks.throughput rates --cores 2
    python -m benchmarks.throughput length    # one long crawl: 20,000 pages
    python -m benchmarks.throughput regress   # CI: has anything become slower?

Results go to benchmarks/results/throughput.json, one entry per mode, web and cores.
Every run is a process of its own; the pages come from another process
(benchmarks/webserver.py).

* rates: in turns, so many rounds, the crawls of `--entrants` (benchmarks/entrants.py
  says what each is; ours have everything on, only the politeness delay is 0). `bare` is
  Scrapy's tutorial with its default settings, and gets the pages that the first crawl
  of ours got with status 200. With `--cores 1` a crawl is pinned to one core and the
  server to another; with 2 a crawl may use both, the server too. A run with an
  exception ends the benchmark, one that misses a page is rejected and repeated. Then
  each of ours once more, with timers around its stages.
* length: one crawl of each profile. After every 1000 pages, what each of them took of
  the processor, and resident memory; of the process beside it too. With a drawing,
  length.svg.
* regress: the same in two minutes, on made-up sites. Only ratios within a round are
  looked at, and compared with those in benchmarks/results/pinned.json: one that has
  fallen by more than 15 % is an error, which names the stages that grew. `--pin` writes
  the file.

A page is an answer with status 200. `pages_per_cpu_s` is per second of the processor
time of the crawling process, which waits neither for others on the machine nor for the
server (less what it did with sentences while it waited: `spare_s`), or of the process
beside it that stores and pairs the pages, whichever took more: with a core for each,
that one sets the pace. `pages_per_s` is by the clock on the wall. Both are from the
first request to the last page; what the final pairs and their sentences take after
that is `finish_s`, and is done in the first round only, as `peak_mb` is the first's.
`ratio` is `pages_per_cpu_s`, on two cores `pages_per_s`, against that of `bare` in the
same round.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.drawing import pyplot, save
from benchmarks.entrants import TRAFILATURA, WITHOUT, crawl
from benchmarks.machine import machine, spread
from benchmarks.webserver import TOWN, towns

RESULTS = Path(__file__).parent / "results" / "throughput.json"
PINNED = RESULTS.with_name("pinned.json")
CORES = sorted(os.sched_getaffinity(0))
RATES_WEB, LENGTH_WEB = "town:10:50:1500", "town:10:1000:150"
REGRESS_WEB = "town:10:15:1500"
ENTRANTS = "bare,lean,breadth_first_plain,breadth_first,focused,adaptive,crawlspider"
WATCHED = "bare,breadth_first_plain,adaptive"  # by `regress`
FALL = 0.15  # of a ratio; less may be the machine's mood
TRIES = 3  # of a crawl that has not got all pages
PATIENCE = 2  # times that `regress` measures again before it believes a fall
MOST = 100  # pages that trafilatura takes of a site, one at a time


@contextmanager
def web(source: str, cores: int) -> Iterator[dict[str, str]]:
    """The environment of a process that crawls this web."""
    command = [sys.executable, str(Path(__file__).with_name("webserver.py")), source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        if cores == 1:
            os.sched_setaffinity(server.pid, {CORES[-1]})
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            others = {k: v for k, v in os.environ.items() if "_proxy" not in k.lower()}
            yield others | {"http_proxy": f"http://127.0.0.1:{port}"}
        finally:
            server.kill()


def run(name: str, env: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """One crawl in a process of its own; its run directory is gone afterwards."""
    options = {**options, "proxy": env["http_proxy"]}
    if name in TRAFILATURA:  # takes it for one that speaks SOCKS
        env = {key: value for key, value in env.items() if key != "http_proxy"}
    command = [sys.executable, "-m", "benchmarks.throughput", "crawl", name]
    child = subprocess.run(
        [*command, json.dumps(options)],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = [line for line in child.stdout.splitlines() if line.startswith("{")]
    if child.returncode or not lines:
        sys.exit(f"{name}: failed with status {child.returncode}\n{child.stdout}")
    row: dict[str, Any] = json.loads(lines[-1])
    if row["errors"]:
        sys.exit(f"{name}: {row['errors']} errors in the crawl\n{row}")
    row["pages"] = row["statuses"]["200"]
    row["pages_per_s"] = row["pages"] / row["wall_s"]
    row["pages_per_cpu_s"] = row["pages"] / max(row["cpu_s"], row["beside_s"])
    return row


class Race:
    """Rounds of crawls over one web, each crawl once a round."""

    def __init__(
        self, args: argparse.Namespace, env: dict[str, str], folder: Path
    ) -> None:
        """Crawl once with one of ours: it says which pages there are to fetch."""
        self.rows: dict[str, list[dict[str, Any]]] = {
            name: [] for name in args.entrants.split(",")
        }
        self.ours = [name for name in self.rows if name not in WITHOUT]
        self._env, self._folder = env, folder
        self._options = common_options(args) | {"urls": str(folder / "urls")}
        self._pages: dict[str, int] = {}  # that each has got at most
        run_dir = folder / "first"
        run(self.ours[0], env, self._options | {"run_dir": str(run_dir)})
        log = (run_dir / "crawl.jsonl").read_text().splitlines()
        visits = [json.loads(line) for line in log]
        urls = [visit["url"] for visit in visits if visit["status"] == 200]
        (folder / "urls").write_text("\n".join(urls))
        shutil.rmtree(run_dir)

    def one(self, name: str, **more: Any) -> dict[str, Any]:
        """One crawl; one that misses a page that an earlier one had is repeated."""
        for _ in range(TRIES):
            run_dir = self._folder / name
            options = self._options | more | {"run_dir": str(run_dir)}
            row = run(name, self._env, options)
            shutil.rmtree(run_dir, ignore_errors=True)
            self._pages[name] = max(row["pages"], self._pages.get(name, 0))
            print(
                f"{name:20} {row['pages']} pages, {row['pages_per_cpu_s']:6.1f}/CPU s,"
                f" {row['pages_per_s']:6.1f}/s",
                flush=True,
            )
            if row["pages"] == self._pages[name]:
                return row
        sys.exit(f"{name}: {row['pages']} pages, and before {self._pages[name]}")

    def rounds(self, count: int, *, finish: bool = False) -> None:
        """So many rounds; the first with the final pairs, if `finish`."""
        for number in range(count):
            for name, rows in self.rows.items():
                rows.append(self.one(name, finish=finish and number == 0))

    def ratios(self, name: str, rate: str = "pages_per_cpu_s") -> list[float]:
        """Round by round, against `bare`."""
        return [
            row[rate] / bare[rate]
            for row, bare in zip(self.rows[name], self.rows["bare"])
        ]

    def best(self, name: str) -> float:
        """The fastest round of all against the fastest of `bare`."""
        fastest = max(row["pages_per_cpu_s"] for row in self.rows[name])
        return float(fastest / max(row["pages_per_cpu_s"] for row in self.rows["bare"]))

    def stages(self, name: str) -> dict[str, float]:
        """Milliseconds of processor time a page, by stage."""
        row = self.one(name, stages=True, finish=False)
        return {
            stage: round(1000 * seconds / row["pages"], 3)
            for stage, seconds in row["stages_s"].items()
        }


def measure_rates(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    rate = "pages_per_cpu_s" if args.cores == 1 else "pages_per_s"
    with web(args.web, args.cores) as env:
        race = Race(args, env, folder)
        race.rounds(args.rounds, finish=True)
        stages = {name: race.stages(name) for name in race.ours}
    return {
        "rounds": args.rounds,
        "concurrency": args.concurrency,
        "entrants": {
            name: {
                "statuses": rows[0]["statuses"],
                "pages_per_cpu_s": spread([row["pages_per_cpu_s"] for row in rows]),
                "pages_per_s": spread([row["pages_per_s"] for row in rows]),
                "ratio": spread(race.ratios(name, rate), 3),
                "ratio_by_cpu": spread(race.ratios(name), 3),
                "cpu_ms_per_page": cpu_ms(rows, "cpu_s"),
                "cpu_ms_per_page_beside": cpu_ms(rows, "beside_s"),
                "finish_s": round(rows[0]["finish_s"], 2),
                "peak_mb": round(rows[0]["peak_mb"], 1),
            }
            for name, rows in race.rows.items()
        },
        "stages_ms_per_page": stages,
    }


def cpu_ms(rows: list[dict[str, Any]], which: str) -> dict[str, float]:
    return spread([1000 * row[which] / row["pages"] for row in rows], 2)


def measure_length(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    found = {}
    with web(args.web, args.cores) as env:
        for name in args.entrants.split(","):
            options = common_options(args) | {"run_dir": str(folder / name)}
            row = run(name, env, options)
            found[name] = {
                "answers": row["statuses"],
                "pages_per_cpu_s": round(row["pages_per_cpu_s"], 1),
                "samples": [by_page(*two) for two in pairwise(row["samples"])],
                "finish_s": round(row["finish_s"], 1),
                "peak_mb_with_finish": row["peak_mb"],
            }
            print(name, json.dumps(found[name]), flush=True)
    draw(found, args.out.with_name("length.svg"))
    return {"profiles": found}


def by_page(before: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    """What the pages between two samples took, each, and the memory after them."""
    pages = now["answers"] - before["answers"]
    spent = {
        name: round(1000 * (now[f"{name}_s"] - before[f"{name}_s"]) / pages, 2)
        for name in ("cpu", "beside")
    }
    return {
        "answers": now["answers"],
        "ms_per_page": spent["cpu"],
        "ms_per_page_beside": spent["beside"],
        "mb": round(now["mb"] + now["beside_mb"], 1),
    }


def draw(profiles: dict[str, Any], path: Path) -> None:
    """Time of a page, and memory, against pages so far."""
    figure, (times, memory) = pyplot().subplots(1, 2, figsize=(9, 3.6))
    for name, row in profiles.items():
        samples = row["samples"]
        answers = [sample["answers"] for sample in samples]
        for key, what in (("ms_per_page", "crawl"), ("ms_per_page_beside", "pages")):
            if any(sample[key] for sample in samples):
                times.plot(answers, [s[key] for s in samples], label=f"{name}, {what}")
        memory.plot(answers, [sample["mb"] for sample in samples], label=name)
    for axis, title in (
        (times, "ms of processor time a page, by process"),
        (memory, "memory of all processes, MB"),
    ):
        axis.set_ylim(bottom=0)
        axis.set_xlabel("pages so far")
        axis.set_title(title, fontsize=9)
        axis.legend(fontsize=7)
    figure.tight_layout()
    save(figure, path)


def regress(args: argparse.Namespace, folder: Path) -> None:
    """Compare ratios with the pinned ones; leave with an error if one has fallen."""
    with web(args.web, 1) as env:
        race = Race(args, env, folder)
        race.rounds(args.rounds)
        if args.pin:
            found = {
                name: {
                    "ratio": round(median(race.ratios(name)), 3),
                    "stages_ms_per_page": race.stages(name),
                    "bare_ms_per_page": round(bare_ms(race), 3),
                }
                for name in race.ours
            }
            PINNED.write_text(json.dumps(found, indent=1) + "\n")
            return
        pinned = json.loads(PINNED.read_text())
        for _ in range(PATIENCE):
            if not fallen(race, pinned):
                break
            race.rounds(args.rounds)
        for name in race.ours:
            ratio, best = median(race.ratios(name)), race.best(name)
            print(f"{name}: {ratio:.3f} ({best:.3f} at best) of bare")
            print(f"  pinned: {pinned[name]['ratio']}")
        if slower := fallen(race, pinned):
            sys.exit("\n".join(explained(race, name, pinned) for name in slower))


def fallen(race: Race, pinned: dict[str, Any]) -> list[str]:
    """By the median round and by the fastest ones: neighbours only make slower."""
    return [
        name
        for name in race.ours
        if max(median(race.ratios(name)), race.best(name))
        < (1 - FALL) * pinned[name]["ratio"]
    ]


def bare_ms(race: Race) -> float:
    """What a page costs `bare`, in milliseconds of processor time."""
    rates = [row["pages_per_cpu_s"] for row in race.rows["bare"]]
    return 1000 / median(rates)


def explained(race: Race, name: str, pinned: dict[str, Any]) -> str:
    """Which stages grew, in pages of `bare`, so that the machine does not matter."""
    before = pinned[name]
    bare = bare_ms(race)
    growth = {
        stage: ms / bare
        - before["stages_ms_per_page"].get(stage, 0.0) / before["bare_ms_per_page"]
        for stage, ms in race.stages(name).items()
    }
    worst = sorted(growth, key=growth.__getitem__, reverse=True)[:3]
    grown = ", ".join(f"{stage} by {growth[stage]:.0%}" for stage in worst)
    ratio = median(race.ratios(name))
    return (
        f"{name}: {ratio:.3f} of bare, and was {before['ratio']}; grown, as a share of"
        f" what a page costs bare: {grown} (mend it, or `regress --pin`)"
    )


def common_options(args: argparse.Namespace) -> dict[str, Any]:
    seeds = args.seeds
    if args.web.startswith(TOWN):
        homes = [url for site in towns(args.web) for url in site.seeds]
        seeds = ",".join(homes).replace("https:", "http:")
    return {
        "concurrency": args.concurrency,
        "seeds": seeds,
        "langs": args.langs,
        "most": MOST,
        "cores": args.cores,
        "finish": True,
    }


def table(rates: dict[str, Any]) -> str:
    lines = [
        "| crawl | pages | pages/CPU s | pages/s | of bare | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in rates["entrants"].items():
        cpu, wall = row["pages_per_cpu_s"], row["pages_per_s"]
        ratio = row["ratio"]
        lines.append(
            f"| {name} | {row['statuses']['200']}"
            f" | {cpu['median']} ({cpu['min']}-{cpu['max']})"
            f" | {wall['median']} ({wall['min']}-{wall['max']})"
            f" | {ratio['median']:.0%} ({ratio['min']:.0%}-{ratio['max']:.0%})"
            f" | {row['peak_mb']} |"
        )
    for name, stages in rates["stages_ms_per_page"].items():
        parts = ", ".join(f"{stage} {ms:.2f}" for stage, ms in stages.items())
        lines.append(f"\n{name}, ms a page: {parts}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("mode", choices=("rates", "length", "regress"))
    parser.add_argument("--web", help="WARC files, or town:SITES:CONCEPTS:WORDS")
    parser.add_argument("--seeds", help="of recorded sites")
    parser.add_argument("--langs", default="en,is")
    parser.add_argument("--entrants")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--cores", type=int, choices=(1, 2), default=1)
    parser.add_argument("--pin", action="store_true", help="these ratios from now on")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    webs = {"rates": RATES_WEB, "length": LENGTH_WEB, "regress": REGRESS_WEB}
    args.web = args.web or webs[args.mode]
    default = {"rates": ENTRANTS, "length": "breadth_first,adaptive"}
    args.entrants = args.entrants or default.get(args.mode, WATCHED)
    with tempfile.TemporaryDirectory() as folder:
        if args.mode == "regress":
            regress(args, Path(folder))
            return
        facts = machine("scrapy", "twisted")
        measure = measure_rates if args.mode == "rates" else measure_length
        result = {"machine": facts} | measure(args, Path(folder))
    names = [Path(part).name for part in args.web.split(",")]
    key = f"{args.mode} {','.join(names)}" + (" on 2 cores" if args.cores == 2 else "")
    report = json.loads(args.out.read_text()) if args.out.exists() else {}
    report[key] = result
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    if args.mode == "rates":
        print(table(result))


if __name__ == "__main__":
    if sys.argv[1:2] == ["crawl"]:
        chosen = json.loads(sys.argv[3])
        if chosen["cores"] == 1:
            os.sched_setaffinity(0, {CORES[0]})
        crawl(sys.argv[2], chosen)
    else:
        main()
