"""Language and translation from URLs by rule, without weights.

`UrlLanguageRules` is the baseline of García-Romero et al. (2024), section 2.1.
`UrlPairRules` joins URLs that differ in markers of any languages; the baseline of the
WMT16 task, which knows the two languages of its pairs, is `models.wmt16_rules`. A crawl
uses the rules where no weights are installed. A rule answers yes or no; its
probabilities are the shares of its answers that were right, so that those of two models
multiply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from urllib.parse import unquote

from crawler.data import Lang
from crawler.handles import Handle, handle_of, stripped_forms
from crawler.languages import known_code
from crawler.urls import host_labels, split

UNKNOWN = "unk"

# Share of the rule's answers that were right, per place: train split of the URL data,
# at most 100 rows per host and language. A suffix is a country before it is a language.
_RIGHT = {"query": 0.78, "dir": 0.98, "suffix": 0.78, "host": 0.99}

# The outputs of url2lang, the paper's model, in its order: 161 languages and `unk`.
URL2LANG_LABELS = """
    unk eng deu rus fra zho spa jpn ita nld pol por ces vie tur ind swe ara fas
    kor hun ell ron dan fin tha slk nor ukr bul cat srp hrv slv lit hin est heb
    lat ben lav msa bos sqi tam glg isl aze kat mkd eus hye nep urd mon mal kaz
    mar tel nno bel uzb guj kan mya khm cym epo tgl sin afr tat swa gle pan kur
    kir tgk mlt fao ori lao som ltz oci amh fry bak pus san bre mlg hau tuk war
    asm cos div jav ceb kin hat zul gla bod xho yid snd mri uig roh sun kal yor
    tir abk bih haw hmn ina que grn ibo nya sco sna sot smo vol glv orm ile syr
    aar dzo iku kha lin lug mfe aka aym bis chr crs fij ipk nso run sag ssw ton
    tsn wol zha got kas lif nau sux tso ven
""".split()


@cache
def _iso_codes() -> dict[str, Lang]:
    """The ISO 639-1 and -3 codes of url2lang's languages → our code."""
    codes: dict[str, Lang] = {}
    for label in URL2LANG_LABELS[1:]:
        lang = known_code(label) or label
        codes.setdefault(label, lang)
        if len(lang) == 2:
            codes.setdefault(lang, lang)
    return codes


class UrlLanguageRules:
    """The language that a URL writes out: the paper's baseline, with its 161 languages.

    Parameter values, directory names, public suffix, subdomain, in this order: each is
    compared with the ISO 639 codes as a whole, and the first that equals one decides.

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
    yield ".".join(labels), "host"


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
        """True if markers are all that two URLs differ in."""
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
