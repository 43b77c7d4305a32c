"""The crawl as a plain object: the six steps of García-Romero (2024), section 4.

Whoever drives it asks `next` what to fetch, fetches that, and tells `answered` or
`failed`; `close` ends the run. It knows no network. Scrapy drives it live
(crawler.components), `crawler.crawl.replay` from a recording.

What the paper leaves open is done here once: what comes over the wire is stored before
anything looks at it (`intake.py`), a page is marked as done after it was stored and
paired, robots.txt stands before the first page of an origin, a site is closed while a
page of it is on its way, and a redirect is a page with one link.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic, process_time
from typing import Any

from crawler.crawl.follow import Follower
from crawler.crawl.intake import Answer, IntakeResult
from crawler.crawl.log import Observer, Visit
from crawler.crawl.page_process import AsyncIntake
from crawler.crawl.periodic import Periodic, StopFile
from crawler.crawl.politeness import MAX_REDIRECTS, Politeness
from crawler.crawl.settings import CrawlSettings
from crawler.crawl.summary import SessionTally, Summary
from crawler.data import NO_EVIDENCE
from crawler.errors import FATAL_ERRORS, BifocalError, RunError
from crawler.extract.bounded import KILLED
from crawler.extract.document import read_page
from crawler.fetch.errors import Failure
from crawler.frontier.entry import Lease
from crawler.frontier.frontier import Frontier
from crawler.frontier.robots import REFUSE_ALL, origin_of, rules_of
from crawler.wanted import WantedPairs
from crawler.warc.exchange import Exchange

logger = logging.getLogger(__name__)

# Statuses after which the same URL may work later.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_PAUSE = 0.05  # seconds in which only an answer can bring a page
_LOOK = 1.0  # seconds until a worker that has nothing asks again for a share
_HEARTBEAT = 5.0  # seconds after which a driver asks anyway


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request to send: for a page, or for the robots.txt that stands before it."""

    url: str
    lease: Lease
    robots_hops: int | None = None  # redirects followed to a robots.txt; None: a page


class Crawl:
    """One session of a run; `crawler.crawl.open.open_crawl` makes it of settings.

    `killers`: URLs of pages that have ended the process twice, which are not fetched;
    `observers` hear of visits; `tick` calls what is `periodic`; `clock` gives seconds
    that never go back.
    """

    def __init__(
        self,
        settings: CrawlSettings,
        langs: WantedPairs,
        seeds: Sequence[str],
        frontier: Frontier,
        intake: AsyncIntake,
        *,
        polite: Politeness,
        resumed: bool = False,
        killers: Collection[str] = (),
        observers: Sequence[Observer] = (),
        periodic: Sequence[Periodic] = (),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.settings = settings
        self.langs = langs
        self.seeds = seeds
        self.run = settings.run
        self.frontier = frontier
        self.intake = intake
        self.counts = frontier.counts
        self.resumed = resumed
        self.clock = clock
        self.tally = SessionTally(langs, self.run.path, resumed=resumed)
        self.error: BifocalError | None = None  # the first that ended the run
        self.stopping: str | None = None  # why no more pages are fetched
        self._observers = [*observers]
        self._unlogged = False  # a visit could not be told
        self._periodic = [StopFile(self.run.stop, self.stop), *periodic]
        self._polite = polite
        self._killers = killers
        self._follower = Follower(settings, frontier)
        # Leases that waited for their robots.txt, and its redirects, which go on with a
        # lease whose site is closed for them already.
        self._ready: deque[Lease] = deque()
        self._redirected: deque[Fetch] = deque()
        # Until when there is nothing to fetch unless something happens, and when a
        # driver should ask again.
        self._nothing_until = self._ask_at = 0.0

    # ------------------------------------------------------ what to fetch

    @property
    def has_pending(self) -> bool:
        """Whether anything is left that may be fetched, be its site busy or not."""
        if self.stopping:
            return False
        return bool(self._ready or self._redirected) or self.frontier.has_open

    def next(self) -> Fetch | float | None:
        """The next request, or seconds until there may be one; None: finished."""
        if self.stopping:
            return _HEARTBEAT if self._polite.gate.in_flight else None
        if self._redirected:
            return self._redirected.popleft()
        now = self.clock()
        if now < self._nothing_until:
            return self._ask_at - now
        try:
            fetch = self._next(now)
        except FATAL_ERRORS as error:
            self.fail(error)
            return self.next()
        return fetch or self._wait(now)

    def _next(self, now: float) -> Fetch | None:
        while lease := self._next_lease(now):
            if lease.url in self._killers:
                self.frontier.fetched(lease, None)
                visit = Visit.of(lease, 0, datetime.now(UTC), reason=KILLED)
                self._tell(visit)
            elif fetch := self._allowed(lease):
                self._polite.start(lease)
                return fetch
        return None

    def _allowed(self, lease: Lease) -> Fetch | None:
        """The page, its robots.txt if that is not known; None: it must not be asked."""
        rules = self._polite.rules(lease.url)
        if rules is None:
            return Fetch(f"{origin_of(lease.url)}/robots.txt", lease, 0)
        if rules is REFUSE_ALL:
            self.frontier.postponed(lease)
        elif not rules.allows(lease.url, self.settings.user_agent):
            self.frontier.forbidden(lease)
        else:
            return Fetch(lease.url, lease)
        return None

    def _next_lease(self, now: float) -> Lease | None:
        busy = self._polite.gate.busy(now)
        for _ in range(len(self._ready)):
            lease = self._ready.popleft()
            if lease.site in busy:
                self._ready.append(lease)
            elif self.frontier.holds(lease):
                return lease
        return self.frontier.next(busy)

    def _wait(self, now: float) -> float | None:
        """Seconds until a site opens, or a worker may ask again; None: finished."""
        wait = self._polite.gate.wait(now)
        quiet = _PAUSE if wait is None else min(wait, _PAUSE)
        if wait is None:
            if not self._polite.gate.in_flight and not self.has_pending:
                return None
            elsewhere = self.frontier.workers.open_elsewhere()
            wait = _LOOK if elsewhere else _HEARTBEAT
        self._nothing_until, self._ask_at = now + quiet, now + wait
        return wait

    def may_send(self, fetch: Fetch) -> bool:
        """Whether the site is still ours, to be asked right before a request leaves.

        A process that was stopped for a while may have lost it to another worker.
        """
        try:
            return not self.error and self.frontier.holds(fetch.lease)
        except FATAL_ERRORS as error:
            self.fail(error)
            return False

    def add_seed(self, url: str) -> bool:
        """Put one more URL in, ahead of everything; False: it was known."""
        self._nothing_until = 0.0
        return self.frontier.seed([url]).added > 0

    # ---------------------------------------------------- what became of it

    async def answered(
        self, fetch: Fetch, exchange: Exchange, seconds: float = 0.0
    ) -> None:
        """Deal with an answer; `seconds`: that the server took.

        The site of the fetch is closed until this ends. After an error that ends the
        run nothing is done: the next session asks again.
        """
        lease, goes_on = fetch.lease, False
        try:
            if self.error:
                return
            if fetch.robots_hops is not None:
                goes_on = self._robots_answered(fetch, exchange)
            elif exchange.status not in _TRANSIENT or not self._retry(lease, exchange):
                if exchange.status not in _TRANSIENT:
                    self._polite.answered(lease)
                questions = self.frontier.questions(lease)
                answer = _answer_of(lease, exchange, tuple(questions))
                self._visit(lease, exchange, await self.intake.take(answer), seconds)
        except FATAL_ERRORS as error:
            self.fail(error)
        except Exception as error:  # a bug of ours or of a plug-in: other pages go on
            logger.exception("cannot deal with %s", lease.url)
            reason = f"failed/{type(error).__name__}"
            self.counts[f"fetch/{reason}"] += 1
            self._tell(
                Visit.of(lease, exchange.status, exchange.fetched_at, reason=reason)
            )
        finally:
            if not goes_on:
                self._finish(lease, asked=exchange.archive is None)

    def failed(self, fetch: Fetch, reason: str, *, final: bool = False) -> None:
        """Deal with a request without an answer; `final`: no other try changes that."""
        lease = fetch.lease
        try:
            if self.error:
                return
            if reason == Failure.NOT_OURS:
                self.counts["fetch/not_ours"] += 1
                self.frontier.postponed(lease)
                return
            if fetch.robots_hops is not None:
                self._robots_failed(lease, reason, final=final)
                return
            self.counts[f"fetch/failed/{reason}"] += 1
            if final:
                self.frontier.fetched(lease, None)
            elif self._retry(lease, None):
                return
            else:
                self.frontier.postponed(lease)
            self._tell(
                Visit.of(lease, 0, datetime.now(UTC), reason=f"no_answer/{reason}")
            )
            self.frontier.commit()
        except FATAL_ERRORS as error:
            self.fail(error)
        finally:
            self._finish(lease)

    def _finish(self, lease: Lease, *, asked: bool = True) -> None:
        """Let the site of a fetch be asked again after its pause."""
        self._polite.finish(lease, self.clock(), asked=asked)
        self._nothing_until = 0.0

    def keep(self, exchange: Exchange) -> None:
        """Store an answer to a request that is not of the frontier's."""
        with self._failing():
            if not self.error:
                self.intake.keep(exchange)

    def _visit(
        self, lease: Lease, exchange: Exchange, found: IntakeResult, seconds: float
    ) -> None:
        """Steps 3 to 6: the page is done, and its links go to the frontier."""
        started = process_time()
        if found.location is None:
            size = found.size
            self.frontier.fetched(lease, found.page, size=size, seconds=seconds)
        known = self.counts["frontier/added"]
        links = self._follower.follow(lease, found)
        self.frontier.paired(found.pairs)
        self.frontier.judged(found.verdicts)
        self._polite.was_read(lease, found.seconds + process_time() - started)
        added = self.counts["frontier/added"] - known
        more = {"links": len(links), "added": added}
        self._tell(Visit.of_result(lease, exchange, found, **more))

    # -------------------------------------------------------- robots.txt

    def _robots_answered(self, fetch: Fetch, exchange: Exchange) -> bool:
        """Take the rules of an origin, or follow the redirect to them: then True."""
        lease, hops = fetch.lease, fetch.robots_hops or 0
        page = self.intake.keep(exchange)
        moved = 300 <= page.status < 400
        target = read_page(page).location if moved else None
        may = target and hops < MAX_REDIRECTS and self._polite.may_follow(lease, target)
        if target and may:
            self._redirected.append(Fetch(target, lease, hops + 1))
            return True
        if page.status >= 500 or page.status == 429:
            self._robots_failed(lease, f"status {page.status}")
        else:
            rules = rules_of(page.status, page.body)
            self._polite.learn(lease.url, rules)
            self._ready.append(lease)
            self._follower.sitemaps(rules.sitemaps)
        return False

    def _robots_failed(self, lease: Lease, reason: str, *, final: bool = False) -> None:
        self.counts[f"robots/failed/{reason}"] += 1
        if self._polite.robots_failed(lease, final=final):
            self._tell(Visit.of(lease, 0, datetime.now(UTC), reason=f"robots/{reason}"))
        self._ready.append(lease)

    # ------------------------------------------------------------ retries

    def _retry(self, lease: Lease, exchange: Exchange | None) -> bool:
        """Whether a URL without an answer gets another try now.

        Its site gets patience even if it does not.
        """
        self._polite.back_off(lease, exchange)
        again = self.frontier.retry(lease, max_tries=1 + self.settings.retry_times)
        if again:
            self.counts["fetch/retried"] += 1
            if exchange is not None:
                self.intake.keep(exchange)
                self._tell(Visit.retried(lease, exchange))
            self.frontier.commit()
        return again

    # ------------------------------------------------------------- the rest

    def commit(self) -> None:
        """Make everything so far survive a kill; the intake has committed before."""
        with self._failing():
            if not self.error:
                self.frontier.commit()

    def tick(self) -> None:
        """Do what is done now and then; to be called some ten times a second."""
        for part in self._periodic:
            with self._failing():
                part.tick(self.clock())

    def _tell(self, visit: Visit) -> None:
        self.tally.visited(visit)
        for observer in self._observers:
            try:
                observer.visited(visit)
            except FATAL_ERRORS:
                self._unlogged = True
                raise

    def observe(self, observer: Observer) -> None:
        """Let somebody hear of the visits from now on."""
        self._observers.append(observer)

    def fail(self, error: Exception) -> None:
        """End the run because of an error; the first one is reported."""
        self.error = self.error or self.run.error(error)
        self.stopping = "error"

    def stop(self, reason: str) -> None:
        """Fetch no more pages; those on their way are dealt with."""
        self.stopping = self.stopping or reason

    def close(self, reason: str, more: Mapping[str, Any] = NO_EVIDENCE) -> Summary:
        """End the session: save everything, make the final pairs, write the stats.

        `reason`: why the driver ended; `more`: what it counted. Raises nothing: what
        went wrong is the summary's `error`.
        """
        with self._failing():
            counts = self.frontier.store.counts()
            self.counts["frontier/pending"] = counts["pending"] + counts["leased"]
            self.counts["frontier/done"] = counts["done"]
        with self._failing():
            # a page whose line could not be written is not done: the next session asks
            self.frontier.close(commit=not self._unlogged)
        endings: list[Periodic | Observer] = [*self._periodic, *self._observers]
        for part in endings:
            with self._failing():
                part.close()
        result = self.intake.finish()
        if result.error:
            self.fail(result.error)
        stats = {
            **more,
            **self.counts,
            **self.tally.stats(self.counts["frontier/pending"]),
            "finish_reason": self.stopping or reason,
            **result.stats,
        }
        with self._failing():
            self.run.write_stats(stats)
        others = self.resumed or self.frontier.workers.run  # sessions, or workers
        if self.tally.languages or (others and self.counts["frontier/done"]):
            text = self.tally.text(stats, pairs=self.settings.pairs)
        else:
            text = ""
            self.fail(RunError(self.tally.why_nothing(self.seeds, self.counts)))
        return Summary(stats, text, self.error)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except FATAL_ERRORS as error:
            self.fail(error)


def _answer_of(
    lease: Lease, exchange: Exchange, questions: tuple[tuple[str, str], ...]
) -> Answer:
    link, score = lease.link, lease.score
    source = link.source_url
    return Answer(exchange, link.depth, source, score, lease.evidence, questions)
