from __future__ import annotations

from pathlib import Path

import pytest

from crawler.crawl.child import start_child, wants_process
from crawler.crawl.settings import CrawlSettings, load_profile_settings, read_settings
from crawler.errors import ProfileError

_TASKS = Path("/proc/self/task")


def settings(**changes: object) -> CrawlSettings:
    return read_settings(load_profile_settings(**changes))


def children() -> set[str]:
    """The numbers of the processes that this one started and that are still there."""
    return {
        pid for path in _TASKS.glob("*/children") for pid in path.read_text().split()
    }


def test_a_process_that_is_started_lives_until_it_is_ended():
    before = children()  # of other tests: such a process may end at any time
    child = start_child(settings())
    started = children() - before
    assert len(started) == 1
    child.end()
    assert not started & children()


def test_the_setting_says_whether_there_is_a_process():
    assert wants_process(settings(PAGE_PROCESS="True"))
    assert not wants_process(settings(PAGE_PROCESS=False))
    with pytest.raises(ProfileError, match="PAGE_PROCESS=perhaps: "):
        settings(PAGE_PROCESS="perhaps")


def test_workers_that_share_a_frontier_and_replays_have_none():
    assert not wants_process(settings(FRONTIER_URL="redis://localhost/0"))
    assert not wants_process(settings(REPLAY_WARCS="world.warc.gz"))
