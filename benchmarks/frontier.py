"""How fast, how small and how lasting are the frontier's stores?

    python -m benchmarks.frontier                         # 1 M URLs, 10 minutes
    python -m benchmarks.frontier --urls 10000000 --stores sqlite --rounds 1

The second takes half an hour and 6 GB of the temporary directory (TMPDIR). Results go
to benchmarks/results/frontier.json, one row per (store, shape, URLs), with the least,
the median and the most of the rounds: other processes are on the machine as well.

What is done, each in a process of its own:

* grow: a crawl of pages. A page is popped, released as done with a payload, and 40
  links are pushed: 32 new URLs, 8 known ones with a new random score (half of them
  raised while they are young). Commit every 50 pages. URLs have 66 characters,
  payloads 80 bytes. The shape `giant` is one site, `sites` is 20,000 of them with nine
  of ten links within the site.
* drain: pop and release as done, with 16 leases and, in `sites`, 300 busy sites.
* kill: the process ends by SIGKILL, as a crawl would. Another one, with nothing of the
  file in the page cache, opens the file and pops one URL.

Rates are given by the wall clock and by the processor time of the process, which does
not wait for other processes or for the disk. `pushes_per_s` includes the commits;
`pops_per_s` is pop alone, and `pages_per_s` is pop, release and commit. RSS is the
process's peak.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.machine import machine, spread, status_mb
from crawler.data import FrontierEntry
from crawler.frontier.stores.open import open_frontier
from crawler.protocols import FrontierStore
from tests.redis_server import RedisServer

RESULTS = Path(__file__).parent / "results" / "frontier.json"
SITES = {"giant": 1, "sites": 20_000}
LINKS, NEW = 40, 32  # of a page
COMMIT_EVERY = 50  # pages
PAYLOAD = (
    b'{"source":"https://www.example.org/","anchor":"x","evidence":{"hreflang":1.0}}'
)
BUSY, LEASES = 300, 16


def pages(urls: int, sites: int) -> Iterator[list[FrontierEntry]]:
    """The links of page after page, until so many URLs were seen; always the same."""
    draw = random.Random(1).random
    seen = [0] * sites
    left = urls
    while left > 0:
        home = int(draw() * sites)
        batch = []
        for i in range(min(LINKS, left)):
            site = home if draw() < 0.9 else int(draw() * sites)
            number = seen[site]
            if i < NEW or not number:
                seen[site] += 1
                left -= 1
            else:
                number = int(draw() * number)
            # Mixed, so that neighbours on a page are no neighbours in any index.
            name = number * 2_654_435_761 % 2**32
            url = (
                f"https://www.site{site:05}.example/some/section/page-{name:012}/x.html"
            )
            batch.append(
                FrontierEntry(url, f"site{site:05}.example", draw(), 1, PAYLOAD)
            )
        yield batch


class Clock:
    """What each kind of call took, by the clock on the wall and on the processor."""

    def __init__(self) -> None:
        self.wall: Counter[str] = Counter()
        self.cpu: Counter[str] = Counter()
        self.pops: list[float] = []
        self.pops_cpu: list[float] = []
        self.slowest_commit = 0.0

    @contextmanager
    def __call__(self, kind: str) -> Iterator[None]:
        """Measure one call."""
        wall, cpu = perf_counter(), process_time()
        yield
        wall, cpu = perf_counter() - wall, process_time() - cpu
        self.wall[kind] += wall
        self.cpu[kind] += cpu
        if kind == "pop":
            self.pops.append(wall)
            self.pops_cpu.append(cpu)
        if kind == "commit":
            self.slowest_commit = max(self.slowest_commit, wall)

    def rates(self, count: int, *kinds: str) -> dict[str, int]:
        """How many a second of so many things that took these kinds of calls."""
        return {
            "wall": round(count / sum(self.wall[kind] for kind in kinds)),
            "cpu": round(count / sum(self.cpu[kind] for kind in kinds)),
        }

    def pop_ms(self) -> dict[str, dict[str, float]]:
        """How long pops take in milliseconds, on the wall and on the processor."""
        return {"pop_ms": _ms(self.pops), "pop_cpu_ms": _ms(self.pops_cpu)}


def _ms(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        name: round(ordered[int(len(ordered) * share)] * 1e3, 4)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999))
    } | {"max": round(ordered[-1] * 1e3, 2)}


def grow(store: FrontierStore, urls: int, sites: int) -> dict[str, Any]:
    clock, raised, pushed = Clock(), 0, 0
    for page, batch in enumerate(pages(urls, sites), start=1):
        with clock("pop"):
            entry = store.pop()
        if entry:
            with clock("release"):
                store.release(entry.url, done=True, payload=PAYLOAD)
        with clock("push"):
            counts = store.push(batch)
        pushed += len(batch)
        raised += counts.raised
        if page % COMMIT_EVERY == 0:
            with clock("commit"):
                store.commit()
    with clock("commit"):
        store.commit()
    return {
        "pushes": pushed,
        "raised": raised,
        "pushes_per_s": clock.rates(pushed, "push", "commit"),
        "pushes_per_s_without_commits": clock.rates(pushed, "push"),
        "slowest_commit_ms": round(clock.slowest_commit * 1e3),
        **clock.pop_ms(),
    }


def drain(store: FrontierStore, pops: int, sites: int) -> dict[str, Any]:
    clock = Clock()
    busy = {f"site{i:05}.example" for i in range(BUSY)} if sites > BUSY else set()
    leases: deque[str] = deque()
    for page in range(1, pops + 1):
        with clock("pop"):
            entry = store.pop(busy)
        assert entry is not None
        leases.append(entry.url)
        if len(leases) > LEASES:
            with clock("release"):
                store.release(leases.popleft(), done=True, payload=PAYLOAD)
        if page % COMMIT_EVERY == 0:
            with clock("commit"):
                store.commit()
    return {
        "pops": pops,
        "pops_per_s": clock.rates(pops, "pop"),
        "pages_per_s": clock.rates(pops, "pop", "release", "commit"),
        **clock.pop_ms(),
    }


def crawl_and_die(frontier: str, shape: str, urls: int) -> None:
    """In a child: print what was measured, then end as badly as a process can."""
    before = status_mb("VmRSS")
    store = open_frontier(frontier)
    row: dict[str, Any] = {"grow": grow(store, urls, SITES[shape])}
    row["rss_mb_before"], row["rss_mb_grown"] = before, status_mb("VmHWM")
    row["drain"] = drain(store, min(200_000, urls // 4), SITES[shape])
    row["rss_mb"] = status_mb("VmHWM")
    print(json.dumps(row), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def reopen(frontier: str) -> None:
    """In a child: open what the killed one left."""
    for path in Path(frontier.partition(":")[2]).parent.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    start = perf_counter()
    store = open_frontier(frontier)
    opened = perf_counter() - start
    entry = store.pop()
    first = perf_counter() - start - opened
    assert entry is not None
    counts = dict(store.counts())
    store.close()
    row = {"open_s": opened, "first_pop_s": first, "rss_mb": status_mb("VmHWM")}
    print(json.dumps({k: round(v, 4) for k, v in row.items()} | {"counts": counts}))


def child(step: str, frontier: str, shape: str, urls: int) -> dict[str, Any]:
    command = [sys.executable, __file__, step, frontier, shape, str(urls)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if not result.stdout.strip():
        sys.exit(f"{step} {frontier}: failed with status {result.returncode}")
    return json.loads(result.stdout)


def measure_redis(shape: str, urls: int) -> dict[str, Any]:
    """The same with a server beside it; its memory counts, too."""
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as server:
        before = server.memory()
        row = child("crawl", server.url("run"), shape, urls)
        row["redis_bytes_per_url"] = round((server.memory() - before) / urls)
    memory = row["rss_mb_grown"] - row["rss_mb_before"]
    return row | {"ram_bytes_per_url": round(memory * 2**20 / urls)}


def measure(store: str, shape: str, urls: int) -> dict[str, Any]:
    if store == "redis":
        return measure_redis(shape, urls)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frontier.sqlite"
        frontier = "memory:" if store == "memory" else f"{store}:{path}"
        row = child("crawl", frontier, shape, urls)
        memory = row["rss_mb_grown"] - row["rss_mb_before"]
        row["ram_bytes_per_url"] = round(memory * 2**20 / urls)
        if store == "sqlite":
            row["reopened"] = child("reopen", frontier, shape, urls)
            row["disk_bytes_per_url"] = round(path.stat().st_size / urls)
    return row


def spreads(rows: list[Any]) -> Any:
    """The same table of numbers several times → one table of their spreads."""
    first = rows[0]
    if isinstance(first, dict):
        return {name: spreads([row[name] for row in rows]) for name in first}
    return spread(rows, 4)


COLUMNS = {
    "pushes/s": ("grow", "pushes_per_s", "wall"),
    "pushes/CPU s": ("grow", "pushes_per_s", "cpu"),
    "pops/s": ("drain", "pops_per_s", "wall"),
    "pops/CPU s": ("drain", "pops_per_s", "cpu"),
    "pop p99 ms": ("drain", "pop_ms", "p99"),
    "peak MB": ("rss_mb",),
    "reopen s": ("reopened", "open_s"),
}


def table(rows: list[dict[str, Any]]) -> str:
    """The figures that count, as median (least-most)."""
    lines = ["| store | shape | URLs | " + " | ".join(COLUMNS) + " |"]
    lines.append("|---" * (3 + len(COLUMNS)) + "|")
    for row in rows:
        cells = [row["store"], row["shape"], f"{row['urls']:,}"]
        for path in COLUMNS.values():
            found = row
            for name in path:
                found = found.get(name, {})
            digits = ",.0f" if found and found["median"] >= 100 else ".3g"
            cells.append(
                f"{found['median']:{digits}} ({found['min']:{digits}}-"
                f"{found['max']:{digits}})"
                if found
                else "-"
            )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--stores", default="memory,sqlite")
    parser.add_argument("--shapes", default="giant,sites")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    kinds = [
        (s, shape) for s in args.stores.split(",") for shape in args.shapes.split(",")
    ]
    facts = machine() | {"sqlite": sqlite3.sqlite_version, "rounds": args.rounds}
    found: dict[tuple[str, str], list[Any]] = {kind: [] for kind in kinds}
    for _ in range(args.rounds):
        for store, shape in kinds:
            found[store, shape].append(measure(store, shape, args.urls))
            print(store, shape, json.dumps(found[store, shape][-1]), flush=True)
    report = json.loads(args.out.read_text()) if args.out.exists() else {"rows": []}
    kept = [
        row
        for row in report["rows"]
        if row["urls"] != args.urls or (row["store"], row["shape"]) not in found
    ]
    new = [
        {"store": store, "shape": shape, "urls": args.urls, "machine": facts}
        | spreads(rounds)
        for (store, shape), rounds in found.items()
    ]
    rows = sorted(kept + new, key=lambda r: (r["urls"], r["store"], r["shape"]))
    args.out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    print(table(rows))


if __name__ == "__main__":
    if sys.argv[1:2] == ["crawl"]:
        crawl_and_die(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    elif sys.argv[1:2] == ["reopen"]:
        reopen(sys.argv[2])
    else:
        main()
