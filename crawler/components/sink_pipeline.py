"""Item pipeline: accepted pairs go to `pairs.tsv.gz` as they are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler

from crawler.components.assembly import run_dir
from crawler.data import PairScore
from crawler.sinks.pairs import PairSink


class PairPipeline:
    """Writes PairScore items; anything else passes."""

    def __init__(self, path: Path) -> None:
        """Write to this file, from the first pair on."""
        self._path = path
        self._sink: PairSink | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Write into the run directory."""
        return cls(run_dir(crawler).pairs)

    def process_item(self, item: Any) -> Any:  # any Scrapy item
        """Write a pair."""
        if isinstance(item, PairScore):
            if self._sink is None:
                self._sink = PairSink(self._path)
            self._sink.write(item)
        return item

    def close_spider(self) -> None:
        """End the file properly; the final pairs replace it afterwards."""
        if self._sink is not None:
            self._sink.close()
