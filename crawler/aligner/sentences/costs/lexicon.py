"""Lexicon: how much more likely words are, given those of the other side, than anyhow.

The first model of Brown et al. (1993), in both directions. Numbers and words that both
sides write alike translate themselves. Without any lexicon, words that begin alike are
taken for cognates (Simard et al. 1992).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crawler.aligner.arrays import places_in, ranges
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.costs.cost import BeadCosts, Matrix, windows
from crawler.aligner.sentences.split import Side
from crawler.aligner.words import BREAK, BREAK_ID, WordIds, words_of
from crawler.data import LangPair


@dataclass(frozen=True, slots=True)
class LexiconCostConfig:
    """Model 1 as a cost."""

    unexplained: float = 0.2  # share of words that no word of the other side explains
    number: float = 0.9  # probability that a number stays as it is
    same: float = 0.5  # that a word does, of which the lexicon knows nothing
    cognate: float = 0.3  # that one with the same beginning is it
    prefix: int = 4  # letters of it (Simard et al. 1992)
    floor: float = 2e-4  # a rarer word is as telling as one of this frequency
    weight: float = 0.5  # of a nat: words are not independent of each other


class LexiconCost:
    """How much less likely than by chance the words of a bead are, in both ways."""

    def __init__(
        self,
        word_ids: WordIds,
        lexicon: Lexicon | None = None,
        config: LexiconCostConfig | None = None,
    ) -> None:
        self.config = config or LexiconCostConfig()
        self._word_ids = word_ids
        links = lexicon or Lexicon.empty(LangPair("", ""))
        self._with_cognates = not len(links)
        self._tables = (
            Table.of(links.src, links.trg, links.p_trg(), links.count),
            Table.of(links.trg, links.src, links.p_src(), links.count),
        )

    def prepare(self, src: Side, trg: Side) -> BeadCosts:
        """Tables of word probabilities, cut down to the words of the two sides."""
        ours, theirs = (
            Words.of(side, self._word_ids, spelled=self._with_cognates)
            for side in (src, trg)
        )
        alike = Alike.between(ours, theirs, self.config)
        forward, backward = self._tables
        return _Explained(
            self.config.weight,
            Explanation(ours, theirs, forward, alike, self.config),
            Explanation(theirs, ours, backward, alike.turned(), self.config),
            (len(src), len(trg)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of a side: which, and in which sentence."""

    vocabulary: NDArray[np.uint32]  # sorted
    spellings: tuple[str, ...]  # of the vocabulary, or empty
    word: NDArray[np.int64]  # of each token, its place in the vocabulary
    sentence: NDArray[np.int64]  # of each token
    sizes: Matrix  # tokens of each sentence

    @classmethod
    def of(cls, side: Side, word_ids: WordIds, *, spelled: bool) -> Words:
        """Cut and number the words of a side."""
        text = f" {BREAK} ".join(side.texts)
        ids = word_ids.encode(text)
        breaks = ids == BREAK_ID
        sentence = np.cumsum(breaks)[~breaks]
        vocabulary, first, word = np.unique(
            ids[~breaks], return_index=True, return_inverse=True
        )
        spellings = [w for w in words_of(text.lower()) if w != BREAK] if spelled else []
        return cls(
            vocabulary,
            tuple(spellings[i] for i in first) if spelled else (),
            word,
            sentence,
            np.bincount(sentence, minlength=len(side)).astype(np.float64),
        )

    @property
    def is_number(self) -> NDArray[np.bool_]:
        """Of each word of the vocabulary."""
        return (self.vocabulary & 1).astype(bool)


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """Words that both sides write alike, by their place in the vocabularies."""

    given: NDArray[np.int64]
    word: NDArray[np.int64]
    is_same: NDArray[np.bool_]  # not only the beginning

    @classmethod
    def between(cls, src: Words, trg: Words, config: LexiconCostConfig) -> Alike:
        """Compare two vocabularies."""
        _, i, j = np.intersect1d(
            src.vocabulary, trg.vocabulary, assume_unique=True, return_indices=True
        )
        size = config.prefix
        beginnings: dict[str, list[int]] = {}
        for number, word in enumerate(trg.spellings):
            if len(word) > size:
                beginnings.setdefault(word[:size], []).append(number)
        cognates = [
            (number, other)
            for number, word in enumerate(src.spellings)
            if len(word) > size
            for other in beginnings.get(word[:size], ())
            if word != trg.spellings[other]
        ]
        more = np.array(cognates, np.int64).reshape(-1, 2)
        return cls(
            np.concatenate([i, more[:, 0]]),
            np.concatenate([j, more[:, 1]]),
            np.arange(len(i) + len(more)) < len(i),
        )

    def turned(self) -> Alike:
        """The same for the other direction."""
        return Alike(self.word, self.given, self.is_same)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """p(word | given), sorted by given."""

    given: NDArray[np.uint32]
    word: NDArray[np.uint32]
    probability: NDArray[np.float32]
    known: NDArray[np.uint32]  # the words that have a probability, sorted
    frequency: NDArray[np.float32]  # of them

    @classmethod
    def of(
        cls,
        given: NDArray[np.uint32],
        word: NDArray[np.uint32],
        probability: NDArray[np.float32],
        count: NDArray[np.float32],
    ) -> Table:
        """Sort the links of a lexicon by the word that is given."""
        order = np.lexsort((word, given))
        known, number = np.unique(word, return_inverse=True)
        mass = np.bincount(number, count, len(known))
        return cls(
            given[order],
            word[order],
            probability[order],
            known,
            (mass / max(mass.sum(), 1.0)).astype(np.float32),
        )

    def between(self, given: Words, words: Words) -> _Pairs:
        """The pairs of two vocabularies that have a probability."""
        start = np.searchsorted(self.given, given.vocabulary)
        count = np.searchsorted(self.given, given.vocabulary, side="right") - start
        row, place = np.repeat(np.arange(len(count)), count), ranges(start, count)
        column, hit = places_in(words.vocabulary, self.word[place])
        return row[hit], column[hit], self.probability[place[hit]].astype(np.float64)

    def chance(self, words: Words, floor: float) -> tuple[Matrix, NDArray[np.bool_]]:
        """How often each word occurs, and whether anything is known of it."""
        place, known = places_in(self.known, words.vocabulary)
        chance = np.full(len(place), floor)
        chance[known] = np.maximum(self.frequency[place[known]], floor)
        return chance, known


_Pairs = tuple[NDArray[np.int64], NDArray[np.int64], Matrix]  # given, word, p


class Explanation:
    """One direction: the words of the one side explained by the sentences of the other.

    `links` (sentences of `by`, words of `of`): sums of p(word | word).
    """

    def __init__(
        self,
        by: Words,
        of: Words,
        table: Table,
        alike: Alike,
        config: LexiconCostConfig,
    ) -> None:
        given, word, probability = table.between(by, of)
        chance, possible = table.chance(of, config.floor)
        translated = np.zeros(len(by.vocabulary), bool)
        translated[given] = True
        # a number stays; how a word is written counts where the lexicon knows neither
        number = by.is_number[alike.given]
        usable = np.where(
            number,
            alike.is_same,
            ~translated[alike.given] & ~possible[alike.word],
        )
        here, there, same = (
            values[usable] for values in (alike.given, alike.word, alike.is_same)
        )
        rivals = np.bincount(here[~same], minlength=len(by.vocabulary))
        as_written = np.where(
            same,
            np.where(by.is_number[here], config.number, config.same),
            config.cognate / np.maximum(rivals[here], 1),
        )
        possible[there] = True
        order = np.argsort(np.concatenate([given, here]), kind="stable")
        given = np.concatenate([given, here])[order]
        word = np.concatenate([word, there])[order]
        probability = np.concatenate([probability, as_written])[order]
        # from words that explain words to sentences that do
        counts = np.bincount(given, minlength=len(by.vocabulary))
        starts = np.cumsum(counts) - counts
        links_of = counts[by.word]  # of each token
        token = np.repeat(np.arange(len(links_of)), links_of)
        place = ranges(starts[by.word], links_of)
        shape = len(by.sizes), len(of.vocabulary)
        links: Matrix = np.bincount(
            by.sentence[token] * shape[1] + word[place],
            probability[place],
            shape[0] * shape[1],
        ).astype(np.float64)
        self._links = links.reshape(shape)
        self._sizes = np.maximum(by.sizes, 1)
        self._chance = chance
        judged = possible[of.word]
        self._judged = csr_array(
            (np.ones(judged.sum()), (of.word[judged], of.sentence[judged])),
            shape=(shape[1], len(of.sizes)),
        )
        self._odds = (1 - config.unexplained) / config.unexplained
        self._unexplained = math.log(config.unexplained) * np.bincount(
            of.sentence[judged], minlength=len(of.sizes)
        )
        self._scores: dict[int, Matrix] = {}

    def scores(self, a: int, b: int) -> Matrix:
        """Log-likelihood ratios of `b` sentences, given `a` of the other side."""
        if a not in self._scores:
            share = windows(self._links, a) / windows(self._sizes, a)[:, None]
            gain = np.log1p(self._odds * share / self._chance)
            self._scores[a] = gain @ self._judged + self._unexplained
        return windows(self._scores[a], b, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Explained:
    weight: float
    forward: Explanation
    backward: Explanation
    sizes: tuple[int, int]

    def matrix(self, a: int, b: int) -> Matrix:
        if not (a and b):  # what has no partner says nothing
            return np.zeros(self.sizes[b > 0])
        scores = self.forward.scores(a, b) + self.backward.scores(b, a).T
        return -self.weight * scores
