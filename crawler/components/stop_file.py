"""Extension: `touch RUN_DIR/stop` ends a crawl as Ctrl-C does.

For whoever cannot send it a signal: it runs on another machine, in a container, or as
another user.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro

from crawler.components.assembly import run_dir

logger = logging.getLogger(__name__)

_EVERY = 1.0  # seconds: who stops a crawl waits for the page in hand anyway


class StopFile:
    """Looks for a file, and stops the crawl when it is there."""

    def __init__(self, crawler: Crawler, path: Path) -> None:
        """Watch this path."""
        self._crawler = crawler
        self._path = path
        self._loop = create_looping_call(self._look)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch the run directory."""
        watch = cls(crawler, run_dir(crawler).stop)
        crawler.signals.connect(watch.open, signal=signals.spider_opened)
        crawler.signals.connect(watch.close, signal=signals.spider_closed)
        return watch

    def open(self) -> None:
        """Begin; a file of an earlier session has done its work."""
        self._path.unlink(missing_ok=True)
        self._loop.start(_EVERY, now=False)

    def close(self) -> None:
        """End, and take the file away: the next session shall run."""
        if self._loop.running:
            self._loop.stop()
        self._path.unlink(missing_ok=True)

    def _look(self) -> None:
        if self._path.exists():
            logger.info("Found %s, shutting down gracefully", self._path)
            self._loop.stop()
            deferred_from_coro(self._crawler.stop_async())
