"""Can these seeds be crawled? robots.txt and one page of each, nothing more.

The requests go the way of a crawl's: same user agent, same guard of private addresses,
same limits. So what this says is what a crawl will meet.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from urllib.parse import urlsplit

from crawler.crawl.politeness import MAX_REDIRECTS
from crawler.crawl.settings import CrawlSettings
from crawler.data import Lang, Page
from crawler.extract.document import Reading, read_page
from crawler.fetch.client import HttpClient
from crawler.fetch.errors import FetchError
from crawler.frontier.robots import REFUSE_ALL, RobotsRules, origin_of, rules_of
from crawler.warc.exchange import page_of

_AT_A_TIME = 32  # hosts, as CONCURRENT_REQUESTS of a crawl
_SECONDS = 30  # for an answer: a person waits for it


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one seed."""

    seed: str
    outcome: str  # `ok`, `robots`, `no_answer/ERROR`, `status/CODE`, a reason
    url: str  # where it led
    detail: str = ""  # more about an answer that did not come
    lang: Lang | None = None  # of the page
    declared: tuple[Lang, ...] = ()  # languages that the page says it also has
    crawl_delay: float = 0.0  # seconds that robots.txt asks for

    @property
    def is_usable(self) -> bool:
        """Can a crawl start here?"""
        return self.outcome in ("ok", "sitemap")


class _NoAnswer(Exception):
    """A request that ends the look at a seed; the arguments are outcome and detail."""


def check_seeds(seeds: Sequence[str], settings: CrawlSettings) -> list[Finding]:
    """Look at each seed; what was found is in the order of the seeds."""
    return asyncio.run(_check_all(seeds, settings))


async def _check_all(seeds: Sequence[str], settings: CrawlSettings) -> list[Finding]:
    config = settings.client()
    client = HttpClient(replace(config, seconds=min(config.seconds, _SECONDS)))
    check = SeedCheck(client, settings)
    try:
        return await asyncio.gather(*(check.look_at(seed) for seed in seeds))
    finally:
        await client.close()


class SeedCheck:
    """Asks for robots.txt, then for the seed, and follows redirects of both."""

    def __init__(self, client: HttpClient, settings: CrawlSettings) -> None:
        self._client = client
        self._settings = settings
        self._rules: dict[str, RobotsRules] = {}  # by origin
        self._slots = asyncio.Semaphore(_AT_A_TIME)
        self._open_at: dict[str | None, float] = {}  # when hosts may be asked again
        self._hosts: defaultdict[str | None, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def look_at(self, seed: str) -> Finding:
        """The finding for a seed; one request at a time is sent to a host."""
        url, hops = seed, 0
        while True:
            try:
                async with self._hosts[urlsplit(url).hostname], self._slots:
                    reading = await self._page(url)
            except _NoAnswer as error:
                return Finding(seed, error.args[0], url, error.args[1])
            if not reading.location or hops >= MAX_REDIRECTS:
                return self._found(seed, url, reading)
            url, hops = reading.location, hops + 1

    async def _page(self, url: str) -> Reading:
        rules = self._rules.get(origin_of(url)) or await self._rules_of(url)
        if not rules.allows(url, self._settings.user_agent):
            raise _NoAnswer("robots", "")
        return read_page(await self._get(url))

    async def _rules_of(self, url: str) -> RobotsRules:
        page = await self._get(f"{origin_of(url)}/robots.txt")
        for _ in range(MAX_REDIRECTS):
            target = read_page(page).location if 300 <= page.status < 400 else None
            if target is None:
                break
            page = await self._get(target)
        rules = self._rules[origin_of(url)] = rules_of(page.status, page.body)
        if rules is REFUSE_ALL:
            raise _NoAnswer(f"robots/status/{page.status}", "")
        return rules

    async def _get(self, url: str) -> Page:
        host = urlsplit(url).hostname
        await asyncio.sleep(self._open_at.get(host, 0.0) - monotonic())
        try:
            exchange = await self._client.fetch(url, self._settings.request_headers())
        except FetchError as error:
            raise _NoAnswer(f"no_answer/{error.failure}", str(error)) from error
        finally:
            self._open_at[host] = monotonic() + self._settings.download_delay
        return page_of(exchange, Counter())

    def _found(self, seed: str, url: str, reading: Reading) -> Finding:
        document = reading.document
        links = document.links if document else ()
        lang = document.lang if document else None
        declared = {link.hreflang for link in links if link.hreflang} - {lang}
        return Finding(
            seed,
            reading.reason or "ok",
            url,
            lang=lang,
            declared=tuple(sorted(declared)),
            crawl_delay=self._rules[origin_of(url)].crawl_delay(
                self._settings.user_agent
            ),
        )
