"""A browser without a network, for pages that need JavaScript.

scrapy-playwright drives it. Everything that a page asks for is fetched by the crawl's
own download handler and handed to the browser: so the guard of private addresses, the
limits, the user agent, robots.txt and the WARC hold for scripts as for pages. What the
browser might try besides (WebSockets, WebRTC, popups, redirects of its own) meets a
proxy that is not there.

Answered are GETs of scripts and of data, not images, fonts, styles, frames or POSTs:
they do not change the text. In: a fetched page.  Out: its DOM, as HTML.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab
from playwright.async_api import Route
from scrapy import Request
from scrapy.utils.datatypes import LocalCache
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler
from scrapy_playwright.page import PageMethod

from crawler.components.bridge import crawl_of, exchange_of
from crawler.data import Page, Site
from crawler.errors import UsageError
from crawler.extract.document import read_page
from crawler.frontier.robots import REFUSE_ALL, RobotsRules, origin_of, rules_of
from crawler.urls import canonicalize, site_of
from crawler.warc.exchange import page_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_ANSWERED = frozenset({"script", "xhr", "fetch"})
_MAX_REDIRECTS = 5  # of a script; as for robots.txt
_CACHED = 32  # scripts that are kept, since every page of a site asks for the same …
_CACHED_BYTES = 2_000_000  # … if they are not larger: 64 MB in all
# The body is decoded, and a page must not depend on what was fetched before.
_UNTRUE = frozenset(
    "content-encoding content-length transfer-encoding set-cookie".split()
)
_OFFLINE = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--block-new-web-contents",  # no popups
    "--js-flags=--max-old-space-size=512",  # MB of a page's objects
)
# Port 1 of nowhere; `<-loopback>`: for loopback too, which Chromium asks directly.
_NO_PROXY = {"server": "http://proxy.invalid:1", "bypass": "<-loopback>"}


def browser_settings(settings: BaseSettings) -> dict[str, Any]:
    """What scrapy-playwright needs to be told. UsageError: no browser at JS_BROWSER."""
    named = settings["JS_BROWSER"]
    path = shutil.which(named or "chromium")
    if named and not path:
        raise UsageError(
            f"JS_BROWSER={named}: no program there (apt-get install chromium, or leave"
            " JS_BROWSER out after `playwright install chromium`)"
        )
    return {
        "PLAYWRIGHT_LAUNCH_OPTIONS": {
            **({"executable_path": path} if path else {}),
            "args": list(_OFFLINE),
            "proxy": _NO_PROXY,
            "chromium_sandbox": os.geteuid() != 0,  # root cannot have one
        },
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 4,  # some 100 MB each
        "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": settings.getfloat("JS_SECONDS") * 1000,
    }


class Browser:
    """Renders pages, a few at a time; counts them, their requests, and failures."""

    def __init__(self, crawler: Crawler, fetches: Any) -> None:
        """Prepare one; it starts with the first page. `fetches`: a download handler."""
        settings = crawler.settings
        logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)
        self._handler = ScrapyPlaywrightDownloadHandler.from_crawler(crawler)
        self._fetches = fetches
        self._crawl = crawl_of(crawler)
        self._counts = self._crawl.counts
        self._seconds = settings.getfloat("JS_SECONDS")
        self._most = settings.getint("JS_REQUESTS")
        self._most_elsewhere = settings.getint("JS_REQUESTS_ELSEWHERE")
        # one request at a time is sent to a site; others than the page's get pauses
        self._turns: defaultdict[Site, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._open_at: dict[Site, float] = {}
        self._agent: str = settings["USER_AGENT"]
        self._obeys = settings.getbool("ROBOTSTXT_OBEY")
        self._rules: dict[str, asyncio.Task[RobotsRules]] = {}
        self._warned = False
        self._scripts: LocalCache[str, Page] = LocalCache(_CACHED)

    async def render(self, request: Request, page: Page) -> str | None:
        """The DOM of a page when nothing is loaded any more; None: it failed."""
        visit = _Visit(self, request, page)
        asked = Request(
            page.url,
            meta={
                "playwright": True,
                "playwright_include_page": True,
                "playwright_context_kwargs": {
                    "user_agent": self._agent,
                    "service_workers": "block",
                    "accept_downloads": False,
                },
                "playwright_page_init_callback": visit.begin,
                "playwright_page_goto_kwargs": {"wait_until": "commit"},
                "playwright_page_methods": [PageMethod(self._settle)],
            },
        )
        try:
            rendering = self._handler.download_request(asked)
            response = await asyncio.wait_for(rendering, 2 * self._seconds)
        except (PlaywrightError, TimeoutError) as error:
            if not hasattr(self._handler, "browser") and not self._warned:
                self._warned = True
                logger.error(
                    "No browser could be started; pages are read as they come"
                    " (apt-get install chromium, or playwright install chromium): %s",
                    str(error).partition("\n")[0],
                )
            logger.debug("cannot render %s: %s", page.url, error)
            self._counts[f"js/failed/{type(error).__name__}"] += 1
            return None
        finally:
            tab = asked.meta.get("playwright_page")
            if tab is not None:
                with suppress(PlaywrightError):
                    await tab.close()
        self._counts["js/rendered"] += 1
        return str(response.text)

    async def _settle(self, tab: Tab) -> None:
        """Wait for half a second without a request; a page that polls has none."""
        with suppress(PlaywrightError):
            limit = self._seconds * 500  # milliseconds: half of the time
            await tab.wait_for_load_state("networkidle", timeout=limit)

    async def fetch(
        self, url: str, headers: Mapping[Any, Any], asker: _Visit
    ) -> Page | None:
        """What a script asked for; None where it may not be asked."""
        if url in self._scripts:
            return self._scripts[url]
        for _ in range(_MAX_REDIRECTS):
            if not asker.may_ask(url):
                return None
            if self._obeys and not await self._allows(url, headers):
                self._counts["js/requests/robots"] += 1
                return None
            page, target = await self._get(url, headers, asker.site)
            if target is None:
                return page
            url = target
        return None

    async def _pause(self, site: Site, url: str) -> None:
        """Wait until another site than the page's may be asked; TimeoutError: never."""
        settings = self._crawl.settings
        task = self._rules.get(origin_of(url))
        asked = task.result().crawl_delay(self._agent) if task and task.done() else 0.0
        asked = min(asked, settings.robots_max_crawl_delay)
        wait = self._open_at.get(site, 0.0) - monotonic()
        if wait > self._seconds:
            raise TimeoutError
        await asyncio.sleep(wait)
        self._open_at[site] = monotonic() + max(settings.download_delay, asked)

    def remember(self, url: str, page: Page) -> None:
        """The next page will ask for the same script."""
        if len(page.body) <= _CACHED_BYTES:
            self._scripts[url] = page

    async def _get(
        self, url: str, headers: Mapping[Any, Any], home: Site | None
    ) -> tuple[Page, str | None]:
        """An answer, kept in the WARC, and where it leads if it is a redirect.

        `home`: the site of the page that asks, which the gate keeps closed meanwhile.
        """
        request, site = Request(url, headers=headers), site_of(url)
        async with self._turns[site]:
            if site != home:
                await self._pause(site, url)
            response = await self._fetches.download_request(request)
        response.request = request
        self._counts["js/requests"] += 1
        exchange = exchange_of(response, url)
        self._crawl.keep(exchange)
        page = page_of(exchange, Counter())
        moved = 300 <= page.status < 400
        return page, read_page(page).location if moved else None

    async def _allows(self, url: str, headers: Mapping[Any, Any]) -> bool:
        origin = origin_of(url)
        if origin not in self._rules:
            self._rules[origin] = asyncio.ensure_future(self._ask(origin, headers))
        rules = await self._rules[origin]
        return rules.allows(url, self._agent)

    async def _ask(self, origin: str, headers: Mapping[Any, Any]) -> RobotsRules:
        target: str | None = f"{origin}/robots.txt"
        for _ in range(_MAX_REDIRECTS):
            assert target is not None
            try:
                page, target = await self._get(target, headers, None)
            except Exception:  # no answer: RFC 9309, section 2.3.1.4
                return REFUSE_ALL
            if target is None:
                return rules_of(page.status, page.body)
        return rules_of(404, b"")

    async def close(self) -> None:
        """Close the browser, if it was started."""
        await self._handler.close()


class _Visit:
    """One page in a tab: answers what it asks for."""

    def __init__(self, browser: Browser, request: Request, page: Page) -> None:
        self._browser = browser
        self._request = request
        self._page = page
        self._left = browser._most
        self._left_elsewhere = browser._most_elsewhere
        self._opened = False

    @cached_property
    def site(self) -> Site:
        return site_of(self._page.url)

    async def begin(self, tab: Tab, request: Request) -> None:
        """Stand between the tab and what it asks for."""
        await tab.route("**", self._answer)

    def may_ask(self, url: str) -> bool:
        """Whether the page may ask for this: its own site, or a few files elsewhere."""
        if site_of(url) == self.site:
            return True
        if not self._left_elsewhere:
            self._browser._counts["js/requests/elsewhere"] += 1
            return False
        self._left_elsewhere -= 1
        return True

    async def _answer(self, route: Route) -> None:
        page = None
        try:
            page = await self._page_for(route)
        except Exception as error:  # of the fetch: the script has to live with it
            name = type(error).__name__
            self._browser._counts[f"js/requests/failed/{name}"] += 1
        with suppress(PlaywrightError):  # the tab may be closed by now
            if page is None:
                await route.abort()
            else:
                headers = {k: v for k, v in page.headers if k.lower() not in _UNTRUE}
                await route.fulfill(status=page.status, headers=headers, body=page.body)

    async def _page_for(self, route: Route) -> Page | None:
        asked = route.request
        if asked.resource_type == "document":
            first, self._opened = not self._opened, True
            return self._page if first else None
        url = canonicalize(asked.url)
        if asked.method != "GET" or asked.resource_type not in _ANSWERED or not url:
            return None
        if not self._left:
            self._browser._counts["js/requests/too_many"] += 1
            return None
        self._left -= 1
        page = await self._browser.fetch(url, self._request.headers, self)
        if page and asked.resource_type == "script" and page.status == 200:
            self._browser.remember(url, page)
        return page
