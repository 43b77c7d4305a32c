"""A process for pages (PAGE_PROCESS): the same crawl, whatever becomes of it."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
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
def test_another_one_goes_on_where_one_was_killed(tmp_path):
    run = Run(tmp_path / "run")
    with Server() as server:
        server.add(TOWN)
        with crawling(server.url("/en/"), "en,is", run.path, **SETTINGS) as process:
            for pages in (5, 15):
                wait_for(server, pages)
                os.kill(child_of(process.pid), signal.SIGKILL)
            _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
        assert "Traceback" not in stderr, stderr
        assert stderr.count("the page process ended by signal 9; another one") == 2
        asked = server.paths()
    assert len(run.pairs) == len(TOWN.gold("en", "is"))
    assert len(asked) == len(set(asked))
    assert not list(run.path.glob("warc/*.open"))
    assert run.stats["pages"] == len([v for v in run.visits if v["status"] == 200])


def kill_with(page: str, process: subprocess.Popen[str], run: Run, deaths: int) -> None:
    """Kill the page process while it has a page in hand, after some deaths with it."""
    note, before = run.path / "reading", run.path / "reading.jsonl"
    end = time.monotonic() + PATIENCE
    while True:
        assert time.monotonic() < end
        with suppress(FileNotFoundError):
            counted = before.read_text().count(page) if deaths else 0
            if counted == deaths and page in note.read_text().partition("\n")[0]:
                os.kill(child_of(process.pid), signal.SIGKILL)
                return
        time.sleep(0.002)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_a_page_that_ends_two_processes_is_asked_for_once(tmp_path):
    run = Run(tmp_path / "run")
    heavy = page("".join(f"<p>{n} slow to read</p>" for n in range(60_000)))
    with Server() as server, Server({"/": heavy}, host="127.0.6.1") as killer:
        server.add(TOWN)
        seeds = f"{server.url('/en/')},{killer.url('/')}"
        with crawling(seeds, "en,is", run.path, **SETTINGS) as process:
            for deaths in range(2):
                kill_with(killer.url("/"), process, run, deaths)
            _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
        assert killer.paths() == ["/robots.txt", "/"]
    (visit,) = (v for v in run.visits if v["url"] == killer.url("/"))
    assert (visit["status"], visit["reason"]) == (200, "unreadable/killed")
    assert run.stats["unreadable/killed"] == 1
    assert ("response", killer.url("/")) in {
        (kind, url) for kind, url, _ in records(run)
    }
    assert len(run.pairs) == len(TOWN.gold("en", "is"))


@pytest.mark.parametrize("apart", [False, True])
def test_a_page_that_takes_too_much_costs_itself_alone(apart, tmp_path):
    run = Run(tmp_path / "run")
    large = page("".join(f"<p>{n} slow to read</p>" for n in range(100_000)))
    tiny = {"PAGE_SECONDS": 0.15, "PAGE_MEMORY": 300_000_000}
    with Server() as server, Server({"/": large}, host="127.0.6.1") as slow:
        server.add(TOWN)
        seeds = f"{server.url('/en/')},{slow.url('/')}"
        settings = {**SETTINGS, **tiny, "PAGE_PROCESS": apart}
        done = crawl(seeds, "en,is", run.path, **settings)
        assert done.returncode == 0, done.stderr
        assert "it takes too much time" in done.stderr
    (visit,) = (v for v in run.visits if v["url"] == slow.url("/"))
    assert visit["reason"] == "unreadable/time"
    assert len(run.pairs) == len(TOWN.gold("en", "is"))


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


def test_a_long_answer_delays_no_other_site(tmp_path):
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
