"""Short texts in two languages: the words, names and titles that slugs are made of.

terms.tsv   lang_a, text_a, lang_b, text_b, source
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crawler.data import Lang
from training.data.tables import read_rows, write_table

COLUMNS = ("lang_a", "text_a", "lang_b", "text_b", "source")


@dataclass(frozen=True, slots=True)
class TermPair:
    """One meaning, written in two languages."""

    lang_a: Lang
    text_a: str
    lang_b: Lang
    text_b: str
    source: str


def write_terms(path: Path, pairs: Iterable[TermPair]) -> int:
    """Write a table of terms; how many rows it got."""
    return write_table(
        path,
        COLUMNS,
        ((p.lang_a, p.text_a, p.lang_b, p.text_b, p.source) for p in pairs),
    )


def read_terms(path: Path) -> Iterator[TermPair]:
    """Read a table of terms."""
    for row in read_rows(path, COLUMNS):
        yield TermPair(*(row[name] for name in COLUMNS))
