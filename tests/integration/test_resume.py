"""Ctrl-C, twice, and kill -9: the same command goes on where the crawl stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
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
from tests.webserver import Server
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=24, words=100, untranslated=0.2)
# Slow enough that a signal comes in the middle.
SETTINGS = {"DOWNLOAD_DELAY": 0.02, "RETRY_WAIT": 0.1}


def town() -> Server:
    server = Server()
    server.add(TOWN)
    return server


def seeds(server: Server) -> str:
    return ",".join(server.url(f"/{lang}/") for lang in TOWN.langs)


def started(server: Server, run_dir: Path, profile: str, settings: dict):
    return crawling(seeds(server), "en,is", run_dir, profile=profile, **settings)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


FORMS = {"one process": ("breadth_first", False), "two": ("adaptive", True)}


@pytest.fixture(scope="module", params=FORMS)
def form(request):
    return FORMS[request.param]


@pytest.fixture(scope="module")
def profile(form):
    return form[0]


@pytest.fixture(scope="module")
def settings(form):
    return {**SETTINGS, "PAGE_PROCESS": form[1]}


@pytest.fixture(scope="module")
def undisturbed(profile, settings, tmp_path_factory):
    """(paths asked for, pairs by path) of a crawl that nobody stops."""
    run_dir = tmp_path_factory.mktemp("undisturbed") / "run"
    with town() as server:
        finish(server, run_dir, profile, settings)
        return set(server.paths()), pair_paths(server, run_dir)


def pair_paths(server: Server, run_dir: Path) -> list[tuple[str, ...]]:
    origin = server.url("")
    return [
        tuple(url.removeprefix(origin) for url in pair)
        for pair in pair_urls(Run(run_dir))
    ]


def finish(server: Server, run_dir: Path, profile: str, settings: dict) -> str:
    done = crawl(seeds(server), "en,is", run_dir, profile=profile, **settings)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def is_whole(server: Server, run_dir: Path, undisturbed: tuple, *, lost: int) -> None:
    """Same pages, same pairs, at most `lost` pages asked for again, WARCs readable."""
    pages, pairs = undisturbed
    asked = Counter(server.paths())
    del asked["/robots.txt"]  # once a session
    assert set(asked) == pages - {"/robots.txt"}
    assert asked.total() - len(asked) <= lost
    assert pair_paths(server, run_dir) == pairs
    run = Run(run_dir)
    urls = Counter(visit["url"] for visit in run.visits)
    assert urls.total() - len(urls) <= lost
    warcio = Path(sys.executable).with_name("warcio")
    assert not list(run_dir.glob("warc/*.open"))
    done = subprocess.run([warcio, "check", *run.warcs], check=False)
    assert done.returncode == 0


def test_ctrl_c_stops_after_the_page_in_hand(profile, settings, undisturbed, tmp_path):
    run_dir = tmp_path / "run"
    with town() as server:
        with started(server, run_dir, profile, settings) as process:
            wait_until(lambda: len(server.asked) >= 20)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert "Stopping: pages on their way are waited for" in stderr
        assert "Traceback" not in stderr
        assert "URLs left; the same command with RUN_DIR=" in stdout
        assert str(run_dir / "pairs.tsv.gz") in stdout
        assert Run(run_dir).stats["finish_reason"] == "shutdown"
        assert 0 < len(Run(run_dir).pairs) < len(undisturbed[1])
        marks = "level\tverdict\tsrc_text\ttrg_text\nsentence\tright\tone\teinn\n"
        (run_dir / "marks.tsv").write_text(marks)  # of a person

        stdout = finish(server, run_dir, profile, settings)
        assert "more pages" in stdout
        assert f"the run has {len(undisturbed[1])} document pairs" in stdout
        assert "URLs left" not in stdout
        assert (run_dir / "marks.tsv").read_text() == marks
        is_whole(server, run_dir, undisturbed, lost=0)

        before = len(server.asked)
        assert "Fetched 0 more pages" in finish(server, run_dir, profile, settings)
        assert len(server.asked) == before


@pytest.mark.parametrize("way", ["sigterm", "file"])
def test_other_ways_to_stop_are_as_good(way, settings, tmp_path):
    run_dir = tmp_path / "run"
    with (
        town() as server,
        started(server, run_dir, "breadth_first", settings) as process,
    ):
        wait_until(lambda: len(server.asked) >= 5)
        if way == "file":
            (run_dir / "stop").touch()
        else:
            process.send_signal(signal.SIGTERM)
        stopped = time.monotonic()
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert time.monotonic() - stopped < 20  # seconds; it takes two
    assert process.returncode == 0
    said = {"file": "shutting down gracefully", "sigterm": "Stopping: pages on their"}
    assert said[way] in stderr
    assert "URLs left; the same command with RUN_DIR=" in stdout
    assert Run(run_dir).stats["finish_reason"] == "shutdown"
    assert not (run_dir / "stop").exists()


def test_ctrl_c_twice_does_not_wait_for_a_slow_server(
    profile, settings, undisturbed, tmp_path
):
    run_dir = tmp_path / "run"
    released = threading.Event()
    with town() as server:
        paths = sorted(server.routes)
        slow = paths[len(paths) // 2]
        page = server.routes[slow]
        server.routes[slow] = lambda _: released.wait(PATIENCE)
        with started(server, run_dir, profile, settings) as process:
            wait_until(lambda: slow in server.paths())
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert process.poll() is None  # it waits for the page in hand
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=PATIENCE)
        released.set()
        assert "Traceback" not in stderr
        server.routes[slow] = page
        finish(server, run_dir, profile, settings)
        is_whole(server, run_dir, undisturbed, lost=1)


def test_kill_9_costs_at_most_the_page_in_hand(
    profile, settings, undisturbed, tmp_path
):
    run_dir = tmp_path / "run"
    kills = (8, 35)
    with town() as server:
        for pages in kills:
            with started(server, run_dir, profile, settings) as process:
                wait_until(lambda: len(server.asked) >= pages)  # noqa: B023
                process.kill()
        finish(server, run_dir, profile, settings)
        is_whole(server, run_dir, undisturbed, lost=len(kills))
        out = tmp_path / "out"
        again = bifocal("align", run_dir / "warc", "--langs", "en,is", "--out", out)
        assert again.returncode == 0, again.stderr
        assert "damaged" not in again.stderr
        assert pair_paths(server, out) == undisturbed[1]
