"""kill -9 at any moment: what was committed is there, once, and nothing by halves.

This file is also the program that is killed. Its steps are made by their number alone,
so a store in memory that takes the same steps knows what must be there.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

from crawler.data import FrontierEntry, StoredUrl, UrlState
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.frontier.stores.sqlite import SqliteFrontier
from crawler.protocols import FrontierStore

SITES = [f"{name}.is" for name in "abcdefgh"]
ROUNDS = 8


def step(store: FrontierStore, number: int) -> None:
    """Pages of a crawl: pop, push, release. What is not released stays leased."""
    draw = random.Random(number)
    for _ in range(5):
        entry = store.pop(draw.sample(SITES, 2))
        store.push(
            [
                FrontierEntry(
                    f"https://{site}/{draw.randrange(number * 30 + 100)}",
                    site,
                    draw.randrange(100) / 100,
                    number,
                    draw.randbytes(draw.randrange(2000)),
                )
                for site in draw.choices(SITES, k=40)
            ]
        )
        if entry and draw.random() < 0.9:
            store.release(entry.url, done=draw.random() < 0.8, score=draw.random())
    store.save("step", str(number).encode())


def crawl(path: str, first: int) -> None:
    store = SqliteFrontier.open(path)
    for number in count(first):
        step(store, number)
        store.commit()
        print(number, flush=True)


def known(store: FrontierStore) -> list[StoredUrl]:
    return [url for site in SITES for url in store.scan(site)]


def end_leases(store: FrontierStore) -> None:
    """What a kill does to leased URLs."""
    for url in known(store):
        if url.state == UrlState.LEASED:
            store.release(url.entry.url, done=False)


def test_a_killed_frontier_is_as_it_was_at_its_last_commit(tmp_path: Path):
    path = tmp_path / "frontier.sqlite"
    waits = random.Random(7)
    memory = MemoryFrontier()
    done = -1
    for _ in range(ROUNDS):
        child = subprocess.Popen(
            [sys.executable, __file__, str(path), str(done + 1)], stdout=subprocess.PIPE
        )
        assert child.stdout.readline()  # its first commit
        time.sleep(waits.uniform(0, 0.3))
        child.kill()
        told = child.communicate()[0].split()

        store = SqliteFrontier.open(path)
        reached = int(store.load("step"))
        # The last commit may have been made, and not been told any more.
        assert reached - int(told[-1] if told else done + 1) in (0, 1)
        for number in range(done + 1, reached + 1):
            step(memory, number)
        end_leases(memory)
        assert known(store) == known(memory)
        assert store.counts() == memory.counts()
        done = reached
        store.close()

    store = SqliteFrontier.open(path)
    order = iter(store.pop, None)
    assert list(order) == list(iter(memory.pop, None))
    store.close()


if __name__ == "__main__":
    crawl(sys.argv[1], int(sys.argv[2]))
