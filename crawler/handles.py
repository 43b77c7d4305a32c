"""URL handles: a URL without the parts that name its language.

Two pages of one handle in two languages are most likely translations: the oldest rule
of the field, used here by the frontier (is the other half of this page known?), by the
aligner (`candidates/handles.py`) and by the rule baseline (`models/rules.py`).

A marker is a whole host label, path segment or query value, or the first or last part
of a page's name: the token-bounded form of the WMT16 baseline (García-Romero 2024,
section 3.1), for all languages, at the places where sites write a language
(`handle_of`). The baseline itself takes tokens out wherever they stand, and tries every
choice of them (`stripped_forms`). Older, and coarser, is the subtraction of substrings,
tokens or not (`without_substrings`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

import msgspec

from crawler.languages import language_of, marker_languages
from crawler.urls import MET_AGAIN, host_labels, split


@dataclass(frozen=True, slots=True)
class Marker:
    """A token of a URL that names a language, and where it stands."""

    place: str  # host, dir, file or query
    token: str  # lower case
    languages: frozenset[str]


class Handle(msgspec.Struct, frozen=True):
    """A URL without its markers, and the markers that were taken out."""

    text: str
    markers: tuple[Marker, ...]

    @property
    def languages(self) -> frozenset[str]:
        """The languages that the markers agree on; of all, if they do not agree."""
        if not self.markers:
            return frozenset()
        sets = [marker.languages for marker in self.markers]
        return frozenset.intersection(*sets) or frozenset.union(*sets)

    @property
    def scheme(self) -> str:
        """How this URL says its language: `dir:is`, `host:fr`, `file:eng`, or ``."""
        return "+".join(f"{m.place}:{m.token}" for m in self.markers)


# Query parameters whose value is the language (WMT16 baseline, and what CMSs use).
_LANGUAGE_PARAMETERS = frozenset(
    """lang language locale hl l lng lc lg idioma langue sprache taal clang
    selectedlocale langid setlang uselang ln""".split()
)
# The page that a directory answers with: `/en/` and `/is/index.html` are one handle.
_INDEX = re.compile(r"(?<=/)(?:index|default|home|main)\.(?:x?html?|php|aspx?|jsp)$")
_ENDINGS = ("html", "htm", "php", "asp", "aspx", "jsp")
_FILE_PARTS = re.compile(r"([._-]+|_{2,})")
_LONGEST = 40  # characters of a marker in ASCII; the names of languages are shorter
_MAX_MARKERS = 4  # a page that lists languages in its path is no version of a page


def handle_of(url: str, languages: Collection[str] | None = None) -> Handle:
    """The handle of a canonical URL.

    With `languages` only their markers are taken out, so that `/de/x` and `/x` keep
    different handles in a crawl for English and Icelandic.

    >>> handle_of("https://www.example.org/is/frettir.html").text
    'example.org/frettir.html'
    >>> handle_of("http://fr.example.org/a/b_eng.html?lang=fr").scheme
    'host:fr+file:eng+query:fr'
    >>> handle_of("https://example.org/islands/english-lessons-for-all").scheme
    ''
    """
    parts = split(url)
    path = unquote(parts.path) if "%" in parts.path else parts.path
    # The last segment is the page's name, be it `blog-de.html` or `blog-de/`.
    folders, _, name = path.rstrip("/").rpartition("/")
    wanted = None if languages is None else frozenset(languages)
    before, found = _folder_of(parts.host, folders, wanted)
    take = _Take([*found], wanted)
    if name and not take("dir", name):
        before += _strip_name(name, take).lower()
    text = before.rstrip("/")
    # `/a`, `/a/` and `/a/index.html` are one page on nearly every server
    if text.endswith(_ENDINGS):
        text = _INDEX.sub("", text).rstrip("/")
    query = _strip_query(parts.query, take) if parts.query else ""
    return Handle(f"{text}?{query}" if query else text, tuple(take.markers))


class _Take:
    """Takes tokens out that are markers, of these languages if any are named."""

    __slots__ = ("languages", "markers")

    def __init__(self, markers: list[Marker], languages: frozenset[str] | None) -> None:
        self.markers = markers
        self.languages = languages

    def __call__(self, place: str, token: str) -> bool:
        if len(token) < 2 or len(self.markers) >= _MAX_MARKERS:
            return False
        if len(token) > _LONGEST and token.isascii():  # most names of pages
            return False
        found = marker_languages(token)
        if not found:
            return False
        if self.languages is not None and self.languages.isdisjoint(found):
            return False
        self.markers.append(Marker(place, token.lower(), found))
        return True


@lru_cache(MET_AGAIN)
def _folder_of(
    host: str, folders: str, languages: frozenset[str] | None
) -> tuple[str, tuple[Marker, ...]]:
    """Host and folders of a handle, which many pages share, with their markers."""
    take = _Take([], languages)
    host = _strip_host(host, take)
    kept = [name for name in folders.split("/") if name and not take("dir", name)]
    return "/".join([host, *kept, ""]).lower(), tuple(take.markers)


def _strip_host(host: str, take: _Take) -> str:
    labels, domain, suffix = host_labels(host)
    kept = [
        label
        for label in labels
        if not re.fullmatch(r"www\d?", label) and not take("host", label)
    ]
    return ".".join([*kept, domain, suffix] if suffix else [*kept, domain])


def _strip_name(name: str, take: _Take) -> str:
    """A file name without a marker at its start or end; the extension stays."""
    pieces = _FILE_PARTS.split(name)  # part, separator, part, …
    if len(pieces) == 1:
        return name
    # index.html.fr: Apache names its language variants so
    if take("file", pieces[-1]):
        return "".join(pieces[:-2])
    stem_end = len(pieces)
    if len(pieces) > 3 and "." in pieces[-2]:
        stem_end -= 2
    stem, extension = pieces[:stem_end], "".join(pieces[stem_end:])
    if len(stem) == 1:
        return name
    if len(stem) >= 5 and take("file", f"{stem[-3]}-{stem[-1]}"):  # page.pt-br.html
        return "".join(stem[:-4]) + extension
    if take("file", stem[-1]):
        return "".join(stem[:-2]) + extension
    # At the start only where it cannot be the first word of a title.
    if (len(stem) == 3 or "-" not in stem[1]) and take("file", stem[0]):
        return "".join(stem[2:]) + extension
    return name


def _strip_query(query: str, take: _Take) -> str:
    if not query:
        return ""
    kept = []
    for parameter in query.split("&"):
        key, _, value = parameter.partition("=")
        if key.lower() in _LANGUAGE_PARAMETERS and take("query", unquote(value)):
            continue
        kept.append(parameter)
    return "&".join(kept)


_TOKEN = re.compile(r"[^\W_]+")
_MAX_FORMS = 64  # 2 to the number of markers; a URL that lists languages is cut off


def stripped_forms(url: str) -> frozenset[str]:
    """Every string that a URL becomes by taking out none, some or all of its markers.

    The baseline of the WMT16 document alignment task as García-Romero et al. (2024),
    section 3.1, extend it: a marker is a token between non-alphanumerics anywhere in
    the URL, case does not count, and two URLs are a pair when removing one or more
    markers makes them equal. `handle_of` is stricter, and faster.

    >>> sorted(stripped_forms("http://example.org/is/about-en.html"))
    ... # doctest: +NORMALIZE_WHITESPACE
    ['example.org/about-en.html', 'example.org/about.html',
     'example.org/is/about-en.html', 'example.org/is/about.html']
    """
    text = url.split("://", 1)[-1].lower().removeprefix("www.").rstrip("/")
    text = unquote(text) if "%" in text else text
    tokens = [match.span() for match in _TOKEN.finditer(text)]
    starts = dict(_marker_spans(text, tokens))
    forms = {text}
    for start in sorted(starts, reverse=True):  # later ones first: offsets stay true
        for form in sorted(forms):
            if len(forms) >= _MAX_FORMS:
                return frozenset(forms)
            forms.add(_without(form, start, starts[start]))
    return frozenset(forms)


def _marker_spans(
    text: str, tokens: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Where the markers are; `pt-br` is one, `en` and `us` of `en-us` are not two."""
    i = 0
    while i < len(tokens):
        start, end = tokens[i]
        if i + 1 < len(tokens):
            gap, joined_end = text[end : tokens[i + 1][0]], tokens[i + 1][1]
            if gap in ("-", "_") and marker_languages(text[start:joined_end]):
                yield start, joined_end
                i += 2
                continue
        if end - start >= 2 and marker_languages(text[start:end]):
            yield start, end
        i += 1


def _without(text: str, start: int, end: int) -> str:
    """The text without a span and without the separator that it leaves doubled."""
    head, tail = text[:start], text[end:]
    if head and tail:
        # Of `/en-`, `_en.` and `.en/` the slash, else the later separator, stays.
        if head[-1] == "/" and not tail[0].isalnum():
            return head + tail[1:]
        if not head[-1].isalnum():
            return head[:-1] + tail
    return (head + tail).strip("/._-?&=")


# Resnik & Smith (2003), section 4.3: what their list for English and Arabic has besides
# the names and codes of the languages.
_CHARACTER_SETS = """
    1256 437 864 8859-1 8859-6 cp1256 cp437 cp864 iso iso-8859-1 iso-8859-6
    latin latin-1 latin1""".split()
_OTHERS = {"en": "gb uk us usa".split(), "ar": ["arab"]}


def language_substrings(languages: Collection[str]) -> frozenset[str]:
    """Language-specific substrings, as Resnik & Smith (2003), section 4.3, list them.

    >>> " ".join(sorted(language_substrings(["en", "ar"]) - set(_CHARACTER_SETS)))
    'a ar ara arab arabic e en eng english gb uk us usa'
    """
    found = set(_CHARACTER_SETS)
    for name in languages:
        language = language_of(name)
        found.update((language.code[0], language.code, language.iso639_3))
        found.update(language.name.lower().split(), _OTHERS.get(language.code, ()))
    return frozenset(found)


def without_substrings(url: str, substrings: Collection[str]) -> str:
    """The handle of Resnik & Smith (2003): every substring is subtracted.

    Wherever it stands, whatever its case, the longest of those that match first. Pages
    that have nothing to do with each other may get one handle, so they must look alike
    besides.

    >>> site, both = "http://saudifrenchbank.com.sa", language_substrings(["en", "ar"])
    >>> without_substrings(f"{site}/English/English.htm", both)
    'sudifrchbnk.com.s//.htm'
    >>> without_substrings(f"{site}/Arabic/arabic.htm", both)
    'sudifrchbnk.com.s//.htm'
    """
    return _alternatives(frozenset(substrings)).sub("", url.split("://", 1)[-1])


@lru_cache(maxsize=64)
def _alternatives(substrings: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(substrings, key=lambda s: (-len(s), s))
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
