"""Pairs as Bitextor's document aligner writes them, so that its next stage goes on.

In: pairs of URLs; a folder of warc2text or Bitextor for each language.  Out: a table
with a header, `mt_doc_aligner_score`, `idx_translated`, `idx_trg`: the score, and the
lines (from 1) of the two pages in the columns of their folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from crawler.data import PairScore
from crawler.urls import canonicalize
from crawler.warc.text_columns import URLS, read_column

HEADER = ("mt_doc_aligner_score", "idx_translated", "idx_trg")


def matches(
    pairs: Iterable[PairScore], src: Path, trg: Path
) -> Iterator[tuple[str, ...]]:
    """The rows, header first, best pair first; pairs of other pages are left out."""
    src_lines, trg_lines = _lines(src), _lines(trg)
    found = [
        (-pair.score, src_lines[pair.src_url], trg_lines[pair.trg_url])
        for pair in pairs
        if pair.src_url in src_lines and pair.trg_url in trg_lines
    ]
    yield HEADER
    for score, src_line, trg_line in sorted(found):
        yield f"{-score:.6f}", str(src_line), str(trg_line)


def _lines(folder: Path) -> dict[str, int]:
    """Where each URL stands first."""
    lines: dict[str, int] = {}
    for number, cell in enumerate(read_column(folder / URLS), start=1):
        if url := canonicalize(cell.decode("utf-8", "replace").strip()):
            lines.setdefault(url, number)
    return lines
