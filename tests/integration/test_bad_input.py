"""What a user can get wrong: one line that says what, where and the cure.

Here what ends a crawl, as a process; test_mistakes.py has what never begins one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands import (
    DEMO,
    DEMO_SEEDS,
    PATIENCE,
    ROOT,
    Run,
    bifocal,
    crawl,
    crawl_command,
    environment,
    error_line,
    pair_urls,
)

WORLD = DEMO / "demo.warc.gz"


@pytest.fixture
def run_dir(tmp_path):
    return tmp_path / "run"


def refused(run_dir: Path, *, seeds=DEMO_SEEDS, langs="en,is", **settings) -> str:
    """The error of a crawl of the demo world that does not even begin."""
    settings = {"REPLAY_WARCS": WORLD, **settings}
    line = error_line(crawl(seeds, langs, run_dir, **settings))
    assert not (run_dir / "run.json").exists()
    return line


@pytest.mark.parametrize("name", ["adaptve", "Focused "])
def test_profiles(run_dir, name):
    line = error_line(crawl(DEMO_SEEDS, "en,is", run_dir, profile=name))
    assert line.startswith(f"SCRAPY_PROJECT={name}: no such profile (there are default")


def test_a_run_directory_of_other_languages_is_left_as_it_is(run_dir):
    first = crawl(DEMO_SEEDS, "en,is", run_dir, REPLAY_WARCS=WORLD)
    assert first.returncode == 0
    before = {path: path.read_bytes() for path in run_dir.rglob("*.*z*")}
    line = error_line(crawl(DEMO_SEEDS, "en,es", run_dir, REPLAY_WARCS=WORLD))
    assert f"{run_dir}: this run directory is for en,is, not for en,es" in line
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_run_directory_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    line = refused(tmp_path / "run")
    assert "Permission denied (choose another RUN_DIR" in line


def test_a_recording_that_is_cut_short(run_dir, tmp_path):
    warc = tmp_path / "cut.warc.gz"
    warc.write_bytes(WORLD.read_bytes()[:100_000])
    line = refused(run_dir, REPLAY_WARCS=warc)
    assert f"{warc}: damaged recording" in line
    assert "copy it again" in line


def test_a_recording_that_is_something_else(run_dir, tmp_path):
    warc = tmp_path / "picture.warc.gz"
    warc.write_bytes(b"<html>")
    assert f"{warc}: not a WARC file" in refused(run_dir, REPLAY_WARCS=warc)


def test_an_unknown_argument_is_an_error(run_dir):
    command = [*crawl_command(DEMO_SEEDS, "en,is", run_dir), "-a", "scop=host"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "unknown argument -a scop" in error_line(done)


@pytest.mark.parametrize(
    ("seed", "reason"),
    [
        ("https://nowhere.invalid/", "no_address"),
        ("http://127.0.0.1:1/", "refused"),
    ],
)
def test_nobody_answers(run_dir, seed, reason):
    """The same command later tries again: nothing was written off."""
    for _ in range(2):
        done = crawl(seed, "en,is", run_dir, DOWNLOAD_DELAY=0, RETRY_WAIT=0)
        line = error_line(done)
        assert f"no page could be fetched from {seed}: {reason}" in line
        assert done.stdout == ""


# ------------------------------------------------------------------ a full disk

_MOUNT = """
mount -t tmpfs -o size=$ROOM tmpfs "$DISK" || exit 77
"$@"; first=$?
mount -o remount,size=100m "$DISK"
"$@" || exit 78
cp -r "$DISK"/. "$KEEP"
exit $first
"""


def on_a_small_disk(
    tmp_path: Path, room: str, **settings: object
) -> subprocess.CompletedProcess[str]:
    """Crawl where there is no room, then make room and give the same command."""
    disk, keep = tmp_path / "disk", tmp_path / "keep"
    disk.mkdir()
    keep.mkdir()
    settings |= {"REPLAY_WARCS": WORLD, "WARC_MAX_BYTES": 100_000}
    command = crawl_command(DEMO_SEEDS, "en,is", disk / "run", **settings)
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", _MOUNT, "sh", *command],
        cwd=ROOT,
        env=environment("breadth_first")
        | {"DISK": str(disk), "KEEP": str(keep), "ROOM": room},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    return done


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "run"
    done = crawl(DEMO_SEEDS, "en,is", path, profile="breadth_first", REPLAY_WARCS=WORLD)
    assert done.returncode == 0
    return Run(path)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare(1)")
@pytest.mark.parametrize(
    ("room", "apart"), [("300k", False), ("1500k", False), ("300k", True)]
)
def test_a_full_disk_costs_nothing_that_was_collected(
    undisturbed, tmp_path, room, apart
):
    done = on_a_small_disk(tmp_path, room, PAGE_PROCESS=apart)
    line = error_line(done)
    assert "full" in line
    assert "start again" in line
    resumed = Run(tmp_path / "keep" / "run")
    assert pair_urls(resumed) == pair_urls(undisturbed)
    visits = [visit["url"] for visit in resumed.visits]
    assert len(visits) - len(set(visits)) <= 1  # the page for which there was no room
    assert set(visits) == {visit["url"] for visit in undisturbed.visits}
    done = bifocal(
        *("align", resumed.path / "warc", "--langs", "en,is"),
        *("--out", tmp_path / "again"),
    )
    assert done.returncode == 0, done.stderr
    assert "damaged" not in done.stderr
    assert pair_urls(Run(tmp_path / "again")) == pair_urls(undisturbed)


# ------------------------------------------------------------------ bifocal …


def test_align_says_what_is_wrong_and_can_be_asked_again(tmp_path):
    out = tmp_path / "out"
    line = error_line(
        bifocal("align", tmp_path / "no", "--langs", "en,is", "--out", out)
    )
    assert f"{tmp_path / 'no'}: no such file" in line
    done = bifocal("align", WORLD, "--langs", "en,is", "--out", out)
    assert done.returncode == 0, done.stderr
    line = error_line(bifocal("align", WORLD, "--langs", "en,is", "--out", out))
    assert "already holds a run (choose another --out" in line


def test_the_demo_does_not_delete_what_is_not_its_own(tmp_path):
    done = bifocal("align", WORLD, "--langs", "en,is", "--out", tmp_path / "mine")
    assert done.returncode == 0
    line = error_line(bifocal("demo", "--out", tmp_path / "mine"))
    assert "holds another crawl" in line
    assert (tmp_path / "mine" / "pairs.tsv.gz").exists()


def test_index_leaves_files_alone_that_cannot_have_one(tmp_path):
    shutil.copy(WORLD, tmp_path)
    solid = tmp_path / "solid.warc.xz"
    subprocess.run(
        f"gzip -dc {WORLD} | xz -0 > {solid}", shell=True, check=True, timeout=60
    )
    done = bifocal("index", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "of 1 files" in done.stdout
    assert [path.name for path in tmp_path.glob("*.cdxj")] == ["demo.cdxj"]
    assert "0 files" in bifocal("index", tmp_path).stdout
