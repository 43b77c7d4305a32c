"""The texts of pages, kept while their partners are found: SQLite, in a file.

The aligner keeps the features of pages, no text. Aligning sentences needs both pages of
a pair at once, and they lie anywhere in a collection: so each page is read once, in the
order of the files, and its text put here, compressed to some 4 KB.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import deflate
import numpy as np
import xxhash

from crawler.aligner.frequencies import RepeatedConfig
from crawler.aligner.sentences.split import main_blocks
from crawler.data import Document, Lang, Origin
from crawler.urls import identities

_SCHEMA = """
CREATE TABLE IF NOT EXISTS texts (
  key INTEGER PRIMARY KEY, url TEXT, site TEXT, lang TEXT, title TEXT, body BLOB,
  warc TEXT, record INTEGER, record_id TEXT, marks TEXT, licence TEXT
) WITHOUT ROWID;
"""
_PUT = "REPLACE INTO texts VALUES (?,?,?,?,?,?,?,?,?,?,?)"
# The texts can be read again from the WARC files, so nothing waits for the disk. Small
# database pages and a small cache, as in crawler.aligner.store.
_PRAGMAS = """
PRAGMA page_size = 2048;
PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
"""


@dataclass(frozen=True, slots=True)
class StoredText:
    """The text of a page, its origin and its owner's wishes."""

    document: Document  # without links
    origin: Origin
    marks: frozenset[str] = frozenset()  # the wishes of its owner, see `rights`
    licence: str | None = None  # the address of a licence that it names


class TextStore:
    """The texts of pages by URL and language. One caller at a time."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @classmethod
    def open(cls, path: Path | None = None) -> Self:
        """Open a file, or keep everything in memory."""
        db = sqlite3.connect(path or ":memory:", isolation_level=None)
        db.executescript(_PRAGMAS + _SCHEMA)
        db.execute("BEGIN")
        return cls(db)

    def __len__(self) -> int:
        (count,) = self._db.execute("SELECT count(*) FROM texts").fetchone()
        return int(count)

    def put(self, text: StoredText) -> None:
        """Keep a page; of a URL in a language the text with the smaller digest stays.

        The aligner chooses the same one, in whatever order they come.
        """
        document, origin = text.document, text.origin
        assert document.lang is not None
        before, key = self._find(document.url, document.lang)
        if before is not None and before.document.digest <= document.digest:
            return
        row = (
            key,
            document.url,
            document.site,
            document.lang,
            _clean(document.title),
            _pack(document),
            origin.warc,
            origin.offset,
            origin.record_id,
            " ".join(sorted(text.marks)),
            text.licence,
        )
        self._db.execute(_PUT, row)

    def get(self, url: str, lang: Lang) -> StoredText | None:
        """The page of a URL in a language, if it is here."""
        return self._find(url, lang)[0]

    def _find(self, url: str, lang: Lang) -> tuple[StoredText | None, int]:
        """The text of a URL in a language, and the key that it has or would have."""
        for key in identities(url, lang):
            row = self._db.execute(
                "SELECT * FROM texts WHERE key = ?", (key,)
            ).fetchone()
            if row is None or row[3] == lang:
                break
        return (_text(row) if row else None), key

    def __iter__(self) -> Iterator[StoredText]:
        """Every page; the order does not depend on the order of `put`."""
        cursor = self._db.cursor()
        yield from map(_text, cursor.execute("SELECT * FROM texts ORDER BY key"))

    def commit(self) -> None:
        """Make everything so far survive a kill."""
        self._db.execute("COMMIT")
        self._db.execute("BEGIN")

    def close(self) -> None:
        """Commit and close the file."""
        self._db.execute("COMMIT")
        self._db.close()


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _pack(document: Document) -> bytes:
    parts = (document.digest, "\n".join(document.tokens), "\n".join(document.chunks))
    # level 1: written once, read once; 6 saves a tenth and takes twice as long
    text = "\0".join(parts).encode("utf-8", "replace")
    return bytes(deflate.zlib_compress(text, 1))


def _text(row: tuple[object, ...]) -> StoredText:
    _, url, site, lang, title, body, warc, offset, record_id, marks, licence = row
    assert isinstance(body, bytes)
    digest, tokens, chunks = zlib.decompress(body).decode().split("\0")
    document = Document(
        url=str(url),
        site=str(site),
        lang=str(lang),
        lang_confidence=1.0,
        title=str(title),
        tokens=tuple(tokens.split("\n")),
        chunks=tuple(chunks.split("\n")),
        links=(),
        digest=digest,
    )
    origin = Origin(
        document.url,
        warc if isinstance(warc, str) else None,
        offset if isinstance(offset, int) else None,
        record_id if isinstance(record_id, str) else None,
    )
    return StoredText(
        document,
        origin,
        frozenset(str(marks).split()),
        licence if isinstance(licence, str) else None,
    )


# ------------------------------------------------------------------- boilerplate


_BUCKETS = 1 << 22  # 16 MB; a collision makes one block look a little more common


class BlockCounts:
    """Counts the pages of a site that have a block, by language, in fixed memory."""

    def __init__(self, config: RepeatedConfig | None = None) -> None:
        self.config = config or RepeatedConfig()
        self._blocks = np.zeros(_BUCKETS, np.int32)
        self._pages: dict[tuple[str, Lang | None], int] = {}

    def add(self, document: Document) -> None:
        """Count a page."""
        side = document.site, document.lang
        self._pages[side] = self._pages.get(side, 0) + 1
        buckets = [_bucket(document, block.text) for block in main_blocks(document)]
        # numpy adds 1 to each place once, however often the index names it
        self._blocks[buckets] += 1

    def is_repeated(self, document: Document, text: str) -> bool:
        """True if too many pages of the document's site have a block with this text."""
        pages = self._pages.get((document.site, document.lang), 0)
        ceiling = self.config.ceiling(pages)
        return bool(self._blocks[_bucket(document, text)] > ceiling)


def _bucket(document: Document, text: str) -> int:
    key = f"{document.site}\n{document.lang}\n{text}".encode("utf-8", "replace")
    return xxhash.xxh3_64_intdigest(key) % _BUCKETS
