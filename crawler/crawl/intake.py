"""From answers to pairs: stored, read, paired, in this order and in one place.

    Answer ──▶ WARC ──▶ Page ──▶ Reading ──▶ texts, aligner ──▶ pairs ──▶ IntakeResult

The frontier says which page is next and hears the result; the intake needs nothing of
it. So it works in the crawl's process or in one beside it (`page_process.py`), and
gives the same either way: answers that have come by now are taken together, and what
they led to is committed before it is told. It is the only writer of the run's WARC
files, `pairs.tsv.gz`, `sentences.tsv.gz`, `aligner.sqlite` and `texts.sqlite`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from time import process_time
from typing import Any, Self

from crawler.aligner.bridges.pivot import Pivots, pairable
from crawler.aligner.profile import AlignProfile
from crawler.config import load_profile
from crawler.crawl.pairing import Pairing
from crawler.crawl.shown import ShownPairs
from crawler.data import LangPair, Page, PageFacts, PairScore, PairVerdict, Site
from crawler.errors import FATAL_ERRORS, BifocalError
from crawler.extract.bounded import PageReader, ReadingLimits, ReadingNote
from crawler.extract.detectors.open import DetectorConfig, open_detector
from crawler.extract.document import Reading, read_page
from crawler.extract.sitemap import Sitemap
from crawler.progress import ProgressLine, terminal
from crawler.protocols import LanguageDetector
from crawler.rundir import RunDir
from crawler.sinks.several import join_articles, write_joint_files
from crawler.urls import site_of
from crawler.wanted import WantedPairs
from crawler.warc.exchange import Exchange, page_of
from crawler.warc.recovery import recover
from crawler.warc.writer import WarcConfig, WarcWriter

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IntakeConfig:
    """The settings of an intake; plain data, so that another process gets it too."""

    run_dir: str
    langs: str  # as WantedPairs.parse reads them
    warc: WarcConfig
    pairs: bool = True  # setting PAIRS
    sentences: bool = True  # setting SENTENCES
    joint: bool = True  # setting JOINT_FILES
    align_profile: str | None = None  # a TOML file
    languages: DetectorConfig = field(default_factory=DetectorConfig)
    readable: tuple[str, ...] = ()  # see crawler.extract.links.is_page_url
    # settings PAGE_MEMORY, PAGE_SECONDS
    limits: ReadingLimits = field(default_factory=ReadingLimits)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a server, and what the frontier knew of its URL."""

    exchange: Exchange
    depth: int  # clicks from the nearest seed
    source_url: str | None
    score: float
    evidence: Mapping[str, float]
    questions: tuple[tuple[str, str], ...] = ()  # pairs of URLs to compare

    @property
    def url(self) -> str:
        """The URL that was asked for."""
        return self.exchange.url


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeResult:
    """What an answer turned out to be: facts for the frontier, no text."""

    page: PageFacts | None = None  # None: it is no document
    confidence: float = 0.0  # of the page's language
    sitemap: Sitemap | None = None
    location: str | None = None  # where a redirect leads
    reason: str | None = None  # why it was not kept; None: it was
    size: int = 0  # bytes of the body, decoded
    # of processor time that it took, from the WARC file to the pairs
    seconds: float = field(default=0.0, compare=False)
    pairs: tuple[PairScore, ...] = ()  # that it completes
    verdicts: tuple[PairVerdict, ...] = ()  # on the questions, but those pairs


@dataclass(frozen=True, slots=True)
class SessionResult:
    """The end of a session: what was counted, and the first thing that went wrong."""

    stats: dict[str, Any] = field(default_factory=dict)
    error: BifocalError | None = None


@dataclass(slots=True)
class _InHand:
    """An answer on its way through the steps; an error ends the way of this one."""

    answer: Answer
    page: Page | None = None
    reading: Reading = field(default_factory=lambda: Reading(reason="not_stored"))
    seconds: float = 0.0
    kept: bool = False
    pairs: list[PairScore] = field(default_factory=list)
    verdicts: tuple[PairVerdict, ...] = ()

    @property
    def site(self) -> Site:
        """The site of the page."""
        document = self.reading.document
        return document.site if document else site_of(self.answer.url)

    @property
    def size(self) -> int:
        """Bytes of the body, decoded."""
        return len(self.page.body) if self.page else 0

    def step(self, step: Callable[[_InHand], None]) -> None:
        """Take a step, if there was no error; FATAL_ERRORS are raised."""
        if self.reading.reason and self.reading.reason.startswith("failed/"):
            return
        started = process_time()
        try:
            step(self)
        except FATAL_ERRORS:
            raise
        except Exception as error:
            url = self.answer.exchange.url
            logger.warning("cannot take in %s: %r", url, error, exc_info=True)
            self.reading = Reading(reason=f"failed/{type(error).__name__}")
        finally:
            self.seconds += process_time() - started

    def result(self) -> IntakeResult:
        """What the frontier is told."""
        reading = self.reading
        document = reading.document
        return IntakeResult(
            page=document.facts if document else None,
            confidence=document.lang_confidence if document else 0.0,
            sitemap=reading.sitemap,
            location=reading.location,
            reason=reading.reason or (None if self.kept else "language"),
            size=self.size,
            seconds=self.seconds,
            pairs=tuple(self.pairs),
            verdicts=self.verdicts,
        )


class Intake:
    """Takes answers; `counts` collects what was kept and dropped."""

    def __init__(
        self,
        run: RunDir,
        wanted: WantedPairs,
        writer: WarcWriter,
        counts: Counter[str],
        reader: PageReader,
        *,
        pairings: ShownPairs,
        joint: bool = True,
        detector: LanguageDetector | None = None,
        readable: tuple[str, ...] = (),
    ) -> None:
        self.counts = counts
        # the pages of a site that another worker has stored, if it was taken over
        self.elsewhere: Callable[[Site], Iterable[Page]] = lambda _: ()
        self._reader = reader
        self._run = run
        self._wanted = wanted
        self._writer = writer
        self._pairings = pairings
        self._joint = joint
        self._read_page = partial(
            read_page, detector=detector, readable=readable, langs=tuple(wanted)
        )

    @classmethod
    def open(cls, config: IntakeConfig, counts: Counter[str]) -> Self:
        """Open the run's files, or go on with them; BifocalError if that cannot be."""
        run, wanted = RunDir(config.run_dir), WantedPairs.parse(config.langs)
        detector = open_detector(tuple(wanted), config.languages)
        for mended in recover(run.warc):  # what a process that was killed has left
            counts["warc/recovered"] += 1
            counts["warc/recovered_bytes_cut"] += mended.cut
        writer = WarcWriter(run.warc, config.warc)
        profile = load_profile(AlignProfile, config.align_profile)

        def begin(langs: LangPair) -> Pairing:
            part = run.of_pair(langs, wanted)
            return Pairing.open(
                part, langs, profile, counts, sentences=config.sentences
            )

        pairs = wanted if config.pairs else WantedPairs(())
        pairings = ShownPairs(run, pairs, begin)
        pairings.restore()
        return cls(
            run,
            wanted,
            writer,
            counts,
            PageReader(config.limits, ReadingNote.open(run.reading)),
            pairings=pairings,
            joint=config.joint,
            detector=detector,
            readable=config.readable,
        )

    # ------------------------------------------------------------- answers

    def keep(self, exchange: Exchange) -> Page:
        """Store an answer before anything looks at it; WarcError if that fails."""
        page = page_of(exchange, self.counts)
        location = self._writer.write_exchange(exchange)
        self._pairings.keep(page.url, location)
        return replace(page, record_id=location.record_id)

    def take(self, answers: Sequence[Answer]) -> list[IntakeResult]:
        """Store answers, read them, pair them; all of it survives a kill.

        Each step is done for all before the next one: what a step needs of code and
        tables is in the cache then, and pages are compared in one call, which saves a
        fifth to a third of the time. An error of one answer is its own result. One that
        a process has ended with is taken alone, so that another end has one cause.
        """
        note = self._reader.note
        if len(answers) > 1 and note and any(note.is_suspect(a.url) for a in answers):
            return [result for answer in answers for result in self.take([answer])]
        in_hand = [_InHand(answer) for answer in answers]
        for step in (self._store, self._read):
            for item in in_hand:
                item.step(step)
        with self._reader.holding([answer.url for answer in answers]):
            late = self._bring(item.reading for item in in_hand)
            for item in in_hand:
                item.step(self._keep_text)
            self._pair_all(in_hand)
            in_hand[0].pairs += late
            for item in in_hand:
                item.step(self._compare)
        for item in in_hand:
            item.step(self._describe)
        self._writer.flush()
        for pairing in self._pairings:
            pairing.commit()
        return [item.result() for item in in_hand]

    def _store(self, item: _InHand) -> None:
        item.page = self.keep(item.answer.exchange)

    def _read(self, item: _InHand) -> None:
        assert item.page
        item.reading = self._reading(item.page, item.answer.depth)

    def _reading(self, page: Page, depth: int) -> Reading:
        """What the page holds; one that breaks the reader is stored all the same."""
        read = partial(self._read_page, page, depth=depth)
        reading = self._reader.read(page.url, read)
        if reading.reason and reading.reason.startswith("unreadable/"):
            self.counts[reading.reason] += 1
        return reading

    def _keep_text(self, item: _InHand) -> None:
        assert item.page
        item.kept = self._keep_document(item.reading, item.page.record_id)

    def _keep_document(self, reading: Reading, record_id: str | None) -> bool:
        """Keep a page of a wanted language for its sentences; False: of another."""
        kept = [d for d in reading.documents if d.lang in self._wanted]
        for document in kept:
            for pairing in self._pairings.of(document.site):
                pairing.keep_text(document, record_id)
        return bool(kept)

    def _bring(self, readings: Iterable[Reading]) -> list[PairScore]:
        """Give pairs that a site shows now its pages that were stored before."""
        documents = [d for reading in readings for d in reading.documents]
        found: list[PairScore] = []
        for site, pairings, stored in self._pairings.show(documents):
            own = (self._pairings.page(location, self.counts) for location in stored)
            for page in chain(own, self.elsewhere(site)):
                if page is not None:
                    found += self._pair_again(page, pairings)
        return found

    def _pair_again(
        self, page: Page, pairings: Sequence[Pairing]
    ) -> Iterator[PairScore]:
        reading = self._reading(page, 0)
        for pairing in pairings:
            for document in reading.documents:
                pairing.keep_text(document, page.record_id)
            yield from pairing.take([reading])[0]

    def _pair_all(self, in_hand: Sequence[_InHand]) -> None:
        """Pair pages together; one by one if one of them makes that fail."""
        try:
            self._pair(in_hand)
        except FATAL_ERRORS:
            raise
        except Exception:
            for item in in_hand:
                item.step(lambda item: self._pair([item]))

    def _pair(self, in_hand: Sequence[_InHand]) -> None:
        for item in in_hand:
            item.pairs = []
        started = process_time()
        of_pairing: dict[Pairing, list[_InHand]] = {}
        for item in in_hand:
            for pairing in self._pairings.of(item.site):
                of_pairing.setdefault(pairing, []).append(item)
        for pairing, items in of_pairing.items():
            found = pairing.take([item.reading for item in items])
            for item, pairs in zip(items, found):
                item.pairs += pairs
        share = (process_time() - started) / max(1, sum(item.size for item in in_hand))
        for item in in_hand:
            item.seconds += share * item.size

    def _compare(self, item: _InHand) -> None:
        """Answer the frontier's questions, unless they are answered by the pairs."""
        found = {frozenset((pair.src_url, pair.trg_url)) for pair in item.pairs}
        asked = [urls for urls in item.answer.questions if frozenset(urls) not in found]
        if asked and (pairings := self._pairings.of(item.site)):
            said = zip(*(pairing.aligner.verdicts(asked) for pairing in pairings))
            # each aligner knows pages of its two languages alone
            best = [max((p for p in ps if p is not None), default=None) for ps in said]
            item.verdicts = tuple(PairVerdict(*u, p) for u, p in zip(asked, best))

    def _describe(self, item: _InHand) -> None:
        """Write what was found out about a page beside it."""
        if item.page:
            fields = _metadata(item.answer, item.reading, item.result().reason)
            self._writer.write_metadata(item.page.url, item.page.record_id, fields)

    def take_stored(self, page: Page) -> list[PairScore]:
        """Pair a page that another worker has fetched and stored."""
        reading = self._reading(page, 0)
        late = self._bring([reading])
        self._keep_document(reading, page.record_id)
        pairings = self._pairings.of(site_of(page.url))
        return late + [p for pairing in pairings for p in pairing.take([reading])[0]]

    def use_spare_time(self, is_wanted: Callable[[], bool] = lambda: False) -> None:
        """Align sentences in the time that was left over, until `is_wanted`."""
        for pairing in self._pairings:
            pairing.use_spare_time(is_wanted)

    # ------------------------------------------------------------- the end

    def finish(self) -> SessionResult:
        """Complete the WARC file; make the final pairs, and their sentences.

        Each step is tried, whatever became of the one before: a disk that has no room
        for the pairs may have some for the end of the WARC file.
        """
        stats: Counter[str] = Counter()
        errors: list[BifocalError] = []

        @contextmanager
        def tried() -> Iterator[None]:
            try:
                yield
            except FATAL_ERRORS as error:
                errors.append(self._run.error(error))

        with tried():
            self._reader.close()
        with tried():
            self._writer.close()
        with suppress(OSError):  # there are files; an empty folder would be in the way
            self._run.warc.rmdir()
        line = ProgressLine(logger, terminal())
        pairings = {pairing.langs: pairing for pairing in self._pairings}
        pivots = Pivots(dict.fromkeys(pairings, 0))
        with tried():
            pages = {k: pairable(p.aligner.sizes()) for k, p in pairings.items()}
            pivots = Pivots(pages)
        for langs in pivots:
            pairings[langs].finish_pairs(tried, line, pivots)
        if len(self._pairings) > 1:
            with tried():
                stats["clusters"] = self._join()
        for pairing in self._pairings:
            counted = pairing.finish(tried, line)
            stats.update(counted)
            if len(self._pairings) > 1 and "pairs" in counted:
                stats[f"pairs/{'-'.join(pairing.langs)}"] = counted["pairs"]
        if len(self._pairings) > 1 and self._joint:
            with tried():
                write_joint_files(self._run, self._wanted)
        return SessionResult({**stats, **self.counts}, next(iter(errors), None))

    def _join(self) -> int:
        """Write the articles that the final pairs make, with what follows from them."""
        made = {p.langs: p for p in self._pairings if p.pairs is not None}
        articles, added = join_articles(
            self._run,
            self._wanted,
            {langs: pairing.run for langs, pairing in made.items()},
            min(p.aligner.profile.min_score for p in self._pairings),
            lambda langs, urls: made[langs].aligner.verdicts(urls),
        )
        for langs, count in added.items():
            made[langs].was_implied(count)
        return articles


def _metadata(
    answer: Answer, reading: Reading, reason: str | None
) -> Iterator[tuple[str, str]]:
    """The fields of a page's WARC metadata record (`via`, `hopsFromSeed`: WARC 1.1)."""
    if answer.exchange.archive:
        yield "archive", answer.exchange.archive
    if answer.source_url:
        yield "via", answer.source_url
    yield "hopsFromSeed", str(answer.depth)
    document = reading.document
    if document is not None and document.lang:
        confidence = document.lang_confidence
        yield "languages-cld2", f"{document.lang};confidence={confidence:.2f}"
    yield "bifocal-score", f"{answer.score:.6f}"
    for name, value in sorted(answer.evidence.items()):
        yield f"bifocal-evidence-{name}", f"{value:.4f}"
    if reason:
        yield "bifocal-not-kept", reason
