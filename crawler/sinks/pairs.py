"""Accepted document pairs as tab-separated text, gzipped.

While a crawl runs, pairs are appended as they are found, each at once readable
(`zcat pairs.tsv.gz`, which may complain of the open end); at its end the file is
replaced, whole, by the final pairs. Columns: docs/formats.md; the file of a run with
several pairs of languages has two more (`crawler.sinks.several`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from crawler.atomic import atomic_text
from crawler.data import PairScore
from crawler.lines import printable
from crawler.sinks.growing import GrowingLines, read_lines
from crawler.sinks.tsv import LANGUAGES

COLUMNS = (
    "src_url",
    "trg_url",
    "score",
    "found_by",
    "src_twins",
    "trg_twins",
    "features",
    "src_n_best",
    "trg_n_best",
)
_WIDTHS = (len(COLUMNS), len(COLUMNS) + len(LANGUAGES))
_LEVEL = 9  # of gzip: the features of pairs are much alike


class PairSink:
    """Appends pairs to a file, after those of an earlier session."""

    def __init__(self, lines: GrowingLines) -> None:
        self._lines = lines

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file."""
        return cls(GrowingLines.open(path, "\t".join(COLUMNS)))

    def write(self, item: PairScore) -> None:
        """Append a pair and make it readable now."""
        self._lines.write(_row(item))
        self._lines.flush()

    def close(self) -> None:
        """End the file properly."""
        self._lines.close()


def write_pairs(path: Path, pairs: Iterable[PairScore]) -> int:
    """Replace a file by these pairs, whole or not at all; returns their number."""
    count = 0
    with atomic_text(path, level=_LEVEL, errors="surrogatepass") as out:
        out.write("\t".join(COLUMNS) + "\n")
        for pair in pairs:
            out.write(_row(pair) + "\n")
            count += 1
    return count


def read_pairs(path: Path) -> Iterator[PairScore]:
    """The pairs of a file; it may still be growing, or end in the middle of a row.

    Rows with a cell that is not valid are left out; texts are made printable.
    """
    for line in read_lines(path):
        cells = [printable(cell) for cell in line.split("\t")]
        if len(cells) in _WIDTHS and cells[0] != COLUMNS[0]:
            with suppress(ValueError):  # msgspec's errors are of that kind
                yield _pair(cells[: len(COLUMNS)])


def _pair(cells: list[str]) -> PairScore:
    src, trg, score, found_by, src_twins, trg_twins, features, *lists = cells
    return PairScore(
        src,
        trg,
        _probability(score),
        _features(features),
        frozenset(found_by.split(",")) if found_by else frozenset(),
        tuple(src_twins.split()),
        tuple(trg_twins.split()),
        *map(_n_best, lists),
    )


_features = msgspec.json.Decoder(dict[str, float]).decode


def _probability(cell: str) -> float:
    value = float(cell)
    if not 0 <= value <= 1:
        raise ValueError(f"{cell} is not a probability")
    return value


def _row(pair: PairScore) -> str:
    features = {name: round(value, 4) for name, value in pair.features.items()}
    return "\t".join(
        (
            pair.src_url,
            pair.trg_url,
            f"{pair.score:.6f}",
            ",".join(sorted(pair.found_by)),
            " ".join(pair.src_twins),
            " ".join(pair.trg_twins),
            json.dumps(features, sort_keys=True, separators=(",", ":")),
            *(
                " ".join(f"{score:.6f} {url}" for url, score in candidates)
                for candidates in (pair.src_n_best, pair.trg_n_best)
            ),
        )
    )


def _n_best(cell: str) -> tuple[tuple[str, float], ...]:
    words = cell.split()
    scored = zip(words[::2], words[1::2])
    return tuple((url, _probability(score)) for score, url in scored)
