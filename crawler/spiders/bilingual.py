"""The spider: the six steps of García-Romero (2024), section 4, one page at a time.

    scrapy crawl bilingual -a seeds=seeds/en-is.txt -a langs=en,is -s RUN_DIR=runs/is1

What the paper leaves open is done here once: what comes over the wire is stored before
anything looks at it, a page is marked as done in the same transaction that puts its
links into the frontier, and a redirect is a page with one link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from crawler.aligner.aligner import Aligner
from crawler.components.archive import Archive
from crawler.components.assembly import build_aligner, describe_run
from crawler.components.crawl_log import Visit
from crawler.components.scheduler import FrontierScheduler
from crawler.components.signals import page_visited, pair_found
from crawler.data import Document, LangPair, Link, Page, PairScore
from crawler.errors import BifocalError
from crawler.extract.document import Reading, read_page
from crawler.frontier.frontier import Lease
from crawler.realign.steps import take_in
from crawler.rundir import RunDir
from crawler.seeds import read_seeds

# Statuses after which the same URL may work later.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
# A longer Retry-After (seconds) is cut to this: another try then costs little.
_MAX_RETRY_AFTER = 600


class BilingualSpider(Spider):
    """Crawls for pages of two languages that are translations of each other.

    `seeds`: a file, a comma list of URLs, or `-`; `langs`: two codes or names;
    `scope`: site, host or path (setting SCOPE).
    """

    name = "bilingual"

    run_dir: RunDir
    resumed: bool
    archive: Archive
    aligner: Aligner
    fatal: BifocalError | None = None  # what ended the run, for the exit status

    def __init__(
        self, seeds: str = "", langs: str = "", scope: str = "", **kwargs: Any
    ) -> None:
        """Read the arguments of `-a`; a BifocalError says what is wrong with them."""
        super().__init__(**kwargs)
        self.langs = LangPair.parse(langs)
        self.seeds = read_seeds(seeds)
        self.scope = scope
        self.counts: Counter[str] = Counter()

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Name the run directory after the time, if it has no name."""
        super().update_settings(settings)
        if not settings["RUN_DIR"]:
            started = datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
            settings.set("RUN_DIR", f"runs/{started}", "spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Open the run directory; the rest waits until add-ons have had their say."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.scope = spider.scope or crawler.settings["SCOPE"]
        spider.run_dir = RunDir(crawler.settings["RUN_DIR"])
        spider.resumed = spider.run_dir.open(spider.langs)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Put the seeds into the frontier; requests come from there."""
        crawler, settings = self.crawler, self.crawler.settings
        self._gated = settings.getbool("LANGUAGE_GATE")
        self._max_tries = 1 + settings.getint("RETRY_TIMES")
        self._retry_wait = settings.getfloat("RETRY_WAIT")
        try:
            self.archive = Archive.from_crawler(crawler, self.counts)
            self.aligner = build_aligner(crawler, self.langs)
            self.run_dir.write(describe_run(crawler))
            frontier = self.scheduler.frontier
            frontier.restore()
            frontier.seed(self.seeds)
            frontier.commit()
        except BifocalError as error:
            self._stop(error)
        no_requests: tuple[Request, ...] = ()
        for request in no_requests:  # the engine wants an asynchronous generator
            yield request

    @property
    def scheduler(self) -> FrontierScheduler:
        """The scheduler, which holds the frontier."""
        scheduler = self.crawler.engine.scheduler
        assert isinstance(scheduler, FrontierScheduler)
        return scheduler

    # ------------------------------------------------------------- one page

    def parse(self, response: Response, **kwargs: Any) -> Iterator[PairScore]:
        """Deal with an answer. Step 1, taking the best URL, is the scheduler's."""
        lease: Lease = response.meta["lease"]
        try:
            page = self.keep(response, lease.url)
            if page.status in _TRANSIENT and self._retry(lease, page):
                return
            yield from self._visit(lease, page, self._read(lease, page))
            self.archive.flush()
            self.aligner.commit()
            self.scheduler.frontier.commit()
        except BifocalError as error:
            self._stop(error)
        finally:
            self.scheduler.finish(lease)

    def keep(self, response: Response, url: str) -> Page:
        """Store an answer before anything looks at it."""
        return self.archive.keep(response, url)

    def _read(self, lease: Lease, page: Page) -> Reading:
        """What the page holds; one that breaks the reader is stored all the same."""
        try:
            return read_page(page, depth=lease.link.depth)
        except Exception as error:
            self.logger.warning("cannot read %s: %r", page.url, error, exc_info=True)
            return Reading(reason=f"unreadable/{type(error).__name__}")

    def _visit(self, lease: Lease, page: Page, reading: Reading) -> Iterator[PairScore]:
        document = reading.document
        # 2. what is in neither language is discarded, and its links are not followed
        kept = document is not None and document.lang in self.langs
        frontier = self.scheduler.frontier
        if reading.location is None:
            frontier.fetched(lease, document)
        known = frontier.counts["frontier/added"]
        # 3. to 6. the links go to the frontier, each with a score
        links = self._follow(lease, page, reading, kept=kept)
        pairs = take_in(self.aligner, reading)
        if pairs:
            self.crawler.signals.send_catch_log(pair_found, pairs=pairs)
            yield from pairs
        visit = Visit(
            url=page.url,
            site=lease.site,
            status=page.status,
            fetched_at=page.fetched_at,
            size=len(page.body),
            depth=lease.link.depth,
            source_url=lease.link.source_url,
            score=lease.score,
            evidence=lease.evidence,
            scored_at=lease.scored_at,
            lang=document.lang if document else None,
            confidence=document.lang_confidence if document else 0.0,
            kept=kept,
            reason=reading.reason or (None if kept else "language"),
            links=len(links),
            added=frontier.counts["frontier/added"] - known,
            pairs=len(pairs),
        )
        self.archive.note(page, _metadata(visit))
        self.crawler.signals.send_catch_log(page_visited, visit=visit)

    def _follow(
        self, lease: Lease, page: Page, reading: Reading, *, kept: bool
    ) -> tuple[Link, ...]:
        """Score what the page leads to and put it into the frontier."""
        frontier = self.scheduler.frontier
        document = reading.document
        if document is not None:
            if self._gated and not kept and not lease.link.is_seed:
                return ()
            frontier.found(document, document.links)
            return document.links
        if reading.sitemap is not None:
            self.scheduler.sitemaps_found(reading.sitemap.sitemaps)
            source = Document(page.url, lease.site, None, 0.0, "", (), (), (), "")
            frontier.found(source, reading.sitemap.links)
            return reading.sitemap.links
        if reading.location is not None:
            return (frontier.redirected(lease, reading.location),)
        return ()

    # -------------------------------------------------------- what goes wrong

    def failed(self, failure: Failure) -> None:
        """No answer: another try later, or the end of this URL."""
        lease: Lease = failure.request.meta["lease"]  # type: ignore[attr-defined]
        reason = failure.type.__name__ if failure.type else "unknown"
        self.counts[f"fetch/failed/{reason}"] += 1
        self.logger.debug("no answer from %s: %s", lease.url, reason)
        try:
            if not self._retry(lease, None):
                self.scheduler.frontier.fetched(lease, None)
                self.scheduler.frontier.commit()
        except BifocalError as error:
            self._stop(error)
        finally:
            self.scheduler.finish(lease)

    def _retry(self, lease: Lease, page: Page | None) -> bool:
        """There is no answer now: does the URL get another try?"""
        frontier = self.scheduler.frontier
        again = frontier.retry(lease, max_tries=self._max_tries)
        if again:
            self.counts["fetch/retried"] += 1
            asked = page.header("retry-after") if page else None
            wait = int(asked) if asked and asked.isdigit() else self._retry_wait
            self.scheduler.back_off(lease.site, min(wait, _MAX_RETRY_AFTER))
            frontier.commit()
        return again

    def _stop(self, error: BifocalError) -> None:
        """The run cannot go on: close with what there is."""
        self.fatal = self.fatal or error
        raise CloseSpider("error") from error


def _metadata(visit: Visit) -> Iterator[tuple[str, str]]:
    """The fields of a page's WARC metadata record (`via`, `hopsFromSeed`: WARC 1.1)."""
    if visit.source_url:
        yield "via", visit.source_url
    yield "hopsFromSeed", str(visit.depth)
    if visit.lang:
        yield "languages-cld2", f"{visit.lang};confidence={visit.confidence:.2f}"
    yield "bifocal-score", f"{visit.score:.6f}"
    for name, value in sorted(visit.evidence.items()):
        yield f"bifocal-evidence-{name}", f"{value:.4f}"
    if visit.reason:
        yield "bifocal-not-kept", visit.reason
