"""kill -9 at random moments, again and again, and a crawl that nobody disturbed.

    BIFOCAL_KILLS=200 python -m pytest tests/crash

Half of them on crawls in one process, half on crawls with a second one for pages. Only
kills that come before a crawl's end count; one that ends is followed by a new one.
A kill may come while Python starts, while torn files are mended, in the middle of a
page, or while the final pairs are written.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest

from crawler.warc.reader import iter_pages
from tests.commands import Run, crawl, crawling, pair_urls
from tests.webserver import Server
from tests.worlds import build_site

KILLS = int(os.environ.get("BIFOCAL_KILLS", "20")) // 2  # of either form
TOWN = build_site("town.example", concepts=30, words=80, untranslated=0.2)
# Slow enough for the crawl to outlast some kills.
SETTINGS = {"DOWNLOAD_DELAY": 0.05, "RETRY_WAIT": 0.1}


def paths(server: Server, urls) -> list[str]:
    return [url.removeprefix(server.url("")) for url in urls]


def pairs_of(server: Server, run: Run) -> list[list[str]]:
    return [paths(server, pair) for pair in pair_urls(run)]


def done_urls(run: Run, copy: Path) -> set[str]:
    """What the frontier says is done; a copy, since reading mends the original."""
    copy.mkdir(exist_ok=True)
    for path in run.path.glob("frontier.sqlite*"):
        shutil.copy(path, copy)
    with closing(sqlite3.connect(copy / "frontier.sqlite")) as base:
        named = "SELECT 1 FROM sqlite_master WHERE name = 'url'"
        if not base.execute(named).fetchone():
            return set()  # killed before its tables were written
        return {url for (url,) in base.execute("SELECT url FROM url WHERE done = 1")}


def kill_often(
    server: Server,
    run: Run,
    most: int,
    longest: float,
    moments: random.Random,
    settings: dict[str, object],
) -> Counter[str]:
    """Kill the crawl at random moments until it ends before one; what that showed."""
    counts: Counter[str] = Counter()
    while counts["kills"] < most:
        with crawling(server.url("/en/"), "en,is", run.path, **settings) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(moments.uniform(0.2, longest / 2))
            ended = process.poll() is not None
            process.kill()
            _, errors = process.communicate()
        assert "Traceback" not in errors, errors
        cut = [int(size) for size in re.findall(r", (\d+) bytes cut", errors)]
        counts["WARC files completed"] += len(cut)
        counts["torn records cut"] += sum(size > 0 for size in cut)
        if (run.path / "frontier.sqlite").exists():
            warc = run.path / "warc"
            pages = iter_pages(warc) if any(warc.iterdir()) else ()
            stored = {page.url for page in pages}
            assert done_urls(run, run.path.with_name("copy")) <= stored
        if ended:
            assert process.returncode == 0, errors
            counts["ended"] += 1
            break
        counts["kills"] += 1
    return counts


@pytest.mark.parametrize("apart", [False, True], ids=["one process", "two"])
def test_kills(tmp_path, apart):
    settings = {**SETTINGS, "PAGE_PROCESS": apart}
    seed = random.randrange(2**32)
    print("seed", seed)
    moments = random.Random(seed)
    with Server() as calm:
        calm.add(TOWN)
        started = time.monotonic()
        done = crawl(calm.url("/en/"), "en,is", tmp_path / "calm", **settings)
        longest = time.monotonic() - started  # on this machine, as busy as it is
        assert done.returncode == 0, done.stderr
        expected = pairs_of(calm, Run(tmp_path / "calm"))
        pages = set(calm.paths()) - {"/robots.txt"}

    total: Counter[str] = Counter()
    while total["kills"] < KILLS:
        run = Run(tmp_path / str(total["crawls"]) / "run")
        run.path.parent.mkdir()
        with Server() as server:
            server.add(TOWN)
            most = KILLS - total["kills"]
            counts = kill_often(server, run, most, longest, moments, settings)
            if not counts.pop("ended", 0):
                last = crawl(server.url("/en/"), "en,is", run.path, **settings)
                assert last.returncode == 0, last.stderr
            assert pairs_of(server, run) == expected
            asked = Counter(server.paths())
        del asked["/robots.txt"]
        assert set(asked) == pages
        counts["pages asked for again"] = asked.total() - len(asked)
        assert counts["pages asked for again"] <= counts["kills"]
        assert not list(run.path.glob("warc/*.open"))
        warcio = Path(sys.executable).with_name("warcio")
        checked = subprocess.run([warcio, "check", *run.warcs], check=False)
        assert checked.returncode == 0
        total += counts + Counter(crawls=1)
    print(dict(total))
