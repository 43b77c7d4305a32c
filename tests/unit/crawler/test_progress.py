from __future__ import annotations

import io
import logging

import pytest

from crawler import progress as module
from crawler.progress import ProgressLine, Stage, watched

LOGGER = logging.getLogger("a_job")


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
    with Stage(ProgressLine(LOGGER, io.StringIO()), "reading", 1000) as stage:
        stage.skip(400)  # an earlier run did this, at whatever rate
        clock.now = 10.0
        stage.advance(200, 5000)
        assert stage.text() == "reading 60% · 5,000 pages · 500/s · 0:20 left"
        clock.now = 7300.0
        stage.advance(1, 0)
        assert stage.text().endswith("4:01:31 left")


def test_a_terminal_has_one_live_line_and_the_log_what_a_stage_took(clock, caplog):
    caplog.set_level(logging.INFO)
    terminal = io.StringIO()
    with Stage(ProgressLine(LOGGER, terminal), "aligning en,is", 10) as stage:
        clock.now = 2.0
        stage.advance(10, 10)
    assert terminal.getvalue().count("\r") == 2
    assert "aligning en,is 100% · 10 pages · 5/s · 0:00 left" in terminal.getvalue()
    assert caplog.messages == ["aligning en,is: 10 pages in 2.0 s"]


def test_without_a_terminal_the_log_has_a_line_now_and_then(clock, caplog):
    caplog.set_level(logging.INFO)
    with Stage(ProgressLine(LOGGER, None), "reading", 100) as stage:
        for second in range(1, 62):
            clock.now = float(second)
            stage.advance(1, 1)
        assert len(caplog.messages) == 2


def test_the_live_line_makes_way_for_a_log_record():
    terminal = io.StringIO()
    line = ProgressLine(LOGGER, terminal)
    handler = logging.StreamHandler(terminal)
    handler.addFilter(line)
    line.show("1 page")
    handler.handle(logging.makeLogRecord({"msg": "a warning"}))
    assert terminal.getvalue() == "\r\x1b[K1 page\r\x1b[Ka warning\n"


def test_a_line_is_cut_to_the_width_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    terminal = io.StringIO()
    ProgressLine(LOGGER, terminal).show("0123456789")
    assert terminal.getvalue() == "\r\x1b[K012345678"


def test_items_of_a_watched_stage_come_as_they_are_and_end_without_a_word(caplog):
    caplog.set_level(logging.INFO)
    line = ProgressLine(logging.getLogger("watched"), None, log_interval=0.0)
    stage = Stage(line, "final pairs", 10.0, "pairs")
    assert list(watched("abcd", stage, lambda _: 2.5)) == list("abcd")
    said = [record.message.partition(" left")[0] for record in caplog.records]
    assert len(said) == 4
    assert said[0].startswith("final pairs 25% · 1 pairs")
    assert said[-1].startswith("final pairs 100% · 4 pairs")
