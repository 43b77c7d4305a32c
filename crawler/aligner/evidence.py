"""Evidence: what is known of two pages beyond the pages themselves.

URLs and links may name them as versions of one page (`handles.same`, `links.declared`).
A margin says how much nearer they are than the best rival of either; a likelihood, how
much better each is explained by the other than by that rival. And of some pairs content
alone makes clear whether they are right, which tells what a difference means here.

In: the pages of a site, their neighbours, a lexicon.  Out: features of pairs.
See also: `bootstrap`, which asks for all of it in each round.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.candidates.links import declared_pairs, other_versions
from crawler.aligner.collection import Collection
from crawler.aligner.near_duplicates import join_copies, trigrams
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.lengths import log_ratio
from crawler.aligner.scorers.likelihood import gains
from crawler.aligner.scoring import Features
from crawler.data import CandidatePair, Neighbours, PageFeatures
from crawler.protocols import CandidateGenerator
from crawler.unionfind import UnionFind

Pair = tuple[int, int]  # page numbers, src first

# With fewer pairs than this their usual length ratio is not known.
_MIN_RATIOS = 5
_MIN_CHECKED = 3  # links that have proved right, before any is trusted


@dataclass(frozen=True, slots=True, eq=False)
class SiteTexts:
    """The pages of a site that have a text, and what URLs and links say of them."""

    collection: Collection
    profile: AlignProfile
    sides: tuple[list[int], list[int]]  # pages of src and of trg
    proposed: Mapping[Pair, frozenset[str]]  # by URL or link: names of the generators
    short: Mapping[Pair, frozenset[str]]  # the same, where one has too little text
    declared: Mapping[Pair, bool]  # do both pages declare each other?
    # of each page that names its own other version, the pages there
    versions: Mapping[int, frozenset[int]]
    copies: UnionFind[int]  # pages of the same text
    trigrams: Callable[[int], NDArray[np.uint64]]  # the word 3-grams of a page

    @classmethod
    def of(
        cls,
        collection: Collection,
        generators: Sequence[CandidateGenerator],
        profile: AlignProfile,
        counts: Counter[str],
    ) -> SiteTexts:
        """Look at every page once; pages without a text are counted."""
        gates = profile.gates

        def size(page: int) -> int:
            whole, main = collection.whole(page), collection.features(page)
            return gates.text_size(whole, main, collection.frequencies)

        sizes = [size(page) for page in range(len(collection.rows))]
        src, trg = (
            [page for page in side if sizes[page] >= gates.min_size]
            for side in collection.sides
        )
        texts = {*src, *trg}
        has_some = {page for page, size in enumerate(sizes) if size >= gates.min_named}
        counts["align/rejected/no_text"] += len(collection.rows) - len(texts)
        proposed: defaultdict[Pair, frozenset[str]] = defaultdict(frozenset)
        short: defaultdict[Pair, frozenset[str]] = defaultdict(frozenset)
        for generator in generators:
            for pair in generator.pairs(collection):
                if texts.issuperset(pair):
                    proposed[pair] |= {generator.name}
                elif has_some.issuperset(pair):
                    short[pair] |= {generator.name}
        copies = UnionFind[int]()
        for side in (src, trg):
            join_copies(copies, side, collection.features)
        return cls(
            collection,
            profile,
            (src, trg),
            dict(proposed),
            dict(short),
            declared_pairs(collection),
            other_versions(collection),
            copies,
            lru_cache(4096)(lambda page: trigrams(collection.features(page))),
        )

    def originals(self) -> tuple[list[int], list[int]]:
        """The pages of src and of trg that are compared: one for each text."""
        src, trg = ([p for p in s if self.copies.find(p) == p] for s in self.sides)
        return src, trg

    def is_named(self, pair: Pair) -> bool:
        """Whether a URL or a link names two pages as versions of one."""
        return pair in self.proposed or pair in self.short

    def originals_of(self, pair: Pair) -> Pair:
        """The pages that are compared for those of a pair."""
        return self.copies.find(pair[0]), self.copies.find(pair[1])

    def features(self, pair: Pair) -> tuple[PageFeatures, PageFeatures]:
        """Both pages of a pair."""
        return self.collection.features(pair[0]), self.collection.features(pair[1])

    def candidate(self, pair: Pair, found_by: frozenset[str]) -> CandidatePair:
        """A pair as scorers take it."""
        return CandidatePair(*self.features(pair), found_by)

    def usual_ratio(self, near: Neighbours) -> float:
        """The median log length ratio of the pairs that are most likely right."""
        likely = sorted(self.proposed) or sorted(near.mutual().pairs)
        if len(likely) < _MIN_RATIOS:
            return 0.0
        return statistics.median(log_ratio(*self.features(pair)) for pair in likely)


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """The pages that compete with each other for one partner, in one round."""

    texts: SiteTexts
    near: Neighbours
    clusters: UnionFind[int]  # copies and near-copies: no rivals of each other
    refused: AbstractSet[Pair] = frozenset()  # candidates that no gate lets pass
    trust: float = 0.0  # nats that a link to another version is worth on this site

    def margins(self, pair: Pair) -> Features:
        """The features of URLs and links, and of how far off other pages are."""
        src, trg = self.texts.originals_of(pair)
        cosine = self.near.pairs.get((src, trg), 0.0)
        mutual = self.texts.declared.get(pair)

        def margin(page: int, partner: int) -> float:
            ranked = self.near.ranked.get(page, ())
            margin = cosine - self._best(ranked, page, partner, pair)
            return min(margin, self.texts.profile.evidence.margin_cap)

        return {
            "handles.same": float("handles" in self.texts.proposed.get(pair, ())),
            "links.declared": 0.0 if mutual is None else 0.5 + 0.5 * mutual,
            "links.elsewhere": self.trust * self.elsewhere(pair),
            "nearest.cosine": cosine,
            "margin.src": margin(src, trg),
            "margin.trg": margin(trg, src),
        }

    def elsewhere(self, pair: Pair) -> int:
        """How many of the two pages name another page, or one not here, as theirs.

        Of a pair that a URL or a link names none does: addresses have many forms.
        """
        if self.texts.is_named(pair):
            return 0
        versions, clusters = self.texts.versions, self.clusters
        return sum(
            named is not None and clusters.find(other) not in map(clusters.find, named)
            for page, other in (pair, pair[::-1])
            for named in [versions.get(page)]
        )

    def likelihoods(
        self, pair: Pair, gained: Mapping[int, Mapping[int, float]]
    ) -> Features:
        """The nats by which each page explains the other better than its rivals do.

        `gained`: of each page what it gains from others, see `page_gains`.
        """
        cap = self.texts.profile.evidence.likelihood_cap

        def more(page: int, partner: int) -> float:
            others = gained.get(page, {})
            best = self._best(others.items(), page, partner, pair)
            gain = others.get(partner, 0.0) - best
            return min(max(gain, -cap), cap)

        src, trg = self.texts.originals_of(pair)
        return {"likelihood.src": more(src, trg), "likelihood.trg": more(trg, src)}

    def known(self) -> dict[Pair, bool]:
        """Is a pair right? For those of which content alone makes it clear.

        Of a round that only looks for seeds no wrong pair is a candidate: its model
        learns to rank by content where the rest does not fit.
        """
        known: dict[Pair, bool] = {}
        clear = self.texts.profile.evidence.clear
        for pair, cosine in self.near.mutual().pairs.items():
            if self.trust and self.elsewhere(pair):
                known[pair] = False
                continue
            rivals = [self.of(page, pair) for page in pair]
            if all(r[0][1] <= clear * cosine for r in rivals if r):
                known[pair] = True
                for page, others in zip(pair, rivals):
                    for other, _ in others:
                        ends = (page, other) if page == pair[0] else (other, page)
                        known.setdefault(ends, False)
        return known

    def of(self, page: int, pair: Pair) -> list[tuple[int, float]]:
        """The neighbours of a page of a pair that are no copies of its partner."""
        partner = self.clusters.find(pair[0] if page == pair[1] else pair[1])
        return [
            (other, cosine)
            for other, cosine in self.near.ranked[page]
            if self.clusters.find(other) != partner
        ]

    def _best(
        self, ranked: Iterable[tuple[int, float]], page: int, partner: int, pair: Pair
    ) -> float:
        """The value of the first rival for `page`, best first; 0 if there is none.

        A copy of the partner is not a rival. Nor is a page that no gate lets pass,
        where a URL or a link names the partner: half of it may be translated.
        """
        named = pair in self.texts.proposed
        is_src = page == self.texts.copies.find(pair[0])
        own = self.clusters.find(partner)
        for other, value in ranked:
            ends = (page, other) if is_src else (other, page)
            if self.clusters.find(other) != own and not (
                named and ends in self.refused
            ):
                return value
        return 0.0


def trust_in_links(
    texts: SiteTexts, near: Neighbours, admitted: AbstractSet[Pair]
) -> float:
    """The nats that a link to another version is worth, by those that can be checked.

    Right are links between pages that no gate refuses and that are each other's nearest
    in content.
    """
    named = (pair for pair, by in texts.proposed.items() if "links" in by)
    linked = {texts.originals_of(pair) for pair in named}
    return trust(len(linked & near.mutual().pairs.keys() & admitted), len(linked))


def trust(right: int, checked: int) -> float:
    """The log odds that a link is right (Krichevsky & Trofimov 1981); 0 at the least.

    One or two that are right may be the links of the home pages, and say nothing.

    >>> trust(0, 0), trust(2, 2), round(trust(5, 5), 1), trust(2, 5)
    (0.0, 0.0, 2.4, 0.0)
    """
    if right < _MIN_CHECKED:
        return 0.0
    return max(0.0, math.log((right + 0.5) / (checked - right + 0.5)))


def page_gains(
    texts: SiteTexts, near: Neighbours, lexicon: Lexicon, also: Iterable[Pair]
) -> dict[int, dict[int, float]]:
    """The gain of each page from those it may be paired with, the most first.

    In nats a word; of its neighbours, of what URLs and links propose, and of `also`.
    """
    proposed = {texts.originals_of(pair) for pair in (*texts.proposed, *also)}
    compared = near.ranked.keys()  # all, but of a giant
    ends = sorted(near.pairs.keys() | {p for p in proposed if compared >= {*p}})
    sides = [sorted({pair[side] for pair in ends}) for side in (0, 1)]
    place = {page: n for side in sides for n, page in enumerate(side)}
    src, trg = ([texts.collection.features(page) for page in side] for side in sides)
    gained: defaultdict[int, dict[int, float]] = defaultdict(dict)
    found = gains(src, trg, [(place[s], place[t]) for s, t in ends], lexicon).tolist()
    for (one, other), (of_src, of_trg) in zip(ends, found):
        gained[one][other] = of_src
        gained[other][one] = of_trg
    return {
        page: dict(sorted(others.items(), key=itemgetter(1), reverse=True))
        for page, others in gained.items()
    }
