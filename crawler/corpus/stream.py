"""Sentence pairs while a crawl runs: of each pair at once, and of all at its end.

The sentences that are written during the crawl are provisional: they are aligned
without a lexicon, and a page that later gets a better partner has sentences with both.
At the end the file is replaced by the sentences of the final pairs, aligned with the
run's lexicon.

    take(document) ─▶ texts.sqlite ─▶ found(pairs) ─▶ sentences.tsv.gz ─▶ finish(…)
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import starmap
from typing import Self

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.aligner import DynamicAligner
from crawler.aligner.sentences.filters import SentenceFilters
from crawler.corpus.dedupe import id_of, key_of
from crawler.corpus.texts import BlockCounts, StoredText, TextStore
from crawler.data import CorpusPair, Document, Lang, LangPair, Origin, PairScore
from crawler.extract.language import Cld2Detector
from crawler.rundir import RunDir
from crawler.sinks.growing import GrowingLines
from crawler.sinks.tsv import COLUMNS, cells_of, tsv_sink

# Texts whose blocks are counted before the next pairs: repeated blocks show in these,
# and more would hold up a crawl that has been busy (0.4 s).
_COUNTED = 1000


class SentenceStream:
    """Keeps the texts of a crawl and writes the sentences of its pairs."""

    def __init__(self, run: RunDir, langs: LangPair, texts: TextStore) -> None:
        self._run = run
        self._langs = langs
        self._texts = texts
        self._lines: GrowingLines | None = None
        self._repeated = BlockCounts()
        # URLs and languages of texts
        self._uncounted: deque[tuple[str, Lang]] = deque(maxlen=_COUNTED)
        self._aligner = DynamicAligner(langs, is_repeated=self._repeated.is_repeated)

    @classmethod
    def open(cls, run: RunDir, langs: LangPair) -> Self:
        """Open the files of the run, which may have contents already."""
        return cls(run, langs, TextStore.open(run.texts))

    def take(self, document: Document, record_id: str | None) -> None:
        """Keep the text of a page in one of the two languages."""
        assert document.lang is not None
        self._uncounted.append((document.url, document.lang))
        self._texts.put(
            StoredText(document, Origin(document.url, None, None, record_id))
        )

    def found(self, pairs: Iterable[PairScore]) -> None:
        """Append the sentences of pairs, and make them readable now."""
        if self._lines is None:
            self._lines = GrowingLines.open(self._run.sentences, "\t".join(COLUMNS))
        self._count()
        for pair in pairs:
            for item in self._sentences(pair, self._aligner, Counter()):
                self._lines.write("\t".join(cells_of(item)))
        self._lines.flush()

    def _count(self) -> None:
        """Count the blocks of the texts since the last pairs."""
        for text in starmap(self._texts.get, self._uncounted):
            if text is not None:
                self._repeated.add(text.document)
        self._uncounted.clear()

    def commit(self) -> None:
        """Make the texts survive a kill."""
        self._texts.commit()

    def finish(
        self, pairs: Iterable[PairScore], lexicon: Lexicon | None, counts: Counter[str]
    ) -> int:
        """Replace the file by the sentences of the final pairs; returns how many."""
        if self._lines is not None:
            self._lines.close()
            self._lines = None
        repeated = BlockCounts()
        for text in self._texts:
            repeated.add(text.document)
        aligner = DynamicAligner(self._langs, lexicon, is_repeated=repeated.is_repeated)
        count = 0
        with tsv_sink(self._run.sentences) as write:
            for pair in pairs:
                for item in self._sentences(pair, aligner, counts):
                    write(item)
                    count += 1
        return count

    def close(self) -> None:
        """End the files properly."""
        if self._lines is not None:
            self._lines.close()
        self._texts.close()

    def _sentences(
        self, pair: PairScore, aligner: DynamicAligner, counts: Counter[str]
    ) -> Iterator[CorpusPair]:
        urls = pair.src_url, pair.trg_url
        src, trg = map(self._texts.get, urls, self._langs)
        if src is None or trg is None:
            return  # the crawl began with sentences switched off
        filters = SentenceFilters(self._langs, _DETECTOR, counts=counts)
        beads = aligner.align(pair, src.document, trg.document)
        for bead in filters.kept(beads):
            name = id_of(key_of(bead, "near"))
            yield CorpusPair(name, bead, (src.origin, trg.origin))


_DETECTOR = Cld2Detector(20)  # characters: sentences are short, filters allow for it
