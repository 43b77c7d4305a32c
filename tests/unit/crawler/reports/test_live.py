from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from crawler.cli.watch import view
from crawler.data import PairScore
from crawler.errors import RunDirError
from crawler.reports.live import LiveRun
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs


def line(site: str, second: int, pairs: int = 0, reason: str | None = None) -> str:
    visit = {
        "url": f"https://{site}/{second}",
        "site": site,
        "status": 404 if reason else 200,
        "time": f"2026-01-01T00:00:{second:02}+00:00",
        "added": 3,
        "pairs": pairs,
        "reason": reason,
    }
    return json.dumps(visit) + "\n"


@pytest.fixture
def run(tmp_path):
    run = RunDir(tmp_path)
    run.write({"langs": ["en", "is"], "seeds": ["https://a.is/"]})
    run.crawl_log.write_text(line("a.is", 0) + line("a.is", 2, pairs=1))
    return run


def test_each_look_reads_the_new_whole_lines(run):
    live = LiveRun.open(run)
    assert live.look() == 2
    assert live.look() == 0
    with run.crawl_log.open("a") as log:
        log.write(line("b.is", 4, reason="status/404") + '{"url": "ht')
    assert live.look() == 1
    assert live.line() == "2 pages · 0.5/s · 1 pairs · frontier 7 · best a.is (1)"
    assert live.best() == [("a.is", 1, 2)]
    assert live.worst() == [("b.is", 0, 1)]
    assert live.reasons == {"status/404": 1}


def test_it_says_what_the_waiting_urls_should_give_and_at_most(run):
    live = LiveRun.open(run)
    assert live.ahead == ""
    live.look()
    assert live.ahead == (
        "about 2 pairs ahead, at most 12"
        " (of the last 2 downloads one in 2.0 completed a pair)"
    )
    with run.crawl_log.open("a") as log:
        log.writelines(
            line("a.is", n).replace('"added": 3', '"added": 0') for n in range(4, 12)
        )
    live.look()
    assert live.ahead == "nothing waits"


def test_it_is_over_when_the_counters_are_written_after_the_log(run):
    live = LiveRun.open(run)
    assert not live.is_over
    run.write_stats({})
    assert live.is_over


def test_the_view_shows_totals_sites_and_the_last_pairs(run):
    write_pairs(run.pairs, [PairScore("https://a.is/en", "https://a.is/is", 0.9)])
    live = LiveRun.open(run)
    live.look()
    console = Console(width=100, file=io.StringIO())
    console.print(view(live))
    text = console.file.getvalue()
    for said in ("2 pages", "a.is", "0.900 https://a.is/en"):
        assert said in text


def test_a_site_whose_downloads_fail_is_a_warning(run):
    with run.crawl_log.open("a") as log:
        log.writelines(line("b.is", n, reason="status/404") for n in range(6))
        log.writelines(line("c.is", n, reason="language") for n in range(9))
    live = LiveRun.open(run)
    live.look()
    assert live.warnings() == ["b.is: 6 of 6 downloads failed"]
    assert "6 failed" in live.line()
    console = Console(width=100, file=io.StringIO())
    console.print(view(live))
    assert "warning: b.is: 6 of 6" in console.file.getvalue()


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(RunDirError, match=r"is .* a run directory"):
        LiveRun.open(RunDir(tmp_path / "no"))
