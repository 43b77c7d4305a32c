"""The spider: it hands Scrapy's answers to a crawl.

    scrapy crawl bilingual -a seeds=seeds/en-is.txt -a langs=en,is -s RUN_DIR=runs/is1

The six steps of García-Romero (2024), section 4, are in crawler.crawl.crawl.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from crawler.components.bridge import FETCH, exchange_of
from crawler.crawl.child import Child
from crawler.crawl.crawl import Crawl, Fetch
from crawler.errors import BifocalError, UsageError
from crawler.fetch.errors import FetchError
from crawler.seeds import read_seeds
from crawler.wanted import spelled


class BilingualSpider(Spider):
    """Crawls for pages of two languages or more that are translations of each other.

    `seeds`: a file, a comma list of URLs, or `-`; `langs` or `pairs`: languages as
    `crawler.wanted` reads them; `scope`: site, host or path (setting SCOPE). `child`:
    the process of the intake, if the command has started it.
    """

    name = "bilingual"
    crawl: Crawl  # opened by crawler.components.extension

    def __init__(
        self,
        seeds: str = "",
        langs: str = "",
        scope: str = "",
        pairs: str = "",
        child: Child | None = None,
        **kwargs: Any,
    ) -> None:
        """Read the arguments of `-a`; a BifocalError says what is wrong with them."""
        if kwargs or isinstance(child, str):
            raise UsageError(
                f"unknown argument -a {min(kwargs, default='child')} (there are seeds,"
                " langs, pairs and scope; settings are given by -s)"
            )
        super().__init__()
        self.langs = spelled(langs, pairs)
        self.seeds = read_seeds(seeds)
        self.scope = scope
        self.child = child

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Name the run directory after the time, if it has no name."""
        super().update_settings(settings)
        if not settings["RUN_DIR"]:
            started = datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
            settings.set("RUN_DIR", f"runs/{started}", "spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider of a crawler."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.scope = spider.scope or crawler.settings["SCOPE"]
        return spider

    @property
    def fatal(self) -> BifocalError | None:
        """The error that ended the run, for the exit status."""
        return self.crawl.error if hasattr(self, "crawl") else None

    async def parse(self, response: Response, **kwargs: Any) -> None:
        """Hand an answer on; the crawl knows what to ask for next."""
        fetch: Fetch = response.meta[FETCH]
        exchange = exchange_of(response, fetch.url)
        seconds = response.meta.get("download_latency", 0.0)
        await self.crawl.answered(fetch, exchange, seconds)

    def failed(self, failure: Failure) -> None:
        """Hand on that there was no answer."""
        fetch: Fetch = failure.request.meta[FETCH]  # type: ignore[attr-defined]
        error = failure.value
        self.logger.debug("no answer from %s: %r", fetch.url, error)
        if isinstance(error, FetchError):
            failed = error.failure
            lasting = failed.is_lasting if fetch.robots_hops is not None else False
            self.crawl.failed(fetch, failed, final=failed.is_final or lasting)
        else:
            self.crawl.failed(fetch, type(error).__name__)
