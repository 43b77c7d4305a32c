"""What is no sentence pair to learn from, and why.

Each filter is a line of `reason_against` with a name, a setting and a counter
`sentences/dropped/NAME`. From Uszkoreit et al. (2010), section 2.3: identical sides, a
language that is not the expected one, and less than a third of the association that a
translation has. The rest is what cleaning tools drop by rule (Bicleaner's hard rules,
ELRC's TMX filters): length ratio, numbers and marks only, untranslated fragments,
damaged encoding.

In: a SentencePair.  Out: the name of the filter that refuses it, or None.
See also: `quality` (the score), `crawler.corpus.command` (cleaning tools from outside).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rapidfuzz import fuzz

from crawler.aligner.sentences.quality import NO_TRANSLATION, begin_alike
from crawler.aligner.sentences.split import size_of
from crawler.data import Lang, LangPair, SentencePair
from crawler.languages import all_languages
from crawler.protocols import LanguageDetector
from crawler.scripts import is_in_other_letters

# UTF-8 read as Latin-1 or Windows-1252, and what could not be read at all: that sign
# may itself have been read wrongly, once more.
_MOJIBAKE = re.compile(
    "[\u00c2\u00c3\u00c5][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192"
    "\u02c6\u02dc\u2013\u2014\u2018-\u201e\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac"
    "\u2122]|\u00e2[\u0080\u20ac][\u0080-\u00bf\u2018-\u201e\u0153\u02dc\u2122\u00a6]"
    "|\ufffd|\u00ef\u00bf\u00bd|[\u00d0\u00d1][\u0080-\u00bf\u201a-\u2122]"
)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+|^[\w-]+(?:\.[\w-]+)+$")
_TRAIL = re.compile(r"\s[>›»→|·•/]\s")  # between the items of breadcrumbs and menus
_NUMBER = re.compile(r"\d{1,9}")
_BESIDE = 4  # letters beside an address that say something
_ITEM = 4  # words of a menu's item
_LONG = 40  # letters
_NAME = re.compile(r"\w[\w'’.-]*,?")
_FEW = 8  # words of a row that names are most of
_SHORT = 60  # characters: a row of which the numbers say much
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff]")


@dataclass(frozen=True, slots=True)
class FilterConfig:
    """When a sentence pair is refused; 0 switches a filter off."""

    min_letters: int = 2  # on each side: less is a mark or a number
    address: bool = True  # refuse rows of which a side is an address and nothing else
    list: bool = True  # refuse breadcrumbs and menus, three items or more on a line
    numbers: bool = True  # refuse short rows with other numbers: 28 Dec, 25 fév
    letters: bool = True  # refuse sides without a letter of their language's alphabet
    names: bool = True  # refuse two names of which no part is alike
    max_characters: int = 1000  # more is no sentence
    max_length_ratio: float = 3.0  # of sizes (a Chinese character counts as 2.2) …
    length_slack: int = 15  # … beyond so many characters: short texts vary
    min_letter_share: float = 0.35  # of what is not white space; below: numbers, marks
    min_lexical_ratio: float = NO_TRANSLATION
    identical: bool = True  # refuse pairs whose sides say the same letters
    # refuse sides that are nearly the same letters, unless each is surely in its own
    # language, as Danish beside Norwegian may be
    max_similarity: float = 0.9
    max_copied: float = 0.6  # of the words of a side that stand in the other as well
    encoding: bool = True  # refuse mojibake, control and private characters
    # CLD2 guesses on short text and on names: characters from which its word counts
    # alone, and from which it counts when it finds the language of the other side; not
    # where the words are translations of each other, as the lexicon knows them
    language: int = 80
    language_other: int = 40
    max_lexical_ratio: float = 0.5
    min_score: float = 0.9  # of `quality`: below, more than one in ten is wrong


class SentenceFilters:
    """Applies the filters to beads, and counts what it refuses.

    `counts` takes `sentences/dropped/REASON`, `sentences/unpaired` and
    `sentences/kept`.
    """

    def __init__(
        self,
        langs: LangPair,
        detector: LanguageDetector,
        config: FilterConfig | None = None,
        counts: Counter[str] | None = None,
    ) -> None:
        self.langs = langs
        self.config = config or FilterConfig()
        self.counts = Counter[str]() if counts is None else counts
        self._detector = detector

    def kept(self, beads: Iterable[SentencePair]) -> Iterator[SentencePair]:
        """The beads that are sentence pairs to learn from."""
        return (bead for bead, reason in self.judged(beads) if reason is None)

    def judged(
        self, beads: Iterable[SentencePair]
    ) -> Iterator[tuple[SentencePair, str | None]]:
        """Every bead with the filter that refuses it; None: it is kept.

        A bead without a partner is refused as `unpaired`.
        """
        for bead in beads:
            if not all(bead.bead):
                self.counts["sentences/unpaired"] += sum(bead.bead)
                yield bead, "unpaired"
                continue
            reason = self.reason_against(bead)
            name = "kept" if reason is None else f"dropped/{reason}"
            self.counts[f"sentences/{name}"] += 1
            yield bead, reason

    def reason_against(self, pair: SentencePair) -> str | None:
        """The first filter that refuses a pair; the cheap ones come first."""
        config = self.config
        sides = pair.src_text, pair.trg_text
        letters = [sum(map(str.isalpha, text)) for text in sides]
        sizes = [size_of(text) for text in sides]
        if min(letters) < config.min_letters:
            return "no_letters"
        if max(map(len, sides)) > config.max_characters > 0:
            return "too_long"
        if any(
            count < config.min_letter_share * _visible(text)
            for count, text in zip(letters, sides)
        ):
            return "few_letters"
        if config.address and any(map(_is_address, sides)):
            return "address"
        if config.list and all(map(_is_list, sides)):
            return "list"
        if config.numbers and has_other_numbers(*sides):
            return "numbers"
        if config.encoding and any(map(is_damaged, sides)):
            return "encoding"
        if (
            0
            < config.max_length_ratio
            < (max(sizes) - config.length_slack) / min(sizes)
        ):
            return "length"
        if config.identical and _is_same(*sides):
            return "identical"
        if config.letters and any(
            is_in_other_letters(text, lang, self.langs.other(lang))
            for text, lang in zip(sides, self.langs)
        ):
            return "letters"
        if config.names and pair.lexical_ratio is None and are_other_names(*sides):
            return "names"
        if 0 < config.max_copied < copied_share(*sides):
            return "untranslated"
        if 0 < config.max_similarity < similarity(*sides) and not all(
            map(self._is_surely, sides, self.langs)
        ):
            return "near_identical"
        if (
            pair.lexical_ratio is not None
            and pair.lexical_ratio < config.min_lexical_ratio
        ):
            return "lexical"
        if pair.score < config.min_score:
            return "score"
        if (pair.lexical_ratio or 0.0) < config.max_lexical_ratio and any(
            self._is_other(text, lang) for text, lang in zip(sides, self.langs)
        ):
            return "language"
        return None

    def _is_surely(self, text: str, lang: Lang) -> bool:
        found = self._detector.detect(text, hint=None)
        return found.reliable and found.lang == lang

    def _is_other(self, text: str, lang: Lang) -> bool:
        """Is a text in another language than it should be?"""
        config = self.config
        if len(text) < min(config.language, config.language_other):
            return False
        found = self._detector.detect(text, hint=lang)
        if found.lang in (None, lang) or not found.reliable:
            return False
        if not all_languages()[lang].cld2 and found.lang not in self.langs:
            return False  # CLD2 takes what it does not know for something near
        if found.lang == self.langs.other(lang):
            return len(text) >= config.language_other > 0
        return len(text) >= config.language > 0


def is_damaged(text: str) -> bool:
    """Was a text read in the wrong encoding, or is there something unreadable in it?

    >>> is_damaged("dÃ©jÃ vu"), is_damaged("brasileï¿½a"), is_damaged("déjà vu, Ã")
    (True, True, False)
    """
    if not text.isprintable() and _CONTROL.search(text):
        return True
    return not text.isascii() and bool(_MOJIBAKE.search(text))


def similarity(src: str, trg: str) -> float:
    """The share of letters that two texts have in common, in their order.

    Letters of addresses do not count. Below 40 letters nothing is said: Présentation
    is a good translation of Presentation.
    """
    ours, theirs = (
        "".join(filter(str.isalpha, _ADDRESS.sub("", text))).casefold()
        for text in (src, trg)
    )
    if min(len(ours), len(theirs)) < _LONG:
        return 0.0
    return float(fuzz.ratio(ours, theirs)) / 100


def _is_list(text: str) -> bool:
    items = _TRAIL.split(text)
    return len(items) > 2 and max(len(item.split()) for item in items) <= _ITEM


def _is_address(text: str) -> bool:
    rest, count = _ADDRESS.subn("", text.strip())
    return bool(count) and sum(map(str.isalpha, rest)) < _BESIDE


def has_other_numbers(src: str, trg: str) -> bool:
    """Has each side of a short row numbers of its own, half of all or more?

    A year of the Thai calendar is the same as ours.

    >>> has_other_numbers("Course, 12/13.04.2021", "Cours, 26/27.04.2021")
    True
    >>> has_other_numbers("4 May 2021, 1,200 m", "1 200 m, 4 พฤษภาคม 2564")
    False
    """
    if max(len(src), len(trg)) > _SHORT:
        return False
    ours, theirs = (
        {n - 543 if 2400 < n < 2700 else n for n in map(int, _NUMBER.findall(text))}
        for text in (src, trg)
    )
    others = len(ours ^ theirs)
    return bool(ours - theirs and theirs - ours) and 2 * others >= len(ours | theirs)


def are_other_names(src: str, trg: str) -> bool:
    """Are there names on both sides, and none of them alike?

    Names are two words and more in a row that are written as names are: all of a short
    row, or in a row without a verb's worth of words what follows the first word.

    >>> are_other_names("Photo: Jane Roe, Paris.", "Photo : Max Moe, Paris")
    True
    >>> are_other_names("Photo by Jane Roe", "Une photo de Jane Roe")
    False
    """
    sides = src.split(), trg.split()
    if not all(1 < len(side) <= _FEW for side in sides):
        return False
    names = [_names(side) for side in sides]
    return all(names) and not begin_alike(*map(" ".join, names))


def _names(words: list[str]) -> list[str]:
    named = [bool(_NAME.fullmatch(w)) and w.rstrip(",.").istitle() for w in words]
    if len(words) <= 4 and all(named):
        return words
    found = []
    for start in range(1, len(words) - 1):
        if named[start] and named[start + 1] and words[start][-1] not in ",.":
            found += words[start : start + 2]
    return found


def copied_share(src: str, trg: str) -> float:
    """The share of words that stand on both sides, of the side that has fewer of them.

    Names stay what they are in a translation: words with a capital do not count, nor
    do numbers and single letters. Below four words nothing is said.

    >>> copied_share("click on the save button", "klicken auf the save button")
    0.6
    """
    ours, theirs = (
        {word for word in text.split() if len(word) > 1 and word.islower()}
        for text in (src, trg)
    )
    if min(len(ours), len(theirs)) < 4:
        return 0.0
    return len(ours & theirs) / min(len(ours), len(theirs))


def _visible(text: str) -> int:
    """Characters but white space and the marks that letters of many scripts carry."""
    count = len(text) - text.count(" ")
    if text.isascii() or sum(map(str.isalnum, text)) > count // 2:
        return count
    return count - sum(unicodedata.category(c)[0] == "M" for c in text)


def _is_same(src: str, trg: str) -> bool:
    """Do two texts have the same letters?"""
    if src == trg:
        return True
    ours, theirs = ("".join(filter(str.isalpha, text)) for text in (src, trg))
    return ours.casefold() == theirs.casefold()
