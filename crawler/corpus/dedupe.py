"""Each sentence pair once: the copy with the best score stays, all are counted.

Copies are pairs with one key: equal texts, or texts of equal letters and digits, where
case, accents' encoding, punctuation and white space do not count (Bifixer's near
duplicates). SQLite sorts them on disk, so memory does not grow with their number.

In: CorpusPairs, in any order.  Out: one for each key, by key; the order of copies with
equal scores is that of their addresses, so equal input gives equal output.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Self

import msgspec
import xxhash

from crawler.data import CorpusPair, Origin, SentencePair
from crawler.errors import RunDirError

_PRAGMAS = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -200000; PRAGMA temp_store = FILE;
CREATE TABLE copies (key INTEGER, score REAL, body BLOB);
"""
_BATCH = 1000
_WORDS = re.compile(r"[^\W_]+")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[SentencePair, tuple[Origin, Origin]]).decode

COPIES = ("near", "exact", "keep")


def key_of(pair: SentencePair, copies: str) -> int:
    """A number that copies have in common, below 2⁶³.

    `copies`: which pairs are copies of each other: `near`, `exact`, or none (`keep`).
    """
    parts = [pair.src_text, pair.trg_text]
    if copies == "near":
        parts = [fold(text) for text in parts]
    elif copies == "keep":
        parts += [pair.src_url, pair.trg_url, *map(str, pair.places)]
    return xxhash.xxh3_64_intdigest("\n".join(parts).encode("utf-8", "replace")) >> 1


def fold(text: str) -> str:
    """Letters and digits only, in one case and one form.

    >>> fold("Halló, HEIMUR!") == fold("halló heimur")
    True
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return "".join(_WORDS.findall(text.casefold()))


class BestCopies:
    """Takes pairs and gives each back once. The file is deleted at the end."""

    def __init__(self, path: Path, copies: str, db: sqlite3.Connection) -> None:
        self._path = path
        self._copies = copies
        self._rows: list[tuple[int, float, bytes]] = []
        self._count = 0
        self._db = db

    @classmethod
    def open(cls, path: Path, copies: str = "near") -> Self:
        """Use this file; it must not exist yet."""
        try:
            db = sqlite3.connect(path, isolation_level=None)
            db.executescript(_PRAGMAS)
        except sqlite3.Error as error:
            raise RunDirError(f"{path}: cannot be written: {error}") from error
        return cls(path, copies, db)

    def add(self, pair: SentencePair, origins: tuple[Origin, Origin]) -> str:
        """Take a pair; returns the id that it will have."""
        key = key_of(pair, self._copies)
        self._rows.append((key, pair.score, _encode((pair, origins))))
        if len(self._rows) >= _BATCH:
            self._flush()
        return id_of(key)

    def _flush(self) -> None:
        try:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO copies VALUES (?,?,?)", self._rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._full(error) from error
        self._rows.clear()

    def best(
        self, tell: Callable[[CorpusPair], object] | None = None
    ) -> Iterator[CorpusPair]:
        """Each pair once, with the number of its copies; `tell` gets every copy."""
        self._flush()
        rows = self._db.execute(
            "SELECT key, body FROM copies ORDER BY key, score DESC, body"
        )
        try:
            for key, copies in groupby(rows, key=lambda row: int(row[0])):
                best: CorpusPair | None = None
                count = 0
                for _, body in copies:
                    count += 1
                    if tell or best is None:
                        pair = CorpusPair(id_of(key), *_decode(body))
                        best = best or pair
                        if tell:
                            tell(pair)
                assert best is not None
                yield replace(best, copies=count)
        except sqlite3.Error as error:
            raise self._full(error) from error

    def close(self) -> None:
        """Delete the file."""
        self._db.close()
        self._path.unlink(missing_ok=True)

    def _full(self, error: sqlite3.Error) -> RunDirError:
        return RunDirError(
            f"{self._path}: {error} (sorting needs twice the room of the pairs; the"
            " same command starts again)"
        )


def id_of(key: int) -> str:
    """A key as an id of the corpus."""
    return f"{key:016x}"
