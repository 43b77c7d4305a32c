"""Lexicon: how much more likely words are, given those of the other side, than anyhow.

The first model of Brown et al. (1993), in both directions: a word of a bead comes from
one of the words on the other side, each as likely as the others, or is there anyhow, as
often as it is in the text. Which words translate which is said by `links`; how often a
word is explained at all decides how much it tells when it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from crawler.aligner.arrays import order_of, ranges
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.costs.cost import Hints, Matrix, windows
from crawler.aligner.sentences.learning import learn
from crawler.aligner.sentences.links import LexiconTable, Links, LinksConfig, Prior
from crawler.aligner.sentences.split import Side
from crawler.aligner.sentences.tokens import Places, TokenIds, Tokens

# Pairs of places that a link may have to be a hint: a word that is there twenty times.
# With ten times the path through 100,000 sentences that repeat each other was lost.
_RARE = 400


@dataclass(frozen=True, slots=True)
class LexiconCostConfig:
    """Model 1 as a cost; training/sentence_costs.py fits the numbers."""

    floor: float = 1.4e-4  # a rarer word is as telling as one of this frequency
    # nats count for less, since words are not independent of each other; the direction
    # that explains less counts more, or a word would explain all its repetitions
    lesser: float = 1.1
    greater: float = 0.3
    first: float = 0.85  # of these weights, before the text's own words are learned
    links: LinksConfig = field(default_factory=LinksConfig)


class LexiconCost:
    """How much less likely than by chance the words of a bead are, in both ways."""

    def __init__(
        self,
        token_ids: TokenIds,
        lexicon: Lexicon | None = None,
        config: LexiconCostConfig | None = None,
    ) -> None:
        self.config = config or LexiconCostConfig()
        self._token_ids = token_ids
        self._lexicon = lexicon

    @cached_property
    def _tables(self) -> list[LexiconTable]:
        return [LexiconTable.of(self._lexicon)] if self._lexicon else []

    def prepare(self, src: Side, trg: Side) -> Words:
        """Cut and number the words of both sides, and link them."""
        config = self.config
        ours, theirs = (self._token_ids.encode(side.texts) for side in (src, trg))
        prior = Prior.between(ours, theirs, self._tables, config.links)
        links = prior.links(ours, theirs, config.links)
        return Words(
            config,
            ours,
            theirs,
            prior,
            config.first,
            _Direction.of_links(ours, theirs, links, config.floor),
            _Direction.of_links(theirs, ours, links.turned(), config.floor),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of two sides, and the links between them."""

    config: LexiconCostConfig
    src: Tokens
    trg: Tokens
    prior: Prior
    weight: float
    forward: _Direction
    backward: _Direction

    def learn(self, beads: Sequence[Bead]) -> Words:
        """The same words with the links that these beads teach."""
        floor = self.config.floor
        links = learn(beads, self.src, self.trg, self.prior, self.config.links)
        return replace(
            self,
            weight=1.0,
            forward=_Direction.of_links(self.src, self.trg, links, floor),
            backward=_Direction.of_links(self.trg, self.src, links.turned(), floor),
        )

    def part(self, rows: slice, columns: slice) -> _Part:
        """The words of some sentences."""
        return _Part(
            self.config.lesser * self.weight,
            self.config.greater * self.weight,
            _Gains(self.forward, rows, columns),
            _Gains(self.backward, columns, rows),
        )

    def grouped(self, src: Sequence[slice], trg: Sequence[slice]) -> _Part:
        """The words of whole runs."""
        ours, theirs = self.src.grouped(src), self.trg.grouped(trg)
        runs = replace(
            self,
            forward=replace(self.forward, by=ours, of=theirs),
            backward=replace(self.backward, by=theirs, of=ours),
        )
        return runs.part(slice(0, len(src)), slice(0, len(trg)))

    def hints(self) -> Hints:
        """Sentences with rare words that translate each other."""
        direction = self.forward
        given = np.repeat(np.arange(len(direction.counts)), direction.counts)
        sides = direction.by, direction.of
        words = given, direction.word
        counts = [
            np.bincount(side.word, minlength=len(side.vocabulary)) for side in sides
        ]
        pairs = counts[0][words[0]] * counts[1][words[1]]
        rare = np.flatnonzero((pairs <= _RARE) & (direction.ratio > 1))
        # the pairs of places of each link, one after the other
        pairs = pairs[rare]
        link = np.repeat(rare, pairs)
        number = ranges(np.zeros(len(rare), np.int64), pairs)
        width = counts[1][words[1][link]]
        places = [
            _places(side, count, word[link], nth)
            for side, count, word, nth in zip(
                sides, counts, words, (number // width, number % width)
            )
        ]
        weight = np.log(direction.ratio[rare]) * direction.explained[words[1][rare]]
        clue = np.repeat(np.arange(len(rare)), pairs)
        return Hints(places[0], places[1], np.repeat(weight, pairs), clue)


def _places(side: Tokens, counts: Places, word: Places, nth: Places) -> Places:
    """The sentence in which each word stands for the nth time."""
    sentence = np.repeat(np.arange(len(side)), side.counts)[order_of(side.word)]
    first = np.cumsum(counts) - counts
    places: Places = sentence[first[word] + nth]
    return places


@dataclass(frozen=True, slots=True, eq=False)
class _Direction:
    """The words of the one side explained by those of the other."""

    by: Tokens
    of: Tokens
    starts: Places  # of each word of `by`: its first link
    counts: Places  # and how many
    word: Places  # of each link: the word of `of`
    ratio: Matrix  # its probability, by the chance to find it anyhow
    explained: Matrix  # of each word of `of`

    @classmethod
    def of_links(cls, by: Tokens, of: Tokens, links: Links, floor: float) -> _Direction:
        """Sort the links by the word that is given."""
        frequency = np.bincount(of.word, minlength=len(of.vocabulary))
        chance = np.maximum(frequency / max(len(of.word), 1), floor)
        order = order_of(links.src)
        word = links.trg[order]
        counts = np.bincount(links.src, minlength=len(by.vocabulary))
        return cls(
            by,
            of,
            np.cumsum(counts) - counts,
            counts,
            word,
            (links.forward[order] / chance[word]).astype(np.float32),
            links.trg_explained.astype(np.float32),
        )


class _Gains:
    """One direction, for some sentences `rows` of `by` and `columns` of `of`."""

    def __init__(self, direction: _Direction, rows: slice, columns: slice) -> None:
        self._direction = direction
        self._rows = rows
        self._columns = columns
        self._sums: dict[int, Matrix] = {}
        self._links: _Shares | None = None

    def sums(self, size: int) -> Matrix:
        """(rows - size + 1, columns): log of how much more likely a sentence is.

        Given `size` sentences of the other side.
        """
        if size not in self._sums:
            if self._links is None:
                self._links = _Shares.of(self._direction, self._rows, self._columns)
            self._sums[size] = self._links.sums(size)
        return self._sums[size]


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """How far `rows` explain each word of `columns` that has links."""

    links: Matrix  # (rows, words): sums of ratios
    counts: Matrix  # tokens of each row
    explained: Matrix  # of each word
    word: Places  # of each token of `columns` that has links
    starts: Places  # where a sentence with such tokens begins
    filled: Places  # which sentences have any
    columns: int

    @classmethod
    def of(cls, direction: _Direction, rows: slice, columns: slice) -> _Shares:
        """Sum up the links of the tokens of `rows`."""
        by, of = direction.by, direction.of
        edges = of.starts[columns.start : columns.stop + 1]
        word = of.word[edges[0] : edges[-1]]
        linked = direction.explained[word] > 0
        edges = np.concatenate([[0], np.cumsum(linked)])[edges - edges[0]]
        word = word[linked]
        place = np.full(len(of.vocabulary), -1)
        place[word] = 0
        chosen = np.flatnonzero(place == 0)
        place[chosen] = np.arange(len(chosen))
        ends = by.starts[rows.start : rows.stop + 1]
        counts = np.diff(ends)
        given = by.word[ends[0] : ends[-1]]
        many = direction.counts[given]
        link = ranges(direction.starts[given], many)
        column = place[direction.word[link]]
        here = column >= 0
        row = np.repeat(np.repeat(np.arange(len(counts)), counts), many)[here]
        width = len(chosen)
        links = np.bincount(
            row * width + column[here],
            direction.ratio[link[here]],
            len(counts) * width,
        )
        filled = np.flatnonzero(np.diff(edges))
        return cls(
            links.astype(np.float32).reshape(len(counts), width),
            counts.astype(np.float32),
            direction.explained[chosen],
            place[word],
            edges[:-1][filled],
            filled,
            len(edges) - 1,
        )

    def sums(self, size: int) -> Matrix:
        """As `_Gains.sums`."""
        counts = np.maximum(windows(self.counts, size), np.float32(1))
        share: Matrix = np.divide(
            windows(self.links, size), counts[:, None], dtype=np.float32
        )
        share *= self.explained
        share += 1 - self.explained
        np.log(share, out=share)
        gains = np.zeros((len(share), self.columns), np.float32)
        if len(self.starts):
            gains[:, self.filled] = np.add.reduceat(
                share.take(self.word, axis=1), self.starts, axis=1
            )
        return gains


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    lesser: float
    greater: float
    forward: _Gains
    backward: _Gains

    def matrix(self, a: int, b: int) -> Matrix:
        ours = windows(self.forward.sums(a), b, axis=1)
        theirs = windows(self.backward.sums(b), a, axis=1).T
        cost = np.minimum(ours, theirs) * np.float32(-self.lesser)
        cost -= np.maximum(ours, theirs) * np.float32(self.greater)
        return cost
