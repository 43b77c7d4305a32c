"""The pages of pairs, sentence by sentence, side by side, for a person to read.

The rows are those that `bifocal corpus` with its default profile makes, with the
filter that refuses a row; repeated blocks (menus, footers) are listed apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from crawler.corpus.profile import CorpusProfile
from crawler.corpus.sentences import JudgedBead, RunSentences, SentenceJudge
from crawler.data import LangPair, PairScore
from crawler.errors import BifocalError
from crawler.rundir import RunDir

MAX_ROWS = 400  # of a pair: a book on one page would fill the report
MAX_CHARACTERS = 1000  # of a cell


@dataclass(frozen=True, slots=True)
class Row:
    """Sentences that belong together; one side may be empty."""

    src: str
    trg: str
    score: float | None  # of the sentence pair; None: one side is empty
    starts_block: bool
    reason: str | None  # of the filter that refuses it; None: a corpus keeps it


@dataclass(frozen=True, slots=True)
class PairText:
    """Two pages, aligned; `cut` says that there is more than `rows`."""

    src_title: str
    trg_title: str
    rows: tuple[Row, ...]
    cut: bool
    repeated: tuple[tuple[str, ...], tuple[str, ...]]  # blocks of src, of trg


@contextmanager
def open_sentences(run: RunDir, langs: LangPair) -> Iterator[RunSentences | None]:
    """The sentences of a run; None if its pages are missing."""
    judge = SentenceJudge(langs, CorpusProfile(min_pair_score=0.0), Counter())
    with TemporaryDirectory(prefix="bifocal-") as work:
        opening = RunSentences.open(run, judge, Path(work))
        try:
            sentences = opening.__enter__()
        except BifocalError:
            yield None
            return
        try:
            yield sentences
        finally:
            opening.__exit__(None, None, None)


def pair_text(sentences: RunSentences, pair: PairScore) -> PairText | None:
    """The text of a pair; None if one of its pages is missing."""
    pages = sentences.pages(pair)
    if pages is None:
        return None
    src, trg = pages
    rows = list(_rows(sentences.align(pair, src, trg)))
    repeated = [sentences.repeated_blocks(text)[:MAX_ROWS] for text in pages]
    return PairText(
        src.document.title,
        trg.document.title,
        tuple(rows[:MAX_ROWS]),
        len(rows) > MAX_ROWS,
        (tuple(repeated[0]), tuple(repeated[1])),
    )


def _rows(beads: list[JudgedBead]) -> Iterator[Row]:
    before = None
    for judged in beads:
        bead = judged.pair
        yield Row(
            bead.src_text[:MAX_CHARACTERS],
            bead.trg_text[:MAX_CHARACTERS],
            round(bead.score, 3) if all(bead.bead) else None,
            bead.blocks != before,
            judged.reason,
        )
        before = bead.blocks
