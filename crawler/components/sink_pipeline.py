"""Item pipeline: accepted pairs go to `pairs.tsv.gz` as they are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler

from crawler.components.assembly import run_dir
from crawler.data import PairScore
from crawler.errors import BifocalError
from crawler.sinks.pairs import PairSink


class PairPipeline:
    """Writes PairScore items; anything else passes.

    Scrapy only logs what a pipeline raises, so an error is told to the spider, which
    stops before the next page.
    """

    def __init__(self, path: Path, spider: Any) -> None:
        """Write to this file, from the first pair on."""
        self._path = path
        self._spider = spider
        self._sink: PairSink | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Write into the run directory."""
        return cls(run_dir(crawler).pairs, crawler.spider)

    def process_item(self, item: Any) -> Any:  # any Scrapy item
        """Write a pair."""
        if isinstance(item, PairScore):
            try:
                if self._sink is None:
                    self._sink = PairSink(self._path)
                self._sink.write(item)
            except (BifocalError, OSError) as error:
                self._spider.fail(error)
        return item

    def close_spider(self) -> None:
        """End the file properly; the final pairs replace it afterwards."""
        if self._sink is not None:
            try:
                self._sink.close()
            except OSError as error:
                self._spider.fail(error)
