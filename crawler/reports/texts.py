"""The pages of pairs, sentence by sentence, side by side, for a person to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.aligner import DynamicAligner
from crawler.data import Document, LangPair, PairScore, SentencePair
from crawler.errors import BifocalError
from crawler.extract.document import build_document
from crawler.rundir import RunDir
from crawler.warc.index import WarcIndex

MAX_ROWS = 400  # of a pair: a book on one page would fill the report
MAX_CHARACTERS = 1000  # of a cell


@dataclass(frozen=True, slots=True)
class Row:
    """Sentences that belong together; one side may be empty."""

    src: str
    trg: str
    score: float | None  # of the sentence pair; None: nothing to compare
    starts_block: bool


@dataclass(frozen=True, slots=True)
class PairText:
    """Two pages, aligned; `cut` says that there is more than `rows`."""

    src_title: str
    trg_title: str
    rows: tuple[Row, ...]
    cut: bool


class PairTexts:
    """Reads the pages of a run's pairs from its WARC files and aligns them."""

    def __init__(self, run: RunDir, langs: LangPair) -> None:
        """Index the WARC files that the run wrote, or the ones that it read."""
        self._index = WarcIndex.build(list(_warcs(run)))
        lexicon = Lexicon.load(run.lexicon, langs) if run.lexicon.exists() else None
        self._aligner = DynamicAligner(langs, lexicon)

    def read(self, pair: PairScore) -> PairText | None:
        """The text of a pair; None when a page is not in the WARC files."""
        src, trg = self._document(pair.src_url), self._document(pair.trg_url)
        if src is None or trg is None or src.lang is None or trg.lang is None:
            return None
        rows = list(_rows(self._aligner.align(pair, src, trg)))
        return PairText(
            src.title, trg.title, tuple(rows[:MAX_ROWS]), len(rows) > MAX_ROWS
        )

    def _document(self, url: str) -> Document | None:
        try:
            return build_document(self._index.read(url))
        except (KeyError, BifocalError):
            return None


def _rows(beads: Iterable[SentencePair]) -> Iterator[Row]:
    before = None
    for bead in beads:
        both = all(bead.bead)
        yield Row(
            bead.src_text[:MAX_CHARACTERS],
            bead.trg_text[:MAX_CHARACTERS],
            round(bead.score, 3) if both else None,
            bead.blocks != before,
        )
        before = bead.blocks


def _warcs(run: RunDir) -> Iterator[Path]:
    if run.warc.is_dir() and any(run.warc.iterdir()):
        yield run.warc
        return
    for name in run.read().get("warcs", ()):
        if (path := Path(name)).exists():
            yield path
