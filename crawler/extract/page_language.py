"""The language of a page: of what is its own, not of the menus around it.

Three texts of a page are weighed: its sentences outside links and furniture, all that
is outside furniture, and everything. What the address and the page itself declare
counts as a little more text: it decides where the texts are short, or half in one
language and half in another, as the names of products among headings are. A clear text
wins over both: most pages that declare a language and are in another are untranslated
copies.

In: a linearized page and its address.  Out: a Detection.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from crawler.data import Lang
from crawler.extract.linearize import Linearized
from crawler.extract.text import prose
from crawler.handles import handle_of
from crawler.languages import known_code
from crawler.protocols import Detection, LanguageDetector

# So long a text, so much in one language, needs no other evidence: pages are read at
# the pace of before.
_CLEAR_CHARACTERS, _CLEAR_SHARE = 100, 0.95
# The weights of the texts, and the characters from which on each has its whole weight;
# of the address and the declaration. Fitted on the pages of true pairs of 22 recorded
# sites, and on pages that are declared to be in a language and are not.
_WEIGHTS = (1.5, 200), (1.0, 300), (0.5, 400)
_ADDRESS, _DECLARED = 0.3, 0.1
_UNRELIABLE = 0.5  # how much of what a detector calls unreliable counts
# A detector that finds less of another language in a page has guessed: characters of
# sentences, letters of labels and links, and the share of either.
_OTHER, _OTHER_LABELS, _OTHER_SHARE = 40, 20, 0.05
# In a page with both CLD2 finds the one alone.
_MERGED = {"es", "pt"}
# Languages that CLD2 takes for each other: between these, the page is believed.
_CLOSE = (
    {"hr", "bs", "sr", "cnr"},
    {"cs", "sk"},
    {"da", "no", "nn"},
    {"id", "ms"},
    {"gl", "pt"},
    {"ca", "oc"},
    {"fo", "is"},
    {"mk", "bg"},
    {"mk", "sr"},
    {"ur", "hi"},
)
# In the first of these a few words of a hundred differ, and no detector tells them.
_ALIKE = _CLOSE[0]
_LATIN_ONLY = ("hr", "bs")


def language_of_page(
    page: Linearized,
    url: str,
    detector: LanguageDetector,
    langs: Collection[Lang] = (),
) -> Detection:
    """The language of a linearized page; `confidence`: its share of the evidence.

    `shares` names the other languages that some of its main text may be in.

    `langs` are those of the crawl: a page in one that looks like another, and that says
    nothing, is in the one that is looked for. None as the language: there is too little
    text, or it is in no language that the detector knows.
    """
    own, main, rest = prose(page.tokens, page.chunks)
    text = " ".join(own)
    found = of_own = detector.detect(text)
    clear = found.reliable and found.confidence >= _CLEAR_SHARE
    clear = clear and len(text) >= _CLEAR_CHARACTERS
    if not clear or any(found.lang in group for group in _CLOSE):
        declared = known_code(page.lang)
        address = handle_of(url).languages
        if not clear:
            texts = text, " ".join(main), " ".join([*main, *rest])
            score = _weighed(texts, found, detector)
            for lang in score:
                score[lang] += _ADDRESS * (address == {lang})
                score[lang] += _DECLARED * (lang == declared)
            found = _best(score)
        named = address | ({declared} if declared else set())
        found = _between_close(found, named, main, langs)
    others = dict(_others(of_own, len(text), _OTHER, found.lang))
    seen = set(own)
    labels = " ".join(chunk for chunk in main if chunk not in seen)
    if sum(map(str.isalpha, labels)) >= _OTHER_LABELS and langs:
        of_labels = detector.detect(labels)
        if of_labels.lang != found.lang or of_labels.confidence < _CLEAR_SHARE:
            others |= {
                lang: others.get(lang, 0.0)
                for lang in langs
                if not is_close(lang, found.lang)
            }
    if found.lang in _MERGED:
        others |= dict.fromkeys(_MERGED.intersection(langs) - {found.lang}, 0.0)
    for said in set(map(known_code, page.langs.values())):
        if said and said in langs and not is_close(said, found.lang):
            others.setdefault(said, 0.0)
    return replace(found, shares=tuple(others.items()))


def _best(score: dict[Lang, float]) -> Detection:
    if not any(score.values()):
        return Detection(None, 0.0, reliable=False)
    best = max(sorted(score), key=score.__getitem__)
    confidence = round(score[best] / sum(score.values()), 2)
    return Detection(best, confidence, reliable=confidence >= _CLEAR_SHARE)


def is_close(lang: Lang | None, other: Lang | None) -> bool:
    """Are these the same, or two that detectors take for each other?"""
    return lang == other or any({lang, other} <= group for group in _CLOSE)


def _others(
    found: Detection, size: int, least: int, lang: Lang | None
) -> Iterator[tuple[Lang, float]]:
    """The languages that so many characters of a text are in, but for the page's."""
    for other, share in found.shares:
        enough = share >= _OTHER_SHARE and share * size >= least
        if enough and not is_close(other, lang):
            yield other, share


def _weighed(
    texts: tuple[str, str, str], of_own: Detection, detector: LanguageDetector
) -> dict[Lang, float]:
    """How much each language has of the texts of a page, own first."""
    score: dict[Lang, float] = {}
    found, before = of_own, texts[0]
    for text, (weight, enough) in zip(texts, _WEIGHTS):
        if text != before:
            found, before = detector.detect(text), text
        trust = weight * min(1.0, len(text) / enough)
        trust *= 1.0 if found.reliable else _UNRELIABLE
        for lang, share in found.shares or ((found.lang, found.confidence),):
            if lang is not None:
                score[lang] = score.get(lang, 0.0) + trust * share
    return score


def _between_close(
    found: Detection,
    named: frozenset[Lang] | set[Lang],
    main: list[str],
    langs: Collection[Lang],
) -> Detection:
    """The language that the page is said to be in, if it is close to what was found."""
    if found.lang in _ALIKE and not named & _ALIKE and found.lang not in langs:
        named = _ALIKE.intersection(langs) or named
    for group in _CLOSE:
        if found.lang in group and found.lang not in named and group & named:
            lang = min(group & named)
            if lang in _LATIN_ONLY and _is_cyrillic(" ".join(main)):
                break
            return replace(found, lang=lang)
    return found


def _is_cyrillic(text: str) -> bool:
    start = text[:1000]
    return 2 * sum("\u0400" <= c <= "\u052f" for c in start) > len(start)
