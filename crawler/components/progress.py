"""Extension: what a person watches while a crawl runs.

In a terminal one live line: pages, pages a second, pairs, the frontier, the best site.
Elsewhere the same as a log line now and then (setting PROGRESS_INTERVAL, seconds).
"""

from __future__ import annotations

import logging
import shutil
import sys
from collections import Counter
from time import monotonic
from typing import Self, TextIO

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from crawler.components.crawl_log import Visit
from crawler.components.signals import page_visited

logger = logging.getLogger(__name__)

_REDRAW = 0.25  # seconds; faster only flickers
_CLEAR = "\r\x1b[K"


class Progress:
    """Counts visits and shows them."""

    def __init__(
        self, crawler: Crawler, interval: float, terminal: TextIO | None
    ) -> None:
        """Draw on a terminal, or log every `interval` seconds without one."""
        self._crawler = crawler
        self._terminal = terminal
        self._started = monotonic()
        self._pages = 0
        self._pairs: Counter[str] = Counter()
        self._loop = create_looping_call(self._show)
        self._every = _REDRAW if terminal else interval

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Draw if standard error is a terminal."""
        terminal = sys.stderr if sys.stderr.isatty() else None
        progress = cls(
            crawler, crawler.settings.getfloat("PROGRESS_INTERVAL"), terminal
        )
        crawler.signals.connect(progress.open, signal=signals.spider_opened)
        crawler.signals.connect(progress.visited, signal=page_visited)
        crawler.signals.connect(progress.close, signal=signals.spider_closed)
        return progress

    def open(self) -> None:
        """Start the clock; a line of the log takes the place of the live line."""
        self._started = monotonic()
        self._loop.start(self._every, now=False)
        if self._terminal:
            for handler in logging.getLogger().handlers:
                handler.addFilter(self._make_way)

    def visited(self, visit: Visit) -> None:
        """Count a visit."""
        self._pages += visit.status == 200
        self._pairs[visit.site] += visit.pairs

    def line(self) -> str:
        """The progress so far, in one line."""
        seconds = max(monotonic() - self._started, 0.001)
        scheduler = self._crawler.engine.scheduler
        pending = len(getattr(scheduler, "frontier", ()))
        parts = [
            f"{self._pages:,} pages",
            f"{self._pages / seconds:.1f}/s",
            f"{self._pairs.total():,} pairs",
            f"frontier {pending:,}",
        ]
        for site, pairs in self._pairs.most_common(1):
            if pairs:
                parts.append(f"best {site} ({pairs:,})")
        return " · ".join(parts)

    def close(self) -> None:
        """Take the live line away: the summary follows."""
        if self._loop.running:
            self._loop.stop()
        self._draw("")

    def _show(self) -> None:
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1  # a full line would wrap
            self._draw(self.line()[:width])
        else:
            logger.info("%s", self.line())

    def _draw(self, text: str) -> None:
        if self._terminal:
            self._terminal.write(_CLEAR + text)
            self._terminal.flush()

    def _make_way(self, record: logging.LogRecord) -> bool:
        self._draw("")
        return True
