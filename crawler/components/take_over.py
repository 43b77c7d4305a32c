"""Extension: a site that another worker had brings its documents along.

The aligner and the sentences of the worker that takes a site over need the pages that
the other one has fetched, or a pair with one half on either side of the change would
not be found before `bifocal align` reads everything. They are read from the WARC files
of the same run, which are those of the run directories beside our own. Where workers
have no disk in common, nothing is found and nothing is lost: see docs/distributed.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from crawler.components.assembly import other_runs
from crawler.data import Page
from crawler.intake.intake import OURS
from crawler.urls import site_of
from crawler.warc.stored import stored_pages

_EVERY = 0.1  # seconds between two portions …
_PORTION = 0.05  # … and how long one may take: the crawl goes on meanwhile


class TakeOver:
    """Reads the stored pages of adopted sites, a portion at a time."""

    def __init__(self, crawler: Crawler) -> None:
        """Begin with the crawl."""
        self._crawler = crawler
        self._spider: Any = crawler.spider
        self._pages: Iterator[Page] = iter(())
        self._loop = create_looping_call(self._read)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Work while the spider is open, if it pairs pages and is not the only one."""
        spider: Any = crawler.spider
        take_over = cls(crawler)
        if crawler.settings.getbool("PAIRS") and spider.frontier.store.run is not None:
            crawler.signals.connect(take_over.open, signal=signals.spider_opened)
            crawler.signals.connect(take_over.close, signal=signals.spider_closed)
        return take_over

    def open(self) -> None:
        """Start the clock."""
        self._loop.start(_EVERY, now=False)

    def close(self) -> None:
        """Read what is left, before the final pairs are made."""
        if self._loop.running:
            self._loop.stop()
        self._read(portion=float("inf"))

    def _read(self, portion: float = _PORTION) -> None:
        until = monotonic() + portion
        try:
            while monotonic() < until:
                page = next(self._pages, None)
                if page is not None:
                    self._take(page)
                elif sites := self._spider.frontier.taken_over():
                    self._pages = self._stored(frozenset(sites))
                else:
                    break
        except OURS as error:
            self._spider.fail(error)

    def _stored(self, sites: frozenset[str]) -> Iterator[Page]:
        for run in other_runs(self._crawler):
            yield from stored_pages(
                run.warc, lambda url: site_of(url) in sites, self._spider.counts
            )

    def _take(self, page: Page) -> None:
        self._spider.counts["take_over/pages"] += 1
        self._spider.paired(self._spider.intake.intake.take_stored(page))
