"""Workers on one frontier, killed at random moments or thought dead; Redis, killed.

    export BIFOCAL_WORKER_KILLS=30 BIFOCAL_LATE_RETURNS=5 BIFOCAL_REDIS_KILLS=5
    export BIFOCAL_REDIS_GONE=60  # seconds
    python -m pytest -s tests/crash/test_workers.py

What happened is read from the servers' own logs: each worker has a user agent of its
own, so they say who asked for what, and when.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from crawler.aligner.aligner import Aligner, take_in
from crawler.data import LangPair
from crawler.extract.document import read_page
from crawler.warc.reader import iter_pages
from tests.commands import PATIENCE, crawling
from tests.redis_server import RedisServer
from tests.webserver import Asked, serving, text
from tests.worlds import build_site

WORKER_KILLS = int(os.environ.get("BIFOCAL_WORKER_KILLS", "1"))
LATE_RETURNS = int(os.environ.get("BIFOCAL_LATE_RETURNS", "1"))
REDIS_KILLS = int(os.environ.get("BIFOCAL_REDIS_KILLS", "1"))
REDIS_GONE = float(os.environ.get("BIFOCAL_REDIS_GONE", "6"))  # longer than a lease
WORKERS = ("a", "b")
SITES = [
    build_site(f"town{n}.example", concepts=4 + n, words=60, seed=n) for n in range(4)
]
DELAY = 0.3  # seconds
ON_THE_WAY = 2  # pages of a worker: the sites that it has not begun go to the other
SETTINGS = {
    "DOWNLOAD_DELAY": DELAY,
    "CONCURRENT_REQUESTS": ON_THE_WAY,
    "RETRY_WAIT": 0.1,
    "SENTENCES": False,
}
# A busy machine may stop a worker for a second or two, and that is no death.
LEASE, PAUSE = 4, 0.5


@dataclass
class Outcome:
    """What became of a crawl that was disturbed."""

    moment: int  # requests before it was
    pairs: set[tuple[str, str]]
    logs: list[list[Asked]]  # of each server

    @property
    def twice(self) -> list[int]:
        """For each server, how often a page was asked for that it had given before."""
        asked = [[a.path for a in log if a.path != "/robots.txt"] for log in self.logs]
        return [len(paths) - len(set(paths)) for paths in asked]

    @property
    def shortest_gap(self) -> float:
        """Seconds between the end of an answer and the next request to that server."""
        return min(
            after.came - before.answered
            for log in self.logs
            for before, after in pairwise(log)
        )

    @property
    def owners(self) -> list[list[str]]:
        """Who asked each server, in turn."""
        return [
            [name for name, _ in groupby(log, key=lambda a: a.headers["user-agent"])]
            for log in self.logs
        ]


def pairs_of(warcs: Sequence[Path]) -> set[tuple[str, str]]:
    """What `bifocal align` finds, by the functions that it calls."""
    with Aligner(LangPair("en", "is")) as aligner:
        # a worker that was stopped before its first page has none
        for page in iter_pages([folder for folder in warcs if any(folder.glob("*"))]):
            take_in(aligner, [read_page(page)])
        return {(pair.src_url, pair.trg_url) for pair in aligner.finish()}


@pytest.fixture(scope="module")
def servers():
    with serving(SITES, "127.0.4") as started:
        yield started


def disturbed(servers, redis: RedisServer, folder: Path, kill) -> Outcome:
    """Two workers; `kill(moments, processes)` says what is killed, and kills it."""
    go = threading.Event()

    def robots(connection) -> None:
        """Nobody fetches a page before all workers are there, to share the sites."""
        go.wait(PATIENCE)
        connection.sendall(text("User-agent: *"))

    for server in servers:
        server.asked.clear()
        server.routes["/robots.txt"] = robots
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    moment = draw.randrange(sum(len(list(site.pages())) for site in SITES))
    url = redis.url(f"run{seed}", lease=LEASE, pause=PAUSE)
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(
                crawling(
                    ",".join(server.url("/en/") for server in servers),
                    "en,is",
                    folder / name,
                    FRONTIER_URL=f"{url}&worker={name}",
                    USER_AGENT=name,
                    **SETTINGS,
                )
            )
            for name in WORKERS
        }
        end = time.monotonic() + PATIENCE
        with redis.client() as client:
            while client.zcard(f"{{bifocal:run{seed}}}:workers") < len(WORKERS):
                assert time.monotonic() < end
                time.sleep(0.05)
        go.set()
        while sum(len(server.asked) for server in servers) < moment:
            assert time.monotonic() < end
            time.sleep(0.01)
        killed = kill(draw, processes)
        for name, process in processes.items():
            _, errors = process.communicate(timeout=PATIENCE)
            assert "Traceback" not in errors, errors
            if name != killed:
                assert process.returncode == 0, errors
    logs = [list(server.asked) for server in servers]
    return Outcome(moment, pairs_of([folder / n / "warc" for n in WORKERS]), logs)


def check(outcome: Outcome, reference: set[tuple[str, str]], what: str) -> None:
    print(
        f"{what} after {outcome.moment} requests: {len(outcome.pairs)} pairs,"
        f" {sum(outcome.twice)} pages twice, shortest gap {outcome.shortest_gap:.3f} s,"
        f" owners {' '.join('→'.join(names) for names in outcome.owners)}",
        flush=True,
    )
    assert outcome.pairs == reference
    # of a site one page at a time is on its way, from the request to the commit
    assert max(outcome.twice) <= 1
    assert outcome.shortest_gap >= DELAY - 0.01  # clocks of two processes
    # a site changes hands when it is shared out to one who comes, when a worker is lost
    # and when that one comes back, and never is one worker's page among another's
    assert all(len(names) <= 4 for names in outcome.owners)


@pytest.fixture(scope="module")
def reference(servers):
    """The pairs of these sites."""
    pages = [
        page.replace(f"https://{site.host}", server.url(""))
        for server, site in zip(servers, SITES)
        for pair in sorted(site.gold("en", "is"))
        for page in pair
    ]
    return set(zip(pages[::2], pages[1::2]))


@pytest.mark.redis
def test_workers_are_killed(servers, reference, redis_server, tmp_path):
    def kill(draw: random.Random, processes) -> str:
        name = draw.choice(WORKERS)
        time.sleep(draw.uniform(0, DELAY))
        processes[name].send_signal(signal.SIGKILL)
        return name

    for number in range(WORKER_KILLS):
        folder = tmp_path / str(number)
        outcome = disturbed(servers, redis_server, folder, kill)
        check(outcome, reference, f"{number}: a worker killed")


@pytest.mark.redis
def test_a_worker_is_thought_dead_and_comes_back(
    servers, reference, redis_server, tmp_path
):
    def stop(draw: random.Random, processes) -> None:
        process = processes[draw.choice(WORKERS)]
        process.send_signal(signal.SIGSTOP)
        time.sleep(LEASE + draw.uniform(0, 2))
        process.send_signal(signal.SIGCONT)

    for number in range(LATE_RETURNS):
        folder = tmp_path / str(number)
        outcome = disturbed(servers, redis_server, folder, stop)
        check(outcome, reference, f"{number}: a worker stopped")


@pytest.mark.redis
def test_redis_is_killed_and_restarted(servers, reference, tmp_path_factory):
    for number in range(REDIS_KILLS):
        folder = tmp_path_factory.mktemp("r")
        with RedisServer(folder, aof=True) as redis:

            def kill(draw: random.Random, processes, redis=redis) -> None:
                redis.kill()
                time.sleep(draw.uniform(0.1, REDIS_GONE))
                redis.start()

            outcome = disturbed(servers, redis, folder, kill)
        check(outcome, reference, f"{number}: Redis killed")


@pytest.mark.redis
def test_redis_hangs_for_longer_than_a_lease(servers, reference, tmp_path_factory):
    """The workers wait and go on, each with its own sites."""
    with RedisServer(tmp_path_factory.mktemp("r"), aof=True) as redis:

        def away(draw: random.Random, processes) -> None:
            redis.stop()
            time.sleep(REDIS_GONE)
            redis.go_on()

        outcome = disturbed(servers, redis, tmp_path_factory.mktemp("runs"), away)
    check(outcome, reference, f"Redis hangs for {REDIS_GONE:.0f} s")
