"""Links: which words of one text translate which of the other, before they are learned.

A link comes from a general lexicon, or from two words that look alike: numbers and
marks stay as they are, names nearly so, and words with the same beginning may be
cognates (Simard et al. 1992). Where the lexicon knows a word, how it is written counts
no more.

In: Tokens of two sides, lexicons.  Out: Links.
See also: `learning` (the links that a text teaches), `costs.lexicon` (what links say).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import order_of, places_in, ranges
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.tokens import Places, Tokens

Floats = NDArray[np.float64]
Kinds = NDArray[np.int8]

# Kinds of links; LinksConfig.explained is in their order.
NUMBER, SAME, COGNATE, LEXICON, LEARNED = range(5)


@dataclass(frozen=True, slots=True)
class LinksConfig:
    """What words say; training/sentence_costs.py fits the numbers."""

    # probability of a link, before anything is learned, of each kind
    number: float = 0.7
    same: float = 0.5
    cognate: float = 0.3  # shared among all that begin alike
    # share of the occurrences of a word that a link of each kind explains
    number_explains: float = 0.75
    same_explains: float = 0.84
    cognate_explains: float = 0.5
    lexicon_explains: float = 0.6
    learned_explains: float = 0.4
    max_explained: float = 0.9
    # for how many beads a prior link, a usual share and unknown translations count
    prior: float = 0.8
    share: float = 2.8
    unknown: float = 0.7
    trust: float = 20.0  # for how many words the shares above count
    left_out: float = 1.0  # of what that bead gave which gave most to a link
    kept: float = 0.7  # of it where a prior link says the same
    iterations: int = 5
    empty: float = 1e-3  # weight of the empty word, which explains what no other does
    min_count: float = 0.5  # expected links
    min_probability: float = 0.015  # geometric mean of both directions
    max_words: int = 80  # of a side of a bead: a longer one says too little of each
    max_pairs: int = 1_500_000  # of tokens in beads: bounds memory, 200 MB, and time

    @property
    def explained(self) -> tuple[float, ...]:
        """The share that each kind explains, in their order."""
        return (
            self.number_explains,
            self.same_explains,
            self.cognate_explains,
            self.lexicon_explains,
            self.learned_explains,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Translations between two vocabularies."""

    src: Places  # of each link, the place of its word in the vocabulary of src
    trg: Places
    forward: Floats  # p(trg | src)
    backward: Floats  # p(src | trg)
    # of each word of a vocabulary, the share of its occurrences that links explain
    src_explained: Floats
    trg_explained: Floats

    def turned(self) -> Links:
        """The same links, from trg to src."""
        return Links(
            self.trg,
            self.src,
            self.backward,
            self.forward,
            self.trg_explained,
            self.src_explained,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LexiconTable:
    """A lexicon as probabilities, one sighting left out, sorted by src, then trg."""

    lexicon: Lexicon
    forward: NDArray[np.float32]
    backward: NDArray[np.float32]

    @classmethod
    def of(cls, lexicon: Lexicon) -> LexiconTable:
        """Compute the probabilities, once for all texts."""
        held = lexicon.held()
        forward, backward = lexicon.p_trg() * held, lexicon.p_src() * held
        return cls(lexicon, forward, backward)

    def between(self, src: Tokens, trg: Tokens) -> Prior:
        """The links that both texts have words of.

        Numbers and marks are left out: they translate themselves.
        """
        known = self.lexicon.src
        start = np.searchsorted(known, src.vocabulary)
        count = np.searchsorted(known, src.vocabulary, side="right") - start
        entry = ranges(start, count)
        ours = np.repeat(np.arange(len(count)), count)
        theirs, there = places_in(trg.vocabulary, self.lexicon.trg[entry])
        entry, ours, theirs = entry[there], ours[there], theirs[there]
        word = ~(src.is_number[ours] & trg.is_number[theirs])
        word &= self.forward[entry] > 0
        entry = entry[word]
        return Prior(
            ours[word],
            theirs[word],
            self.forward[entry].astype(np.float64),
            self.backward[entry].astype(np.float64),
            np.full(len(entry), LEXICON, np.int8),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """The links of two texts before anything is learned, sorted by src, then trg."""

    src: Places
    trg: Places
    forward: Floats
    backward: Floats
    kind: Kinds

    @classmethod
    def between(
        cls,
        src: Tokens,
        trg: Tokens,
        tables: Sequence[LexiconTable],
        config: LinksConfig,
    ) -> Prior:
        """Of lexicons, if there are any, and of words that look alike."""
        known = [table.between(src, trg) for table in tables]
        unknown = (
            np.ones(len(src.vocabulary), bool),
            np.ones(len(trg.vocabulary), bool),
        )
        for links in known:
            unknown[0][links.src] = False
            unknown[1][links.trg] = False
        parts = [*known, _alike(src, trg, unknown, config)]
        joined = cls(
            np.concatenate([part.src for part in parts]),
            np.concatenate([part.trg for part in parts]),
            np.concatenate([part.forward for part in parts]),
            np.concatenate([part.backward for part in parts]),
            np.concatenate([part.kind for part in parts]),
        )
        return joined.take(order_of(joined.keys(len(trg.vocabulary))))

    def take(self, chosen: Places) -> Prior:
        """Some of the links."""
        return Prior(
            self.src[chosen],
            self.trg[chosen],
            self.forward[chosen],
            self.backward[chosen],
            self.kind[chosen],
        )

    def keys(self, width: int) -> Places:
        """Each link as a number; `width`: words of the vocabulary of trg."""
        keys: Places = self.src * width + self.trg
        return keys

    def links(self, src: Tokens, trg: Tokens, config: LinksConfig) -> Links:
        """What can be said before there are beads."""
        share = np.array(config.explained)[self.kind]
        explained = (np.zeros(len(src.vocabulary)), np.zeros(len(trg.vocabulary)))
        np.maximum.at(explained[0], self.src, share)
        np.maximum.at(explained[1], self.trg, share)
        return Links(self.src, self.trg, self.forward, self.backward, *explained)


def _alike(
    src: Tokens,
    trg: Tokens,
    unknown: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    config: LinksConfig,
) -> Prior:
    """Links between words that both sides write alike; of words, between `unknown`."""
    place, there = places_in(trg.vocabulary, src.vocabulary)
    same = np.flatnonzero(there)
    # words of trg by their prefix, and for each word of src the range that it shares
    order = order_of(trg.prefixes)
    prefixes = trg.prefixes[order]
    start = np.searchsorted(prefixes, src.prefixes)
    count = np.searchsorted(prefixes, src.prefixes, side="right") - start
    count[src.prefixes == 0] = 0
    ours = np.repeat(np.arange(len(count)), count)
    theirs = order[ranges(start, count)]
    other = src.vocabulary[ours] != trg.vocabulary[theirs]
    ours = np.concatenate([same, ours[other]])
    theirs = np.concatenate([place[same], theirs[other]])
    kind = np.full(len(ours), COGNATE, np.int8)
    kind[: len(same)] = np.where(src.is_number[same], NUMBER, SAME)
    told = (kind == NUMBER) | (unknown[0][ours] & unknown[1][theirs])
    ours, theirs, kind = ours[told], theirs[told], kind[told]
    given = np.array([config.number, config.same, config.cognate])[kind]
    rivals = [
        np.bincount(place, kind == COGNATE, minlength=1)[place]
        for place in (ours, theirs)
    ]
    vague = kind == COGNATE
    return Prior(
        ours,
        theirs,
        given / np.where(vague, rivals[0], 1.0),
        given / np.where(vague, rivals[1], 1.0),
        kind,
    )
