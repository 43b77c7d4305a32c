"""The rows of all sources, sampled a piece at a time, so that a kill costs one piece.

A piece is what a million rows gave, in a file of its own. The same command goes on
behind the last of them; together they give what the rows at once would have given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec

from crawler.atomic import atomic_file
from crawler.errors import RunDirError
from crawler.prospect.rows import read_rows
from crawler.prospect.sample import Prospector, Samples

# Half a minute of one core: what a kill costs at most.
ROWS = 1_000_000


class Piece(msgspec.Struct):
    """What some rows gave, and where they end."""

    langs: tuple[str, str]
    done: list[str]  # sources that this piece has come to the end of
    reading: str  # the source that it ends in, or empty
    rows: int  # of that source so far, those of earlier pieces among them
    counts: dict[str, int]
    samples: Samples


def sample_sources(
    sources: Sequence[str],
    prospector: Prospector,
    counts: Counter[str],
    folder: Path,
    rows: int = ROWS,
) -> None:
    """Read all sources; what `folder` has of an earlier try is not read again.

    Raises WarcError for a source that cannot be read, RunDirError for a folder of
    another job. The caller deletes the folder once the result is safe.
    """
    pieces = _Pieces(folder, prospector, rows)
    pieces.resume(sources)
    for source in sources:
        pieces.read(source)
    pieces.write()
    pieces.merge(counts)


class _Pieces:
    """The pieces of one job; `read` follows `resume`."""

    def __init__(self, folder: Path, prospector: Prospector, rows: int) -> None:
        self._folder = folder
        self._prospector = prospector
        self._most = rows
        self._known: set[str] = set()
        self._begun: tuple[str, int] = ("", 0)
        self._number = 0
        self._done: list[str] = []
        self._counts: Counter[str] = Counter()

    def resume(self, sources: Sequence[str]) -> None:
        for path in self._paths():
            piece = _read(path)
            if piece.langs != tuple(self._prospector.langs) or not (
                {*piece.done, piece.reading} - {""}
            ).issubset(sources):
                raise RunDirError(
                    f"{self._folder}: holds pieces of other sources or languages"
                    " (delete it, or choose another --out)"
                )
            self._known.update(piece.done)
            self._begun = piece.reading, piece.rows
            self._number += 1

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob("*.piece"))

    def read(self, source: str) -> None:
        """Sample the rows of a source that no piece has."""
        if source in self._known:
            return
        counted: Counter[str] = Counter()
        stream = read_rows(source, counted)
        skip = self._begun[1] if source == self._begun[0] else 0
        for _ in islice(stream, skip):
            pass
        before = counted.copy()
        while True:
            room = self._most - self._counts["prospect/rows"]
            self._prospector.add(islice(stream, room), counted)
            new = counted - before
            self._counts += new
            before = counted.copy()
            if new["prospect/rows"] < room:
                break
            self.write(source, counted["prospect/rows"])
        self._done.append(source)

    def write(self, reading: str = "", rows: int = 0) -> None:
        """Put down what was read since the last piece."""
        samples = self._prospector.taken()
        if not (self._done or samples.sites or reading):
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        langs = self._prospector.langs
        piece = Piece(
            (langs.src, langs.trg), self._done, reading, rows, self._counts, samples
        )
        with atomic_file(self._folder / f"{self._number:06}.piece") as file:
            file.write(msgspec.msgpack.encode(piece))
        self._number += 1
        self._done, self._counts = [], Counter()

    def merge(self, counts: Counter[str]) -> None:
        """All pieces together."""
        for path in self._paths():
            piece = _read(path)
            counts.update(piece.counts)
            self._prospector.merge(piece.samples, counts)


def _read(path: Path) -> Piece:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=Piece)
    except (OSError, msgspec.MsgspecError) as error:
        raise RunDirError(
            f"{path}: not a piece of a sample: {error} (delete its folder and begin"
            " anew)"
        ) from error
