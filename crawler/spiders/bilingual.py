"""The spider: the six steps of García-Romero (2024), section 4, one page at a time.

    scrapy crawl bilingual -a seeds=seeds/en-is.txt -a langs=en,is -s RUN_DIR=runs/is1

What the paper leaves open is done here once: what comes over the wire is stored before
anything looks at it, a page is marked as done in the same transaction that puts its
links into the frontier, and a redirect is a page with one link.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from crawler.aligner.aligner import Aligner
from crawler.components.address_guard import AddressRefusedError
from crawler.components.archive import Archive
from crawler.components.assembly import (
    build_align_profile,
    build_frontier,
    build_scorer,
    describe_run,
)
from crawler.components.crawl_log import Visit
from crawler.components.scheduler import FrontierScheduler
from crawler.components.signals import page_visited, pair_found
from crawler.corpus.stream import SentenceStream
from crawler.data import Document, LangPair, Link, Page, PairScore
from crawler.errors import BifocalError, RunError, UsageError
from crawler.extract.document import Reading, read_page
from crawler.frontier.frontier import Frontier, Lease
from crawler.frontier.scope import Scope
from crawler.realign.steps import take_in
from crawler.rundir import RunDir
from crawler.seeds import read_seeds

# Statuses after which the same URL may work later.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
# What no other try changes: longer than DOWNLOAD_MAXSIZE, or at a private address.
_FINAL = frozenset({"DownloadCancelledError", AddressRefusedError.__name__})
# A longer Retry-After (seconds) is cut to this: another try then costs little.
_MAX_RETRY_AFTER = 600
# What a full or failing disk raises, besides the errors of our own.
_STORAGE_ERRORS = (OSError, sqlite3.Error)


class BilingualSpider(Spider):
    """Crawls for pages of two languages that are translations of each other.

    `seeds`: a file, a comma list of URLs, or `-`; `langs`: two codes or names;
    `scope`: site, host or path (setting SCOPE).
    """

    name = "bilingual"

    run_dir: RunDir
    resumed: bool
    archive: Archive
    aligner: Aligner | None = None  # setting PAIRS
    sentences: SentenceStream | None = None  # setting SENTENCES
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
        self._readable = ("pdf",) if settings.getbool("PDF") else ()
        self._max_tries = 1 + settings.getint("RETRY_TIMES")
        self._retry_wait = settings.getfloat("RETRY_WAIT")
        scope = Scope(self.scope)
        scorer = build_scorer(settings, self.langs, self.counts)
        profile = build_align_profile(settings)
        self.resumed = self.run_dir.open(self.langs)
        self.frontier = build_frontier(crawler, self.langs, scorer, scope, self.counts)
        self.archive = Archive.from_crawler(crawler, self.counts)
        if settings.getbool("PAIRS"):
            self.aligner = Aligner(self.langs, profile, store=self.run_dir.aligner)
            if settings.getbool("SENTENCES"):
                self.sentences = SentenceStream(self.run_dir, self.langs)
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

    def parse(self, response: Response, **kwargs: Any) -> Iterator[PairScore]:
        """Deal with an answer. Step 1, taking the best URL, is the scheduler's."""
        lease: Lease = response.meta["lease"]
        try:
            page = self.keep(response, lease.url)
            if page.status in _TRANSIENT and self._retry(lease, page):
                return
            seconds = response.meta.get("download_latency", 0.0)
            yield from self._visit(lease, page, self._read(lease, page), seconds)
            self._commit()
        except (BifocalError, *_STORAGE_ERRORS) as error:
            self.stop(error)
        finally:
            self.scheduler.finish(lease)

    def keep(self, response: Response, url: str) -> Page:
        """Store an answer before anything looks at it."""
        if self.fatal:  # there may be no room for it: the next session asks again
            raise CloseSpider("error")
        try:
            return self.archive.keep(response, url)
        except BifocalError as error:
            self.stop(error)

    def _commit(self) -> None:
        """Make a page and what it led to survive a kill, the frontier last."""
        self.archive.flush()
        if self.aligner:
            self.aligner.commit()
        if self.sentences:
            self.sentences.commit()
        self.frontier.commit()

    def _read(self, lease: Lease, page: Page) -> Reading:
        """What the page holds; one that breaks the reader is stored all the same."""
        try:
            return read_page(page, depth=lease.link.depth, readable=self._readable)
        except Exception as error:
            self.logger.warning("cannot read %s: %r", page.url, error, exc_info=True)
            return Reading(reason=f"unreadable/{type(error).__name__}")

    def _visit(
        self, lease: Lease, page: Page, reading: Reading, seconds: float
    ) -> Iterator[PairScore]:
        document = reading.document
        # 2. what is in neither language is discarded, and its links are not followed
        kept = document is not None and document.lang in self.langs
        if reading.location is None:
            size = len(page.body)
            self.frontier.fetched(lease, document, size=size, seconds=seconds)
        known = self.counts["frontier/added"]
        # 3. to 6. the links go to the frontier, each with a score
        links = self._follow(lease, page, reading, kept=kept)
        pairs = self.pair(page, reading)
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
            added=self.counts["frontier/added"] - known,
            pairs=len(pairs),
        )
        self.archive.note(page, _metadata(visit))
        self._tell(page_visited, visit=visit)

    def pair(self, page: Page, reading: Reading) -> list[PairScore]:
        """Give a page to the aligner and the sentences; the pairs that it completes.

        Who listens to `pair_found` is told of them.
        """
        document = reading.document
        if self.sentences and document is not None and document.lang in self.langs:
            self.sentences.take(document, page.record_id)
        pairs = take_in(self.aligner, reading) if self.aligner else []
        if pairs:
            self._tell(pair_found, pairs=pairs)
        return pairs

    def _follow(
        self, lease: Lease, page: Page, reading: Reading, *, kept: bool
    ) -> tuple[Link, ...]:
        """Score what the page leads to and put it into the frontier."""
        frontier, document = self.frontier, reading.document
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
            self._commit()
        except (BifocalError, *_STORAGE_ERRORS) as error:
            self.stop(error)
        finally:
            self.scheduler.finish(lease)

    def _retry(self, lease: Lease, page: Page | None) -> bool:
        """There is no answer now: does the URL get another try?

        Its site gets patience even if it does not.
        """
        asked = retry_after(page) if page else None
        wait = self._retry_wait if asked is None else asked
        self.scheduler.back_off(lease.site, min(wait, _MAX_RETRY_AFTER))
        again = self.frontier.retry(lease, max_tries=self._max_tries)
        if again:
            self.counts["fetch/retried"] += 1
            self._commit()
        return again

    def _tell(self, signal: object, **named: Any) -> None:
        """Send a signal; an error of ours in a handler ends the run, as here."""
        ours = (BifocalError, *_STORAGE_ERRORS)
        answers = self.crawler.signals.send_catch_log(signal, dont_log=ours, **named)
        for _, answer in answers:
            if isinstance(answer, Failure) and isinstance(answer.value, ours):
                raise answer.value

    def fail(self, error: Exception) -> None:
        """Remember the first error that the run cannot go on after."""
        if not isinstance(error, BifocalError):
            error = RunError(
                f"{self.run_dir.path}: {error} (make room or mend the disk, then start"
                " again: the same command goes on where this one stopped)"
            )
        self.fatal = self.fatal or error

    def stop(self, error: Exception) -> NoReturn:
        """The run cannot go on: close with what there is."""
        self.fail(error)
        raise CloseSpider("error") from error


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
