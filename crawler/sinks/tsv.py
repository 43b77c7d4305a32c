"""Sentence pairs as tab-separated text with Bitextor's columns.

The first columns are those of Bitextor's `.sent` files (docs/OUTPUT.md of Bitextor 8),
so Bicleaner, Bifixer and others read these files, too; the other columns tell where a
pair comes from. docs/corpus.md explains every column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crawler.atomic import atomic_text
from crawler.data import CorpusPair, Origin
from crawler.lines import printable
from crawler.sinks.growing import read_lines

BITEXTOR = (
    "src_url",
    "trg_url",
    "src_text",
    "trg_text",
    "aligner_score",
    "src_paragraph_id",
    "trg_paragraph_id",
    "length_ratio",
    "num_tokens_src",
    "num_tokens_trg",
)
ORIGIN = ("warc", "offset", "record_id")
COLUMNS = (
    *BITEXTOR,
    "id",
    "copies",
    "pair_score",
    "bead",
    *(f"{side}_{name}" for side in ("src", "trg") for name in ORIGIN),
)
# Of a file with several pairs of languages: after all other columns, which keep their
# places.
LANGUAGES = ("src_lang", "trg_lang")
# The start of a formula for a spreadsheet (OWASP, "CSV Injection"), full-width forms
# included; a number is not one.
_FORMULA = re.compile(r"[=+\-@＝＋－＠](?![\d.]+$)")


def read_sentences(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a file of sentence pairs, by column; it may be growing.

    A row without all columns, or whose score is not a number, is left out.
    """
    for line in read_lines(path):
        cells = dict(zip((*COLUMNS, *LANGUAGES), map(printable, line.split("\t"))))
        if len(cells) in (len(COLUMNS), len(COLUMNS) + len(LANGUAGES)):
            with suppress(ValueError):  # the header too
                float(cells["aligner_score"])
                yield cells


@contextmanager
def tsv_sink(
    path: Path, *, no_formulas: bool = False
) -> Iterator[Callable[[CorpusPair], object]]:
    """A file that takes pairs, one a line after a line of column names.

    `no_formulas`: put an apostrophe before cells that a spreadsheet would run as a
    formula (`=…`), which changes the text.
    """

    def line(item: CorpusPair) -> str:
        cells = cells_of(item)
        if no_formulas:
            cells = [f"'{c}" if _FORMULA.match(c) else c for c in cells]
        return "\t".join(cells) + "\n"

    with atomic_text(path) as out:
        out.write("\t".join(COLUMNS) + "\n")
        yield lambda item: out.write(line(item))


def cells_of(item: CorpusPair) -> list[str]:
    """The cells of a pair, in the order of COLUMNS."""
    pair = item.pair
    tokens = [len(text.split()) for text in (pair.src_text, pair.trg_text)]
    return [
        pair.src_url,
        pair.trg_url,
        one_cell(pair.src_text),
        one_cell(pair.trg_text),
        f"{pair.score:.4f}",
        *(
            f"p{block}s{place}"
            for block, place in zip(pair.blocks, pair.places, strict=True)
        ),
        f"{tokens[0] / max(tokens[1], 1):.3f}",
        *map(str, tokens),
        item.id,
        str(item.copies),
        f"{pair.pair_score:.4f}",
        "-".join(map(str, pair.bead)),
        *(cell for origin in item.origins for cell in origin_cells(origin)),
    ]


def origin_cells(origin: Origin) -> list[str]:
    """File, offset and record id; empty where one is not known."""
    values = (origin.warc, origin.offset, origin.record_id)
    return ["" if value is None else one_cell(str(value)) for value in values]


def one_cell(text: str) -> str:
    """A text without characters that would end a cell or a line."""
    return text if text.isprintable() else " ".join(text.split())
