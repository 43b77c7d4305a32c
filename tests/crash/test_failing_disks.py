"""Disks that fail: the run ends in its own words, and nothing that was stored is lost.

A library that is put before the system's makes calls on chosen files fail
(failing_disk.c). What a full disk does is in tests/integration/test_bad_input.py.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.warc.reader import iter_pages
from tests.commands import (
    PATIENCE,
    ROOT,
    Run,
    bifocal,
    crawl_command,
    environment,
    error_line,
    pair_urls,
)
from tests.crash.events import build_library
from tests.worlds import build_site, write_warc

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]
TOWN = build_site("town.example", concepts=8, words=80)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    return build_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    return write_warc(tmp_path_factory.mktemp("world") / "town.warc.gz", TOWN.pages())


def crawl(world: Path, run: Path, **variables: object):
    """A crawl of the recording, with these variables in its environment."""
    command = crawl_command(
        TOWN.url(0, "en"),
        "en,is",
        run,
        REPLAY_WARCS=world,
        PAGE_PROCESS=False,
        WARC_MAX_BYTES=20_000,
    )
    given = {name: str(value) for name, value in variables.items()}
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment("breadth_first") | given,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(scope="module")
def undisturbed(world, tmp_path_factory) -> Run:
    path = tmp_path_factory.mktemp("undisturbed") / "run"
    done = crawl(world, path)
    assert done.returncode == 0, done.stderr
    return Run(path)


def failing(library: Path, calls: str, path: str, after: int, error: int):
    return {
        "LD_PRELOAD": library,
        "FAIL_CALLS": calls,
        "FAIL_PATH": path,
        "FAIL_AFTER": after,
        "FAIL_ERRNO": error,
    }


def stored(run: Run) -> set[str]:
    files = list(run.path.glob("warc/*.warc.gz*"))
    return {page.url for page in iter_pages(files)}


def lines(run: Run) -> int:
    log = run.path / "crawl.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0


@pytest.mark.parametrize(
    ("path", "after", "error"),
    [
        ("warc.gz.open", 0, errno.ENOSPC),
        ("warc.gz.open", 9000, errno.EIO),
        ("cdxj", 2000, errno.ENOSPC),
        ("crawl.jsonl", 1500, errno.EIO),
        ("frontier.sqlite", 60_000, errno.EIO),
        ("frontier.sqlite", 60_000, errno.ENOSPC),
        ("aligner.sqlite", 20_000, errno.EIO),
        ("pairs.tsv.gz", 100, errno.EIO),
        ("stats.json", 0, errno.ENOSPC),
    ],
)
def test_a_write_that_fails(library, world, undisturbed, tmp_path, path, after, error):
    run = Run(tmp_path / "run")
    done = crawl(world, run.path, **failing(library, "w", path, after, error))
    line = error_line(done)
    assert os.strerror(error) in line or "disk" in line
    before = stored(run)
    assert len(before) >= lines(run) - 1
    done = crawl(world, run.path)
    assert done.returncode == 0, done.stderr
    assert before <= stored(run)
    assert stored(run) == stored(undisturbed)
    assert {v["url"] for v in run.visits} == {v["url"] for v in undisturbed.visits}
    assert pair_urls(run) == pair_urls(undisturbed)
    assert not list(run.path.glob("warc/*.open"))


@pytest.fixture
def interrupted(library, world, tmp_path) -> Run:
    """A run whose WARC file is still open, as after a kill, with pages in it."""
    run = Run(tmp_path / "run")
    after = 15_000
    done = crawl(world, run.path, **failing(library, "w", "warc.gz.open", after, 5))
    assert done.returncode == 1, done.stderr
    for path in run.path.glob("warc/*.warc.gz"):
        (path.with_name(path.name.replace(".warc.gz", ".cdxj"))).unlink()
        path.rename(path.with_name(path.name + ".open"))
    assert list(run.path.glob("warc/*.open"))
    return run


@pytest.mark.parametrize("after", [0, 3000, 12_000])
def test_a_read_that_fails_while_files_are_mended(
    library, world, undisturbed, interrupted, after
):
    run = interrupted
    before = {p.name: p.read_bytes() for p in run.path.glob("warc/*")}
    reading = failing(library, "r", "warc.gz.open", after, errno.EIO)
    line = error_line(crawl(world, run.path, **reading))
    assert "Input/output error" in line
    assert "disk" in line
    for name, data in before.items():
        if ".warc.gz" in name:
            path = run.path / "warc" / name
            done = path if path.exists() else path.with_suffix("")
            assert done.read_bytes() == data
    done = crawl(world, run.path)
    assert done.returncode == 0, done.stderr
    assert stored(run) == stored(undisturbed)
    assert pair_urls(run) == pair_urls(undisturbed)


@pytest.mark.parametrize("path", ["frontier.sqlite", "aligner.sqlite"])
def test_a_database_that_cannot_be_read(library, world, undisturbed, interrupted, path):
    run = interrupted
    reading = failing(library, "r", path, 4096, errno.EIO)
    error_line(crawl(world, run.path, **reading))
    done = crawl(world, run.path)
    assert done.returncode == 0, done.stderr
    assert pair_urls(run) == pair_urls(undisturbed)


@pytest.mark.parametrize(
    ("after", "error"),
    [(4000, errno.ESTALE), (20_000, errno.ENOENT), (80_000, errno.ESTALE)],
)
def test_a_disk_that_is_gone(library, world, undisturbed, tmp_path, after, error):
    run = Run(tmp_path / "mount" / "run")
    run.path.parent.mkdir()
    gone = failing(library, "a", str(run.path.parent), after, error)
    done = crawl(world, run.path, **gone)
    error_line(done)
    done = crawl(world, run.path)
    assert done.returncode == 0, done.stderr
    assert stored(run) == stored(undisturbed)
    assert pair_urls(run) == pair_urls(undisturbed)


@pytest.mark.parametrize("after", [0, 4096, 9000])
def test_a_recording_that_cannot_be_read_on(library, undisturbed, tmp_path, after):
    warc = max(undisturbed.warcs, key=lambda path: path.stat().st_size)
    words = ["align", str(warc), "--langs", "en,is", "--out", str(tmp_path / "out")]
    reading = failing(library, "r", warc.name, after, errno.EIO)
    done = subprocess.run(
        [str(Path(sys.executable).with_name("bifocal")), *words],
        env=environment() | {name: str(value) for name, value in reading.items()},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Input/output error" in error_line(done)
    again = bifocal("align", warc, "--langs", "en,is", "--out", tmp_path / "again")
    assert again.returncode == 0, again.stderr
