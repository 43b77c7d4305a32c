"""Languages: one code for each, and every way a URL or a person writes it.

A language is known here by one code: the ISO 639-1 code where there is one, else
ISO 639-3, as CLD2 prints it without its oddities (`he` not `iw`, `zh` for both
scripts). Everything else is converted at the border, by `language_of` for what people
and pages write and by `from_cld2` for what the detector says. The table is
`languages.tsv`, next to this file.

A *marker* is a piece of a URL that names a language: `en`, `eng`, `english`,
`français`, `pt-br`. One marker may name several languages (`br` is Breton and, as a
country, Brazilian Portuguese), so `marker_languages` returns a set.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from crawler.errors import LanguageError


@dataclass(frozen=True, slots=True)
class Language:
    """One row of `languages.tsv`."""

    code: str
    iso639_3: str
    name: str
    other_names: tuple[str, ...]  # endonym first
    aliases: tuple[str, ...]  # ISO 639-2/B and withdrawn codes
    cld2: tuple[str, ...]  # empty: CLD2 cannot detect it
    url_codes: tuple[str, ...]  # country codes and spellings that URLs use for it


def _split(cell: str, separator: str = ",") -> tuple[str, ...]:
    return tuple(part for part in cell.split(separator) if part)


@cache
def all_languages() -> dict[str, Language]:
    """Every language of the table, by code."""
    table = resources.files("crawler").joinpath("languages.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    return {
        code: Language(
            code,
            iso3,
            name,
            _split(others, "|"),
            _split(aliases),
            _split(cld2),
            _split(url_codes),
        )
        for code, iso3, aliases, cld2, name, others, url_codes in rows
    }


def fold(text: str) -> str:
    """Lower-case, without accents: `Français` and `francais` are one marker."""
    if text.isascii():
        return text.lower()
    # decomposed on both sides: a bold A becomes an A, which has a lower case
    lower = unicodedata.normalize("NFKD", text).lower()
    decomposed = unicodedata.normalize("NFKD", lower)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


@cache
def _codes() -> dict[str, str]:
    """Every code and name that means exactly one language → its code."""
    codes: dict[str, str] = {}
    for language in all_languages().values():
        for spelling in (
            language.iso639_3,
            *language.aliases,
            *language.cld2,
            language.name,
            *language.other_names,
        ):
            codes.setdefault(fold(spelling), language.code)
    codes.update({code: code for code in all_languages()})
    return codes


@cache
def _markers() -> dict[str, frozenset[str]]:
    """Every spelling found in URLs → the languages it may mean."""
    markers: dict[str, set[str]] = {}
    for language in all_languages().values():
        for spelling in (
            language.code,
            language.iso639_3,
            *language.aliases,
            language.name,
            *language.other_names,
            *language.url_codes,
        ):
            token = fold(spelling)
            markers.setdefault(token, set()).add(language.code)
            if " " in token:
                markers.setdefault(token.replace(" ", "-"), set()).add(language.code)
    return {token: frozenset(codes) for token, codes in markers.items()}


# A code with a region or a script behind it: pt-br, zh_Hant, sr-Latn-RS, es-419.
_CODE_REGION = re.compile(
    r"([a-z]{2,3})[-_](?:[a-z]{4}(?:[-_][a-z]{2})?|[a-z]{2}|\d{3})"
)

# `xx-yy` is also how short words are joined ("in-it", "so-no"): the second half must be
# a region that exists. ISO 3166-1, plus `uk`, which sites use for the United Kingdom.
_REGIONS = frozenset(
    """ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm
    bn bo bq br bs bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv
    cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr ga gb
    gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie
    il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb
    lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms
    mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph
    pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk
    sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv
    tw tz ua ug uk um us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw xl el
    en sp""".split()
)
_SCRIPTS = frozenset("latn cyrl hans hant arab deva".split())


@lru_cache(16_384)  # as crawler.urls.MET_AGAIN
def marker_languages(token: str) -> frozenset[str]:
    """The languages that a whole token of a URL may name; empty when it names none.

    >>> sorted(marker_languages("English")), sorted(marker_languages("pt-BR"))
    (['en'], ['pt'])
    >>> sorted(marker_languages("br"))
    ['br', 'pt']
    >>> marker_languages("islands")
    frozenset()
    """
    folded = fold(token)
    found = _markers().get(folded)
    if found:
        return found
    match = _CODE_REGION.fullmatch(folded)
    if not match:
        return frozenset()
    tail = re.split("[-_]", folded)[1]
    if tail.isdigit() or tail in _REGIONS or tail in _SCRIPTS:
        language = _codes().get(match[1])
        return frozenset([language]) if language else frozenset()
    return frozenset()


def known_code(tag: str | None) -> str | None:
    """The language of a BCP 47 tag as pages write it (`pt-BR`, `zh_Hans`), or None.

    `x-default` and tags of languages that we do not know give None.
    """
    if not tag:
        return None
    primary = re.split("[-_]", tag.strip().lower(), maxsplit=1)[0]
    return _codes().get(primary) if len(primary) in (2, 3) else None


@cache
def from_cld2(code: str) -> str | None:
    """Our code of a CLD2 code; None for `un` and the codes of no language."""
    for language in all_languages().values():
        if code in language.cld2:
            return language.code
    return None


_CODE = re.compile("[a-z]{3}")


def _adopted(code: str) -> Language:
    language = Language(code, code, code, (), (), (), ())
    all_languages()[code] = language
    for known in (_codes, _markers, marker_languages):
        known.cache_clear()
    return language


def language_of(text: str) -> Language:
    """The language that a person means by a code or a name.

    Any three letters may be a code of ISO 639-3: one that is not in the table is in it
    from then on, in this process, for detectors that learn it from samples. Raises
    LanguageError, with the nearest known name, for anything else.

    >>> language_of("isl").code, language_of("Icelandic").code, language_of("nb").code
    ('is', 'is', 'no')
    """
    code = _codes().get(fold(text.strip())) or known_code(text)
    if code:
        return all_languages()[code]
    if _CODE.fullmatch(code := text.strip().lower()):
        return _adopted(code)
    near = difflib.get_close_matches(fold(text), _codes(), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise LanguageError(
        f"unknown language {text!r}{hint} (give an ISO 639-1 or 639-3 code or an"
        " English name, such as is, isl or Icelandic)"
    )
