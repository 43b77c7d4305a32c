"""The progress of a crawl: pages, pages a second, pairs, the frontier, the best site.

A live line in a terminal; elsewhere a line of the log now and then (setting
PROGRESS_INTERVAL, seconds).
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TextIO

from crawler.crawl.crawl import Crawl
from crawler.crawl.log import Visit
from crawler.progress import ProgressLine

logger = logging.getLogger(__name__)


class CrawlProgress:
    """Counts the visits of a crawl and shows them on a terminal, or logs them."""

    def __init__(self, crawl: Crawl, terminal: TextIO | None) -> None:
        self._crawl = crawl
        interval = crawl.settings.progress_interval
        self._line = ProgressLine(logger, terminal, interval)
        self._started = 0.0
        self._pages = 0
        self._pairs: Counter[str] = Counter()

    def open(self) -> None:
        """Start the clock; a line of the log takes the place of the live line."""
        self._started = self._line.shown = self._crawl.clock()
        for handler in logging.getLogger().handlers:
            handler.addFilter(self._line)

    def visited(self, visit: Visit) -> None:
        """Count a visit."""
        self._pages += visit.status == 200
        self._pairs[visit.site] += visit.pairs

    def tick(self) -> None:
        """Show the progress, if it is time."""
        self._line.update(self._text)

    def _text(self) -> str:
        seconds = max(self._crawl.clock() - self._started, 0.001)
        parts = [
            f"{self._pages:,} pages",
            f"{self._pages / seconds:.1f}/s",
            f"{self._pairs.total():,} pairs",
            f"frontier {len(self._crawl.frontier):,}",
        ]
        for site, pairs in self._pairs.most_common(1):
            if pairs:
                parts.append(f"best {site} ({pairs:,})")
        return " · ".join(parts)

    def close(self) -> None:
        """Take the live line away: the summary follows."""
        self._line.clear()
