"""What a page says of a link, before anything is fetched.

Cheap and declared: an hreflang, a language switcher's anchor, the markers in the URL.
Nobody else uses them as pair evidence (PEERS); here they are the first thing asked.
"""

from __future__ import annotations

from functools import lru_cache

from crawler.data import Lang, LangPair, Link
from crawler.languages import marker_languages
from crawler.urls import MET_AGAIN

# The anchor of a switcher is a language's name or code and nothing else.
_MAX_SWITCHER_ANCHOR = 24
_MAX_CODE = 3  # letters; many codes are words too: is, to, no, it
_DECORATION = " \t|/·•–-()[]»›▾▼✓🌐:"


@lru_cache(MET_AGAIN)
def switcher_language(anchor: str, langs: LangPair) -> Lang | None:
    """The language of the pair that an anchor text names, if it only names one.

    >>> switcher_language("Íslenska", LangPair("en", "is"))
    'is'
    >>> switcher_language("Learn Icelandic", LangPair("en", "is"))
    """
    if not 2 <= len(anchor) <= _MAX_SWITCHER_ANCHOR:
        return None
    whole = anchor.strip(_DECORATION)
    first, more, _ = whole.replace("(", " ").replace("/", " ").partition(" ")
    names = [whole]
    if more and len(first) > _MAX_CODE:  # `English version`, but not `Is it open?`
        names.append(first)
    for name in names:
        named = marker_languages(name) & set(langs)
        if len(named) == 1:
            return next(iter(named))
    return None


def declared_language(link: Link, langs: LangPair) -> Lang | None:
    """The language that the page declares for a link: its hreflang, or a switcher's.

    >>> declared_language(Link("http://a.example/x", "http://a.example/", "Íslenska"),
    ...                   LangPair("en", "is"))
    'is'
    """
    if link.hreflang:
        return link.hreflang
    return switcher_language(link.anchor, langs) if link.anchor else None


@lru_cache(MET_AGAIN)
def _prefixes(folder: str) -> tuple[str, ...]:
    parts = folder.split("/")
    return tuple("/".join(parts[: n + 1]) for n in range(min(len(parts), 4)))


def folders_of(handle: str) -> tuple[str, ...]:
    """The host and the first three folders of a handle, coarse to fine.

    >>> folders_of("example.org/5/guide/a.html")
    ('example.org', 'example.org/5', 'example.org/5/guide')
    >>> folders_of("example.org")
    ('example.org',)
    """
    path = handle.partition("?")[0]
    return _prefixes(path.rpartition("/")[0] or path)
