"""Two crawls that share a frontier in Redis, against real servers."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.commands import (
    PATIENCE,
    Run,
    bifocal,
    crawl,
    crawling,
    pair_urls,
)
from tests.webserver import Server, page, serving, text
from tests.worlds import build_site

SITES = [
    build_site(f"town{n}.example", concepts=4 + n, words=80, seed=n) for n in range(4)
]
SETTINGS = {"DOWNLOAD_DELAY": 0.1, "RETRY_WAIT": 0.1}
ONE = {"CONCURRENT_REQUESTS": 1}  # a worker begins one site after the other


@pytest.fixture(scope="module")
def servers():
    with serving(SITES, "127.0.3") as started:
        yield started


def worker(seeds: str, run_dir: Path, frontier: str, langs: str = "en,is"):
    name = {"FRONTIER_URL": f"{frontier}&worker={run_dir.name}"}
    settings = {**name, **SETTINGS, **ONE}
    return crawling(seeds, langs, run_dir, **settings)


def seeds_of(servers) -> str:
    return ",".join(server.url("/en/") for server in servers)


def aligned(out, *warcs) -> list[tuple[str, str]]:
    done = bifocal("align", *warcs, "--langs", "en,is", "--out", out)
    assert done.returncode == 0, done.stderr
    return sorted(pair_urls(Run(out)))


@pytest.fixture(scope="module")
def reference(servers, tmp_path_factory):
    """The pairs that one worker finds."""
    run_dir = tmp_path_factory.mktemp("one") / "run"
    done = crawl(seeds_of(servers), "en,is", run_dir, **SETTINGS)
    assert done.returncode == 0, done.stderr
    return sorted(pair_urls(Run(run_dir)))


@pytest.fixture
def held_back(servers):
    """An event that every server waits for before it says what is allowed."""
    go = threading.Event()
    rules = text("User-agent: *")

    def talk(connection) -> None:
        go.wait(PATIENCE)
        connection.sendall(rules)

    for server in servers:
        server.routes["/robots.txt"] = talk
    yield go
    for server in servers:
        server.routes["/robots.txt"] = rules


def test_two_workers_find_what_one_finds(
    servers, reference, redis_server, held_back, tmp_path
):
    """Each URL once, in either worker's hands: a site may go from one to the other."""
    seeds = seeds_of(servers)
    url = redis_server.url("two", lease=20)
    with (
        worker(seeds, tmp_path / "a", url) as a,
        worker(seeds, tmp_path / "b", url) as b,
    ):
        end = time.monotonic() + PATIENCE
        while bifocal("status", url).stdout.count("renewed, ") < 2:
            assert time.monotonic() < end
        held_back.set()
        for process in (a, b):
            _, errors = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, errors
            assert "Traceback" not in errors
    both = [Run(tmp_path / name) for name in "ab"]
    visits = Counter(visit["url"] for run in both for visit in run.visits)
    assert set(visits.values()) == {1}
    assert all(run.visits for run in both)  # each had its share
    for run in both:
        names = [path.name for path in run.warcs]
        assert names
        assert all(name.endswith(f"-{run.path.name}.warc.gz") for name in names)
    assert aligned(tmp_path / "out", *(run.path / "warc" for run in both)) == reference


def test_a_worker_that_is_told_to_stop_gives_its_sites_back(
    servers, reference, redis_server, tmp_path
):
    """At once: nobody waits for the end of its lease, and nothing comes twice."""
    for server in servers:
        server.asked.clear()
    seeds = seeds_of(servers)
    url = redis_server.url("stopped", lease=3600, pause=1)
    with worker(seeds, tmp_path / "a", url) as first:
        while sum(len(server.asked) for server in servers) < 15:
            assert first.poll() is None
            time.sleep(0.05)
        first.send_signal(signal.SIGTERM)
        _, errors = first.communicate(timeout=PATIENCE)
        assert first.returncode == 0, errors
    with worker(seeds, tmp_path / "b", url) as second:
        _, errors = second.communicate(timeout=PATIENCE)
        assert second.returncode == 0, errors
    asked = Counter(server.url(path) for server in servers for path in server.paths())
    assert {u for u, times in asked.items() if times > 1} <= {
        server.url("/robots.txt") for server in servers
    }
    warcs = [tmp_path / name / "warc" for name in "ab"]
    assert aligned(tmp_path / "out", *warcs) == reference


def test_the_sites_of_a_killed_worker_are_finished_by_another(
    servers, reference, redis_server, tmp_path
):
    for server in servers:
        server.asked.clear()
    seeds = seeds_of(servers)
    url = redis_server.url("killed", lease=3)
    with worker(seeds, tmp_path / "a", url) as first:
        while sum(len(server.asked) for server in servers) < 15:
            assert first.poll() is None
            time.sleep(0.05)
        with worker(seeds, tmp_path / "b", url) as second:
            first.send_signal(signal.SIGKILL)
            first.communicate()
            _, errors = second.communicate(timeout=PATIENCE)
            assert second.returncode == 0, errors
    asked = Counter(server.url(path) for server in servers for path in server.paths())
    twice = [u for u, times in asked.items() if times > 1 and "robots.txt" not in u]
    assert len(twice) <= len(SITES)  # what was in hand
    warcs = [tmp_path / name / "warc" for name in "ab"]
    assert aligned(tmp_path / "out", *warcs) == reference
    # the pages that the first one stored have come along
    heir = Run(tmp_path / "b")
    sites = {visit["url"].split("/")[2] for visit in heir.visits}
    expected = {pair for pair in reference if pair[0].split("/")[2] in sites}
    assert set(pair_urls(heir)) == expected
    assert heir.stats["take_over/pages"] > 0


def test_a_worker_keeps_its_site_however_long_a_page_takes(redis_server, tmp_path):
    """A page and a delay of two leases each, and another worker that has nothing."""
    lease = 2

    def slow(connection) -> None:
        time.sleep(2 * lease)
        connection.sendall(page("At last."))

    url = redis_server.url("slow", lease=lease, pause=0)
    settings = {"DOWNLOAD_DELAY": 2 * lease, **ONE}
    with Server({"/": page('<a href="/slow">a slow one</a>'), "/slow": slow}) as server:
        crawls = [
            crawling(
                server.url(),
                "en,is",
                tmp_path / name,
                FRONTIER_URL=f"{url}&worker={name}",
                USER_AGENT=name,
                LANGUAGE_GATE=False,
                **settings,
            )
            for name in "ab"
        ]
        with crawls[0] as a, crawls[1] as b:
            for process in (a, b):
                _, errors = process.communicate(timeout=PATIENCE)
                assert process.returncode == 0, errors
        asked = [(a.path, a.headers["user-agent"]) for a in server.asked]
    owner = asked[0][1]
    assert asked == [("/robots.txt", owner), ("/", owner), ("/slow", owner)]


def test_two_workers_share_a_crawl_for_several_pairs_of_languages(
    redis_server, tmp_path
):
    langs = ("en", "is", "es")
    sites = [
        build_site(f"port{n}.example", langs=langs, concepts=4, words=80, seed=n)
        for n in range(2)
    ]
    url = redis_server.url("three", lease=20)
    with serving(sites, "127.0.4") as started:
        seeds = ",".join(server.url("/en/") for server in started)
        with (
            worker(seeds, tmp_path / "a", url, ",".join(langs)) as a,
            worker(seeds, tmp_path / "b", url, ",".join(langs)) as b,
        ):
            for process in (a, b):
                _, errors = process.communicate(timeout=PATIENCE)
                assert process.returncode == 0, errors
                assert "Traceback" not in errors
    runs = [Run(tmp_path / name) for name in "ab"]
    visits = Counter(visit["url"] for run in runs for visit in run.visits)
    assert set(visits.values()) == {1}
    for pair in ("en-is", "en-es", "is-es"):
        # both have the pairs of a site that one took over from the other
        # (a worker that got no site has no directory of a pair)
        parts = [run.path / pair for run in runs if (run.path / pair).exists()]
        found = {p for part in parts for p in pair_urls(Run(part))}
        assert len(found) == sum(len(s.gold(*pair.split("-"))) for s in sites)
