"""`bifocal watch` in a terminal, and where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.commands import bifocal, in_a_terminal

pytestmark = pytest.mark.slow

BIFOCAL = str(Path(sys.executable).with_name("bifocal"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = tmp_path_factory.mktemp("watch") / "run"
    done = bifocal("demo", "--out", run)
    assert done.returncode == 0, done.stderr
    return run


def test_a_terminal_gets_a_live_view(run):
    command = [BIFOCAL, "watch", str(run), "--every", "0.1"]
    shown, status = in_a_terminal(command, 80, TERM="xterm", COLUMNS="80")
    assert status == 0, shown
    for said in (
        "best sites, and the most expensive ones",
        "last pairs",
        "not kept: language 47",
    ):
        assert said in shown
    assert "186 pages" in shown


def test_a_pipe_gets_a_line(run):
    done = bifocal("watch", run)
    (line,) = done.stdout.splitlines()
    assert line.startswith("186 pages · ")
    assert "\x1b" not in line
