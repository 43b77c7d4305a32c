"""How good is a sentence pair? From 0 to 1, for any two languages.

- `lexical_ratio`, Uszkoreit et al. (2010), section 2.3: words of the two sides are
  linked greedily, best first, each once; the sum of their pointwise mutual information
  is divided by what a translation of such a sentence would have, the expected sum.
  Below a third it is no translation. Here the larger expectation of the two directions
  counts, so that half a translation is found out on either side.
- `QualityModel`: a logistic model over that ratio, lengths, numbers and punctuation. It
  was fitted on true and on shifted, cut and swapped sentence pairs of translated
  documentation (training/sentence_score.py) and knows no language.

In: sentence pairs, a lexicon.  Out: numbers.
See also: `filters` (what is refused), `costs` (what decides the alignment).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import places_in, ranges
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.split import size_of
from crawler.aligner.words import BREAK, BREAK_ID, WordIds

Texts = Sequence[tuple[str, str]]  # src, trg
Floats = NDArray[np.float64]

NO_TRANSLATION = 1 / 3  # of the expected association: below (section 2.3)
_ONCE_MORE = 0.5  # expected links beside those of one sentence
_UNSURE = 3.0  # links of a word of which half its translations are known

_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"\w+")
_FEW = 5  # words of a row that is short
_ALIKE = 4  # letters: fewer are alike by chance
_TITLE = re.compile(r"(.+)\s[-–—|·:»]\s(.+)", re.DOTALL)  # and the name of the site
_END = re.compile(r"[.!?…。！？।:;]")


@dataclass(frozen=True, slots=True, eq=False)
class Association:
    """Pointwise mutual information of the words of entries, sorted by src, then trg."""

    src: NDArray[np.uint32]
    trg: NDArray[np.uint32]
    value: Floats
    confirmed: NDArray[np.bool_]
    expected: Sequence[_Expected]  # of the words of src, of trg

    @classmethod
    def of(cls, lexicon: Lexicon) -> Association:
        """Compute it for every entry of a lexicon."""
        total = max(float(lexicon.count.sum()), 1.0)
        p_trg, p_src = lexicon.p_trg(), lexicon.p_src()
        # ln p(s,t) / (p(s) p(t)) = ln p(t|s) p(s|t) / p(s,t)
        joint = lexicon.count / total
        value = np.log(np.maximum(p_trg * p_src / np.maximum(joint, 1e-12), 1e-12))
        value = np.maximum(value, 0.0).astype(np.float64)
        # what one sentence taught, maybe the one that is judged, confirms nothing
        confirmed = (lexicon.held() * lexicon.count) >= _ONCE_MORE
        expected = [
            _Expected.of(word, p * value, lexicon.count)
            for word, p in ((lexicon.src, p_trg), (lexicon.trg, p_src))
        ]
        return cls(lexicon.src, lexicon.trg, value, confirmed, expected)

    def ratios(
        self, src: _Occurrences, trg: _Occurrences, count: int
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Of each of `count` pairs actual by expected association, and known words.

        The words are those of a side that the lexicon knows for sure. The ratio is NaN
        if it expects nothing. The last array says which pairs have a link that other
        sentences confirm.
        """
        expected = np.zeros(count)
        sure = np.zeros(count)
        for side, known in zip((src, trg), self.expected):
            value, words = known.sums(side, count)
            expected = np.maximum(expected, value)
            sure = np.maximum(sure, words)
        actual, confirmed = self._greedy(src, trg, count)
        ratio = np.full(count, np.nan)
        np.divide(actual, expected, out=ratio, where=expected > 0)
        return ratio, sure, confirmed

    def _greedy(
        self, src: _Occurrences, trg: _Occurrences, count: int
    ) -> tuple[Floats, NDArray[np.bool_]]:
        start = np.searchsorted(self.src, src.word)
        size = np.searchsorted(self.src, src.word, side="right") - start
        row, entry = np.repeat(np.arange(len(size)), size), ranges(start, size)
        pair = src.pair[row]
        here = _keys(pair, src.word[row])
        there = _keys(pair, self.trg[entry])
        found = np.isin(there, _keys(trg.pair, trg.word))
        sure = pair[found][self.confirmed[entry[found]]]
        confirmed = np.bincount(sure, minlength=count) > 0
        order = np.argsort(-self.value[entry[found]], kind="stable")
        pair, value = pair[found][order], self.value[entry[found]][order]
        here, there = here[found][order], there[found][order]
        total = np.zeros(count)
        while len(value):
            # a link that is the best of both its words is taken
            best = np.zeros((2, len(value)), bool)
            for side, words in enumerate((here, there)):
                best[side, np.unique(words, return_index=True)[1]] = True
            taken = best.all(axis=0)
            total += np.bincount(pair[taken], value[taken], count)
            rest = ~(np.isin(here, here[taken]) | np.isin(there, there[taken]))
            pair, value = pair[rest], value[rest]
            here, there = here[rest], there[rest]
        return total, confirmed


@dataclass(frozen=True, slots=True, eq=False)
class _Occurrences:
    """The distinct words of each pair's side, sorted."""

    pair: NDArray[np.int64]
    word: NDArray[np.uint32]

    @classmethod
    def of(cls, texts: Sequence[str], word_ids: WordIds) -> _Occurrences:
        ids = word_ids.encode(f" {BREAK} ".join(texts))
        breaks = ids == BREAK_ID
        pair = np.cumsum(breaks)[~breaks]
        keys = np.unique(_keys(pair, ids[~breaks]))
        return cls(
            (keys >> np.uint64(32)).astype(np.int64),
            (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        )


def _keys(pair: NDArray[np.int64], word: NDArray[np.uint32]) -> NDArray[np.uint64]:
    return pair.astype(np.uint64) << np.uint64(32) | word.astype(np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class _Expected:
    """What association a word may be expected to find, and how sure that is.

    The paper's tables come from millions of sentences, ours may come from one site: a
    word that was linked a few times has other translations that the lexicon has not
    seen, so less is expected of it.
    """

    word: NDArray[np.uint32]
    value: Floats
    sureness: Floats  # 0 to 1

    @classmethod
    def of(
        cls, word: NDArray[np.uint32], value: Floats, count: NDArray[np.float32]
    ) -> _Expected:
        words, number = np.unique(word, return_inverse=True)
        links = np.bincount(number, count, len(words))
        sureness = links / (links + _UNSURE)
        expected = np.bincount(number, value, len(words)) * sureness
        return cls(words, expected.astype(np.float64), sureness.astype(np.float64))

    def sums(self, side: _Occurrences, count: int) -> tuple[Floats, Floats]:
        """Of each pair the expected sum, and how many words are known."""
        place, known = places_in(self.word, side.word)
        pair, place = side.pair[known], place[known]
        sums: list[Floats] = [
            np.bincount(pair, values[place], count).astype(np.float64)
            for values in (self.value, self.sureness)
        ]
        return sums[0], sums[1]


# ------------------------------------------------------------------- the score

FEATURES = ("bias", "known", "ratio", "length", "numbers", "end", "short")
# training/sentence_score.py; in the order of FEATURES
_WEIGHTS = (4.475, -2.949, 4.813, -1.431, -1.123, -1.653, -0.321)


class QualityModel:
    """Scores sentence pairs of two languages."""

    # With fewer known words the ratio is a matter of luck.
    min_words = 3

    def __init__(self, word_ids: WordIds, lexicon: Lexicon | None = None) -> None:
        """Judge words by this lexicon, if there is one."""
        self._word_ids = word_ids
        self._lexicon = lexicon

    @cached_property
    def _association(self) -> Association | None:
        return Association.of(self._lexicon) if self._lexicon else None

    def lexical_ratios(self, texts: Texts) -> Floats:
        """Actual by expected association; NaN where too few words are known."""
        return self._lexical(texts, np.zeros(len(texts), bool))[0]

    def _lexical(
        self, texts: Texts, beside_gap: NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The lexical ratios, and which pairs nothing but their place puts together.

        They are short and have too few known words for a ratio, but one at least. No
        link binds them that other sentences have too, and no two words begin alike.
        Beside a sentence without a partner part of a known word will do, and a single
        link is not enough.
        """
        if self._association is None or not texts:
            return np.full(len(texts), np.nan), np.zeros(len(texts), bool)
        texts = [without_common_end(*pair) for pair in texts]
        src, trg = (
            _Occurrences.of([pair[side] for pair in texts], self._word_ids)
            for side in (0, 1)
        )
        ratios, words, confirmed = self._association.ratios(src, trg, len(texts))
        few = words < self.min_words
        unlike = beside_gap & (words >= 1) & (ratios < NO_TRANSLATION)
        alone = few & ((words >= 1) | beside_gap & (words > 0)) & (unlike | ~confirmed)
        for place in np.flatnonzero(alone).tolist():
            short = min(len(text.split()) for text in texts[place]) <= _FEW
            linked = not unlike[place] and begin_alike(*texts[place])
            alone[place] = short and not linked
        return np.where(few, np.nan, ratios), alone

    def judged(
        self, texts: Texts, usual: float, beside_gap: Sequence[bool] | None = None
    ) -> list[tuple[float, float | None]]:
        """Of each pair its score, and its lexical ratio if there is one.

        The ratio is 0 where nothing but their place puts two texts together.
        `beside_gap`: which pairs stand beside a sentence without a partner.
        """
        gaps = np.array(beside_gap or [False] * len(texts), bool)
        ratios, alone = self._lexical(texts, gaps)
        scores = self.scores(texts, ratios, usual)
        ratios[alone] = 0.0
        return [
            (score, None if math.isnan(ratio) else ratio)
            for score, ratio in zip(scores.tolist(), ratios.tolist())
        ]

    def features(self, texts: Texts, ratios: Floats, usual: float) -> Floats:
        """One row a pair, one column for each of FEATURES.

        `usual`: how many characters of trg translations have for one of src.
        """
        known = ~np.isnan(ratios)
        sizes = np.array([[size_of(src), size_of(trg)] for src, trg in texts])
        sizes = sizes.reshape(-1, 2) * (usual, 1.0) + 1.0
        mean = sizes.mean(axis=1)
        delta = np.abs(sizes[:, 0] - sizes[:, 1]) / np.sqrt(6.8 * mean)
        return np.stack(
            [
                np.ones(len(texts)),
                known,
                np.where(known, np.clip(np.nan_to_num(ratios), 0.0, 1.2), 0.0),
                np.minimum(delta, 3.0),
                np.array([_numbers_differ(*pair) for pair in texts]).reshape(-1),
                np.array([_ends_differ(*pair) for pair in texts]).reshape(-1),
                mean < 20,
            ],
            axis=1,
        )

    def scores(self, texts: Texts, ratios: Floats, usual: float = 1.0) -> Floats:
        """The probability that each is a good pair, 0 to 1."""
        logit = self.features(texts, ratios, usual) @ np.array(_WEIGHTS)
        scores: Floats = 1 / (1 + np.exp(-logit))
        return scores


def without_common_end(src: str, trg: str) -> tuple[str, str]:
    """Two titles without the name of the site that both of them end in.

    >>> without_common_end("Our values – Harbour Ltd", "Nos valeurs – Harbour Ltd")
    ('Our values', 'Nos valeurs')
    """
    ours, theirs = _TITLE.fullmatch(src), _TITLE.fullmatch(trg)
    if ours and theirs and ours[2] == theirs[2]:
        return ours[1], theirs[1]
    return src, trg


def begin_alike(src: str, trg: str) -> bool:
    """Has each side a word, or a number, of which the other has the beginning?

    >>> begin_alike("The Embassy", "L'ambassade"), begin_alike("Enjoy!", "Share this:")
    (False, False)
    >>> begin_alike("Transportation", "Transports"), begin_alike("Day 12", "12. dagur")
    (True, True)
    """
    ours, theirs = (
        {word if word.isdecimal() else word[:_ALIKE] for word in _WORD.findall(text)}
        for text in (src.casefold(), trg.casefold())
    )
    return any(len(w) >= _ALIKE or w.isdecimal() for w in ours & theirs)


def _numbers_differ(src: str, trg: str) -> float:
    """The share of numbers that only one side has.

    >>> _numbers_differ("3 of 40", "40 af 3"), _numbers_differ("in 1944", "árið 1945")
    (0.0, 1.0)
    """
    ours, theirs = set(_NUMBER.findall(src)), set(_NUMBER.findall(trg))
    return len(ours ^ theirs) / max(len(ours | theirs), 1)


def _ends_differ(src: str, trg: str) -> float:
    """Does only one of the two end as a sentence does?"""
    return float(bool(_END.search(src[-2:])) != bool(_END.search(trg[-2:])))


def usual_ratio(src: float, trg: float) -> float:
    """Characters of trg for one of src, no further from 1 than translations are."""
    return math.exp(min(max(math.log((trg + 1) / (src + 1)), -0.7), 0.7))
