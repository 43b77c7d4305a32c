"""Sentences in several languages: the corpora of all pairs of languages, joined.

A row of one corpus and a row of another belong to one unit if they share a sentence
(equal letters and digits, as copies do). Rows are joined best first; a unit has at most
one sentence in each language, and a row that would give it a second one contradicts a
better row: it stays in its own corpus alone. So Europarl and its like are built.

    corpora of pairs ─▶ SQLite ─▶ `joined` ─▶ multiway.tmx.gz, multiway.jsonl.gz

Texts lie in a temporary file; memory holds a few numbers for each different sentence.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import msgspec
import xxhash

from crawler.atomic import atomic_text
from crawler.corpus.build import CorpusRequest, build_corpus
from crawler.corpus.card import card_of_pairs
from crawler.corpus.dedupe import fold, id_of
from crawler.data import CorpusPair, Lang, LangPair, Origin, Score
from crawler.rundir import write_json
from crawler.sinks.clusters import joined
from crawler.sinks.jsonl import json_lines, origin_of
from crawler.sinks.tmx import tmx_file, unit

_TABLES = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE sentences (id INTEGER PRIMARY KEY, lang TEXT, body BLOB);
CREATE TABLE rows (score REAL, src_lang TEXT, src INTEGER, trg_lang TEXT, trg INTEGER);
"""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[str, Origin]).decode


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence in several languages, with a page that has it in each."""

    score: Score  # the lowest of the rows that hold it together
    versions: Mapping[Lang, tuple[str, Origin]]

    @property
    def id(self) -> str:
        """16 hexadecimal digits, equal for equal texts."""
        texts = (f"{lang}\t{text}" for lang, (text, _) in self.versions.items())
        return id_of(_number("\n".join(texts)))


class SentenceGraph:
    """Takes the rows of corpora and gives units."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @classmethod
    def open(cls, path: Path) -> Self:
        """Use this file; it must not exist yet."""
        db = sqlite3.connect(path, isolation_level=None)
        db.executescript(_TABLES + "BEGIN;")
        return cls(db)

    def close(self) -> None:
        """Give the file back."""
        self._db.close()

    def add(self, langs: LangPair, item: CorpusPair) -> None:
        """Take a row of a corpus."""
        pair = item.pair
        ends: list[str | int] = []
        texts = (pair.src_text, pair.trg_text)
        for lang, text, origin in zip(langs, texts, item.origins, strict=True):
            number = _number(f"{lang}\t{fold(text)}")
            ends += [lang, number]
            body = _encode((text, origin))
            self._db.execute(
                "INSERT OR IGNORE INTO sentences VALUES (?,?,?)", (number, lang, body)
            )
        self._db.execute("INSERT INTO rows VALUES (?,?,?,?,?)", (pair.score, *ends))

    def units(self, langs: Sequence[Lang]) -> Iterator[Unit]:
        """Those whose best row is best first; their languages in this order."""
        rows = self._db.execute("SELECT * FROM rows ORDER BY score DESC, src, trg")
        edges = (
            (score, (src_lang, src, src), (trg_lang, trg, trg))
            for score, src_lang, src, trg_lang, trg in rows
        )
        for numbers, score in joined(edges):
            found = [lang for lang in langs if lang in numbers]
            yield Unit(score, {lang: self._sentence(numbers[lang]) for lang in found})

    def _sentence(self, number: int) -> tuple[str, Origin]:
        query = "SELECT body FROM sentences WHERE id = ?"
        ((body,),) = self._db.execute(query, (number,))
        return _decode(body)


def _number(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace")) >> 1


def build_corpora(requests: Sequence[CorpusRequest], out: Path) -> dict[str, Any]:
    """Make a corpus for each pair of languages, and join them; what corpus.json says.

    The joint files have the formats of the requests that hold any number of languages:
    TMX and JSONL.
    """
    out.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(prefix="work-", suffix=".partial", dir=out) as work,
        closing(SentenceGraph.open(Path(work, "graph.sqlite"))) as graph,
    ):
        made = {
            request.langs: build_corpus(request, partial(graph.add, request.langs))
            for request in requests
        }
        langs = tuple(dict.fromkeys(lang for pair in made for lang in pair))
        sizes = _write(graph.units(langs), requests[0], out)
    about = {
        "bifocal": version("bifocal-crawler"),
        "date": requests[0].date.strftime("%Y-%m-%d"),
        "langs": list(langs),
        "formats": list(requests[0].formats),
        "pairs": {"-".join(pair): corpus["counts"] for pair, corpus in made.items()},
        # how many units have so many languages
        "units": {str(size): count for size, count in sorted(sizes.items())},
    }
    write_json(out / "corpus.json", about)
    with atomic_text(out / "README.md") as readme:
        readme.write(card_of_pairs(about))
    return about


def _write(units: Iterator[Unit], asked: CorpusRequest, out: Path) -> Counter[int]:
    """Write the units in the formats that are asked for; count them by languages."""
    sizes: Counter[int] = Counter()
    with ExitStack() as stack:
        write_tmx = write_json_line = None
        if "tmx" in asked.formats:
            made_by = version("bifocal-crawler"), asked.date
            tmx = tmx_file(out / "multiway.tmx.gz", "*all*", *made_by)
            write_tmx = stack.enter_context(tmx)
        if "jsonl" in asked.formats:
            lines = json_lines(out / "multiway.jsonl.gz")
            write_json_line = stack.enter_context(lines)
        for each in units:
            sizes[len(each.versions)] += 1
            if write_tmx:
                sides = [(lang, *side) for lang, side in each.versions.items()]
                write_tmx(unit(each.id, {"score": f"{each.score:.4f}"}, sides))
            if write_json_line:
                write_json_line(_object(each))
    return sizes


def _object(each: Unit) -> dict[str, Any]:
    return {
        "id": each.id,
        "translation": {
            lang: text.encode("utf-8", "replace").decode()
            for lang, (text, _) in each.versions.items()
        },
        "score": round(each.score, 4),
        "sources": {lang: origin_of(o) for lang, (_, o) in each.versions.items()},
    }
