"""The pairs of languages that a run is for: two languages, all of several, a pivot.

    en,is               one pair
    en,fi,sv            every combination: en-fi, en-sv, fi-sv
    en:de,fr,it         a pivot with each of the others: en-de, en-fr, en-it
    en:fi;sv:fi         any pairs, as `pairs=en-fi,sv-fi` gives them
    en,*                one language with each that a site may have, as en:* does
    any                 every combination of all languages that a site may have

This is the only place that reads them, for the crawl and for every verb.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Self

from crawler.data import Lang, LangPair
from crawler.errors import LanguageError
from crawler.languages import all_languages, language_of

_ANY = ("*", "any")  # whatever a site has


@dataclass(frozen=True)
class WantedPairs:
    """The pairs of a run, in the order in which they were named; at least one.

    >>> wanted = WantedPairs.parse("en:Finnish,sv")
    >>> [str(pair) for pair in wanted.pairs], list(wanted), str(wanted)
    (['en,fi', 'en,sv'], ['en', 'fi', 'sv'], 'en:fi,sv')
    """

    pairs: tuple[LangPair, ...]

    @classmethod
    def parse(cls, langs: str, pairs: str = "", any_of: str = "") -> Self:
        """Read what a user writes, see above; raise LanguageError.

        `any_of`: the languages that `*` and `any` stand for, with commas between (""
        stands for all that CLD2 knows).
        """
        if langs and pairs:
            raise LanguageError(
                f"both langs={langs} and pairs={pairs} are given (leave one out)"
            )
        if pairs:
            found = [_pair(text, pairs) for text in _names(pairs)]
        elif is_open(langs):
            found = list(_open(langs, any_of))
        elif ":" in langs:
            found = [pair for part in langs.split(";") for pair in _pivot(part, langs)]
        else:
            found = list(_combinations(langs))
        if not found:
            raise LanguageError(f"{pairs!r} names no pair (write pairs=en-fi,sv-fi)")
        if len({frozenset(pair) for pair in found}) < len(found):
            raise LanguageError(
                f"{langs or pairs!r} names a pair twice (name different ones)"
            )
        return cls(tuple(found))

    @property
    def only(self) -> LangPair | None:
        """The pair, if there is just one."""
        return self.pairs[0] if len(self.pairs) == 1 else None

    def partners(self, lang: Lang | None) -> list[Lang]:
        """The languages that a language is to be paired with; empty for one outside."""
        return list(self._others.get(lang, ())) if lang else []

    @cached_property
    def _others(self) -> Mapping[Lang, Mapping[Lang, LangPair]]:
        """Each language, those that it is to be paired with, and the pair."""
        others: dict[Lang, dict[Lang, LangPair]] = {}
        for pair in self.pairs:
            for lang in pair:
                others.setdefault(lang, {})[pair.other(lang)] = pair
        return others

    def of(self, langs: Collection[Lang]) -> list[LangPair]:
        """The pairs of which both languages are among these, in their order."""
        found = {
            pair: None
            for lang in sorted(langs)
            for other, pair in self._others.get(lang, {}).items()
            if other in langs
        }
        return sorted(found, key=self.place)

    def place(self, pair: LangPair) -> int:
        """The number of a pair, from 0."""
        return self._places[pair]

    @cached_property
    def _places(self) -> Mapping[LangPair, int]:
        return {pair: place for place, pair in enumerate(self.pairs)}

    def same_as(self, other: WantedPairs) -> bool:
        """Whether these are the same pairs, in whatever order."""
        ours, theirs = ({*map(frozenset, w.pairs)} for w in (self, other))
        return ours == theirs

    def among(self, langs: Collection[Lang]) -> bool:
        """Whether both languages of some pair are among these."""
        return bool(self.of(langs))

    def weights(self, text: str) -> Mapping[LangPair, float]:
        """What a pair counts (`en-fi=3`, with commas between several), 1 by default.

        Raises LanguageError for a pair that is not wanted or a weight below 0.

        >>> WantedPairs.parse("en:fi,sv").weights("fi-en=3").values()
        dict_values([3.0, 1.0])
        """
        weights = dict.fromkeys(self.pairs, 1.0)
        for item in _names(text):
            name, _, value = item.partition("=")
            ends = frozenset(_pair(name, text))
            pair = next((pair for pair in self.pairs if ends == {*pair}), None)
            if pair is None or not re.fullmatch(r"\d+(\.\d+)?", value.strip()):
                raise LanguageError(
                    f"{item!r} is not a valid weight (write a wanted pair and a number:"
                    f" {'-'.join(self.pairs[0])}=3)"
                )
            weights[pair] = float(value)
        return weights

    def __contains__(self, lang: object) -> bool:
        return lang in self._others

    def __iter__(self) -> Iterator[Lang]:
        return iter(self._others)

    def __str__(self) -> str:
        langs = tuple(self)
        pivot, *others = langs
        if self.pairs == tuple(LangPair(*two) for two in combinations(langs, 2)):
            return ",".join(langs)
        if self.pairs == tuple(LangPair(pivot, lang) for lang in others):
            return f"{pivot}:{','.join(others)}"
        return ";".join(f"{pair.src}:{pair.trg}" for pair in self.pairs)


def is_open(langs: str) -> bool:
    """Whether these are languages of which some are not named: `en,*` or `any`."""
    return any(name.strip() in _ANY for name in re.split("[,;:]", langs))


def spelled(langs: str, pairs: str = "") -> str:
    """Languages in the short form that `parse` reads, `*` left as it is.

    Raises LanguageError as `parse` does.

    >>> spelled("English,Finnish,sv"), spelled("en,*"), spelled("", "fi-sv")
    ('en,fi,sv', 'en,*', 'fi,sv')
    """
    wanted = WantedPairs.parse(langs, pairs)
    return langs if is_open(langs) else str(wanted)


def _open(text: str, any_of: str) -> Iterator[LangPair]:
    """The pairs of languages that are not all named."""
    known = [code for code, row in all_languages().items() if row.cld2]
    allowed = list(dict.fromkeys(map(_lang, _names(any_of)))) or known
    names = [name.strip() for name in _names(text.replace(":", ","))]
    named = [_lang(name) for name in names if name not in _ANY]
    if len(named) > 1 or len(names) > 2:
        raise LanguageError(
            f"{text!r}: `*` stands with one language at most (write langs=en,* or any;"
            " ANY_LANGUAGES limits which)"
        )
    for one, two in product(named, allowed) if named else combinations(allowed, 2):
        if one != two:
            yield LangPair(one, two)


def _names(text: str) -> list[str]:
    return [name for name in text.replace(";", ",").split(",") if name.strip()]


def _lang(name: str) -> Lang:
    return language_of(name).code


def _combinations(text: str) -> Iterator[LangPair]:
    names = _names(text)
    langs = [_lang(name) for name in names] if len(names) > 1 else []
    if len(langs) <= 2:
        yield LangPair.parse(text)
        return
    if len(set(langs)) < len(langs):
        raise LanguageError(f"{text!r} names a language twice (name different ones)")
    for src, trg in combinations(langs, 2):
        yield LangPair(src, trg)


def _pivot(part: str, text: str) -> Iterator[LangPair]:
    pivot, _, others = part.partition(":")
    names = _names(others)
    if not pivot.strip() or not names or ":" in others:
        raise LanguageError(
            f"{text!r} is not a pivot with other languages (write langs=en:de,fr,it)"
        )
    for name in names:
        yield _two(pivot, name, text)


def _pair(name: str, text: str) -> LangPair:
    src, dash, trg = name.partition("-")
    if not dash or not src.strip() or not trg.strip():
        raise LanguageError(
            f"{name.strip()!r} is not a pair of languages (write pairs=en-fi,sv-fi)"
        )
    return _two(src, trg, text)


def _two(src: str, trg: str, text: str) -> LangPair:
    pair = LangPair(_lang(src), _lang(trg))
    if pair.src == pair.trg:
        raise LanguageError(
            f"both languages of a pair in {text!r} are {pair.src!r} (name two"
            " different ones)"
        )
    return pair
