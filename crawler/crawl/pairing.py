"""The pairs of two languages while a crawl runs: its aligner, the files that it fills.

A crawl for several pairs of languages has one of these for each, over the same pages.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from crawler.aligner.aligner import Aligner, take_in
from crawler.aligner.bridges.pivot import Pivots
from crawler.aligner.profile import AlignProfile
from crawler.corpus.stream import SentenceStream
from crawler.crawl.spare_time import SpareTime
from crawler.data import Document, LangPair, PairScore
from crawler.extract.document import Reading
from crawler.progress import ProgressLine, Stage, watched
from crawler.rundir import RunDir
from crawler.sinks.pairs import PairSink, read_pairs, write_pairs
from crawler.urls import site_of

logger = logging.getLogger(__name__)

# Pages that are paired, sentences and all, in a second of one core that others share:
# recorded sites of 200 to 1,000 pages take 100 to 300.
_RATE = 100
_MANY = 10 * _RATE

Tried = Callable[[], AbstractContextManager[None]]


class Pairing:
    """Pairs the pages of two languages, and writes their pairs and sentences."""

    def __init__(
        self,
        run: RunDir,
        langs: LangPair,
        aligner: Aligner,
        sentences: SentenceStream | None,
        counts: Counter[str],
    ) -> None:
        """`run`: the directory of the pair; `counts` takes what sentences count."""
        self.langs = langs
        self.aligner = aligner
        self.run = run
        self._sentences = sentences
        self._spare = SpareTime(sentences, counts) if sentences else None
        self._sink: PairSink | None = None  # from the first pair on
        self._counts = counts
        self.pairs: int | None = None  # final ones; None: not made

    @classmethod
    def open(
        cls,
        run: RunDir,
        langs: LangPair,
        profile: AlignProfile,
        counts: Counter[str],
        *,
        sentences: bool,
    ) -> Self:
        """Open the files of a pair, or go on with them."""
        run.path.mkdir(parents=True, exist_ok=True)
        aligner = Aligner(langs, profile, store=run.aligner).open()
        stream = SentenceStream.open(run, langs) if sentences else None
        return cls(run, langs, aligner, stream, counts)

    def keep_text(self, document: Document, record_id: str | None) -> None:
        """Keep the text of a page for its sentences, if it is in one of the two."""
        if self._sentences and document.lang in self.langs:
            self._sentences.take(document, record_id)

    def take(self, readings: Sequence[Reading]) -> list[list[PairScore]]:
        """For each reading the pairs that it completes, which are written."""
        found = take_in(self.aligner, readings)
        pairs = [pair for of_one in found for pair in of_one]
        if pairs and self._sink is None:
            self._sink = PairSink.open(self.run.pairs)
        for pair in pairs:
            assert self._sink
            self._sink.write(pair)
        if pairs and self._spare:
            self._spare.queue(pairs)
        return found

    def commit(self) -> None:
        """Make everything so far survive a kill."""
        self.aligner.commit()
        if self._sentences:
            self._sentences.commit()

    def use_spare_time(self, is_wanted: Callable[[], bool]) -> None:
        """Align sentences in the time that was left over, until `is_wanted`."""
        if self._spare:
            self._spare.look(is_wanted)

    def finish_pairs(self, tried: Tried, line: ProgressLine, pivots: Pivots) -> None:
        """Make the final pairs; each step is `tried`, whatever became of the others."""
        with tried():
            if self._sink:
                self._sink.close()
        with tried():
            self.aligner.known = self.aligner.known or pivots.lexicon(self.langs)
            self.pairs = write_pairs(self.run.pairs, self._watched_pairs(line))
            if self.aligner.lexicon:
                self.aligner.lexicon.save(self.run.lexicon)
            pivots.learned(self.langs, self.aligner.lexicon)

    def was_implied(self, count: int) -> None:
        """Hear that pairs were added, which follow from those of other languages."""
        if self.pairs is not None and count:
            self.aligner.counts["align/transitive"] += count
            self.pairs += count

    def finish(self, tried: Tried, line: ProgressLine) -> dict[str, Any]:
        """Make the sentences of the final pairs, close the files; what was counted."""
        stats: dict[str, Any] = {}
        if self.pairs is not None:
            stats["pairs"] = self.pairs
        if self._sentences:
            with tried():
                if self.pairs is not None:
                    stage = Stage(line, "sentences", self.pairs, "pairs of pages")
                    stats["sentences"] = self._sentences.finish(
                        watched(read_pairs(self.run.pairs), stage),
                        self.aligner.lexicon,
                        self._counts,
                    )
            with tried():
                self._sentences.close()
        with tried():
            self.aligner.close()
        return stats | self.aligner.counts

    def _watched_pairs(self, line: ProgressLine) -> Iterator[PairScore]:
        """The final pairs, with a word to the person who waits for them."""
        counts = self.aligner.store.counts()
        sites = {site: sum(pages) for site, pages in counts.items()}
        pages = sum(sites.values())
        if pages >= _MANY:
            logger.info(
                "Making the final pairs of %s pages and their sentences: about %d s",
                f"{pages:,}",
                pages / _RATE,
            )
        stage = Stage(line, "final pairs", pages, "pairs")
        return watched(
            self.aligner.pairs(),
            stage,
            lambda pair: sites.pop(site_of(pair.src_url), 0),
        )
