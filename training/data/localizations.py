"""Translated messages of free software → terms; input: Debian packages.

Data card. Source: Debian packages, as `apt-get download` gives them: gettext catalogues
(`.mo`) under any folder, and MediaWiki's `i18n/LANG.json`. Content managers, finance,
maps and country names (wordpress-l10n, mediawiki, iso-codes, gnucash-common, …; mostly
GPL-2+, the list is in the model cards) use the words of menus and slugs of the web, in
more than a hundred languages, small ones included. English is one side of every pair.
Messages with place holders or markup, of more than ten words, or left untranslated are
dropped and counted.
"""

from __future__ import annotations

import json
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from crawler.data import Lang, LangPair
from crawler.languages import known_code
from training.data.deb import BadPackage, deb_files
from training.data.tables import Tables, TermPair

MAX_WORDS = 10  # longer ones are sentences of a manual
_FILES = re.compile(r"\.mo$|/i18n/[^/]+\.json$")
_LANGUAGE = re.compile(
    r"/([^/]+)/LC_MESSAGES/|(?:^|[/-])([a-z]{2,3}(?:_[A-Z]{2})?)\.mo$|/([^/]+)\.json$"
)
_MARKUP = re.compile(r"[%{}<>\[\]$\\|=]|''|https?:")
_ACCELERATOR = re.compile(r"[&_](?=\w)|\([&_]?[A-Z]\)|[….:!?]+$")
_MAGIC = 0x950412DE  # of a .mo file in the byte order of its machine

Messages = Mapping[str, str]  # by English text or by key


def package_terms(path: Path, counts: Counter[str]) -> Iterator[TermPair]:
    """The parallel texts of one package."""
    source = f"l10n/{path.name.split('_')[0]}"
    by_key: dict[str, dict[Lang, Messages]] = defaultdict(dict)
    try:
        for name, data in deb_files(path, _FILES):
            counts["files"] += 1
            lang = _language(name)
            if not lang:
                counts["bad/unknown language"] += 1
            elif name.endswith(".json"):
                by_key[name.rpartition("/")[0]][lang] = _read_json(data, counts)
            elif lang != "en":
                for english, text in _read_mo(data, counts).items():
                    yield from _pair(english, lang, text, source, counts)
    except BadPackage:
        counts["bad/damaged package"] += 1
    for languages in by_key.values():
        english_by_key = languages.pop("en", {})
        for lang, messages in languages.items():
            for key, text in messages.items():
                if key in english_by_key:
                    yield from _pair(english_by_key[key], lang, text, source, counts)


def _language(name: str) -> Lang | None:
    match = _LANGUAGE.search(name)
    return known_code(next(filter(None, match.groups()))) if match else None


def _read_json(data: bytes, counts: Counter[str]) -> Messages:
    try:
        content = json.loads(data)
        return {k: v for k, v in content.items() if isinstance(v, str)}
    except (ValueError, AttributeError):
        counts["bad/not a catalogue"] += 1
        return {}


def _read_mo(data: bytes, counts: Counter[str]) -> Messages:
    r"""English → translation, the first form of each (gettext manual, 11.1).

    >>> _read_mo(b"no catalogue", Counter())
    {}
    """
    try:
        (magic,) = struct.unpack_from("<I", data)
        order = "<" if magic == _MAGIC else ">"
        _, _, number, *tables = struct.unpack_from(f"{order}5I", data)
        sides = [
            [
                data[start : start + length].decode()
                for length, start in struct.iter_unpack(
                    f"{order}2I", data[table : table + 8 * number]
                )
            ]
            for table in tables
        ]
    except (struct.error, UnicodeDecodeError):
        counts["bad/not a catalogue"] += 1
        return {}
    # context EOT singular NUL plural
    return {
        english.split("\0")[0].rpartition("\4")[2]: text.split("\0")[0]
        for english, text in zip(*sides)
        if english  # the empty one is the header
    }


def _pair(
    english: str, lang: Lang, text: str, source: str, counts: Counter[str]
) -> Iterator[TermPair]:
    counts["messages"] += 1
    if _MARKUP.search(english) or _MARKUP.search(text):
        counts["dropped/markup"] += 1
        return
    one, two = (_clean(side) for side in (english, text))
    if one.lower() == two.lower():
        counts["dropped/equal"] += 1
    elif max(len(one.split()), len(two.split())) > MAX_WORDS or len(one + two) > 200:
        counts["dropped/long"] += 1
    elif not all(any(map(str.isalpha, side)) for side in (one, two)):
        counts["dropped/no letters"] += 1
    else:
        yield TermPair("en", one, lang, two, source)


def _clean(text: str) -> str:
    r"""Without accelerators and final dots.

    >>> _clean("&Save _as…"), _clean("Speichern (_S)")
    ('Save as', 'Speichern')
    """
    return " ".join(_ACCELERATOR.sub("", text.strip()).split())


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The parallel texts of one package, each once; of all languages."""
    found = {
        (term.text_a.lower(), term.lang_b, term.text_b.lower()): term
        for term in package_terms(Path(source), counts)
    }
    return Tables(terms=found.values())
