"""Add-on and download handler: REPLAY_WARCS turns recordings into the web.

    scrapy crawl bilingual -a … -s REPLAY_WARCS=worlds/demo -s RUN_DIR=runs/replay

The same spider, frontier and aligner run; only the network is gone. One request at a
time and no waiting: the order is exact, and every run gives the same.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.components.bridge import crawl_of, raw_headers, response_of
from crawler.crawl.replay import WITHOUT_PAUSES
from crawler.replay.world import ReplayWorld
from crawler.warc.exchange import Exchange

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings


class ReplayAddon:
    """Opens the world and sets what a replayed crawl needs, if REPLAY_WARCS is set.

    The world is opened here because an error in a download handler is only logged.
    """

    world: ReplayWorld | None = None

    def update_settings(self, settings: BaseSettings) -> None:
        """Put the world in the place of the network."""
        paths = [p for p in str(settings["REPLAY_WARCS"] or "").split(",") if p]
        if not paths:
            return
        self.world = ReplayWorld.open(paths)
        handler = "crawler.components.replay.ReplayDownloadHandler"
        replayed = {
            "DOWNLOAD_HANDLERS": {"http": handler, "https": handler},
            # the links of a page are scored before the next is asked for
            "CONCURRENT_REQUESTS": 1,
            "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
            **WITHOUT_PAUSES,
        }
        for name, value in replayed.items():
            settings.set(name, value, "cmdline")  # above the profile's own


class ReplayDownloadHandler(BaseDownloadHandler):
    """Answers from a ReplayWorld."""

    def __init__(self, crawler: Crawler, world: ReplayWorld) -> None:
        """Answer from this world."""
        super().__init__(crawler)
        self.world = world

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Answer from the add-on's world; both schemes share it."""
        assert crawler.addons is not None
        (addon,) = (a for a in crawler.addons.addons if isinstance(a, ReplayAddon))
        assert addon.world is not None
        addon.world.counts = crawl_of(crawler).counts  # which end up in stats.json
        return cls(crawler, addon.world)

    async def download_request(self, request: Request) -> Response:
        """The world's answer."""
        page = self.world.answer(request.url)
        exchange = Exchange.of_page(page, datetime.now(UTC))
        asked = raw_headers(request.headers)
        return response_of(request, replace(exchange, request_headers=asked))

    async def close(self) -> None:
        """Give the world's files back."""
        self.world.close()
