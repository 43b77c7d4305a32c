"""The extension that opens a crawl, keeps its clocks, and closes it.

An extension, since then the add-ons have changed the settings and there is no engine
yet. An error here ends the run as what it is; one in a scheduler's constructor, where
the crawl would otherwise be opened, Scrapy hides behind an error of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.project import get_project_settings

from crawler.components.checks import check_open_files, check_settings
from crawler.crawl.crawl import Crawl
from crawler.crawl.open import open_crawl
from crawler.crawl.progress import CrawlProgress
from crawler.progress import terminal

_EVERY = 0.1  # seconds between two looks at what is done now and then


class CrawlExtension:
    """Ties a crawl to the life of its spider."""

    def __init__(self, crawler: Crawler, crawl: Crawl, progress: CrawlProgress) -> None:
        self._crawler = crawler
        self._crawl = crawl
        self._progress = progress
        self._loop = create_looping_call(self._tick)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the crawl; a BifocalError says why it cannot be."""
        settings = crawler.settings
        check_settings(settings, get_project_settings())
        check_open_files(settings)
        spider: Any = crawler.spider  # BilingualSpider, which imports this room
        crawl = spider.crawl = open_crawl(
            spider.seeds,
            spider.langs,
            _resolved(crawler),
            scope=spider.scope,
            child=spider.child,
            about={"scrapy": version("scrapy")},
        )
        progress = CrawlProgress(crawl, terminal())
        crawl.observe(progress)
        extension = cls(crawler, crawl, progress)
        crawler.signals.connect(extension.open, signal=signals.spider_opened)
        crawler.signals.connect(extension.close, signal=signals.spider_closed)
        return extension

    def open(self) -> None:
        """Start the clock."""
        self._progress.open()
        self._loop.start(_EVERY, now=False)

    def close(self, reason: str) -> None:
        """Make the final pairs, and print the summary."""
        if self._loop.running:
            self._loop.stop()
        summary = self._crawl.close(reason, self._crawler.stats.get_stats())
        if summary.text:
            _say(summary.text)

    def _tick(self) -> None:
        self._crawl.tick()
        self._progress.tick()
        if self._crawl.stopping:
            self._loop.stop()
            engine = self._crawler.engine
            assert engine is not None
            reason = self._crawl.stopping
            deferred_from_coro(engine.close_spider_async(reason=reason))


def _resolved(crawler: Crawler) -> Mapping[str, Any]:
    """Every setting that is not as Scrapy has it, as plain values."""
    settings = crawler.settings
    values = settings.copy_to_dict()
    return {name: value for name, value in values.items() if settings.getpriority(name)}


def _say(text: str) -> None:
    """Print, even if nobody listens any more: `scrapy crawl … | head`."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
