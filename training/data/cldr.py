"""Names of the Unicode CLDR → terms in two hundred languages; no input.

Data card. Source: the Unicode CLDR as packaged in `babel` (Unicode licence; only this
builder needs it: `pip install babel`). Names of languages,
territories, scripts, currencies, months, days of the week and units stand in the URLs
of date archives and country pages, and are the only lexicon of some small languages.
English is one side of every pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from crawler.data import LangPair
from crawler.languages import known_code
from training.data.tables import Tables, TermPair

_TABLES = ("languages", "territories", "scripts", "currency_names", "months", "days")


def names(locale: Any) -> dict[tuple[str, ...], str]:  # babel has no stubs
    """Every name of a locale by the path of keys that leads to it."""
    found: dict[tuple[str, ...], str] = {}
    for table in _TABLES:
        _collect(locale._data.get(table, {}), (table,), found)
    _collect(locale._data.get("unit_display_names", {}), ("units",), found)
    return found


def _collect(
    node: object, path: tuple[str, ...], found: dict[tuple[str, ...], str]
) -> None:
    if isinstance(node, str):
        if len(node) > 2 and "abbreviated" not in path and "narrow" not in path:
            found[path] = node
    elif isinstance(node, Mapping):
        for key in sorted(node, key=str):
            _collect(node[key], (*path, str(key)), found)


def term_pairs() -> Iterator[TermPair]:
    """English with every other language."""
    from babel import Locale, localedata

    english = names(Locale("en"))
    for identifier in sorted(localedata.locale_identifiers()):
        lang = known_code(identifier)
        if lang in (None, "en") or "_" in identifier:
            continue
        assert lang is not None
        for path, name in names(Locale.parse(identifier)).items():
            other = english.get(path)
            if other and other.lower() != name.lower():
                yield TermPair("en", other, lang, name, "cldr")


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The names of all languages; the three arguments are not used."""
    return Tables(terms=term_pairs())
