"""A process for pages (PAGE_PROCESS): the same crawl, whatever becomes of it."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.commands import (
    DEMO,
    DEMO_SEEDS,
    PATIENCE,
    ROOT,
    Run,
    crawl,
    crawl_command,
    crawling,
    environment,
    error_line,
)
from tests.webserver import Server, page
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=20, words=80)
SETTINGS = {"DOWNLOAD_DELAY": 0.02, "RETRY_WAIT": 0.1, "PAGE_PROCESS": True}
# What differs between two runs of one and the same program.
_CLOCKS = ("elapsed_time_seconds", "finish_time", "start_time", "sentences/spare_ms")


def records(run: Run) -> list[tuple[str, str | None, bytes]]:
    """What was stored, in its order: type, address, block."""
    found = []
    for file in run.warcs:
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type != "warcinfo":
                    address = record.rec_headers.get_header("WARC-Target-URI")
                    block = record.content_stream().read()
                    found.append((record.rec_type, address, block))
    return found


def sentences(run: Run) -> list[list[str]]:
    """Without the ids of WARC records, which are random."""
    with gzip.open(run.path / "sentences.tsv.gz", "rt") as file:
        rows = [line.split("\t") for line in file]
    return [[cell for cell in row if "urn:uuid" not in cell] for row in rows]


@pytest.mark.parametrize("profile", ["adaptive", "breadth_first"])
def test_it_changes_nothing(profile, tmp_path):
    """Order, links, pairs, sentences, files, counters: all as in one process."""
    runs = []
    for apart in (False, True):
        run = Run(tmp_path / str(apart))
        settings = {"REPLAY_WARCS": DEMO, "PAGE_PROCESS": apart}
        done = crawl(DEMO_SEEDS, "en,is", run.path, profile=profile, **settings)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        runs.append(run)
    one, two = runs
    visits = [[{**visit, "time": None} for visit in run.visits] for run in runs]
    assert visits[0] == visits[1]
    assert one.pairs == two.pairs
    assert sentences(one) == sentences(two)
    assert records(one) == records(two)
    counts = [
        {name: value for name, value in run.stats.items() if name not in _CLOCKS}
        for run in runs
    ]
    assert counts[0] == counts[1]


def child_of(pid: int) -> int:
    """The page process of a crawl, once it runs."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    end = time.monotonic() + PATIENCE
    while not (found := children.read_text().split()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return int(found[0])


def wait_for(server: Server, pages: int) -> None:
    end = time.monotonic() + PATIENCE
    while len(server.asked) < pages:
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_a_killed_one_ends_the_crawl_and_loses_nothing(tmp_path):
    run = Run(tmp_path / "run")
    with Server() as server:
        server.add(TOWN)
        seed = server.url("/en/")
        with crawling(seed, "en,is", run.path, **SETTINGS) as process:
            wait_for(server, 15)
            os.kill(child_of(process.pid), signal.SIGKILL)
            stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        assert "Traceback" not in stderr, stderr
        assert "bifocal: error: the page process ended by signal 9" in stderr
        assert "the same command goes on where this one stopped" in stderr
        assert "URLs left" in stdout
        done = crawl(seed, "en,is", run.path, **SETTINGS)
        assert done.returncode == 0, done.stderr
        assert not list(run.path.glob("warc/*.open"))
        asked = server.paths()
    assert len(run.pairs) == len(TOWN.gold("en", "is"))
    assert len(asked) - len(set(asked)) <= 2  # the page in hand; robots.txt


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_it_ends_with_a_crawl_that_is_killed(tmp_path):
    with Server() as server:
        server.add(TOWN)
        run_dir = tmp_path / "run"
        with crawling(server.url("/en/"), "en,is", run_dir, **SETTINGS) as process:
            wait_for(server, 5)
            child = Path(f"/proc/{child_of(process.pid)}")
            process.kill()
        end = time.monotonic() + PATIENCE
        while child.exists() and "State:\tZ" not in (child / "status").read_text():
            assert time.monotonic() < end
            time.sleep(0.01)


def test_it_ends_with_a_crawl_that_is_killed_before_it_said_a_word():
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        told = [str(theirs.fileno()), "INFO", "%(message)s", "%H:%M"]
        command = [sys.executable, "-m", "crawler.crawl", *told]
        ended = subprocess.run(
            command,
            check=False,
            pass_fds=[theirs.fileno()],
            capture_output=True,
            timeout=PATIENCE,
        )
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, b"", b"")


def test_files_that_it_cannot_open_are_one_line(tmp_path):
    run_dir = tmp_path / "run"
    (run_dir / "aligner.sqlite").mkdir(parents=True)
    with Server() as server:
        server.add(TOWN)
        line = error_line(crawl(server.url("/en/"), "en,is", run_dir, **SETTINGS))
    assert "aligner.sqlite: cannot hold the aligner's pages" in line


def test_a_long_answer_holds_nobody_up(tmp_path):
    """Answers and findings larger than what a socket holds, on two sites at once."""
    links = "".join(f'<a href="/no/{n}?{"x" * 300}">n</a>' for n in range(3000))
    run = Run(tmp_path / "run")
    settings = {**SETTINGS, "RUN_MAX_PAGES": 8, "DOWNLOAD_DELAY": 0}
    with Server(host="127.0.6.1") as one, Server(host="127.0.6.2") as two:
        for server in (one, two):
            server.routes["/"] = page(f"<p>{'prose ' * 200_000}</p>{links}")
        done = crawl(f"{one.url('/')},{two.url('/')}", "en,is", run.path, **settings)
    assert done.returncode == 0, done.stderr
    assert [visit["links"] for visit in run.visits[:2]] == [3000, 3000]


def test_a_crawl_that_cannot_begin_leaves_none_behind(tmp_path):
    command = crawl_command(DEMO_SEEDS, "en", tmp_path / "run", PAGE_PROCESS=True)
    begun = subprocess.Popen(
        command, cwd=ROOT, env=environment(), start_new_session=True
    )
    assert begun.wait(PATIENCE) != 0
    with pytest.raises(ProcessLookupError):
        os.killpg(begun.pid, signal.SIGKILL)
