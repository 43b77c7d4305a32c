"""Learning: the links that the beads of a text teach.

The first model of Brown et al. (1993) in both directions; the links that were there
before (`links.Prior`) are its prior.

What a bead taught is not used to judge that bead: of each link's count the part that
one bead gave is taken away (leaving one out, Wuebker et al. 2010), or a wrong bead
would confirm itself.

A word says as much as it has proved to: a word whose translation is found in eight of
ten beads is missed where it is not found, one whose translation was never found is not.
Each kind of link is trusted by what it explains in this text, so a lexicon of other
texts, or a wrong one, loses its voice.

In: beads, Tokens of two sides, prior links.  Out: Links.
See also: `bridges.lexicon` (the lexicon of a site, from blocks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import places_in, ranges, unique_inverse
from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.links import (
    LEARNED,
    Floats,
    Kinds,
    Links,
    LinksConfig,
    Prior,
)
from crawler.aligner.sentences.tokens import Places, Tokens


def learn(
    beads: Sequence[Bead], src: Tokens, trg: Tokens, prior: Prior, config: LinksConfig
) -> Links:
    """The links that the beads teach, and the prior ones."""
    pairs = _Pairs.inside(beads, src, trg, config)
    if pairs is None:
        return prior.links(src, trg, config)
    width = len(trg.vocabulary)
    keys = prior.keys(width)
    types = pairs.src.of_type * width + pairs.trg.of_type
    # each direction: a token of one side comes from a word of the other
    forward = _expected(
        pairs, pairs.src, pairs.trg, _at(keys, prior.forward, types), config
    )
    backward = _expected(
        pairs, pairs.trg, pairs.src, _at(keys, prior.backward, types), config
    )
    links = np.sqrt(forward * backward)
    count: Floats = np.bincount(pairs.type_of, links, len(types)).astype(np.float64)
    held = count - config.left_out * _most(pairs, links)
    held[~_is_likely(pairs, forward, backward, count, config)] = 0.0
    # learned and prior links, each once
    known = np.union1d(types[held > 0], keys)
    ours, theirs = known // width, known % width
    learned = np.maximum(_at(types, held, known), 0.0)
    kind = np.full(len(known), LEARNED, np.int8)
    kind[np.searchsorted(known, keys)] = prior.kind
    whole = config.kept * _at(types, count, known)
    explained = np.where(kind == LEARNED, learned, np.maximum(learned, whole))
    return Links(
        ours,
        theirs,
        _probability(ours, learned, _at(keys, prior.forward, known), config),
        _probability(theirs, learned, _at(keys, prior.backward, known), config),
        _share(ours, explained, kind, pairs.src.occurrences, config),
        _share(theirs, explained, kind, pairs.trg.occurrences, config),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One side of all pairs of tokens that stand in one bead."""

    token: Places  # of each pair
    tokens: int
    of_type: Places  # of each type of pair its word
    occurrences: Places  # of each word of the vocabulary, in the beads


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Every pair of tokens that stand in one bead.

    The type of a pair is its two words; types are sorted by src, then trg.
    """

    type_of: Places
    bead_of: Places
    beads: int
    src: _Side
    trg: _Side

    @classmethod
    def inside(
        cls, beads: Sequence[Bead], src: Tokens, trg: Tokens, config: LinksConfig
    ) -> _Pairs | None:
        """Of the beads that say most; None if there are none."""
        runs = np.array(
            [(bead.src, bead.trg, *bead.size) for bead in beads if bead.is_pair],
            np.int64,
        ).reshape(-1, 4)
        starts, ends = (
            np.stack([src.starts[nodes[:, 0]], trg.starts[nodes[:, 1]]], axis=1)
            for nodes in (runs[:, :2], runs[:, :2] + runs[:, 2:])
        )
        counts = ends - starts
        good = (counts.min(axis=1) > 0) & (counts.max(axis=1) <= config.max_words)
        starts, counts = starts[good], counts[good]
        surplus = counts.prod(axis=1).sum() / config.max_pairs
        if surplus > 1:  # as many beads as can be borne, from all over the text
            chosen = np.arange(0, len(counts), surplus).astype(np.int64)
            starts, counts = starts[chosen], counts[chosen]
        if not len(counts):
            return None
        words = [
            side.word[ranges(starts[:, k], counts[:, k])]
            for k, side in enumerate((src, trg))
        ]
        bead_of = np.repeat(np.arange(len(counts)), counts[:, 0])
        width = counts[bead_of, 1]  # a src token meets all trg tokens of its bead
        first = np.cumsum(counts[:, 1]) - counts[:, 1]
        tokens = np.repeat(np.arange(len(width)), width), ranges(first[bead_of], width)
        size = len(trg.vocabulary)
        types, type_of = unique_inverse(
            words[0][tokens[0]] * size + words[1][tokens[1]]
        )
        sides = [
            _Side(
                token,
                len(word),
                of_type,
                np.bincount(word, minlength=len(side.vocabulary)),
            )
            for token, word, of_type, side in zip(
                tokens, words, (types // size, types % size), (src, trg)
            )
        ]
        return cls(type_of, np.repeat(bead_of, width), len(counts), *sides)

    @property
    def types(self) -> int:
        """How many there are."""
        return len(self.src.of_type)


def _expected(
    pairs: _Pairs, given: _Side, of: _Side, before: Floats, config: LinksConfig
) -> Floats:
    """The probability of each pair that its token of `of` comes from that of `given`.

    IBM model 1: each token comes from one word of the other side of its bead, or from
    the empty word. `before`: of each type, its probability in the prior.
    """
    probability = np.full(pairs.types, 1 / pairs.types)
    empty = 1 / pairs.types
    links = probability
    for _ in range(config.iterations):
        links = probability[pairs.type_of]
        links /= (np.bincount(of.token, links, of.tokens) + empty)[of.token]
        count = np.bincount(pairs.type_of, links, pairs.types) + config.prior * before
        probability = count / np.bincount(given.of_type, count)[given.of_type]
        empty = config.empty
    return links


def _is_likely(
    pairs: _Pairs,
    forward: Floats,
    backward: Floats,
    count: Floats,
    config: LinksConfig,
) -> NDArray[np.bool_]:
    """Which types both directions agree on, and often enough."""
    product = np.ones(pairs.types)
    for links, given in ((forward, pairs.src), (backward, pairs.trg)):
        expected = np.bincount(pairs.type_of, links, pairs.types)
        total = np.bincount(given.of_type, expected)[given.of_type]
        product *= expected / np.maximum(total, 1e-12)
    likely: NDArray[np.bool_] = np.sqrt(product) > config.min_probability
    return likely & (count > config.min_count)


def _most(pairs: _Pairs, links: Floats) -> Floats:
    """Of each type the expected links in the bead that has most of them."""
    keys, number = unique_inverse(pairs.type_of * pairs.beads + pairs.bead_of)
    inside = np.bincount(number, links)
    type_of = keys // pairs.beads  # sorted, and every type occurs
    edges = np.flatnonzero(np.diff(type_of, prepend=-1))
    most: Floats = np.maximum.reduceat(inside, edges)
    return most


def _probability(
    place: Places, learned: Floats, before: Floats, config: LinksConfig
) -> Floats:
    """Of each link, given its word at `place`."""
    weight = learned + config.prior * before
    total = np.bincount(place, weight, 1)[place] + config.unknown
    probability: Floats = weight / total
    return probability


def _share(
    place: Places,
    explained: Floats,
    kind: Kinds,
    occurrences: Places,
    config: LinksConfig,
) -> Floats:
    """Of each word the share of its occurrences that links explain; 0: it has none."""
    usual = np.zeros(len(occurrences))
    for number, start in enumerate(config.explained):
        mine = kind == number
        words = np.unique(place[mine])
        found = explained[mine].sum() + config.trust * start
        share = found / (occurrences[words].sum() + config.trust)
        usual[words] = np.maximum(usual[words], min(share, config.max_explained))
    total = np.bincount(place, explained, len(usual)) + config.share * usual
    shares: Floats = total / (occurrences + config.share)
    shares[usual == 0] = 0.0
    return np.minimum(shares, config.max_explained)


def _at(known: Places, values: Floats, wanted: Places) -> Floats:
    """The value of each key, 0 for those that are not there; `known` is sorted."""
    if not len(known):
        return np.zeros(len(wanted))
    place, there = places_in(known, wanted)
    return np.where(there, values[place], 0.0)
