"""The letters of languages that are not written in Latin ones, from Unicode's blocks.

Nothing can be told of a text in a language that has two alphabets (Serbian, Uzbek).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from crawler.data import Lang

_CYRILLIC = "\u0400-\u052f"
_SCRIPTS = {
    _CYRILLIC: "ab av ba be bg ce cv kv ky mk os ru sah tg tt tyv udm uk",
    "\u0370-\u03ff\u1f00-\u1fff": "el",
    "\u0530-\u058f": "hy",
    "\u0590-\u05ff": "he yi",
    "\u0600-\u077f\ufb50-\ufdff\ufe70-\ufeff": "ar arz ckb fa ps sd ug ur",
    "\u0780-\u07bf": "dv",
    "\u0900-\u097f": "hi mr ne sa bh mai",
    "\u0980-\u09ff": "as bn",
    "\u0a00-\u0a7f": "pa",
    "\u0a80-\u0aff": "gu",
    "\u0b00-\u0b7f": "or",
    "\u0b80-\u0bff": "ta",
    "\u0c00-\u0c7f": "te",
    "\u0c80-\u0cff": "kn",
    "\u0d00-\u0d7f": "ml",
    "\u0d80-\u0dff": "si",
    "\u0e00-\u0e7f": "th",
    "\u0e80-\u0eff": "lo",
    "\u0f00-\u0fff": "bo dz",
    "\u1000-\u109f": "my",
    "\u10a0-\u10ff": "ka",
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af": "ko",
    "\u1200-\u137f": "am ti",
    "\u1780-\u17ff": "km",
    "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff": "ja",
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff": "zh",
}
# Languages that are written in two alphabets, in different countries or by all.
_TWO_ALPHABETS = frozenset("az bs cnr ku mn ms sd sh sr tk ug uz za".split())
_MANY = 3  # one letter in so many is more than a name or two


@cache
def _letters() -> dict[Lang, re.Pattern[str]]:
    return {
        lang: re.compile(f"[{ranges}]")
        for ranges, langs in _SCRIPTS.items()
        for lang in langs.split()
    }


def letters_of(text: str, langs: Sequence[Lang]) -> dict[Lang, int]:
    """How many letters of a text are of the script of each of some languages.

    Those that are written in Latin letters are left out; all are, where one of them has
    two alphabets.

    >>> letters_of("Vue.js 소개", ("en", "ko")), letters_of("Село", ("ru", "sr"))
    ({'ko': 2}, {})
    """
    if text.isascii() or not _TWO_ALPHABETS.isdisjoint(langs):
        return {}
    own = {lang: _letters()[lang] for lang in langs if lang in _letters()}
    return {lang: n for lang, each in own.items() if (n := len(each.findall(text)))}


def is_in_other_letters(text: str, lang: Lang, other: Lang) -> bool:
    """Is a text that should be in a language of a pair written in the other's letters?

    One without any of its own language's is as well. Names and code are in Latin
    letters everywhere, but not all of a sentence.

    >>> is_in_other_letters("Style Guide", "ko", "en")
    True
    >>> is_in_other_letters("スタイルガイド", "en", "ja")
    True
    >>> is_in_other_letters("v-for 와 v-if", "ko", "en")
    False
    """
    own, beside = _letters().get(lang), _letters().get(other)
    if own is not None:
        return not own.search(text)
    if beside is None or other in _SCRIPTS[_CYRILLIC].split():
        return False  # the text may be in a language with two alphabets
    count = len(beside.findall(text))
    return count > 0 and _MANY * count > sum(map(str.isalpha, text))
