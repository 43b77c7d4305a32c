"""`bifocal watch` in a terminal, and where there is none."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import PATIENCE, ROOT, bifocal, environment

pytestmark = pytest.mark.slow

BIFOCAL = str(Path(sys.executable).with_name("bifocal"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = tmp_path_factory.mktemp("watch") / "run"
    done = bifocal("demo", "--out", run)
    assert done.returncode == 0, done.stderr
    return run


def in_a_terminal(*words: str) -> str:
    """What a command draws on a terminal of eighty columns."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        env=environment() | {"TERM": "xterm", "COLUMNS": "80"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:  # the other end is closed
        pass
    assert process.wait(PATIENCE) == 0, shown
    os.close(ours)
    return shown.decode()


def test_a_terminal_gets_a_live_view(run):
    shown = in_a_terminal(BIFOCAL, "watch", str(run), "--every", "0.1")
    for said in ("best sites, and the dearest", "last pairs", "not kept: language 47"):
        assert said in shown
    assert "186 pages" in shown


def test_a_pipe_gets_a_line(run):
    done = bifocal("watch", run)
    (line,) = done.stdout.splitlines()
    assert line.startswith("186 pages · ")
    assert "\x1b" not in line
