"""FreeDict dictionaries → terms; input: Debian packages dict-freedict-*.deb.

Data card. Source: the `dict-freedict-AAA-BBB` packages of Debian (freedict.org; more
than a hundred dictionaries, GPL-2+ or freer, see /usr/share/doc/PACKAGE/copyright), as
`apt-get download` gives them; nothing is installed. Inside are a dictd index (headword,
offset, length) and a dictzip file (a gzip).

An entry is a headword line with pronunciation, then senses. Kept are translations of at
most four words from the first lines of a sense; grammar, registers and examples are
dropped. About one pair in twenty is noise (a label taken for a translation, words run
together in the oldest dictionaries).
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from crawler.data import LangPair
from crawler.errors import LanguageError
from crawler.languages import language_of
from training.data.deb import BadPackage, deb_files
from training.data.tables import Tables, TermPair

_FILES = re.compile(r"/dictd/[^/]+\.(?:index|dict\.dz)$")
_DIGITS = {
    c: i
    for i, c in enumerate(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    )
}
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>|\{[^{}]*\}|/[^/]*/|\"[^\"]*\"")
_NUMBER = re.compile(r"^\s*\d+\.\s*|\s+\d+\.?\s*$")
_LABELS = ("see:", "synonym:", "synonyms:", "note:", "antonym:", "antonyms:", "cf.")
_MAX_WORDS = 4
_MAX_TRANSLATIONS = 4


def read_package(path: Path, counts: Counter[str]) -> Iterator[TermPair]:
    """Word pairs of one package; entries that cannot be used are counted by reason."""
    match = re.match(r"dict-freedict-([a-z]{3})-([a-z]{3})", path.name)
    if not match:
        counts["bad/not a dict-freedict package"] += 1
        return
    try:
        lang_a, lang_b = (language_of(code).code for code in match.groups())
    except LanguageError:
        counts["bad/unknown language"] += 1
        return
    try:
        files = {
            name.rpartition("/")[2].partition(".")[2]: data
            for name, data in deb_files(path, _FILES)
        }
    except BadPackage:
        counts["bad/damaged package"] += 1
        return
    if set(files) != {"index", "dict.dz"}:
        counts["bad/without a dictionary"] += 1
        return
    text = gzip.decompress(files["dict.dz"])
    for line in files["index"].decode("utf-8", "replace").splitlines():
        counts["rows"] += 1
        head, *place = line.split("\t")
        if len(place) != 2 or head.startswith("00"):
            counts["bad/not an entry"] += 1
            continue
        start, length = map(_number, place)
        entry = text[start : start + length].decode("utf-8", "replace")
        for translation in translations(head, entry):
            yield TermPair(lang_a, head, lang_b, translation, path.name.split("_")[0])


def translations(head: str, entry: str) -> list[str]:
    r"""The translations that a dictd entry gives for its headword.

    >>> translations("write", "write /rait/ <v>\n1. escribir\n2. anotar, apuntar (lo)")
    ['escribir', 'anotar', 'apuntar']
    """
    found: list[str] = []
    for line in entry.splitlines()[1:]:
        if not line.strip() or line.lower().strip().startswith(_LABELS):
            continue
        line = _NUMBER.sub("", _ASIDE.sub(" ", line))
        for part in re.split("[,;|]", line):
            words = part.split()
            if not 1 <= len(words) <= _MAX_WORDS or not words[0][0].isalpha():
                continue
            if (text := " ".join(words)) != head and text not in found:
                found.append(text)
        if len(found) >= _MAX_TRANSLATIONS:
            break
    return found[:_MAX_TRANSLATIONS]


def _number(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value * 64 + _DIGITS.get(digit, 0)
    return value


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The word pairs of one package; of its own languages."""
    return Tables(terms=read_package(Path(source), counts))
