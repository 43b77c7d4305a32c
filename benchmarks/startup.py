"""How long until a command does something?

    python -m benchmarks.startup

Results go to benchmarks/results/startup.json. Each verb of `bifocal` is asked for its
help, which imports what it needs to understand a command line; `scrapy crawl` with the
shipped models is started on an empty replay world and ends when it would ask for its
first page. By the clock on the wall, and processor time, which does not wait for
others; compiled bytecode and the files themselves are in the page cache.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import crawler.cli
from benchmarks.machine import machine, spread

RESULTS = Path(__file__).parent / "results" / "startup.json"
# Within the code of the console script: what pip writes for `bifocal`.
BIFOCAL = [sys.executable, "-c", "import crawler.cli; crawler.cli.main()"]


def took(command: list[str]) -> tuple[float, float]:
    """Wall clock and processor time of a command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    wall = perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def crawl(folder: Path) -> list[str]:
    """A crawl that is stopped when it asks for its first page."""
    return [
        *(sys.executable, "-m", "scrapy", "crawl", "bilingual"),
        *("-a", "seeds=https://example.org/", "-a", "langs=en,is"),
        *("-s", f"RUN_DIR={folder / 'run'}", "-s", "LOG_LEVEL=ERROR"),
        *("-s", "DOWNLOADER=benchmarks.startup.NoDownloader"),
    ]


class NoDownloader:
    """Scrapy's downloader, which ends the process at the first request."""

    def __init__(self, _crawler: Any) -> None:
        self.active: set[Any] = set()

    def needs_backout(self) -> bool:
        """There is room."""
        return False

    def fetch(self, _request: Any) -> None:
        """Ready to fetch: done."""
        os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    verbs = [module.name for module in pkgutil.iter_modules(crawler.cli.__path__)]
    commands = {"python, doing nothing": [sys.executable, "-c", "pass"]}
    commands["bifocal --help"] = [*BIFOCAL, "--help"]
    commands |= {f"bifocal {verb} --help": [*BIFOCAL, verb, "--help"] for verb in verbs}
    facts = machine("scrapy")
    times: dict[str, list[tuple[float, float]]] = {}
    for _ in range(args.rounds):
        for name, command in commands.items():
            times.setdefault(name, []).append(took(command))
        with tempfile.TemporaryDirectory() as folder:
            row = took(crawl(Path(folder)))
        times.setdefault("scrapy crawl, ready to fetch", []).append(row)
    rows = {
        name: {
            "wall_s": spread([wall for wall, _ in found], 3),
            "cpu_s": spread([cpu for _, cpu in found], 3),
        }
        for name, found in times.items()
    }
    args.out.write_text(
        json.dumps({"machine": facts, "rounds": args.rounds, "rows": rows}, indent=1)
        + "\n"
    )
    for name, row in rows.items():
        wall, cpu = row["wall_s"]["median"], row["cpu_s"]["median"]
        print(f"{name:32} {wall:6.3f} s, processor {cpu:6.3f} s")


if __name__ == "__main__":
    main()
