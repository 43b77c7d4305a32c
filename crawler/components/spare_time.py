"""Extension: looks now and then whether there is time for sentences.

For an intake in this process; one beside it looks itself (crawler.intake.spare_time).
"""

from __future__ import annotations

from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawler.components.intake import LocalIntake
from crawler.intake.intake import OURS
from crawler.intake.spare_time import EVERY


class SpareTime:
    """A clock for the intake."""

    def __init__(self, crawler: Crawler) -> None:
        """Begin with the crawl."""
        spider: Any = crawler.spider
        self._spider = spider
        self._loop = create_looping_call(self._look)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Tick while the spider is open."""
        spare = cls(crawler)
        if not isinstance(spare._spider.intake, LocalIntake):
            raise NotConfigured
        crawler.signals.connect(spare.open, signal=signals.spider_opened)
        crawler.signals.connect(spare.close, signal=signals.spider_closed)
        return spare

    def open(self) -> None:
        """Start the clock."""
        self._loop.start(EVERY, now=False)

    def close(self) -> None:
        """The final pairs are aligned by others."""
        if self._loop.running:
            self._loop.stop()

    def _look(self) -> None:
        try:
            self._spider.intake.intake.look()
        except OURS as error:
            self._loop.stop()
            self._spider.give_up(error)
