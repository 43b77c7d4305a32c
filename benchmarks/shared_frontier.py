"""How fast is the frontier in Redis with several workers, and what does it take?

    python -m benchmarks.shared_frontier                          # 5 M URLs, 4 workers
    python -m benchmarks.shared_frontier --urls 200000 --sites 20000   # tiny sites

Workers are processes of their own. Each has its share of the sites:

* push: pages of 40 links (`benchmarks.frontier.pages`), nine of ten on one site, 8 of
  them known; a commit every 10 pages. Links to sites of other workers are handed over.
* pop: pop, release as done with a payload, commit after each page, as a crawl does.
* finish: all that is left, and let go of the sites.

Rates are those of all workers together, by the clock on the wall, and by the processor
time of workers and redis-server together, which waits for no neighbours: two free
cores do twice as many a second. Bytes are what
redis-server says of its memory (`used_memory`): per URL when all are pending, and
when all are finished.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.frontier import PAYLOAD, pages
from benchmarks.machine import machine
from crawler.data import FrontierEntry
from crawler.frontier.stores.redis import RedisFrontier
from tests.redis_server import RedisServer

RESULTS = Path(__file__).parent / "results" / "shared_frontier.json"
COMMIT_EVERY = 10  # pages
PAGES = 5000  # that each worker pops


def links(urls: int, sites: int, worker: int) -> Iterator[list[FrontierEntry]]:
    """The pages of a worker: its own sites, and now and then one of all."""
    draw = random.Random(worker).random
    for batch in pages(urls, sites):
        yield [
            FrontierEntry(
                entry.url.replace("://www.", f"://w{worker}."),
                f"w{worker}.{entry.site}",
                entry.score,
                entry.depth,
                entry.payload,
            )
            for entry in batch
            if draw() > 0.01
        ]


def work(frontier: str, urls: int, sites: int, worker: int, pipe: Connection) -> None:
    """A worker: does each step when it is told, and says what it has done."""
    store = RedisFrontier.open(f"{frontier}&worker={worker}&pause=0&lease=3600")
    batches = list(links(urls, sites, worker))
    pipe.send((0, time.process_time()))
    pipe.recv()
    pushed = 0
    for page, batch in enumerate(batches, start=1):
        pushed += len(batch)
        store.push(batch)
        if page % COMMIT_EVERY == 0:
            store.commit()
    store.commit()
    pipe.send((pushed, time.process_time()))
    del batches
    pipe.recv()
    popped = 0
    while popped < PAGES and (entry := store.pop()):
        store.release(entry.url, done=True, payload=PAYLOAD)
        store.commit()
        popped += 1
    pipe.send((popped, time.process_time()))
    pipe.recv()
    finished = 0
    while entry := store.pop():
        store.release(entry.url, done=True, payload=PAYLOAD)
        finished += 1
        if finished % 50 == 0:
            store.commit()
    store.close()
    pipe.send((finished, time.process_time()))
    pipe.recv()


def measure(urls: int, sites: int, workers: int) -> dict[str, Any]:
    """One run, from an empty Redis to a part of the URLs finished."""
    context = multiprocessing.get_context("spawn")
    pipes = []
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as server:
        share = urls // workers, -(-sites // workers)
        for worker in range(workers):
            ours, theirs = context.Pipe()
            args = (server.url("run"), *share, worker, theirs)
            context.Process(target=work, args=args, daemon=True).start()
            pipes.append(ours)
        used = 0.0  # seconds of processors

        def answers() -> tuple[int, float]:
            """What all have done, and the processor time that it took."""
            nonlocal used
            counts, times = zip(*(pipe.recv() for pipe in pipes), strict=True)
            with server.client() as client:
                cpu = client.info("cpu")
            before = used
            used = sum(times) + cpu["used_cpu_user"] + cpu["used_cpu_sys"]
            return sum(counts), used - before

        def step() -> tuple[int, dict[str, int], int]:
            """How many of all workers, how many a second, and the memory after it."""
            started = time.perf_counter()
            for pipe in pipes:
                pipe.send(None)
            count, cpu = answers()
            wall = time.perf_counter() - started
            rates = {"wall": round(count / wall), "cpu": round(count / cpu)}
            return count, rates, server.memory()

        answers()  # all are ready

        empty = server.memory()
        pushed, push_rate, grown = step()
        _, pop_rate, _ = step()
        _, _, after = step()
        with server.client() as client:
            totals = client.hgetall("{bifocal:run}:totals")
        for pipe in pipes:
            pipe.send(None)
    known = int(totals[b"pending"]) + int(totals[b"done"])
    pending = (grown - empty) / known
    return {
        "workers": workers,
        "sites": sites,
        "urls": known,
        "pushed": pushed,
        "pushed_per_s": push_rate,
        "popped_per_s": pop_rate,
        "bytes_per_pending": round(pending, 1),
        "bytes_per_finished": round((after - empty) / known, 1),
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--urls", type=int, default=5_000_000)
    parser.add_argument("--sites", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args(argv)
    row = measure(args.urls, args.sites, args.workers)
    row["machine"] = machine("redis")
    print(json.dumps(row, indent=1))
    rows = json.loads(args.out.read_text())["rows"] if args.out.exists() else []
    same = ("workers", "sites", "urls")
    rows = [old for old in rows if any(old[name] != row[name] for name in same)]
    args.out.write_text(json.dumps({"rows": [*rows, row]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
