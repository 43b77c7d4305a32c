"""Add-on and download handler: ARCHIVE_FIRST takes pages from an archive.

    scrapy crawl bilingual -a … -s ARCHIVE_FIRST=https://…/indexes/cluster.idx

What it has not, or has only older than ARCHIVE_MAX_DAYS, is fetched from the web; with
ARCHIVE_ONLY nothing is. The WARC files name the record that a page comes from.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawler.components.bridge import crawl_of, raw_headers, response_of
from crawler.components.download import DownloadHandler
from crawler.warc.archive import Archive
from crawler.warc.exchange import Exchange

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

_HANDLER = "crawler.components.archive.ArchiveHandler"


class ArchiveAddon:
    """Opens the archive, so that a mistake is told before anything is written."""

    archive: Archive
    is_only: bool

    def update_settings(self, settings: BaseSettings) -> None:
        """Put the archive before the network, if ARCHIVE_FIRST is set."""
        named = str(settings["ARCHIVE_FIRST"] or "").split(",")
        locations = [name.strip() for name in named if name.strip()]
        if not locations or settings["REPLAY_WARCS"]:
            raise NotConfigured
        days = settings.getint("ARCHIVE_MAX_DAYS")
        since = datetime.now(UTC) - timedelta(days=days) if days else None
        root = str(settings["ARCHIVE_ROOT"] or "")
        self.archive = Archive.open(locations, root, since)
        self.is_only = settings.getbool("ARCHIVE_ONLY")
        others = dict.fromkeys(("file", "ftp", "s3", "data"))
        handlers = {**others, "http": _HANDLER, "https": _HANDLER}
        settings.set("DOWNLOAD_HANDLERS", handlers, "cmdline")


class ArchiveHandler(DownloadHandler):
    """Answers from an archive where it can."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        assert crawler.addons is not None
        (addon,) = (a for a in crawler.addons.addons if isinstance(a, ArchiveAddon))
        self._archive, self._is_only = addon.archive, addon.is_only
        self._archive.counts = crawl_of(crawler).counts  # which end up in stats.json

    async def download_request(self, request: Request) -> Response:
        """The archive's answer, else that of the web."""
        found = None
        if request.method == "GET":
            found = await asyncio.to_thread(self._archive.find, request.url)
        if found is None and not self._is_only:
            return await super().download_request(request)
        if found is None:
            now = datetime.now(UTC)
            exchange = Exchange(request.url, 404, (), b"", now, archive="none")
        else:
            exchange = Exchange.of_page(found.page, found.page.fetched_at)
            exchange = replace(exchange, archive=found.source)
        asked = raw_headers(request.headers)
        return response_of(request, replace(exchange, request_headers=asked))
