"""The rule baseline of the WMT16 document alignment task: languages taken out of URLs.

Buck and Koehn (2016), the task's own baseline, which García-Romero et al. (2024),
section 3.1, compare with. Two URLs are a pair if they become equal when the tokens that
name their language are taken out of one or both: `news-e/` and `news-f/`, `?id=1` and
`?id=1&lang=fr`. Tokens stand between characters that are neither letters nor digits; of
a query a parameter goes whose name or value is a token. If no token of the own language
is there, parameters called `lang` and the like go, then tokens of all languages.

The tokens of English and French are the task's; those of other languages are made as
the paper says, of names and ISO 639 codes.

In: canonical or raw URLs, the source's first.  Out: 1.0 for a pair, else 0.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit

from crawler.data import Lang
from crawler.languages import all_languages, fold, language_of

# Tokens of the task's table beside names and ISO 639 codes, and its regions (`fr-ca`).
_MORE = {
    "de": "tedesco allemand",
    "en": "gb us e inglese englisch",
    "es": "esp",
    "fi": "suomeksi suominen suomija finnisch",
    "fr": "fran f",
    "it": "ital",
    "ro": "romana romlang rom",
    "so": "soma somal",
    "tr": "turkic",
}
_REGIONS = {
    "de": "de ch at li lu",
    "en": "en us uk ca bz ab in ie jm nz ph za tt gb",
    "fr": "be ca fr lu ch",
    "it": "it ch",
}
_TASK = "ar bg cs de en es fi fr it ro so tr zh".split()  # its languages
_PARAMETERS = ("lang", "clang", "language", "locale", "selectedlocale")


def _tokens(lang: Lang) -> set[str]:
    language = all_languages()[lang]
    names = {language.name, *language.other_names}
    tokens = {fold(name).replace(" ", "-") for name in names}
    tokens |= {language.code, language.iso639_3, *language.aliases}
    tokens |= set(_MORE.get(lang, "").split())
    joined = {f"{lang}-{r}" for r in _REGIONS.get(lang, lang).split()}
    return tokens | joined | {token.replace("-", "_") for token in joined}


@dataclass(frozen=True, slots=True)
class _Stripper:
    """Takes the tokens of some languages out of URLs."""

    token: re.Pattern[str]
    joined: re.Pattern[str]  # by a hyphen or an underscore, without one in it
    parameters: tuple[str, ...]  # whose value does not count

    @classmethod
    def of(cls, langs: Iterable[Lang], *, parameters: bool = False) -> _Stripper:
        """`parameters`: those called `lang` and the like go, whatever their value."""
        tokens = sorted({t for lang in langs for t in _tokens(lang)}, key=_longest)
        plain = [token for token in tokens if not re.search("[-_]", token)]
        # as the task's: letters and digits are those of ASCII
        return cls(
            _pattern(r"(?<![a-zA-Z0-9])(?:%s)(?![a-zA-Z0-9])", tokens),
            _pattern(r"[-_](?:%s)(?![a-zA-Z0-9])", plain),
            _PARAMETERS if parameters else (),
        )

    def strip(self, url: str) -> str:
        """The URL without tokens, as `http://`."""
        parts = urlsplit(url)
        path = "/".join(filter(None, map(self._segment, parts.path.split("/"))))
        path = f"/{path}" if parts.path.startswith("/") and path else path
        path = re.sub(r"/_+|_/", "/", re.sub(r"([/_-])\1+", r"\1", path))
        if parts.path.endswith("/"):
            path = path.rstrip("/") + "/"
        query = urlencode(
            [
                (name, value)
                for name, value in parse_qsl(parts.query, keep_blank_values=True)
                if not self._is_language(name.lower(), value)
            ]
        )
        return f"http://{parts.netloc}{path}" + (f"?{query}" if query else "")

    def _segment(self, segment: str) -> str:
        """A folder or name of the path, without separators that were beside a token."""
        stripped = self.token.sub("", self.joined.sub("", segment))
        if segment[:1].isalnum():
            stripped = re.sub(r"^[^a-zA-Z0-9]+", "", stripped)
        if segment[-1:].isalnum():
            stripped = re.sub(r"[^a-zA-Z0-9]+$", "", stripped)
        return stripped

    def _is_language(self, name: str, value: str) -> bool:
        return (
            name.startswith(self.parameters)
            or name.endswith(self.parameters)
            or not self.token.sub("", name)
            or (bool(value) and not self.token.sub("", value))
        )


def _longest(token: str) -> tuple[int, str]:
    return -len(token), token


def _pattern(form: str, tokens: Iterable[str]) -> re.Pattern[str]:
    return re.compile(form % "|".join(map(re.escape, tokens)), re.IGNORECASE)


class Wmt16PairRules:
    """Two URLs that are equal without the tokens of their languages are a pair.

    >>> rules = Wmt16PairRules("en", "fr")
    >>> rules.predict([("http://a.ca/news-e/x.html", "http://a.ca/news-f/x.html")])
    [1.0]
    >>> rules.predict([("http://a.ca/e/x.html", "http://a.ca/f/y.html")])
    [0.0]
    """

    def __init__(self, src: Lang = "en", trg: Lang = "fr") -> None:
        """`src` and `trg` are the languages of the first and of the second URLs."""
        self._names = src, trg

    @cached_property
    def _strippers(self) -> Sequence[Sequence[_Stripper]]:
        langs = [language_of(name).code for name in self._names]
        of = _Stripper.of
        everything = of({*_TASK, *langs}, parameters=True)
        return [(of([la]), of([la], parameters=True), everything) for la in langs]

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """1.0 for a pair, else 0.0."""
        return [float(self.is_pair(*pair)) for pair in pairs]

    def is_pair(self, src_url: str, trg_url: str) -> bool:
        """The answer of the rule."""
        if src_url == trg_url:
            return False
        one, two = self._forms(src_url, 0), self._forms(trg_url, 1)
        return not one.isdisjoint(two)

    @lru_cache(maxsize=16_384)  # noqa: B019 - a rule lives as long as an evaluation
    def _forms(self, url: str, side: int) -> frozenset[str]:
        """The URL, and the URL as the first stripper that changes it leaves it."""
        for stripper in self._strippers[side]:
            if (stripped := stripper.strip(url)) != url:
                return frozenset({url, stripped})
        return frozenset({url})
