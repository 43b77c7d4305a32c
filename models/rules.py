"""The papers' baselines: language and translation from URLs by rule, without weights.

García-Romero et al. (2024), section 2.1 (language: the components of a URL against ISO
codes, in a fixed order) and section 3.1 (pairs: the WMT16 marker stripper for all
languages). They are the floor that every learned model is compared with, and what a
crawl uses where no weights are installed. A rule answers yes or no; its probabilities
are the shares of its answers that were right, so that those of two models multiply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from urllib.parse import unquote

from crawler.data import Lang
from crawler.handles import Handle, handle_of, stripped_forms
from crawler.languages import all_languages
from crawler.urls import host_labels, split

UNKNOWN = "unk"

# Share of the rule's answers that were right, per place: train split of the URL data,
# at most 100 rows per host and language. A suffix is a country before it is a language.
_RIGHT = {"query": 0.78, "dir": 0.98, "suffix": 0.60, "host": 0.96}


@cache
def _iso_codes() -> dict[str, Lang]:
    """ISO 639-1 and both kinds of 639-2/3 codes → our code; the first language wins."""
    codes: dict[str, Lang] = {}
    for language in all_languages().values():
        for code in (language.code, language.iso639_3, *language.aliases):
            codes.setdefault(code, language.code)
    codes.update({code: code for code in all_languages()})
    return codes


class UrlLanguageRules:
    """The language that a URL writes out, looked for in the paper's order of places.

    Parameter values, directory names, public suffix, subdomain: each is compared with
    the ISO 639 codes as a whole, and the first that equals one decides.

    >>> rules = UrlLanguageRules()
    >>> rules.find("https://example.org/is/about?hl=fr")
    ('fr', 'query')
    >>> rules.predict(["https://example.org/about"])
    [{'unk': 1.0}]
    """

    def predict(self, urls: Sequence[str]) -> list[Mapping[Lang, float]]:
        """The rule's language with the probability that it is right, the rest `unk`."""
        return [self._probabilities(url) for url in urls]

    def _probabilities(self, url: str) -> Mapping[Lang, float]:
        found = self.find(url)
        if found is None:
            return {UNKNOWN: 1.0}
        lang, place = found
        return {lang: _RIGHT[place], UNKNOWN: 1.0 - _RIGHT[place]}

    def find(self, url: str) -> tuple[Lang, str] | None:
        """The language that the URL writes out and its place, or None."""
        codes = _iso_codes()
        for token, place in _components(url):
            lang = codes.get(token)
            if lang:
                return lang, place
        return None


def _components(url: str) -> Iterator[tuple[str, str]]:
    parts = split(url)
    for parameter in parts.query.split("&") if parts.query else ():
        yield unquote(parameter.partition("=")[2]).lower(), "query"
    for segment in parts.path.split("/"):
        if segment:
            yield unquote(segment).lower(), "dir"
    labels, _, suffix = host_labels(parts.host)
    yield suffix, "suffix"
    for label in labels:
        yield label, "host"


# Shares of the pairs of each kind that are translations. Of the known URLs of the train
# sites at least 0.71 and 0.63 of the first two kinds are in one translation group, and
# the lists are not complete; the last is that of translated slugs at 13 negatives to 1.
_OTHER_LANGUAGE = 0.90
_DEFAULT_LANGUAGE = 0.80
_SAME_FORM = 0.50
_NO_RULE = 0.01


class UrlPairRules:
    """Two URLs that differ in nothing but their markers are a pair.

    >>> rules = UrlPairRules()
    >>> a = "https://example.org/en/about"
    >>> rules.predict([(a, "https://example.org/is/about"), (a, a)])
    [0.9, 0.0]
    >>> rules.is_pair(a, "https://example.org/en/news")
    False
    """

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the share of pairs of its kind that are translations."""
        return [_pair_probability(a, b) for a, b in pairs]

    def is_pair(self, url_a: str, url_b: str) -> bool:
        """The yes or no of the WMT16 baseline."""
        return url_a != url_b and not _forms(url_a).isdisjoint(_forms(url_b))


@lru_cache(maxsize=16_384)
def _forms(url: str) -> frozenset[str]:
    return stripped_forms(url)


@lru_cache(maxsize=65_536)
def _handle(url: str) -> Handle:
    return handle_of(url)


def _pair_probability(url_a: str, url_b: str) -> float:
    if url_a == url_b:
        return 0.0
    a, b = _handle(url_a), _handle(url_b)
    if a.text == b.text:
        if a.languages and b.languages and a.languages.isdisjoint(b.languages):
            return _OTHER_LANGUAGE
        if bool(a.markers) != bool(b.markers):
            return _DEFAULT_LANGUAGE
    return _NO_RULE if _forms(url_a).isdisjoint(_forms(url_b)) else _SAME_FORM
