"""Dictionary: a lexicon out of word lists that somebody else has made.

In: tab-separated text, gzipped or not: a src word and a trg word a line, or a table
with the columns `lang_a text_a lang_b text_b` (as `bifocal data build freedict`
writes FreeDict's), of which other languages are passed over.  Out: a Lexicon.

An entry of several words links each of one side with each of the other, if that makes
no more than four links (Resnik & Smith 2003, section 3.2). Every link counts once: the
first page pairs outweigh it, which is right, because a dictionary has all the meanings
that a site does not use.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from crawler.aligner.bridges.lexicon import Lexicon, collect
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from crawler.errors import ProfileError
from crawler.languages import known_code

_MAX_LINKS = 4  # of one entry
_COLUMNS = ["lang_a", "text_a", "lang_b", "text_b"]


def read_dictionary(path: Path, langs: LangPair) -> Lexicon:
    """The lexicon of a word list; ProfileError if it has nothing of both languages."""
    ids = WordIds()
    src: list[int] = []
    trg: list[int] = []
    try:
        for entry in _entries(path, langs):
            words = [ids.encode(text).tolist() for text in entry]
            if 0 < len(words[0]) * len(words[1]) <= _MAX_LINKS:
                for one, other in product(*words):
                    src.append(one)
                    trg.append(other)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ProfileError(
            f"{path}: no dictionary: {error} (give tab-separated text in UTF-8)"
        ) from error
    if not src:
        raise ProfileError(
            f"{path}: no entry of {langs.src} and {langs.trg} (a line is: a word of"
            f" {langs.src}, a tab, a word of {langs.trg})"
        )
    lexicon = collect(
        langs,
        np.array(src, np.uint32),
        np.array(trg, np.uint32),
        np.ones(len(src), np.float32),
    )
    lexicon.count[:] = 1  # said twice is said once
    return lexicon


def _entries(path: Path, langs: LangPair) -> Iterator[tuple[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    columns: list[str] | None = None
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            cells = line.rstrip("\n").split("\t")
            if number == 0 and set(_COLUMNS) <= set(cells):
                columns = cells
            elif columns is None:
                if len(cells) >= 2:
                    yield cells[0], cells[1]
            elif len(cells) == len(columns):
                row = dict(zip(columns, cells))
                ends = {known_code(row[f"lang_{x}"]): row[f"text_{x}"] for x in "ab"}
                if set(ends) == set(langs):
                    yield ends[langs.src], ends[langs.trg]
