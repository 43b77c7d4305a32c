"""Add-on and download handler: answers that are no HTML become HTML before all else.

A PDF becomes its text (setting PDF), a page of a site that needs JavaScript what a
browser makes of it (JS_SITES). The handler stands before the one that fetches, so what
follows sees one kind of page, and a crawl waits for neither. The answer as it came and
the HTML both go to the WARC (crawler.warc.writer): reading it again needs
neither library nor browser.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.misc import build_from_crawler, load_object

from crawler.components.bridge import CONVERTED, crawl_of, exchange_of
from crawler.errors import UsageError
from crawler.extract.decode import looks_like_html
from crawler.extract.pdf import looks_like_pdf, pdf_to_html
from crawler.extract.sandbox import ConversionError
from crawler.urls import host_of, site_of
from crawler.warc.exchange import page_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

    from crawler.components.browser import Browser
    from crawler.data import Page

logger = logging.getLogger(__name__)

_HANDLER = "crawler.components.conversion.ConvertingHandler"
_EXTRAS = {"PDF": ("pdf", "pdfminer"), "JS_SITES": ("js", "scrapy_playwright")}


class ConversionAddon:
    """Puts the handler in its place if a setting asks for it.

    UsageError names the extra that is missing. A recording has the HTML already, so a
    replay starts no browser.
    """

    fetches: str  # the handler that ours stands before
    browser: Browser | None = None

    def update_settings(self, settings: BaseSettings) -> None:
        """Stand before whatever fetches."""
        if settings["REPLAY_WARCS"]:
            settings.set("JS_SITES", [], "cmdline")
        wanted = [
            name
            for name in _EXTRAS
            if (settings.getlist if name == "JS_SITES" else settings.getbool)(name)
        ]
        if not wanted:
            raise NotConfigured
        for name in wanted:
            extra, module = _EXTRAS[name]
            if find_spec(module) is None:
                raise UsageError(
                    f"{name} needs an extra that is not installed:"
                    f" pip install 'bifocal-crawler[{extra}]'"
                )
        if "JS_SITES" in wanted:
            from crawler.components.browser import browser_settings

            settings.update(browser_settings(settings), "addon")
        self.fetches = settings["DOWNLOAD_HANDLERS"]["https"]
        handlers = {"http": _HANDLER, "https": _HANDLER}
        others = dict.fromkeys(("file", "ftp", "s3", "data"))
        settings.set("DOWNLOAD_HANDLERS", {**others, **handlers}, "cmdline")


class ConvertingHandler(BaseDownloadHandler):
    """Fetches with the handler behind it, and converts what is asked for."""

    def __init__(self, crawler: Crawler, fetches: Any, browser: Browser | None) -> None:
        """Stand before the handler `fetches`."""
        super().__init__(crawler)
        settings = crawler.settings
        self._fetches = fetches
        self._pdf = settings.getbool("PDF")
        self._sites = frozenset(settings.getlist("JS_SITES"))
        self._counts = crawl_of(crawler).counts
        self._browser = browser

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the handler behind it; each scheme has one, and both one browser."""
        assert crawler.addons is not None
        (addon,) = (a for a in crawler.addons.addons if isinstance(a, ConversionAddon))
        fetches = build_from_crawler(load_object(addon.fetches), crawler)
        if crawler.settings.getlist("JS_SITES") and addon.browser is None:
            from crawler.components.browser import Browser

            addon.browser = Browser(crawler, fetches)
        return cls(crawler, fetches, addon.browser)

    async def download_request(self, request: Request) -> Response:
        """The answer as it came; the HTML that it became is in the request's meta."""
        response: Response = await self._fetches.download_request(request)
        if response.status == 200 and not request.url.endswith("/robots.txt"):
            page = page_of(exchange_of(response, request.url), Counter())
            html = await self._convert(request, response, page)
            if html is not None:
                request.meta[CONVERTED] = html.encode("utf-8", "replace")
        return response

    async def _convert(
        self, request: Request, response: Response, page: Page
    ) -> str | None:
        if self._pdf and looks_like_pdf(page.body):
            return await self._read_pdf(page)
        if self._sites & {site_of(page.url), host_of(page.url)} and looks_like_html(
            page.body, page.header("content-type")
        ):
            assert self._browser is not None
            return await self._browser.render(request, page)
        return None

    async def _read_pdf(self, page: Page) -> str | None:
        try:
            html = await asyncio.to_thread(pdf_to_html, page.body)
        except ConversionError as error:
            logger.debug("no text from %s: %s", page.url, error)
            self._counts[f"pdf/failed/{error}"] += 1
            return None
        self._counts["pdf/read"] += 1
        return html

    async def close(self) -> None:
        """Close what is open."""
        if self._browser is not None:
            browser, self._browser = self._browser, None
            await browser.close()
        await self._fetches.close()
