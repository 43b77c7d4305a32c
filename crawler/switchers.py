"""What a page declares of its other language versions: by hreflang or a language menu.

The frontier asks it of each link, the aligner of a whole page, and both must come to
the same result: a link that is followed as the Icelandic version of a page is evidence
that the two pages are a pair.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from crawler.data import Lang, Link
from crawler.languages import fold, marker_languages
from crawler.urls import MET_AGAIN

# A longer anchor is a sentence, not an entry of a language menu.
_MAX_ANCHOR = 40
# More words than in "Icelandic version of this page" name no language alone.
_MAX_WORDS = 5
# Shorter names of languages are words too ("is", "to", "no"): alone they count, beside
# other words they do not.
_MIN_NAME = 4
# What may stand beside the name of a language: prepositions ("in English", "auf
# Deutsch", "på svenska") and words for a version of a page.
_BESIDE = frozenset(
    """a auf dans de del der des die do du el em en het i im in into ins keeles la le na
    nach naar no nyelven op pa para po pour sur the this to vers version versie versio
    versione versjon verzia verze verzija wersja versao versioon versiunea i pre hos
    site website sito sitio web page pagina pagine seite sivu side sida stranica strona
    stranka language lang langue lingua idioma sprache read view switch change see
    please uk us gb int international""".split()
)
_EMOJI_STYLE = "\ufe0f"  # follows a symbol that is to be drawn in colour
# URLs that a page may declare as versions in one language; a page has one, or a few
# copies of it.
MAX_DECLARED = 8
# Rows that are read of a list of documents; a longer list has mostly several pages.
MAX_LISTED = 200


@lru_cache(MET_AGAIN)
def switcher_languages(anchor: str) -> frozenset[Lang]:
    """The languages that an anchor text names, if it names one and says little else.

    A set, since a code may stand for several languages (`br`: Breton, Brazilian
    Portuguese); empty if the anchor is not that of a language switcher.

    >>> sorted(switcher_languages("🌐 Íslenska ▾"))
    ['is']
    >>> sorted(switcher_languages("Icelandic (Íslenska)"))
    ['is']
    >>> switcher_languages("Learn Icelandic"), switcher_languages("EN / IS")
    (frozenset(), frozenset())
    """
    if not 2 <= len(anchor) <= _MAX_ANCHOR:
        return frozenset()
    words = _words(anchor)
    if whole := marker_languages(" ".join(words)):
        return whole
    if not 2 <= len(words) <= _MAX_WORDS:
        return frozenset()
    named = [
        languages
        for word in words
        if len(word) >= _MIN_NAME and (languages := marker_languages(word))
    ]
    if not named:
        return frozenset()
    common = frozenset.intersection(*named)
    others = [
        word
        for word in words
        if marker_languages(word).isdisjoint(common) and fold(word) not in _BESIDE
    ]
    return frozenset() if others else common


def _words(anchor: str) -> list[str]:
    """The words of an anchor, without flags, arrows and brackets around them."""
    return "".join(
        c if c in "-_" or unicodedata.category(c)[0] in "LMN" else " "
        for c in anchor.replace(_EMOJI_STYLE, "")
    ).split()


def declared_language(link: Link, langs: Collection[Lang]) -> Lang | None:
    """The language that a page declares for a link: its hreflang, or a switcher's.

    `langs` decides between the languages that an ambiguous code may stand for; an
    hreflang may name a language outside of them.

    >>> declared_language(Link("http://a.example/x", "http://a.example/", "Íslenska"),
    ...                   ["en", "is"])
    'is'
    """
    if link.hreflang:
        return link.hreflang
    named = switcher_languages(link.anchor) if link.anchor else ()
    found = [lang for lang in langs if lang in named]
    return found[0] if len(found) == 1 else None


def declared_versions(
    links: Sequence[Link], lang: Lang, langs: Collection[Lang]
) -> tuple[str, ...]:
    """The URLs that a page with these links declares its own version in `lang`.

    A page that declares some by hreflang means those; else its language menu counts.
    """
    found = [link.url for link in links if link.hreflang == lang]
    if not found:
        found = [link.url for link in links if declared_language(link, langs) == lang]
    return tuple(dict.fromkeys(found))[:MAX_DECLARED]


def versions_of_others(
    links: Sequence[Link], url: str, langs: Collection[Lang]
) -> list[dict[Lang, str]]:
    """The versions of other pages that the page `url` lists: of each its URLs.

    The page is a parent page (Resnik & Smith 2003, section 2.1.1): several groups of
    links in a row that each name a language, as in "Budget: English, Íslenska. Report:
    English, Íslenska". One group alone is the page's own language menu, as is one that
    leads to the page itself.

    >>> names = ["Budget", "English", "Íslenska", "Report", "English", "Íslenska"]
    >>> links = [Link(f"http://a.example/{n}", None, x) for n, x in enumerate(names)]
    >>> versions_of_others(links, "http://a.example/", ["en", "is"])[1]
    {'en': 'http://a.example/4', 'is': 'http://a.example/5'}
    """
    found: dict[tuple[str, ...], dict[Lang, str]] = {}
    for group in _groups(links, langs):
        urls = tuple(group.values())
        if len({*urls}) == len(urls) > 1 and url not in urls:
            found.setdefault(urls, group)
        if len(found) == MAX_LISTED:
            break
    return list(found.values()) if len(found) > 1 else []


def _groups(
    links: Sequence[Link], langs: Collection[Lang]
) -> Iterator[dict[Lang, str]]:
    """Links in a row that name different languages; of each, those in `langs`."""
    named: set[object] = set()
    group: dict[Lang, str] = {}
    for link in links:
        if link.rel is not None:
            continue
        name = link.hreflang or (link.anchor and switcher_languages(link.anchor))
        if not name or name in named:
            yield group
            named, group = set(), {}
        if name:
            named.add(name)
            lang = declared_language(link, langs)
            if lang is not None and lang in langs:
                group[lang] = link.url
    yield group
