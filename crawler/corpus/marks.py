"""Marks of a person: which document pairs and sentence pairs are right.

A marks file is tab-separated text with a header, for this program and for any
spreadsheet. A mark belongs to the two addresses of a document pair, or to the two texts
of a sentence pair, so it holds for the next run as well.

    level     page or sentence
    verdict   right, partly, wrong; empty: not judged yet
    sampled   1: drawn at random, so that it counts for an estimate
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any, Literal, Self, get_args

import msgspec

from crawler.atomic import atomic_text
from crawler.errors import RunDirError
from crawler.lines import bounded_lines, printable
from crawler.sinks.tsv import one_cell

Level = Literal["page", "sentence"]
Verdict = Literal["right", "partly", "wrong"]
Key = tuple[str, str, str]
COLUMNS = (
    *("level", "verdict", "src_url", "trg_url", "src_text", "trg_text"),
    *("score", "sampled", "pair_score"),
)
_MAX_LINE = 2**20  # bytes
_Z = 1.96  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Mark:
    """A document pair or a sentence pair, and what a person says of it."""

    level: Level
    src_url: str = ""
    trg_url: str = ""
    src_text: str = ""  # of a page its title
    trg_text: str = ""
    score: float = 0.0
    verdict: Verdict | None = None  # None: not judged yet
    sampled: bool = False
    pair_score: float | None = None  # of a sentence pair's pages; None: not known

    @property
    def key(self) -> Key:
        """Equal for marks of the same pair, in any run."""
        if self.level == "page":
            return "page", self.src_url, self.trg_url
        return "sentence", one_cell(self.src_text), one_cell(self.trg_text)

    def turned(self) -> Mark:
        """The mark of the same pair with its sides exchanged."""
        return replace(
            self,
            src_url=self.trg_url,
            trg_url=self.src_url,
            src_text=self.trg_text,
            trg_text=self.src_text,
        )


class Marks:
    """The marks of a file, one for each pair; the last one counts."""

    def __init__(self) -> None:
        self._marks: dict[tuple[str, ...], Mark] = {}

    @classmethod
    def of(cls, marks: Iterable[Mark]) -> Self:
        """The marks that these rows are."""
        found = cls()
        found._marks.update((mark.key, mark) for mark in marks)
        return found

    @classmethod
    def read(cls, path: Path) -> Self:
        """The marks of a file; none if it does not exist.

        RunDirError for a file that is not one of marks, with the number of the line.
        """
        try:
            with path.open("rb") as file:
                lines = list(bounded_lines(file, _MAX_LINE))
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise RunDirError(f"{path}: cannot be read: {error.strerror}") from error
        rows = [
            (line or b"").decode("utf-8-sig", "replace").rstrip("\r\n").split("\t")
            for line in lines
        ]
        header = rows[0] if rows else []
        if not {"level", "verdict", "src_text", "trg_text"} <= set(header):
            raise RunDirError(
                f"{path}: not a file of marks (its first line names the columns:"
                f" {' '.join(COLUMNS)})"
            )
        return cls.of(
            _mark(dict(zip(header, map(printable, row))), f"{path}, line {number}")
            for number, row in enumerate(rows[1:], 2)
            if any(row)
        )

    def __iter__(self) -> Iterator[Mark]:
        return iter(self._marks.values())

    def __len__(self) -> int:
        return len(self._marks)

    def found_in(self, keys: Iterable[Key], level: Level) -> str:
        """What of each verdict is among these pairs, in words, with its interval."""
        wanted = {m.key: m.verdict for m in self if m.level == level and m.verdict}
        found = set(filter(wanted.__contains__, keys))
        said = []
        for verdict in get_args(Verdict):
            marked = [key for key, one in wanted.items() if one == verdict]
            hits, count = len(found.intersection(marked)), len(marked)
            low, high = wilson(hits, count)
            if count:
                said.append(
                    f"{hits} of {count} {verdict} ones are found"
                    f" ({hits / count:.3f}; {low:.3f} to {high:.3f}, 95 %)"
                )
        return ", ".join(said)

    def add_drawn(self, drawn: Iterable[Mark]) -> None:
        """Add rows to be judged; what a person has said of them stays."""
        for mark in drawn:
            before = self._marks.get(mark.key)
            verdict = before.verdict if before else None
            sampled = mark.sampled or bool(before and before.sampled)
            self._marks[mark.key] = replace(mark, verdict=verdict, sampled=sampled)

    def put(self, mark: Mark) -> None:
        """Add or replace a mark; a mark that was sampled stays so."""
        before = self._marks.get(mark.key)
        sampled = mark.sampled or bool(before and before.sampled)
        if mark.verdict is None and not sampled:
            self._marks.pop(mark.key, None)
        else:
            self._marks[mark.key] = replace(mark, sampled=sampled)

    def write(self, path: Path) -> None:
        """Replace a file by these marks, whole or not at all."""
        with atomic_text(path) as file:
            file.write("\t".join(COLUMNS) + "\n")
            for mark in self._marks.values():
                cells = {
                    "verdict": mark.verdict or "",
                    "score": f"{mark.score:.4f}",
                    "sampled": str(int(mark.sampled)),
                    "pair_score": _number(mark.pair_score),
                }
                row = (cells.get(name, getattr(mark, name)) for name in COLUMNS)
                file.write("\t".join(map(one_cell, row)) + "\n")


def _number(score: float | None) -> str:
    return "" if score is None else f"{score:.4f}"


def _mark(cells: dict[str, str], where: str) -> Mark:
    """A row as a mark; a person's spreadsheet may have more columns."""
    verdict = cells.pop("verdict", "").strip().lower()
    given = {name: cell for name, cell in cells.items() if cell}
    try:
        return msgspec.convert(
            {**given, "verdict": verdict or None}, Mark, strict=False
        )
    except msgspec.ValidationError as error:
        raise RunDirError(
            f"{where}: {error} (level: page or sentence; verdict: right, partly, wrong,"
            " or empty)"
        ) from error


# ------------------------------------------------------------------- precision


@dataclass(frozen=True, slots=True)
class Precision:
    """An estimate of precision from marks."""

    right: int
    partly: int
    wrong: int
    sampled: bool  # the marks were drawn at random; if not, they may be a choice

    @classmethod
    def of(cls, marks: Iterable[Mark], level: Level) -> Precision:
        """Of the sampled marks of a level; if there are none, of all of them."""
        judged = [m for m in marks if m.level == level and m.verdict]
        chosen = [m for m in judged if m.sampled]
        verdicts = [m.verdict for m in chosen or judged]
        right, partly, wrong = (verdicts.count(v) for v in get_args(Verdict))
        return cls(right, partly, wrong, bool(chosen))

    @property
    def judged(self) -> int:
        """The number of marks."""
        return self.right + self.partly + self.wrong

    def share(self, *, lenient: bool = False) -> tuple[float, float, float]:
        """The share of right ones and its 95 % interval; `lenient`: partly, too.

        >>> [round(x, 3) for x in Precision(right=57, partly=3, wrong=0,
        ...  sampled=True).share()]
        [0.95, 0.863, 0.983]
        """
        hits = self.right + (self.partly if lenient else 0)
        return (hits / self.judged if self.judged else 0.0, *wilson(hits, self.judged))

    def __str__(self) -> str:
        share, low, high = self.share()
        lenient, _, _ = self.share(lenient=True)
        chosen = "" if self.sampled else "; the marks are a choice, not a sample"
        return (
            f"precision {share:.3f} ({low:.3f} to {high:.3f}, 95 %),"
            f" {lenient:.3f} with those partly right; {self.judged} marks{chosen}"
        )


def precisions(marks: Marks) -> dict[Level, dict[str, Any]]:
    """The precision of each level that has verdicts, as a page shows it."""
    levels = {level: Precision.of(marks, level) for level in get_args(Level)}
    return {
        level: {"marks": found.judged, "sampled": found.sampled, "share": found.share()}
        for level, found in levels.items()
        if found.judged
    }


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (Wilson 1927); 0 to 1 if nothing is known."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, _Z**2 / count
    middle = (share + square / 2) / (1 + square)
    half = _Z / (1 + square) * sqrt(share * (1 - share) / count + square / 4 / count)
    return max(middle - half, 0.0), min(middle + half, 1.0)
