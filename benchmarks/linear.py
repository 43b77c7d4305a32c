"""Twice the input, twice the cost? Every reader, over shapes made to cost more.

    python -m benchmarks.linear [--only READER ...] [--shape NAME ...] [--out FILE]

Each shape of tests/hostile/shapes.py is read at half of its size and at the whole, each
time in a process of its own, which tells its processor time and the memory that it took
beside what it had. The ratio of the two is 2 for a linear reader; the goal is 2.3. What
takes less than 0.05 s or 4 MB cannot be told apart from nothing and has no ratio. The
quickest of some rounds counts; a ratio above the goal is measured in more rounds, for
what else a machine does can only add time. Readers that are left out by --only keep
their rows of the last run.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import resource
import signal
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from tests.fuzz.targets import TARGETS
from tests.hostile.shapes import SHAPES

RESULTS = Path(__file__).parent / "results" / "linear.json"
# Bytes, whole: the most that a reader takes where it has a bound, else what takes some
# tenths of a second.
SIZES = {
    "page": 4_900_000,  # of 5,000,000 the end, which may close a quote, is cut off
    "encoded_page": 4_900_000,
    "sitemap": 20_000_000,
    "packed_sitemap": 40_000_000,
    "robots": 512_000,
    "response": 20_000_000,
    "warc": 8_000_000,
    "arc": 20_000_000,
    "lett": 20_000_000,
    "cdxj": 8_000_000,
    "wet": 20_000_000,
    "visits": 20_000_000,
}
_ROUNDS, _MORE_ROUNDS = 2, 6
_GOAL = 2.3
_SECONDS, _MEGABYTES = 0.05, 4.0  # less is noise
_MOST_SECONDS, _MOST_BYTES = 100, 8 * 2**30  # of a process


def measure(reader: str, data: bytes) -> tuple[float, float] | None:
    """Processor seconds and megabytes of one reading; None if it was killed."""
    output, put = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        before = resource.getrusage(resource.RUSAGE_SELF)
        status = 1
        try:
            TARGETS[reader](data)
            after = resource.getrusage(resource.RUSAGE_SELF)
            seconds = (
                after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            )
            megabytes = (after.ru_maxrss - before.ru_maxrss) / 1024
            os.write(put, json.dumps([seconds, megabytes]).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(put)
    with os.fdopen(output, "rb") as file:
        told = file.read()
    os.waitpid(child, 0)
    return tuple(json.loads(told)) if told else None


def ratio(half: float, whole: float, least: float) -> float | None:
    """How many times as much; None where even the whole is too little to say."""
    return round(whole / max(half, least / 2), 2) if whole >= least else None


def row(reader: str, name: str, size: int, rounds: int) -> dict[str, Any]:
    """What a shape costs at half of the size and at the whole."""
    inputs = [SHAPES[reader][name](part) for part in (size // 2, size)]
    least = [(math.inf, math.inf)] * len(inputs)
    for number in range(_MORE_ROUNDS):
        for place, data in enumerate(inputs):
            found = measure(reader, data)
            if found is None:
                return {"bytes": size, "killed": True}
            least[place] = tuple(map(min, least[place], found))
        half, whole = least
        time_ratio = ratio(half[0], whole[0], _SECONDS)
        if number + 1 >= rounds and (time_ratio is None or time_ratio <= _GOAL):
            break
    return {
        "bytes": size,
        "seconds": round(whole[0], 3),
        "megabytes": round(whole[1], 1),
        "time_ratio": time_ratio,
        "memory_ratio": ratio(half[1], whole[1], _MEGABYTES),
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=list(SIZES), metavar="READER")
    parser.add_argument("--shape", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--share", type=float, default=1.0, help="of the sizes")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    logging.disable()
    for target in TARGETS.values():
        target(b"")  # imports and tables belong to no shape
    rows = {
        reader: {
            name: row(reader, name, int(SIZES[reader] * options.share), options.rounds)
            for name in SHAPES[reader]
            if not options.shape or name in options.shape
        }
        for reader in options.only
    }
    for reader, shapes in rows.items():
        for name, one in sorted(
            shapes.items(), key=lambda i: -i[1].get("seconds", 1e9)
        ):
            print(f"{reader:15}{name:32}", *(f"{k}={v}" for k, v in one.items()))
    if not options.shape and options.share == 1:
        known = json.loads(options.out.read_text()) if options.out.exists() else {}
        told = {
            "machine": machine("selectolax", "lxml", "fastwarc"),
            "shapes": known.get("shapes", {}) | rows,
        }
        options.out.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
