"""Kills, stops, full disks and disks that fail, some hundred at random moments.

    python -m benchmarks.crashes [--events 200] [--seed 1] [--out FILE]

Half of them befall crawls in one process, half crawls with a second one for pages. A
crawl is disturbed again and again until it ends before an event comes; then it must
have the pairs and the sentences of one that nobody disturbed, and have asked for no
more pages again than there were events. A law that is broken ends this program with
what was seen; the result file has the counts (tests/crash/events.py).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from tests.crash.events import Disturber, Result, build_library, build_town

RESULTS = Path(__file__).parent / "results" / "crashes.json"


def run(events: int, seed: int, *, apart: bool) -> dict[str, Any]:
    """Disturb crawls of one form until there were so many events."""
    total, started = Result(), time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library, town = build_library(folder), build_town(events)
        disturber = Disturber(folder, library, town, seed, apart=apart)
        disturber.calm()
        while (left := events - total.events.total()) > 0:
            total.add(disturber.disturb(left))
            print(total, flush=True)
    seconds = round(time.monotonic() - started)
    counts = {name: getattr(total, name) for name in Result.__slots__}
    counts["events"] = dict(total.events)
    return {"seed": seed, "seconds": seconds, **counts}


def main() -> None:
    """Disturb crawls of both forms, and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    half = options.events // 2
    found: dict[str, Any] = {"machine": machine("scrapy", "twisted")}
    with ThreadPoolExecutor(2) as threads:  # which wait for crawls
        one = threads.submit(run, half, options.seed, apart=False)
        two = threads.submit(run, options.events - half, options.seed + 1, apart=True)
        found |= {"one process": one.result(), "two processes": two.result()}
    options.out.write_text(json.dumps(found, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
