"""Kills, stops, full disks and disks that fail, at random moments of a crawl.

A crawl that was disturbed again and again, and then left in peace, must have what one
that nobody disturbed has. `tests/crash/test_events.py` has a few events,
`python -m benchmarks.crashes` some hundred.
"""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from crawler.sinks.tsv import read_sentences
from crawler.visits import read_visits
from crawler.warc.reader import iter_pages
from tests.commands import (
    PATIENCE,
    ROOT,
    Run,
    crawl_command,
    environment,
    error_line,
    pair_urls,
)
from tests.webserver import Server
from tests.worlds import Site, build_site

# Slow enough for the crawl to outlast some kills; files small enough to be many.
SETTINGS = {"DOWNLOAD_DELAY": 0.05, "RETRY_WAIT": 0.1, "WARC_MAX_BYTES": 30_000}
KINDS = (
    *("kill the crawl", "kill the pages", "kill both"),
    *("stop the crawl", "stop the pages"),
    *("disk full", "write error", "read error"),
)
# Files of a run, and how many bytes of them are written or read at most.
_FILES = {
    "warc.gz.open": 30_000,
    "crawl.jsonl": 30_000,
    "frontier.sqlite": 300_000,
    "aligner.sqlite": 300_000,
    "texts.sqlite": 300_000,
    "pairs.tsv.gz": 3000,
    "sentences.tsv.gz": 20_000,
    "cdxj": 6000,
    "stats.json": 1,
    "run.json": 1,
    "reading": 1,
}
_LONGEST_STOP = 2.0  # seconds


def build_town(events: int) -> Site:
    """A site that a crawl takes the longer for, the more events shall befall it."""
    concepts = min(30, 6 + events)
    return build_site("town.example", concepts=concepts, words=80, untranslated=0.2)


def build_library(folder: Path) -> Path:
    """The library that makes calls on chosen files fail (failing_disk.c)."""
    path = folder / "failing_disk.so"
    source = Path(__file__).with_name("failing_disk.c")
    words = ["cc", "-shared", "-fPIC", "-O1", str(source), "-o", str(path), "-ldl"]
    subprocess.run(words, check=True)
    return path


@dataclass(slots=True)
class Result:
    """What befell the crawls, and what came of it."""

    events: Counter[str] = field(default_factory=Counter)
    crawls: int = 0
    asked_again: int = 0  # pages
    most_for_an_event: float = 0.0  # of any crawl, pages asked again for each event
    torn: int = 0  # records cut off
    logged_twice: int = 0  # pages
    not_logged: int = 0

    def add(self, other: Result) -> None:
        """Add the figures of another one."""
        self.events += other.events
        self.crawls += other.crawls
        self.asked_again += other.asked_again
        self.most_for_an_event = max(self.most_for_an_event, other.most_for_an_event)
        self.torn += other.torn
        self.logged_twice += other.logged_twice
        self.not_logged += other.not_logged


class Disturber:
    """Disturbs crawls of one town, in one process or with a second one for pages."""

    def __init__(
        self, folder: Path, library: Path, town: Site, seed: int, *, apart: bool
    ) -> None:
        self.longest = 0.0  # seconds of a calm crawl
        self._ended = self._befell = False
        self._folder = folder
        self._library = library
        self._town = town
        self._draw = random.Random(seed)
        self._settings = {**SETTINGS, "PAGE_PROCESS": apart}

    def calm(self) -> None:
        """The crawl that nobody disturbs."""
        with Server() as server:
            server.add(self._town)
            started = time.monotonic()
            errors = self._session(server, Run(self._folder / "calm"), None)
            self.longest = time.monotonic() - started  # on this machine, as it is
            assert "Traceback" not in errors
            self._expected = found(server, Run(self._folder / "calm"))
            self._pages = set(server.paths()) - {"/robots.txt"}

    def disturb(self, most: int) -> Result:
        """One crawl with up to so many events, and its end in peace."""
        result, happened = Result(crawls=1), Counter[str]()
        folder = self._folder / f"{self._draw.getrandbits(32):x}"
        run = Run(folder / "run")
        folder.mkdir()
        stored: set[str] = set()
        with Server() as server:
            server.add(self._town)
            self._ended = False
            while happened.total() < most and not self._ended:
                kind = self._draw.choice(KINDS)
                errors = self._session(server, run, kind)
                assert "Traceback" not in errors, (kind, errors)
                happened[kind] += self._befell
                cut = [int(size) for size in re.findall(r", (\d+) bytes cut", errors)]
                result.torn += sum(size > 0 for size in cut)
                now = stored_urls(run)
                assert stored <= now, (kind, "lost", stored - now)
                assert done_urls(run, folder / "copy") <= now, (
                    kind,
                    "done, not stored",
                )
                stored = now
            self._session(server, run, None)
            assert found(server, run) == self._expected
            asked = Counter(server.paths())
        del asked["/robots.txt"]
        assert set(asked) == self._pages
        assert not list(run.path.glob("warc/*.open"))
        warcio = Path(sys.executable).with_name("warcio")
        assert not subprocess.run([warcio, "check", *run.warcs], check=False).returncode
        lines = Counter(visit.url for visit in read_visits(run.path / "crawl.jsonl"))
        result.logged_twice = lines.total() - len(lines)
        urls = {server.url(path) for path in self._pages}
        result.not_logged = len(urls - set(lines))
        result.events = happened
        result.asked_again = asked.total() - len(asked)
        assert result.asked_again <= happened.total(), (happened, asked)
        result.most_for_an_event = result.asked_again / max(1, happened.total())
        shutil.rmtree(folder)
        return result

    def _session(self, server: Server, run: Run, kind: str | None) -> str:
        """Start the command, let one thing happen, and give what it wrote.

        `None`: let it end in peace, with exit status 0.
        """
        mark = self._folder / "failed"
        mark.unlink(missing_ok=True)
        given = self._disk(kind, run, mark)
        process = subprocess.Popen(
            crawl_command(server.url("/en/"), "en,is", run.path, **self._settings),
            cwd=ROOT,
            env=environment() | given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            self._befell = False
            if kind and not given:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(self._draw.uniform(0.2, self.longest / 2))
                if process.poll() is None:
                    self._befell = self._befall(kind, process)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
            process.wait()
        status = process.returncode
        self._befell = self._befell or mark.exists()
        self._ended = status == 0
        if kind is None or not (self._befell or status == 0):
            assert status == 0, (kind, errors)
        if status > 0:
            error_line(subprocess.CompletedProcess([], status, "", errors))
        return errors

    def _disk(self, kind: str | None, run: Run, mark: Path) -> dict[str, str]:
        """The environment of a disk that fails."""
        if kind not in ("disk full", "write error", "read error"):
            return {}
        path = self._draw.choice(list(_FILES))
        # early more often than late: before that, a crawl may have come to its end
        after = int(_FILES[path] * self._draw.random() ** 3)
        return {
            "LD_PRELOAD": str(self._library),
            "FAIL_CALLS": "r" if kind == "read error" else "w",
            "FAIL_PATH": path,
            "FAIL_UNDER": str(run.path),
            "FAIL_AFTER": str(after),
            "FAIL_ERRNO": str(errno.ENOSPC if kind == "disk full" else errno.EIO),
            "FAIL_MARK": str(mark),
        }

    def _befall(self, kind: str, process: subprocess.Popen[str]) -> bool:
        """Let it happen; False: there was nobody to whom it could."""
        pages = children_of(process.pid) or [process.pid]
        what, _, whom = kind.partition(" ")
        meant = {"the crawl": [process.pid], "the pages": pages}.get(
            whom, [*pages, process.pid]
        )
        signals = {"kill": [signal.SIGKILL], "stop": [signal.SIGSTOP, signal.SIGCONT]}
        for number in signals[what]:
            for pid in meant:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            if number == signal.SIGSTOP:
                time.sleep(self._draw.uniform(0, _LONGEST_STOP))
        return True


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def found(server: Server, run: Run) -> tuple[list[list[str]], set[tuple[str, str]]]:
    """The pairs of a run, as paths, and its sentence pairs."""
    pairs = [[url.removeprefix(server.url("")) for url in p] for p in pair_urls(run)]
    sentences = read_sentences(run.path / "sentences.tsv.gz")
    return pairs, {(each["src_text"], each["trg_text"]) for each in sentences}


def stored_urls(run: Run) -> set[str]:
    """The pages in the WARC files of a run, be they finished or not."""
    files = list(run.path.glob("warc/*.warc.gz*"))
    return {page.url for page in iter_pages(files)} if files else set()


def done_urls(run: Run, copy: Path) -> set[str]:
    """What the frontier says is done; a copy, since reading mends the original."""
    copy.mkdir(exist_ok=True)
    for path in run.path.glob("frontier.sqlite*"):
        shutil.copy(path, copy)
    if not (copy / "frontier.sqlite").exists():
        return set()
    with closing(sqlite3.connect(copy / "frontier.sqlite")) as base:
        named = "SELECT 1 FROM sqlite_master WHERE name = 'url'"
        if not base.execute(named).fetchone():
            return set()  # killed before its tables were written
        return {url for (url,) in base.execute("SELECT url FROM url WHERE done = 1")}
