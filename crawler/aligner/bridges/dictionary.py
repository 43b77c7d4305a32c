"""Dictionary: a lexicon out of word lists that somebody else has made.

In: a file, gzipped or not, of one of these kinds.  Out: a Lexicon.

- text (any other name): a word and its translation a line, a tab or a space between
  them, as those of MUSE; or a table with the columns `lang_a text_a lang_b text_b` (as
  `bifocal data build freedict` writes), of which other languages are passed over;
- `.tei`: FreeDict's sources; `.dix`: Apertium's bilingual dictionaries;
- `.jsonl`: an extract of Wiktionary by wiktextract: `word`, `lang_code` and
  `translations`;
- a phrase table of Moses (` ||| ` between its columns), of which entries of one word a
  side are taken, each as often as its last column counts it.

Which language is first is said by the file (JSON lines, tables) or by its name
(`eng-fra.tei`), else it is the first of the two.

An entry of several words links each of one side with each of the other, if that makes
no more than four links (Resnik & Smith 2003, section 3.2). Every link of a dictionary
counts once: the first page pairs outweigh it, which is right, because a dictionary has
all the meanings that a site does not use.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from lxml import etree

from crawler.aligner.bridges.lexicon import Lexicon, collect
from crawler.aligner.words import WordIds
from crawler.data import Lang, LangPair
from crawler.errors import ProfileError
from crawler.languages import known_code

_MAX_LINKS = 4  # of one entry
_CELL = " ||| "  # between the columns of a phrase table
_MAX_COUNT = 1e9  # of an entry of a phrase table; words of any corpus come less often
_COLUMNS = ["lang_a", "text_a", "lang_b", "text_b"]
_NAMED = re.compile(r"(?<![a-z])([a-z]{2,3})-(?=([a-z]{2,3})(?![a-z]))")


def read_dictionary(path: Path, langs: LangPair) -> Lexicon:
    """The lexicon of a word list; ProfileError if it has nothing of both languages."""
    ids = WordIds()
    src: list[int] = []
    trg: list[int] = []
    counts: list[float] = []
    try:
        for one_side, other_side, count in _entries(path, langs):
            words = [ids.encode(text).tolist() for text in (one_side, other_side)]
            most = _MAX_LINKS if count is None else 1
            if 0 < len(words[0]) * len(words[1]) <= most:
                for one, other in product(*words):
                    src.append(one)
                    trg.append(other)
                    counts.append(count or 0)
    except (OSError, EOFError, ValueError, etree.XMLSyntaxError) as error:
        raise ProfileError(
            f"{path}: not a valid dictionary: {error} (give text in UTF-8, TEI, .dix"
            " or JSON lines)"
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
        np.array(counts, np.float32),
    )
    lexicon.count[lexicon.count == 0] = 1  # said twice is said once
    return lexicon


def _entries(path: Path, langs: LangPair) -> Iterator[tuple[str, str, float | None]]:
    """The word or phrase of src and of trg of each entry; how often, if it is known."""
    name = path.name.removesuffix(".gz")
    with _open(path) as file:
        first = file.readline().decode("utf-8").rstrip("\r\n")
        if set(_COLUMNS) <= set(first.split("\t")):
            for pair in _table(file, first.split("\t"), langs):
                yield *pair, None
            return
        file.seek(0)
        turned = _first_language(name, langs) == langs.trg
        if _CELL in first:
            for one, other, count in _phrases(file):
                yield (other, one, count) if turned else (one, other, count)
        elif name.endswith(".jsonl"):
            for pair in _wiktionary(file, langs):
                yield *pair, None
        else:
            kinds = {".tei": _tei, ".dix": _bidix}
            for one, other in kinds.get(Path(name).suffix, _text)(file):
                yield (other, one, None) if turned else (one, other, None)


def _phrases(file: IO[bytes]) -> Iterator[tuple[str, str, float]]:
    """`src ||| trg ||| scores ||| places ||| counts`: of trg, of src, of both."""
    for number, line in enumerate(file, 1):
        cells = line.decode("utf-8").split("|||")
        counts = cells[4].split() if len(cells) > 4 else []
        if len(counts) < 3 or not 0 < (both := float(counts[2])) <= _MAX_COUNT:
            raise ValueError(f"line {number} has no count of the pair in column 5")
        yield cells[0].strip(), cells[1].strip(), both


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def _first_language(name: str, langs: LangPair) -> Lang:
    """The language that the first words are in, by the name of the file.

    >>> _first_language("apertium-fra-eng.fra-eng.dix", LangPair("en", "fr"))
    'fr'
    """
    for one, other in _NAMED.findall(name):
        codes = known_code(one), known_code(other)
        if codes == (langs.trg, langs.src):
            return langs.trg
    return langs.src


def _text(file: IO[bytes]) -> Iterator[tuple[str, str]]:
    """Two cells a line; without a tab two words, and no more."""
    for line in file:
        text = line.decode("utf-8").rstrip("\r\n")
        cells = text.split("\t") if "\t" in text else text.split()
        if len(cells) == 2 or "\t" in text:
            yield cells[0], cells[1]


def _table(
    file: IO[bytes], columns: list[str], langs: LangPair
) -> Iterator[tuple[str, str]]:
    for line in file:
        cells = line.decode("utf-8").rstrip("\r\n").split("\t")
        if len(cells) == len(columns):
            row = dict(zip(columns, cells))
            ends = {known_code(row[f"lang_{x}"]): row[f"text_{x}"] for x in "ab"}
            if set(ends) == set(langs):
                yield ends[langs.src], ends[langs.trg]


def _elements(file: IO[bytes], name: str) -> Iterator[Any]:  # Any: lxml has no types
    """The elements of a name, one after the other; what was read is let go."""
    found = etree.iterparse(
        file, tag=f"{{*}}{name}", resolve_entities=False, no_network=True
    )
    for _, element in found:
        yield element
        element.clear()


def _tei(file: IO[bytes]) -> Iterator[tuple[str, str]]:
    """`<entry>`: the headwords in `<orth>`, translations in `<cit type="trans">`."""
    for entry in _elements(file, "entry"):
        heads = entry.findall(".//{*}form/{*}orth")
        for cited in entry.iterfind(".//{*}cit"):
            if cited.get("type") in ("trans", "translation"):
                for head, quote in product(heads, cited.findall("{*}quote")):
                    yield "".join(head.itertext()), "".join(quote.itertext())


def _bidix(file: IO[bytes]) -> Iterator[tuple[str, str]]:
    """`<e><p><l>…</l><r>…</r></p></e>`; `<b/>` is a blank, `<s/>` a part of speech."""
    for pair in _elements(file, "p"):
        left, right = pair.find("{*}l"), pair.find("{*}r")
        if left is not None and right is not None:
            yield " ".join(left.itertext()), " ".join(right.itertext())


def _wiktionary(file: IO[bytes], langs: LangPair) -> Iterator[tuple[str, str]]:
    """A line for each word; its translations hang on it or on its senses."""
    for line in file:
        row = json.loads(line)
        lang = known_code(str(row.get("lang_code", "")))
        if lang is None or lang not in langs:
            continue
        other = langs.other(lang)
        for holder in (row, *row.get("senses", ())):
            for found in holder.get("translations", ()):
                code = str(found.get("lang_code") or found.get("code") or "")
                if known_code(code) == other and found.get("word"):
                    ends = str(row.get("word", "")), str(found["word"])
                    yield ends if lang == langs.src else ends[::-1]
