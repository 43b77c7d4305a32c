"""The spider: the six steps of García-Romero (2024), section 4, one page at a time.

    scrapy crawl bilingual -a seeds=seeds/en-is.txt -a langs=en,is -s RUN_DIR=runs/is1

What the paper leaves open is done here once: what comes over the wire is stored before
anything looks at it (crawler.intake), a page is marked as done in the same transaction
that puts its links into the frontier (one for pages that were taken in together), and a
redirect is a page with one link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.defer import deferred_from_coro
from twisted.python.failure import Failure

from crawler.components.address_guard import AddressRefusedError
from crawler.components.assembly import (
    build_align_profile,
    build_frontier,
    build_scorer,
    describe_run,
)
from crawler.components.crawl_log import Visit
from crawler.components.exchange import exchange_of
from crawler.components.intake import AnyIntake, PageProcess, open_intake
from crawler.components.page_process import page_process
from crawler.components.scheduler import FrontierScheduler
from crawler.components.signals import page_visited, pair_found
from crawler.data import Document, LangPair, Link, Page, PairScore
from crawler.errors import BifocalError, UsageError
from crawler.frontier.frontier import Frontier, Lease
from crawler.frontier.scope import Scope
from crawler.intake.intake import OURS, Answer, Findings
from crawler.rundir import RunDir
from crawler.seeds import read_seeds
from crawler.warc.exchange import Exchange, page_of

# Statuses after which the same URL may work later.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
# What no other try changes: longer than DOWNLOAD_MAXSIZE, or at a private address.
_FINAL = frozenset({"DownloadCancelledError", AddressRefusedError.__name__})
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
    intake: AnyIntake
    frontier: Frontier
    fatal: BifocalError | None = None  # what ended the run, for the exit status

    def __init__(
        self, seeds: str = "", langs: str = "", scope: str = "", **kwargs: Any
    ) -> None:
        """Read the arguments of `-a`; a BifocalError says what is wrong with them."""
        if kwargs:
            raise UsageError(
                f"unknown argument -a {min(kwargs)} (there are seeds, langs and scope;"
                " settings are given by -s)"
            )
        super().__init__()
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
        """Name the run directory; `open_run` opens it."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.scope = spider.scope or crawler.settings["SCOPE"]
        spider.run_dir = RunDir(crawler.settings["RUN_DIR"])
        return spider

    def open_run(self) -> None:
        """Open all that the run needs, and put the seeds into the frontier.

        Requests come from there. What can be wrong with the settings is found before
        anything is written.
        """
        crawler, settings = self.crawler, self.crawler.settings
        self._gated = settings.getbool("LANGUAGE_GATE")
        self._max_tries = 1 + settings.getint("RETRY_TIMES")
        self._retry_wait = settings.getfloat("RETRY_WAIT")
        scope = Scope(self.scope)
        child = page_process(settings)  # it starts while the models are read
        process = PageProcess(child, self.give_up) if child else None
        scorer = build_scorer(settings, self.langs, self.counts)
        profile = build_align_profile(settings)
        self.resumed = self.run_dir.open(self.langs)
        self.frontier = build_frontier(crawler, self.langs, scorer, scope, self.counts)
        self.intake = open_intake(crawler, self.counts, process)
        self.run_dir.write(describe_run(crawler, profile))
        self.frontier.restore()
        self.frontier.seed(self.seeds)
        self.frontier.commit()

    @property
    def scheduler(self) -> FrontierScheduler:
        """The scheduler, which holds the frontier."""
        scheduler = self.crawler.engine.scheduler
        assert isinstance(scheduler, FrontierScheduler)
        return scheduler

    # ------------------------------------------------------------- one page

    async def parse(
        self, response: Response, **kwargs: Any
    ) -> AsyncIterator[PairScore]:
        """Deal with an answer. Step 1, taking the best URL, is the scheduler's."""
        lease: Lease = response.meta["lease"]
        exchange = exchange_of(response, lease.url)
        try:
            self._check()
            if exchange.status in _TRANSIENT and self._retry(lease, exchange):
                return
            findings = await self.intake.take(_answer(lease, exchange))
            seconds = response.meta.get("download_latency", 0.0)
            for pair in self._visit(lease, exchange, findings, seconds):
                yield pair
            if findings.last:  # the others are dealt with by now
                self.frontier.commit()
        except OURS as error:
            self.stop(error)
        finally:
            self.scheduler.finish(lease)

    def keep(self, response: Response, url: str) -> Page:
        """Store an answer that is no page of the frontier's before anything else."""
        self._check()
        try:
            return self.intake.keep(exchange_of(response, url))
        except BifocalError as error:
            self.stop(error)

    def _check(self) -> None:
        """After an error there may be no room: the next session asks again."""
        if self.fatal:
            raise CloseSpider("error")

    def _visit(
        self, lease: Lease, exchange: Exchange, findings: Findings, seconds: float
    ) -> Iterator[PairScore]:
        """What was found goes to the frontier and to whoever listens."""
        reading, document = findings.reading, findings.reading.document
        if reading.location is None:
            self.frontier.fetched(lease, document, size=findings.size, seconds=seconds)
        known = self.counts["frontier/added"]
        # 3. to 6. the links go to the frontier, each with a score
        links = self._follow(lease, findings)
        self.paired(findings.pairs)
        yield from findings.pairs
        visit = Visit(
            url=lease.url,
            site=lease.site,
            status=exchange.status,
            fetched_at=exchange.fetched_at,
            size=findings.size,
            depth=lease.link.depth,
            source_url=lease.link.source_url,
            score=lease.score,
            evidence=lease.evidence,
            scored_at=lease.scored_at,
            lang=document.lang if document else None,
            confidence=document.lang_confidence if document else 0.0,
            kept=findings.kept,
            reason=findings.reason,
            links=len(links),
            added=self.counts["frontier/added"] - known,
            pairs=len(findings.pairs),
        )
        self._tell(page_visited, visit=visit)

    def paired(self, pairs: list[PairScore]) -> None:
        """Tell who listens to `pair_found`."""
        if pairs:
            self._tell(pair_found, pairs=pairs)

    def _follow(self, lease: Lease, findings: Findings) -> tuple[Link, ...]:
        """Score what the page leads to and put it into the frontier."""
        frontier, reading = self.frontier, findings.reading
        document = reading.document
        if document is not None:
            # 2. the links of a page in neither language are not followed
            if self._gated and not findings.kept and not lease.link.is_seed:
                return ()
            frontier.found(document, document.links)
            return document.links
        if reading.sitemap is not None:
            self.scheduler.sitemaps_found(reading.sitemap.sitemaps)
            source = Document(lease.url, lease.site, None, 0.0, "", (), (), (), "")
            frontier.found(source, reading.sitemap.links)
            return reading.sitemap.links
        if reading.location is not None:
            return (frontier.redirected(lease, reading.location),)
        return ()

    # -------------------------------------------------------- what goes wrong

    def failed(self, failure: Failure) -> None:
        """No answer: another try later in this session, or in the next one."""
        lease: Lease = failure.request.meta["lease"]  # type: ignore[attr-defined]
        reason = failure.type.__name__ if failure.type else "unknown"
        self.counts[f"fetch/failed/{reason}"] += 1
        self.logger.debug("no answer from %s: %s", lease.url, reason)
        try:
            if reason in _FINAL:
                self.frontier.fetched(lease, None)
            elif self._retry(lease, None):
                return
            else:
                self.frontier.postponed(lease)
            self._tell(page_visited, visit=_unanswered(lease, reason))
            self.frontier.commit()
        except OURS as error:
            self.stop(error)
        finally:
            self.scheduler.finish(lease)

    def _retry(self, lease: Lease, exchange: Exchange | None) -> bool:
        """There is no answer now: does the URL get another try?

        Its site gets patience even if it does not.
        """
        asked = None
        if exchange is not None:  # whose headers are enough: no body is decoded
            asked = retry_after(page_of(replace(exchange, body=b""), Counter()))
        wait = self._retry_wait if asked is None else asked
        self.scheduler.back_off(lease.site, min(wait, _MAX_RETRY_AFTER))
        again = self.frontier.retry(lease, max_tries=self._max_tries)
        if again:
            self.counts["fetch/retried"] += 1
            if exchange is not None:
                self.intake.keep(exchange)
            self.frontier.commit()
        return again

    def _tell(self, signal: object, **named: Any) -> None:
        """Send a signal; an error of ours in a handler ends the run, as here."""
        answers = self.crawler.signals.send_catch_log(signal, dont_log=OURS, **named)
        for _, answer in answers:
            if isinstance(answer, Failure) and isinstance(answer.value, OURS):
                raise answer.value

    def fail(self, error: Exception) -> None:
        """Remember the first error that the run cannot go on after."""
        self.fatal = self.fatal or self.run_dir.error(error)

    def stop(self, error: Exception) -> NoReturn:
        """The run cannot go on: close with what there is."""
        self.fail(error)
        raise CloseSpider("error") from error

    def give_up(self, error: BifocalError) -> None:
        """Likewise, where nobody would hear an exception."""
        self.fail(error)
        engine = self.crawler.engine
        deferred_from_coro(engine.close_spider_async(reason="error"))


def retry_after(page: Page) -> float | None:
    """The seconds that a server asks us to wait (RFC 9110, section 10.2.3)."""
    asked = (page.header("retry-after") or "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked)
    try:
        until = parsedate_to_datetime(asked)
    except ValueError:
        return None
    if until.tzinfo is None:  # `-0000`: UTC, by RFC 5322
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - page.fetched_at).total_seconds())


def _answer(lease: Lease, exchange: Exchange) -> Answer:
    link = lease.link
    return Answer(exchange, link.depth, link.source_url, lease.score, lease.evidence)


def _unanswered(lease: Lease, reason: str) -> Visit:
    return Visit(
        url=lease.url,
        site=lease.site,
        status=0,
        fetched_at=datetime.now(UTC),
        size=0,
        depth=lease.link.depth,
        source_url=lease.link.source_url,
        score=lease.score,
        evidence=lease.evidence,
        scored_at=lease.scored_at,
        lang=None,
        confidence=0.0,
        kept=False,
        reason=f"no_answer/{reason}",
        links=0,
        added=0,
        pairs=0,
    )
