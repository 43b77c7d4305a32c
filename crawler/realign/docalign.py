"""Pairs for the next stage of Bitextor: a table of matches, or bleualign's input.

In: pairs of URLs; a folder of warc2text or Bitextor for each language.  Out: rows.
A table of matches has a header, `mt_doc_aligner_score`, `idx_translated`, `idx_trg`:
the score, and the lines (from 1) of the two pages in the columns of their folders.
bleualign-cpp reads no header: two URLs, two texts and a translation of the first, each
in base64, a sentence a line.
"""

from __future__ import annotations

import base64
import binascii
import logging
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from crawler.data import PairScore
from crawler.errors import WarcError
from crawler.urls import canonicalize
from crawler.warc.text_columns import URLS, read_column

logger = logging.getLogger(__name__)

HEADER = ("mt_doc_aligner_score", "idx_translated", "idx_trg")


# The texts of a folder, the first that is there: Bitextor's are split into sentences.
_TEXTS = ("sentences.gz", "text.gz", "plain_text.gz")


def matches(
    pairs: Iterable[PairScore], src: Path, trg: Path
) -> Iterator[tuple[str, ...]]:
    """The table of matches, best pair first; pairs of other pages are left out."""
    yield HEADER
    for match in _matches(pairs, src, trg):
        yield f"{match.pair.score:.6f}", str(match.src), str(match.trg)


def bleualign_input(
    pairs: Iterable[PairScore], src: Path, trg: Path, translated: Path
) -> Iterator[tuple[str, ...]]:
    """The input of bleualign-cpp, best pair first; all texts are held in memory.

    `translated`: a column beside those of `src`. bleualign stops where a translation
    has more or fewer lines than its text: such pairs are left out, and logged.
    """
    found = _matches(pairs, src, trg)
    src_lines = {match.src for match in found}
    src_texts = _cells(_texts_of(src), src_lines)
    trg_texts = _cells(_texts_of(trg), {match.trg for match in found})
    translations = _cells(translated, src_lines)
    for pair, src_line, trg_line in found:
        cells = src_texts[src_line], trg_texts[trg_line], translations[src_line]
        if _sentences(cells[0]) == _sentences(cells[2]):
            yield (pair.src_url, pair.trg_url, *(cell.decode() for cell in cells))
        else:
            logger.warning(
                "%s: line %d does not have a translation for each line of its text",
                translated,
                src_line,
            )


class _Match(NamedTuple):
    pair: PairScore
    src: int  # lines of the two pages, from 1
    trg: int


def _matches(pairs: Iterable[PairScore], src: Path, trg: Path) -> list[_Match]:
    src_lines, trg_lines = _lines(src), _lines(trg)
    found = [
        _Match(pair, src_lines[pair.src_url], trg_lines[pair.trg_url])
        for pair in pairs
        if pair.src_url in src_lines and pair.trg_url in trg_lines
    ]
    return sorted(found, key=lambda match: (-match.pair.score, *match[1:]))


def _lines(folder: Path) -> dict[str, int]:
    """The first line of each URL."""
    lines: dict[str, int] = {}
    for number, cell in enumerate(read_column(folder / URLS), start=1):
        if url := canonicalize(cell.decode("utf-8", "replace").strip()):
            lines.setdefault(url, number)
    return lines


def _texts_of(folder: Path) -> Path:
    for name in _TEXTS:
        if (folder / name).exists():
            return folder / name
    raise WarcError(f"{folder}: has no texts (expected one of {', '.join(_TEXTS)})")


def _cells(column: Path, wanted: Container[int]) -> dict[int, bytes]:
    """Some lines of a column by their numbers; empty where it ends before."""
    cells: defaultdict[int, bytes] = defaultdict(bytes)
    for number, cell in enumerate(read_column(column), start=1):
        if number in wanted:
            cells[number] = cell
    return cells


def _sentences(cell: bytes) -> int | None:
    """The number of lines of a text; None if it is not valid base64."""
    try:
        return len(base64.b64decode(cell, validate=True).rstrip(b"\n").split(b"\n"))
    except binascii.Error:
        return None
