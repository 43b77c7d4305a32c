"""The crawl as a plain object, driven over recordings without Scrapy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crawler.crawl.crawl import Crawl, Fetch
from crawler.crawl.log import Visit
from crawler.crawl.open import open_crawl
from crawler.crawl.replay import WITHOUT_PAUSES, replay
from crawler.crawl.settings import load_profile_settings
from crawler.data import Page
from crawler.errors import ProfileError, RunDirError
from crawler.fetch.errors import Failure
from crawler.replay.world import ReplayWorld
from crawler.warc.exchange import Exchange
from tests.commands import DEMO, DEMO_SEEDS, Run, crawl
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=6, words=80, hreflang=True)
NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)


def settings(path: Path, **changes: object) -> dict[str, Any]:
    quick = {**WITHOUT_PAUSES, "PAGE_PROCESS": False}
    return load_profile_settings(RUN_DIR=str(path), **{**quick, **changes})


class Clock:
    """A clock that goes only when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def opened(tmp_path) -> Iterator[Crawl]:
    opened = open_crawl(TOWN.home, "en,is", settings(tmp_path / "run"))
    opened.clock = Clock()
    yield opened
    opened.close("finished")


def answer(opened: Crawl, fetch: Fetch, page: Page) -> None:
    exchange = Exchange.of_page(replace(page, url=fetch.url), NOW)
    asyncio.run(opened.answered(fetch, exchange))


def status(code: int, **headers: str) -> Page:
    given = tuple((k.replace("_", "-"), v) for k, v in headers.items())
    return Page(TOWN.home, code, given, b"", NOW)


def fetch_of(opened: Crawl) -> Fetch:
    found = opened.next()
    assert isinstance(found, Fetch)
    return found


# ------------------------------------------------------------------ whole crawls


def test_a_replay_without_scrapy_gives_what_scrapy_gives(tmp_path):
    recording = DEMO / "demo.warc.gz"
    ours, theirs = Run(tmp_path / "plain"), Run(tmp_path / "scrapy")
    world = ReplayWorld.open(recording)
    summary = replay(str(DEMO_SEEDS), "en,is", settings(ours.path), world)
    assert summary.error is None
    assert "found 37 document pairs" in summary.text
    done = crawl(DEMO_SEEDS, "en,is", theirs.path, REPLAY_WARCS=recording)
    assert done.returncode == 0, done.stderr
    assert [v["url"] for v in ours.visits] == [v["url"] for v in theirs.visits]
    assert ours.pairs == theirs.pairs
    assert ours.stats["replay/hit"] == theirs.stats["replay/hit"]


# ----------------------------------------------------------------- one site


def test_robots_txt_comes_first_and_its_site_is_closed_meanwhile(opened):
    robots = fetch_of(opened)
    assert robots.url == "https://town.example/robots.txt"
    assert isinstance(opened.next(), float)  # its answer may bring a page
    answer(opened, robots, status(404))
    assert fetch_of(opened).url == TOWN.home


def test_what_robots_txt_forbids_is_not_fetched(opened):
    text = b"User-agent: *\nDisallow: /\n"
    answer(opened, fetch_of(opened), replace(status(200), body=text))
    assert opened.next() is None
    assert opened.counts["frontier/refused/robots"] == 1


def test_a_robots_txt_that_moved_is_followed_before_anything_else(opened):
    answer(opened, fetch_of(opened), status(301, location="/elsewhere.txt"))
    again = fetch_of(opened)
    assert (again.url, again.robots_hops) == ("https://town.example/elsewhere.txt", 1)
    answer(opened, again, status(404))
    assert fetch_of(opened).url == TOWN.home


def test_robots_txt_without_an_answer_is_asked_for_again_and_then_left(opened):
    for _ in range(3):
        fetch = fetch_of(opened)
        assert fetch.url.endswith("/robots.txt")
        opened.failed(fetch, "timeout")
        opened.clock.now += 10
    assert opened.next() is None
    assert opened.counts["robots/failed/timeout"] == 3
    assert opened.counts["frontier/postponed"] == 1


def begun(opened: Crawl) -> Fetch:
    """The request for the home page."""
    answer(opened, fetch_of(opened), status(404))
    return fetch_of(opened)


def test_a_site_is_asked_again_after_its_delay(tmp_path):
    opened = open_crawl(TOWN.home, "en,is", settings(tmp_path, DOWNLOAD_DELAY=3))
    clock = opened.clock = Clock()
    answer(opened, fetch_of(opened), status(404))
    assert opened.next() == 3.0
    clock.now += 2.9
    assert opened.next() == pytest.approx(0.1)
    clock.now += 0.2
    assert fetch_of(opened).url == TOWN.home
    opened.close("finished")


def test_an_answer_that_says_later_is_stored_and_tried_again_later(opened):
    answer(opened, begun(opened), status(503, retry_after="30"))
    assert 30.0 <= opened.next() <= 33.0
    opened.clock.now += 34
    assert fetch_of(opened).url == TOWN.home
    assert opened.counts["fetch/retried"] == 1


def test_a_server_cannot_talk_the_crawl_out_of_its_patience(tmp_path):
    """Retry-After: 0 is believed once; then pauses double, up to ten minutes."""
    words = {"RETRY_WAIT": 10, "RETRY_TIMES": 9}
    opened = open_crawl(TOWN.home, "en,is", settings(tmp_path, **words))
    opened.clock = Clock()
    waits, fetch = [], begun(opened)
    for _ in range(9):
        answer(opened, fetch, status(429, retry_after="0"))
        found = opened.next()
        if isinstance(found, float):
            waits.append(found)
            opened.clock.now += found + 1
            found = opened.next()
        fetch = found
    assert [round(wait / 1.05, -1) for wait in waits[:3]] == [20, 40, 80]
    assert 600 <= waits[-1] <= 660
    opened.stop("shutdown")
    opened.close("finished")
    lines = (tmp_path / "crawl.jsonl").read_text().splitlines()
    assert [json.loads(line)["reason"] for line in lines] == ["later/429"] * 9


def test_a_request_does_not_leave_for_a_site_that_is_lost(opened, monkeypatch):
    fetch = begun(opened)
    assert opened.may_send(fetch)
    monkeypatch.setattr(opened.frontier.workers, "holds", lambda url: False)
    assert not opened.may_send(fetch)
    opened.failed(fetch, Failure.NOT_OURS)
    assert opened.counts["fetch/not_ours"] == 1


def test_a_site_whose_robots_txt_cannot_be_had_is_named(opened):
    opened.failed(fetch_of(opened), Failure.EXPIRED, final=True)
    summary = opened.close("finished")
    assert "certificate has expired" in str(summary.error)
    assert 'TLS_VERIFY="except HOST"' in str(summary.error)
    (line,) = opened.run.crawl_log.read_text().splitlines()
    assert json.loads(line)["reason"] == "robots/certificate/expired"


def test_a_url_that_no_try_would_help_is_done(opened):
    opened.failed(begun(opened), "too_large", final=True)
    assert opened.next() is None
    assert opened.frontier.store.counts()["done"] == 1


def test_visits_are_told_with_what_the_page_was(opened):
    class Listener:
        visits: list[Visit] = []

        def visited(self, visit: Visit) -> None:
            self.visits.append(visit)

        def close(self) -> None: ...

    opened.observe(Listener())
    answer(opened, begun(opened), TOWN.page(0, "en"))
    (visit,) = Listener.visits
    assert (visit.url, visit.lang, visit.kept) == (TOWN.home, "en", True)
    assert visit.links == visit.added > 0


# ------------------------------------------------------------------- the end


def test_a_crawl_that_is_told_to_stop_fetches_no_more(opened):
    home = begun(opened)
    opened.stop("shutdown")
    assert isinstance(opened.next(), float)  # a page is on its way
    assert not opened.has_pending
    answer(opened, home, TOWN.page(0, "en"))
    assert opened.next() is None
    summary = opened.close("finished")
    assert summary.stats["finish_reason"] == "shutdown"
    assert "the same command with RUN_DIR=" in summary.text


def test_a_stop_file_ends_the_crawl_once(opened):
    opened.tick()
    opened.run.stop.touch()
    opened.tick()
    assert opened.stopping is None  # it is not looked for all the time
    opened.clock.now += 2
    opened.tick()
    assert opened.stopping == "shutdown"
    assert not opened.run.stop.exists()


def test_an_error_that_ends_the_run_is_the_first_one(opened):
    home = begun(opened)

    class Full:
        def visited(self, visit: Visit) -> None:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            raise RunDirError("a second one")

    opened.observe(Full())
    answer(opened, home, TOWN.page(0, "en"))
    assert opened.next() is None
    summary = opened.close("finished")
    assert "No space left on device" in str(summary.error)
    assert summary.stats["finish_reason"] == "error"


def test_a_page_that_could_not_be_logged_is_asked_for_again(tmp_path):
    opened = open_crawl(TOWN.home, "en,is", settings(tmp_path))

    class Full:
        def visited(self, visit: Visit) -> None:
            raise RunDirError("no room")

        def close(self) -> None: ...

    home = begun(opened)
    opened.commit()
    opened.observe(Full())
    answer(opened, home, TOWN.page(0, "en"))
    opened.close("finished")
    again = open_crawl(TOWN.home, "en,is", settings(tmp_path))
    assert begun(again).url == home.url
    again.close("shutdown")


def test_a_bug_of_a_plug_in_costs_one_page_and_is_logged(opened, caplog):
    home = begun(opened)

    class Bug:
        def visited(self, visit: Visit) -> None:
            if visit.reason is None:
                raise ZeroDivisionError

        def close(self) -> None: ...

    opened.observe(Bug())
    answer(opened, home, TOWN.page(0, "en"))
    assert opened.counts["fetch/failed/ZeroDivisionError"] == 1
    assert "ZeroDivisionError" in caplog.text
    assert isinstance(opened.next(), Fetch)  # its links are known


def test_the_next_session_goes_on(tmp_path):
    opened = open_crawl(TOWN.home, "en,is", settings(tmp_path))
    answer(opened, begun(opened), TOWN.page(0, "en"))
    assert opened.close("shutdown").error is None
    again = open_crawl(TOWN.home, "en,is", settings(tmp_path))
    assert again.resumed
    assert begun(again).url != TOWN.home
    again.close("shutdown")


def test_a_crawl_needs_a_run_directory():
    with pytest.raises(ProfileError, match="RUN_DIR is not set"):
        open_crawl(TOWN.home, "en,is", load_profile_settings())
