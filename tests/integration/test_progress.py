"""What a person sees: a live line in a terminal, log lines elsewhere, a summary."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.commands import (
    PATIENCE,
    ROOT,
    crawl,
    crawl_command,
    environment,
    in_a_terminal,
)
from tests.webserver import Server
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=12, words=80)
CLEAR = "\r\x1b[K"
LINE = re.compile(
    r"\d+ pages · \d+\.\d/s · \d+ pairs · frontier \d+( · best 127\.0\.)?"
)
ENDING = re.compile(r"(final pairs|sentences) \d+% · \d+ pairs")


@pytest.fixture
def server():
    with Server() as server:
        server.add(TOWN)
        yield server


@pytest.mark.parametrize("columns", [100, 40])
def test_a_terminal_has_one_live_line_and_then_the_summary(server, tmp_path, columns):
    run_dir = tmp_path / "run"
    command = crawl_command(server.url("/en/"), "en,is", run_dir, DOWNLOAD_DELAY=0.1)
    written, status = in_a_terminal(command, columns)
    assert status == 0
    *live, last = written.split(CLEAR)
    drawn = [text for text in live if text]
    assert drawn
    for text in drawn:
        assert len(text) < columns  # or it would wrap
        assert "\n" not in text
    if columns == 100:
        crawled = [text for text in drawn if not ENDING.match(text)]
        assert all(map(LINE.match, crawled))
        assert "best 127.0.0.1" in crawled[-1]
    assert_is_summary(last.replace("\r\n", "\n"), run_dir)


def test_elsewhere_there_are_plain_lines(server, tmp_path):
    run_dir = tmp_path / "run"
    done = crawl(
        *(server.url("/en/"), "en,is", run_dir),
        DOWNLOAD_DELAY=0.1,
        PROGRESS_INTERVAL=0.3,
    )
    assert done.returncode == 0
    assert "\x1b" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if " pages · " in line]
    assert lines
    for line in lines:
        time, level, text = line.split(" ", 2)
        assert re.fullmatch(r"\d\d:\d\d:\d\d", time)
        assert level == "INFO"
        assert LINE.match(text)
    assert_is_summary(done.stdout, run_dir)


def test_nobody_needs_to_listen(server, tmp_path):
    """`scrapy crawl … | head -0`: the reader of the summary has gone."""
    ours, theirs = os.pipe()
    os.close(ours)
    command = crawl_command(server.url("/en/"), "en,is", tmp_path, DOWNLOAD_DELAY=0)
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    assert (tmp_path / "stats.json").exists()


def assert_is_summary(text: str, run_dir: Path) -> None:
    """It names every file that came out of the run."""
    first, *rest = text.splitlines()
    assert re.fullmatch(
        r"Fetched 24 pages \(en 12, is 12\) and found 12 document pairs in \d+\.\d s\.",
        first,
    )
    names = re.findall(r"\S*/run/\S+?(?=,|$)", "\n".join(rest), re.MULTILINE)
    assert names == [
        str(run_dir / name)
        for name in ("pairs.tsv.gz", "warc", "crawl.jsonl", "stats.json")
    ]
    assert all(Path(name).exists() for name in names)
