"""The names that detectors have for members of languages that are one here."""

from __future__ import annotations

from crawler.data import Lang
from crawler.languages import language_of

_MEMBERS = {
    member: code
    for code, members in {
        "ak": "twi fat",
        "ar": "arb acm acq aeb ajp apc ars ary arz",
        "ay": "ayr",
        "az": "azj azb",
        "et": "ekk",
        "fa": "pes prs",
        "gn": "gug",
        "kr": "knc",
        "ku": "kmr",
        "kv": "kpv",
        "lv": "lvs",
        "mg": "plt",
        "mn": "khk",
        "ms": "zsm",
        "ne": "npi",
        "no": "nob",
        "om": "gaz",
        "or": "ory",
        "ps": "pbt",
        "qu": "quy quz",
        "sq": "als",
        "sw": "swh",
        "uz": "uzn",
        "yi": "ydd",
        "zh": "cmn",
    }.items()
    for member in members.split()
}
_CYRILLIC = range(0x400, 0x530)


def lang_of(name: str, text: str) -> Lang | None:
    """The language of a text that a detector gives this name; `und`: none.

    >>> lang_of("cmn", ""), lang_of("hbs", "Добар дан"), lang_of("und", "")
    ('zh', 'sr', None)
    """
    if name == "hbs":  # Serbo-Croatian: one language for some
        cyrillic = sum(ord(char) in _CYRILLIC for char in text)
        return "sr" if 2 * cyrillic > len(text) else "hr"
    return None if name == "und" else language_of(_MEMBERS.get(name, name)).code
