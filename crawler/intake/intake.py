"""From answers to pairs: stored, read, paired, in this order and in one place.

    Answer ──▶ WARC ──▶ Page ──▶ Reading ──▶ texts for sentences, aligner ──▶ Findings

The frontier tells which page is next and hears what was found; the intake needs nothing
of it. So it works in the crawl's process or in one beside it (`__main__.py`), and gives
the same either way: what has come by now is taken together, and what it led to is
committed before it is told.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from crawler.aligner.aligner import Aligner, take_in
from crawler.aligner.profile import AlignProfile
from crawler.config import load_profile
from crawler.corpus.stream import SentenceStream
from crawler.data import LangPair, Page, PairScore
from crawler.errors import BifocalError
from crawler.extract.document import Reading, read_page
from crawler.intake.spare_time import SpareTime
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs, write_pairs
from crawler.warc.exchange import Exchange, page_of
from crawler.warc.writer import WarcConfig, WarcWriter

T = TypeVar("T")
logger = logging.getLogger(__name__)

# What ends a run with one line: errors of ours, and what a full or failing disk raises.
OURS = (BifocalError, OSError, sqlite3.Error)


@dataclass(frozen=True, slots=True)
class IntakeConfig:
    """What the settings say of it; plain data, so that another process gets it too."""

    run_dir: str
    langs: str  # as LangPair.parse reads them
    warc: WarcConfig
    pairs: bool = True  # setting PAIRS
    sentences: bool = True  # setting SENTENCES
    align_profile: str | None = None  # a TOML file
    readable: tuple[str, ...] = ()  # see crawler.extract.links.is_page_url


@dataclass(frozen=True, slots=True)
class Answer:
    """What came over the wire, and what the frontier knew of its URL."""

    exchange: Exchange
    depth: int  # clicks from the nearest seed
    source_url: str | None
    score: float
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Findings:
    """What an answer turned out to be; from another process, a document has no text."""

    reading: Reading
    kept: bool  # a document in one of the two languages
    size: int  # bytes of the body, decoded
    pairs: list[PairScore]  # that it completes
    last: bool = True  # of those that were taken together

    @property
    def reason(self) -> str | None:
        """Why it was not kept."""
        return self.reading.reason or (None if self.kept else "language")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended: what was counted, and the first thing that went wrong."""

    stats: dict[str, Any] = field(default_factory=dict)
    error: BifocalError | None = None


class Intake:
    """Takes answers; `counts` collects what was kept and dropped."""

    def __init__(self, config: IntakeConfig, counts: Counter[str]) -> None:
        """Open the run's files, or go on with them; BifocalError if that cannot be."""
        self.counts = counts
        self._run = RunDir(config.run_dir)
        self._langs = LangPair.parse(config.langs)
        self._readable = config.readable
        self._writer = WarcWriter(self._run.warc, config.warc)
        self._aligner: Aligner | None = None
        self._sentences: SentenceStream | None = None
        if config.pairs:
            profile = load_profile(AlignProfile, config.align_profile)
            self._aligner = Aligner(self._langs, profile, store=self._run.aligner)
            if config.sentences:
                self._sentences = SentenceStream(self._run, self._langs)
        self._spare = SpareTime(self._sentences, counts) if self._sentences else None

    # ------------------------------------------------------------- answers

    def keep(self, exchange: Exchange) -> Page:
        """Store an answer before anything looks at it; WarcError if that fails."""
        page = page_of(exchange, self.counts)
        return replace(page, record_id=self._writer.write_exchange(exchange).record_id)

    def take(self, answers: Sequence[Answer]) -> list[Findings | Exception]:
        """Store answers, read them, pair them; all of it survives a kill.

        Each step is done for all before the next one: what a step needs of code and
        tables is in the cache then, and pages are compared in one call, which saves a
        fifth to a third of the time. In place of findings: the error of one answer
        that the others have nothing to do with.
        """
        exchanges = [answer.exchange for answer in answers]
        depths = [answer.depth for answer in answers]
        pages = _each(self.keep, exchanges)
        readings = _each(self._read, pages, depths)
        kept = _each(self._keep_text, pages, readings)
        pairs = self._pair_all(readings)
        found = _each(self._findings, answers, pages, readings, kept, pairs)
        self._writer.flush()
        if self._aligner:
            self._aligner.commit()
        if self._sentences:
            self._sentences.commit()
        return [_not_last(result) for result in found[:-1]] + found[-1:]

    def _findings(
        self,
        answer: Answer,
        page: Page,
        reading: Reading,
        kept: bool,
        pairs: list[PairScore],
    ) -> Findings:
        """Say what was found, and write it down beside the page."""
        findings = Findings(reading, kept, len(page.body), pairs)
        fields = _metadata(answer, findings)
        self._writer.write_metadata(page.url, page.record_id, fields)
        return findings

    def take_stored(self, page: Page) -> list[PairScore]:
        """Pair a page that another worker has fetched and stored."""
        reading = self._read(page, 0)
        self._keep_text(page, reading)
        return self._pair([reading])[0]

    def _read(self, page: Page, depth: int) -> Reading:
        """What the page holds; one that breaks the reader is stored all the same."""
        try:
            return read_page(page, depth=depth, readable=self._readable)
        except Exception as error:
            logger.warning("cannot read %s: %r", page.url, error, exc_info=True)
            return Reading(reason=f"unreadable/{type(error).__name__}")

    def _keep_text(self, page: Page, reading: Reading) -> bool:
        """Is it a page in one of the two languages? Then there may be sentences."""
        document = reading.document
        if document is None or document.lang not in self._langs:
            return False
        if self._sentences:
            self._sentences.take(document, page.record_id)
        return True

    def _pair(self, readings: Sequence[Reading]) -> list[list[PairScore]]:
        """What each completes; compared together, which costs less."""
        if not self._aligner:
            return [[] for _ in readings]
        found = take_in(self._aligner, readings)
        if self._spare:
            for pairs in found:
                self._spare.queue(pairs)
        return found

    def _pair_all(
        self, readings: Sequence[Reading | Exception]
    ) -> list[list[PairScore] | Exception]:
        """The same for those that could be read; one by one if one of them fails."""
        good = [reading for reading in readings if isinstance(reading, Reading)]
        try:
            pairs = iter(self._pair(good))
        except OURS:
            raise
        except Exception:
            return _each(lambda reading: self._pair([reading])[0], readings)
        return _each(lambda _: next(pairs), readings)

    def look(self, is_wanted: Callable[[], bool] = lambda: False) -> None:
        """Use the time that was left over since the last look, until `is_wanted`."""
        if self._spare:
            self._spare.look(is_wanted)

    # ------------------------------------------------------------- the end

    def finish(self) -> Ending:
        """Complete the WARC file; the final pairs, and their sentences.

        Each step is tried, whatever became of the one before: a disk that has no room
        for the pairs may have some for the end of the WARC file.
        """
        stats: dict[str, Any] = {}
        errors: list[BifocalError] = []

        @contextmanager
        def tried() -> Iterator[None]:
            try:
                yield
            except OURS as error:
                errors.append(self._run.error(error))

        with tried():
            self._writer.close()
        with suppress(OSError):  # there are files; an empty folder would be in the way
            self._run.warc.rmdir()
        if aligner := self._aligner:
            with tried():
                stats["pairs"] = write_pairs(self._run.pairs, aligner.pairs())
                if aligner.lexicon:
                    aligner.lexicon.save(self._run.lexicon)
            if self._sentences:
                with tried():
                    if "pairs" in stats:
                        stats["sentences"] = self._sentences.finish(
                            read_pairs(self._run.pairs), aligner.lexicon, self.counts
                        )
                with tried():
                    self._sentences.close()
            with tried():
                aligner.close()
            stats |= aligner.counts
        return Ending(stats | self.counts, next(iter(errors), None))


def _each(step: Callable[..., T], *columns: Sequence[Any]) -> list[T | Exception]:
    """A step for each row; in place of a result the error of the row, once it has one.

    An error that ends the run is raised.

    >>> _each(divmod, [7, 7, ValueError()], [2, 0, 2])
    [(3, 1), ZeroDivisionError('integer division or modulo by zero'), ValueError()]
    """
    results: list[T | Exception] = []
    for row in zip(*columns):
        error = next((item for item in row if isinstance(item, Exception)), None)
        try:
            results.append(error or step(*row))
        except OURS:
            raise
        except Exception as unexpected:
            results.append(unexpected)
    return results


def _not_last(result: Findings | Exception) -> Findings | Exception:
    return replace(result, last=False) if isinstance(result, Findings) else result


def _metadata(answer: Answer, findings: Findings) -> Iterator[tuple[str, str]]:
    """The fields of a page's WARC metadata record (`via`, `hopsFromSeed`: WARC 1.1)."""
    if answer.source_url:
        yield "via", answer.source_url
    yield "hopsFromSeed", str(answer.depth)
    document = findings.reading.document
    if document is not None and document.lang:
        confidence = document.lang_confidence
        yield "languages-cld2", f"{document.lang};confidence={confidence:.2f}"
    yield "bifocal-score", f"{answer.score:.6f}"
    for name, value in sorted(answer.evidence.items()):
        yield f"bifocal-evidence-{name}", f"{value:.4f}"
    if findings.reason:
        yield "bifocal-not-kept", findings.reason
