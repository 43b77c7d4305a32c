from __future__ import annotations

from pathlib import Path

from scrapy.settings import Settings

from crawler.components.page_process import page_process, start_early, wants_process

_TASKS = Path("/proc/self/task")
SETTINGS = {
    "PAGE_PROCESS": True,
    "LOG_ENABLED": True,
    "LOG_LEVEL": "INFO",
    "LOG_FORMAT": "%(message)s",
    "LOG_DATEFORMAT": "%H",
}


def children() -> int:
    """How many processes this one has started that are still there."""
    return sum(len(path.read_text().split()) for path in _TASKS.glob("*/children"))


def test_what_was_started_early_is_taken_once():
    settings = Settings(SETTINGS)
    before = children()
    start_early(settings)
    assert children() == before + 1
    early = page_process(settings)
    assert children() == before + 1
    another = page_process(settings)
    assert children() == before + 2
    for child in early, another:
        assert child is not None
        child.end()
    assert children() == before


def test_a_setting_that_is_no_yes_or_no_is_left_to_who_says_so():
    before = children()
    start_early(Settings({**SETTINGS, "PAGE_PROCESS": "perhaps"}))
    assert children() == before


def test_workers_that_share_a_frontier_have_none():
    shared = Settings({**SETTINGS, "FRONTIER_URL": "redis://localhost/0"})
    assert not wants_process(shared)
    assert page_process(shared) is None
