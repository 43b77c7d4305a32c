from __future__ import annotations

import io
import logging

import pytest

from crawler.realign import progress as module
from crawler.realign.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)
    return clock


def test_share_rate_and_time_left_are_of_this_run(clock):
    progress = Progress(io.StringIO())
    progress.begin("reading", 1000)
    progress.skip(400)  # an earlier run did this, at whatever rate
    clock.now = 10.0
    progress.advance(200, 5000)
    assert progress.line() == "reading 60% · 5,000 pages · 500/s · 0:20 left"
    clock.now = 7300.0
    progress.advance(1, 0)
    assert progress.line().endswith("4:01:31 left")


def test_a_terminal_has_one_live_line_and_the_log_what_a_stage_took(clock, caplog):
    caplog.set_level(logging.INFO)
    terminal = io.StringIO()
    progress = Progress(terminal)
    progress.begin("aligning en,is", 10)
    clock.now = 2.0
    progress.advance(10, 10)
    progress.end()
    assert terminal.getvalue().count("\r") == 2
    assert "aligning en,is 100% · 10 pages · 5/s · 0:00 left" in terminal.getvalue()
    assert caplog.messages == ["aligning en,is: 10 pages in 2.0 s"]


def test_without_a_terminal_the_log_has_a_line_now_and_then(clock, caplog, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    caplog.set_level(logging.INFO)
    progress = Progress()
    progress.begin("reading", 100)
    for second in range(1, 62):
        clock.now = float(second)
        progress.advance(1, 1)
    assert len(caplog.messages) == 2
