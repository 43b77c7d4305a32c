"""Can these seeds be crawled? robots.txt and one page of each, nothing more.

The requests go the way of a crawl's: same user agent, same guard of private addresses,
same limits. So what this says is what a crawl will meet.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings
from twisted.python.failure import Failure

from crawler.components.checks import check_project, check_settings
from crawler.components.exchange import exchange_of
from crawler.data import Lang
from crawler.errors import ProfileError
from crawler.extract.document import Reading, read_page
from crawler.fetch.errors import FetchError
from crawler.fetch.guard import AddressRules
from crawler.frontier.robots import REFUSE_ALL, RobotsRules, origin_of, rules_of
from crawler.warc.exchange import page_of

_MAX_REDIRECTS = 5  # RFC 9309, section 2.3.1.2; and as many for the page itself
# What a crawl has and a look does not need.
_PLAIN = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    # one seed of a host at a time, which in a crawl the site gate sees to
    "DOWNLOADER": "scrapy.core.downloader.Downloader",
    "DOWNLOADER_MIDDLEWARES": {
        f"scrapy.downloadermiddlewares.{name}": place
        for place, name in enumerate(
            (
                "downloadtimeout.DownloadTimeoutMiddleware",
                "defaultheaders.DefaultHeadersMiddleware",
                "useragent.UserAgentMiddleware",
                "httpproxy.HttpProxyMiddleware",
            )
        )
    },
    "EXTENSIONS": {},
    "ITEM_PIPELINES": {},
    "ADDONS": {},
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_TIMEOUT": 30,
    "LOG_ENABLED": False,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one seed."""

    seed: str
    outcome: str  # `ok`, `robots`, `no_answer/ERROR`, `status/CODE`, a reason
    url: str  # where it led
    lang: Lang | None = None  # of the page
    declared: tuple[Lang, ...] = ()  # languages that the page says it also has
    crawl_delay: float = 0.0  # seconds that robots.txt asks for

    @property
    def is_usable(self) -> bool:
        """Can a crawl start here?"""
        return self.outcome in ("ok", "sitemap")


def project_settings(overrides: Sequence[str] = ()) -> Settings:
    """The settings of the folder's scrapy.cfg, or ours; `NAME=VALUE` overrides.

    Raises ProfileError for what is no setting of that kind.
    """
    check_project()
    settings = get_project_settings()
    if "RUN_DIR" not in settings:  # not started in a folder with a scrapy.cfg of ours
        settings.setmodule("settings.adaptive")
    defaults = settings.copy()
    for override in overrides:
        name, sign, value = override.partition("=")
        if not sign:
            raise ProfileError(f"-s {override}: expected NAME=VALUE")
        settings.set(name, value, priority="cmdline")
    check_settings(settings, defaults)
    AddressRules(settings.getlist("ADDRESS_ALLOW"))
    return settings


def check_seeds(seeds: Sequence[str], settings: Settings) -> list[Finding]:
    """Look at each seed, in order. Once per process: the reactor cannot start again."""
    settings.setdict(_PLAIN, priority="cmdline")
    logging.disable(logging.CRITICAL)  # the findings say it all
    process = CrawlerProcess(settings)
    findings: dict[str, Finding] = {}
    crawler = process.create_crawler(SeedCheck)
    process.crawl(crawler, seeds=seeds, findings=findings)
    process.start()
    return [
        findings.get(seed, Finding(seed, "no_answer/stopped", seed)) for seed in seeds
    ]


class SeedCheck(Spider):
    """Asks for robots.txt, then for the seed, and follows redirects of both."""

    name = "seed_check"

    def __init__(self, seeds: Sequence[str], findings: dict[str, Finding]) -> None:
        super().__init__()
        self._seeds = seeds
        self._findings = findings
        self._rules: dict[str, RobotsRules] = {}

    async def start(self) -> AsyncIterator[Request]:
        """Every seed, through its robots.txt."""
        for seed in self._seeds:
            for request in self._ask(seed, seed, 0):
                yield request

    def _ask(self, seed: str, url: str, hops: int) -> Iterator[Request]:
        rules = self._rules.get(origin_of(url))
        about = {"seed": seed, "url": url, "hops": hops}
        if rules is None:
            address = f"{origin_of(url)}/robots.txt"
            yield self._request(address, self._robots, {**about, "robots": address})
        elif not rules.allows(url, self.settings["USER_AGENT"]):
            self._say(seed, "robots", url)
        else:
            yield self._request(url, self._page, about)

    def _request(self, url: str, callback: Any, about: Mapping[str, Any]) -> Request:
        return Request(
            url,
            callback=callback,
            errback=self._failed,
            cb_kwargs={"about": about},
            meta={"about": about, "handle_httpstatus_all": True},
            dont_filter=True,
        )

    def _robots(self, response: Response, about: dict[str, Any]) -> Iterator[Request]:
        page = page_of(exchange_of(response, about["robots"]), Counter())
        hops = about.get("robots_hops", 0)
        target = read_page(page).location if 300 <= page.status < 400 else None
        if target and hops < _MAX_REDIRECTS:
            more = {**about, "robots": target, "robots_hops": hops + 1}
            yield self._request(target, self._robots, more)
            return
        rules = rules_of(page.status, page.body)
        self._rules[origin_of(about["url"])] = rules
        if rules is REFUSE_ALL:
            self._say(about["seed"], f"robots/status/{page.status}", about["url"])
        else:
            yield from self._ask(about["seed"], about["url"], about["hops"])

    def _page(self, response: Response, about: dict[str, Any]) -> Iterator[Request]:
        page = page_of(exchange_of(response, about["url"]), Counter())
        reading = read_page(page)
        if reading.location and about["hops"] < _MAX_REDIRECTS:
            yield from self._ask(about["seed"], reading.location, about["hops"] + 1)
        else:
            self._say(about["seed"], reading.reason or "ok", page.url, reading)

    def _failed(self, failure: Failure) -> None:
        about = failure.request.meta["about"]  # type: ignore[attr-defined]
        error = failure.value
        reason = (
            error.failure if isinstance(error, FetchError) else type(error).__name__
        )
        self._say(about["seed"], f"no_answer/{reason}", about["url"])

    def _say(
        self, seed: str, outcome: str, url: str, reading: Reading | None = None
    ) -> None:
        document = reading.document if reading else None
        links = document.links if document else ()
        declared = {link.hreflang for link in links if link.hreflang}
        lang = document.lang if document else None
        rules = self._rules.get(origin_of(url))
        delay = rules.crawl_delay(self.settings["USER_AGENT"]) if rules else 0.0
        self._findings[seed] = Finding(
            seed, outcome, url, lang, tuple(sorted(declared - {lang})), delay
        )
