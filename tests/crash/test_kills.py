"""kill -9 at random moments, again and again, and a crawl that nobody disturbed.

    BIFOCAL_KILLS=200 python -m pytest tests/crash

A kill may come while Python starts, while torn files are mended, in the middle of a
page, or while the final pairs are written.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

from crawler.warc.reader import iter_pages
from tests.commands import Run, crawl, crawling, pair_urls
from tests.webserver import Server
from tests.worlds import build_site

KILLS = int(os.environ.get("BIFOCAL_KILLS", "20"))
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
        return {url for (url,) in base.execute("SELECT url FROM url WHERE done = 1")}


def test_kills(tmp_path):
    seed = random.randrange(2**32)
    print("seed", seed)
    moments = random.Random(seed)
    with Server() as calm:
        calm.add(TOWN)
        done = crawl(calm.url("/en/"), "en,is", tmp_path / "calm", **SETTINGS)
        assert done.returncode == 0, done.stderr
        expected = pairs_of(calm, Run(tmp_path / "calm"))
        pages = set(calm.paths())

    run = Run(tmp_path / "run")
    in_the_middle = 0
    with Server() as server:
        server.add(TOWN)
        for _ in range(KILLS):
            with crawling(server.url("/en/"), "en,is", run.path, **SETTINGS) as process:
                try:
                    process.wait(moments.uniform(0.2, 4.0))
                except subprocess.TimeoutExpired:
                    process.kill()
                    in_the_middle += 1
                _, errors = process.communicate()
            assert "Traceback" not in errors, errors
            if (run.path / "frontier.sqlite").exists():
                stored = {page.url for page in iter_pages(run.path / "warc")}
                assert done_urls(run, tmp_path / "copy") <= stored
        assert in_the_middle
        last = crawl(server.url("/en/"), "en,is", run.path, **SETTINGS)
        assert last.returncode == 0, last.stderr
        assert pairs_of(server, run) == expected
        asked = Counter(server.paths())
    del asked["/robots.txt"]
    assert set(asked) == pages - {"/robots.txt"}
    assert asked.total() - len(asked) <= in_the_middle
    assert not list(run.path.glob("warc/*.open"))
    warcio = Path(sys.executable).with_name("warcio")
    checked = subprocess.run([warcio, "check", *run.warcs], check=False)
    assert checked.returncode == 0
