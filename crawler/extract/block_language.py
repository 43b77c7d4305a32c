"""The languages of the blocks of a page that is not all in one.

A detector is asked for each block that is long enough, and for short ones in a row as
one. The most likely sequence of languages then follows by dynamic programming, with a
price for each change (Viterbi 1967): a short block is in the language of its
neighbours, which in a table are those of its column, unless its words are those of
blocks in another language that are certain. A `lang` attribute is weak evidence.

In: a linearized page and the languages that were found in it.  Out: its parts by
language.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

from crawler.data import Lang
from crawler.extract.linearize import CHUNK, Linearized
from crawler.extract.page_language import is_close
from crawler.extract.tags import VOID
from crawler.extract.text import CODE, BlockRun, block_runs
from crawler.languages import known_code
from crawler.protocols import LanguageDetector
from crawler.scripts import letters_of

# Characters from which on a block is asked for alone.
_LONG = 60
# Short blocks in a row are asked for as one, up to so many characters: a menu, a list.
_ROW = 200
# In nats. Fitted on pages made of pairs of eight recorded sites; half and twice of each
# lose less than a point of the blocks that are right.
_CHANGE = 3.0  # what a change of language costs,
_CHANGE_OF_PART = 2.0  # and where a list, or what surrounds the page, begins or ends
_CERTAIN = 8.0  # what a detector's word is worth at most,
_PER_NAT = 15  # and the characters of a text for each of them
_LETTERS_PER_NAT = 2  # letters of a script in which only some of the languages are
_CHANGE_DECLARED = 0.5  # and where a `lang` attribute tells of one
_DECLARED = 2.0  # what that is worth as evidence: nobody sees it, so many are wrong
_UNRELIABLE = 0.2  # how much of what a detector calls unreliable counts
_KNOWN = 2.0  # with more, a block's words are examples of its language; with less
_TRUST = 0.5  # they are compared: so much counts of their odds, as they are not
_LEAST = -4.0  # independent, and of each not less than this
_SMOOTH = 100  # words of the whole page for those of each language (Dirichlet)
_MAX_WORDS = 50  # of a block
_REMEMBERED = 4096  # texts of at most two rows: 4 MB
_WORD = re.compile(r"[^\W\d_]{2,}")

Evidence = dict[Lang, float]  # nats


@dataclass(slots=True)
class _Unit:
    """Blocks in one language: one that is long, or short ones in a row."""

    runs: list[BlockRun]
    texts: list[str]
    size: int
    declared: Lang | None


@dataclass(slots=True)
class LanguagePart:
    """A page as one of its languages has it: chunks in another one are empty.

    Code and what has no words is in no language, and so in every part.
    """

    chunks: list[str]
    size: int = 0  # characters of its own blocks, boilerplate left out


def parts_of(
    page: Linearized, langs: Sequence[Lang], detector: LanguageDetector
) -> dict[Lang, LanguagePart]:
    """The parts of a page in these languages, the main one first."""
    parts = {lang: LanguagePart(list(page.chunks)) for lang in langs}
    for run, lang in block_languages(page, langs, detector):
        if lang is None:
            continue
        size = sum(map(len, page.chunks[run.start : run.end]))
        parts[lang].size += 0 if run.boilerplate else size
        for other, part in parts.items():
            if other != lang:
                part.chunks[run.start : run.end] = [""] * (run.end - run.start)
    return parts


def block_languages(
    page: Linearized, langs: Sequence[Lang], detector: LanguageDetector
) -> Iterator[tuple[BlockRun, Lang | None]]:
    """Each block of a page with the one of `langs` that it is in."""
    units = list(_units(page))
    texts = [" ".join(filter(None, unit.texts)) for unit in units]
    evidence = [_evidence(text, langs, detector) for text in texts]
    for unit, row in zip(units, evidence):
        if unit.declared:
            row[unit.declared] = row.get(unit.declared, 0.0) + _DECLARED
    prices = list(_prices(units))
    found = _best_sequence(evidence, prices, langs)
    if len(set(found)) > 1:
        _add_words(texts, evidence, found, langs)
        found = _best_sequence(evidence, prices, langs)
    for unit, lang in zip(units, found):
        for run, text in zip(unit.runs, unit.texts):
            yield run, lang if _WORD.search(text) else None


def _units(page: Linearized) -> Iterator[_Unit]:
    unit: _Unit | None = None
    declared = _declared(page) if page.langs else {}
    for run in _by_column(block_runs(page.tokens)):
        text = " ".join(page.chunks[run.start : run.end])
        if run.tag in CODE:
            text = ""
        said = declared.get(run.start)
        if (
            unit
            and unit.size < _ROW
            and len(unit.texts[-1]) < _LONG
            and len(text) < _LONG
            and _kind(unit.runs[-1]) == _kind(run)
            and unit.declared == said
        ):
            unit.runs.append(run)
            unit.texts.append(text)
            unit.size += len(text)
            continue
        if unit:
            yield unit
        unit = _Unit([run], [text], len(text), said)
    if unit:
        yield unit


def _kind(run: BlockRun) -> tuple[str, int, bool]:
    return run.tag, run.column, run.boilerplate


def _by_column(runs: Iterator[BlockRun]) -> Iterator[BlockRun]:
    """Blocks in the order in which they are neighbours: a table column by column."""
    for _, part in groupby(runs, key=lambda run: run.column > 0):
        yield from sorted(part, key=lambda run: run.column)


def _evidence(text: str, langs: Sequence[Lang], detector: LanguageDetector) -> Evidence:
    """What its letters say of a text, and what the detector does."""
    if len(text) > 2 * _ROW:
        return _ask(text, tuple(langs), detector)
    # a protocol does not say so, but any detector is hashable: by identity
    return dict(_asked_before(text, tuple(langs), detector))  # type: ignore[arg-type]


@lru_cache(_REMEMBERED)
def _asked_before(
    text: str, langs: tuple[Lang, ...], detector: LanguageDetector
) -> Evidence:
    """The same, of the menus and footers that a site has on every page."""
    return _ask(text, langs, detector)


def _ask(text: str, langs: Sequence[Lang], detector: LanguageDetector) -> Evidence:
    """The evidence of a text; the detector may take the main language for another."""
    row = {
        lang: min(_CERTAIN, letters / _LETTERS_PER_NAT)
        for lang, letters in letters_of(text, langs).items()
    }
    found = detector.detect(text)
    if found.lang is None:
        return row
    lang = langs[0] if is_close(found.lang, langs[0]) else found.lang
    nats = min(_CERTAIN, len(text) / _PER_NAT) * found.confidence
    nats *= 1.0 if found.reliable else _UNRELIABLE
    row[lang] = row.get(lang, 0.0) + nats
    return row


def _declared(page: Linearized) -> dict[int, Lang]:
    """The chunks, by number, in an element whose `lang` names a language."""
    found: dict[int, Lang] = {}
    inside: list[tuple[str, Lang]] = []  # elements with `lang` that are open
    depths: list[int] = []  # elements of that name that are open in each, it included
    chunk = 0
    for place, token in enumerate(page.tokens):
        if token == CHUNK:
            if inside:
                found[chunk] = inside[-1][1]
            chunk += 1
        elif lang := known_code(page.langs.get(place)):
            if token[1:] not in VOID:
                inside.append((token[1:], lang))
                depths.append(1)
        elif inside and token[1:] == inside[-1][0]:
            depths[-1] += 1
        elif inside and token[2:] == inside[-1][0] and token[1] == "/":
            depths[-1] -= 1
            if not depths[-1]:
                inside.pop()
                depths.pop()
    return found


def _prices(units: Sequence[_Unit]) -> Iterator[float]:
    """What a change of language before each unit costs."""
    for before, unit in pairwise([units[0], *units] if units else ()):
        if before.declared != unit.declared:
            yield _CHANGE_DECLARED
        else:
            is_new = _part(before.runs[0]) != _part(unit.runs[0])
            yield _CHANGE_OF_PART if is_new else _CHANGE


def _part(run: BlockRun) -> tuple[bool, bool]:
    return run.tag == "li", run.boilerplate


def _best_sequence(
    evidence: Sequence[Evidence], prices: Sequence[float], langs: Sequence[Lang]
) -> list[Lang]:
    """The most likely languages of blocks in a row; before and after is the first."""
    ends = {lang: -_CHANGE_OF_PART * (lang != langs[0]) for lang in langs}
    total = dict(ends)
    back: list[dict[Lang, Lang]] = []
    for row, price in zip(evidence, prices):
        best = max(langs, key=total.__getitem__)
        changed = total[best] - price
        before = {lang: lang if total[lang] >= changed else best for lang in langs}
        total = {lang: max(total[lang], changed) + row.get(lang, 0.0) for lang in langs}
        back.append(before)
    lang = max(langs, key=lambda lang: total[lang] + ends[lang])
    found: list[Lang] = []
    for before in reversed(back):
        found.append(lang)
        lang = before[lang]
    return found[::-1]


def _add_words(
    texts: Sequence[str],
    evidence: Sequence[Evidence],
    found: Sequence[Lang],
    langs: Sequence[Lang],
) -> None:
    """Let the words of blocks that are certain speak for the others."""
    known: dict[Lang, Counter[str]] = {lang: Counter() for lang in langs}
    for text, row, lang in zip(texts, evidence, found):
        if row.get(lang, 0.0) >= _KNOWN:
            known[lang].update(_words(text))
    page = sum(known.values(), Counter[str]())
    size = page.total()
    totals = {lang: known[lang].total() + _SMOOTH for lang in langs}
    for text, row in zip(texts, evidence):
        if max(row.values(), default=0.0) >= _KNOWN:
            continue
        for word in dict.fromkeys(filter(page.__contains__, _words(text))):
            share = page[word] / size
            for lang in langs:
                count = known[lang][word] + _SMOOTH * share
                odds = math.log(count / (totals[lang] * share))
                row[lang] = row.get(lang, 0.0) + _TRUST * max(_LEAST, odds)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())[:_MAX_WORDS]
