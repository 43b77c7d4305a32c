"""One site, all at once: candidates → scores → near-duplicates → 1-1.

This is the result that counts: `Aligner.finish` asks for it, and nothing that was
decided while crawling goes into it.

The first round compares pages by the words that both languages share. Its surest pairs
teach a lexicon, through which the next rounds compare (ALIGNMENT section 8: seeds →
segments → word association → projection, twice). What earlier sites taught takes the
place of the first of these rounds.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter

from crawler.aligner.bridges.leaving_one_out import confirmed
from crawler.aligner.bridges.lexicon import Lexicon, Segment, induce
from crawler.aligner.bridges.segments import segments_of
from crawler.aligner.candidates.links import declared_pairs
from crawler.aligner.candidates.nearest import Neighbours
from crawler.aligner.candidates.shapes import shapes
from crawler.aligner.candidates.shared_words import shared_words
from crawler.aligner.candidates.translated_words import translated_words
from crawler.aligner.collection import Collection
from crawler.aligner.near_duplicates import (
    join_copies,
    join_near_copies,
    ngrams,
)
from crawler.aligner.one_to_one import (
    Scored,
    n_best,
    one_to_one,
    ranked,
    symmetric,
)
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.lengths import log_ratio
from crawler.aligner.scorers.likelihood import gains
from crawler.aligner.scoring import MARGIN_CAP, Features, PairJudge
from crawler.aligner.search import search
from crawler.data import CandidatePair, PageFeatures, PairScore
from crawler.protocols import CandidateGenerator
from crawler.unionfind import UnionFind

_Pair = tuple[int, int]  # page numbers, src first

# With fewer pairs than this their usual length ratio is not known.
_MIN_RATIOS = 5
# Neighbours with so much of the best cosine may be copies of each other.
_AS_NEAR = 0.9
_AT_ONCE = 512  # candidates whose pages are in memory together: 20 MB
_MAX_KNOWN = 2000  # pairs that a model is adapted to; it has five numbers to learn
# With seeds for less than a fifth of the pages, shapes may know more; where names and
# numbers are shared, seeds for a third and more are found.
_FEW = 0.2
# The nearest is surely right where the next has at most so much of its cosine.
_CLEAR = 0.75
# With a nat a word more than its rivals a page is certain; how much more says nothing.
LIKELIHOOD_CAP = 1.0
# A page of fewer words is compared by shape, once the others are paired, if it has one:
# as many different tags, opening and closing. Title and paragraphs have fewer.
_MUTE, _SHAPED = 40, 16


class SiteAlignment:
    """The stages over one collection; `pairs` has the result, best first.

    `known` is what earlier sites taught, `learned` what this one did, `lexicon` what
    was used in the end: both together. `scores` has every candidate that was scored in
    the last round, by page numbers.

    At a first look, while a site is still coming in, candidates are only pages whose
    contents are each other's nearest: a tenth of the work. What URLs and links propose
    was looked at when the pages came.
    """

    def __init__(
        self,
        collection: Collection,
        generators: Sequence[CandidateGenerator],
        profile: AlignProfile,
        counts: Counter[str],
        *,
        known: Lexicon | None = None,
        first_look: bool = False,
    ) -> None:
        self.collection = collection
        self.profile = profile
        self.counts = counts
        self.lexicon = self._given = known or None  # an empty one is none
        self._texts = [
            [page for page in side if self._is_text(page)] for side in collection.sides
        ]
        self._proposed = self._propose(() if first_look else generators)
        self._declared = declared_pairs(collection)
        self._clusters = UnionFind[int]()
        for side in self._texts:
            join_copies(self._clusters, side, collection.features)
        # of pages with the same text one is compared, for all of them
        self._original = {
            page: self._clusters.find(page) for side in self._texts for page in side
        }
        self._ngrams = lru_cache(4096)(lambda page: ngrams(collection.features(page)))
        self._segments: dict[_Pair, list[Segment]] = {}
        self._same_shape: dict[_Pair, float] = {}
        self.learned = Lexicon.empty(collection.store.langs)
        self._taught_by: list[_Pair] = []
        self._usual = 0.0
        if first_look:
            self._compare(only_mutual=True)
        else:
            self._bootstrap()
        self.pairs = self._decide()

    def page_ids(self, pair: PairScore) -> tuple[int, int]:
        """The store's ids of an accepted pair's pages."""
        src, trg = self._ends[pair.src_url, pair.trg_url]
        return self.collection.rows[src].id, self.collection.rows[trg].id

    def copies(self, page: int) -> list[int]:
        """The pages of the same text as this one, and itself."""
        return self._clusters.members(page)

    # ------------------------------------------------------------ candidates

    def _is_text(self, page: int) -> bool:
        gates, frequencies = self.profile.gates, self.collection.frequencies
        whole, main = self.collection.whole(page), self.collection.features(page)
        is_text = gates.is_text(whole, main, frequencies)
        self.counts["align/rejected/no_text"] += not is_text
        return is_text

    def _propose(
        self, generators: Sequence[CandidateGenerator]
    ) -> dict[_Pair, frozenset[str]]:
        """What URLs and links propose."""
        eligible = {page for side in self._texts for page in side}
        found: defaultdict[_Pair, set[str]] = defaultdict(set)
        for generator in generators:
            for pair in generator.pairs(self.collection):
                if eligible.issuperset(pair):
                    found[pair].add(generator.name)
        return {pair: frozenset(names) for pair, names in found.items()}

    def _originals(self) -> tuple[list[int], list[int]]:
        """The pages of src and of trg, one for each text."""
        src, trg = (
            [page for page in side if self._original[page] == page]
            for side in self._texts
        )
        return src, trg

    def _neighbours(self, *, seeding: bool) -> Neighbours:
        """What content proposes: for all pages, or, if they are too many, the rest."""
        src, trg = self._originals()
        limit = self.profile.max_content_pages
        if max(len(src), len(trg)) > limit:
            partnered = {page for pair in self._proposed for page in pair}
            src, trg = ([p for p in side if p not in partnered] for side in (src, trg))
        too_many = max(len(src), len(trg)) > limit
        if self.lexicon is None:
            # what URLs and links propose has to teach the first lexicon of a giant
            return (
                Neighbours()
                if too_many
                else shared_words(self.collection, src, trg, self.profile.shared_words)
            )
        if not too_many and (seeding or self.profile.search == "exact"):
            return translated_words(
                self.collection, src, trg, self.lexicon, self.profile.translated_words
            )
        return search(self.collection, src, trg, self.lexicon, self.profile)

    # ------------------------------------------------------------ one round

    def _compare(self, *, only_mutual: bool = False) -> None:
        """Score all candidates, with the lexicon of this round.

        `only_mutual`: by content only those that are each other's nearest.
        """
        near = self._neighbours(seeding=only_mutual)
        likely = {} if only_mutual else self._likely(near)
        if only_mutual:
            near = near.mutual()
        self._usual = self._usual_ratio(near)
        self._refusals = Counter[str]()
        judge = PairJudge(
            self.profile,
            self.collection.frequencies,
            self._refusals,
            usual=self._usual,
            lexicon=self.lexicon,
            confirmed=None if only_mutual else self._confirmed(),
        )
        name = frozenset(["words" if self.lexicon is None else "lexicon"])
        found = dict(self._proposed)
        for pair in near.worthwhile(self.profile.min_share):
            found[pair] = found.get(pair, frozenset()) | name
        for pair in self._same_shape:
            found[pair] = found.get(pair, frozenset()) | {"shapes"}
        admitted = self._admitted(judge, found)
        self._join_near_copies(near)
        refused = found.keys() - admitted.keys()
        for pair, features in admitted.items():
            features |= self._evidence(pair, near, refused)
        known = [item for item in self._known(near).items() if item[0] in admitted]
        known = known[:: 1 + len(known) // _MAX_KNOWN]
        judge.adapt(
            [(self._candidate(pair, found), admitted[pair]) for pair, _ in known],
            [right for _, right in known],
        )
        # after that: these are nats, which nothing that is learned may make up for
        for pair, features in admitted.items():
            features |= self._likelihood(pair, likely, refused)
        self.scores = self._scored(judge, admitted, found)
        self._last = judge, near

    def _compare_by_shape(self) -> None:
        """Score, of the pages without a partner, what is alike, if one says little.

        No lexicon knows the few words of such a page; and those that are alike are few
        once all others are paired.
        """
        paired = {page for pair in self._sure() for page in pair}
        src, trg = ([p for p in side if p not in paired] for side in self._originals())
        judge, near = self._last
        alike = shapes(
            self.collection, src, trg, self.profile.shapes, among=_has_few_words
        )
        found = {
            pair: frozenset(["shapes"])
            for pair in alike.pairs
            if pair not in self.scores
        }
        admitted = self._admitted(judge, found)
        for pair, features in admitted.items():
            features |= self._evidence(pair, near, set())
        self.scores |= self._scored(judge, admitted, found)

    def _admitted(
        self, judge: PairJudge, found: Mapping[_Pair, frozenset[str]]
    ) -> dict[_Pair, Features]:
        """The cheap features of those that no gate refuses."""
        admitted: dict[_Pair, Features] = {}
        for batch in _batches(sorted(found)):
            features_of = judge.admit([self._candidate(pair, found) for pair in batch])
            admitted |= {
                pair: features
                for pair, features in zip(batch, features_of)
                if features is not None
            }
        return admitted

    def _scored(
        self,
        judge: PairJudge,
        admitted: Mapping[_Pair, Features],
        found: Mapping[_Pair, frozenset[str]],
    ) -> dict[_Pair, PairScore]:
        """The scores of those that are good enough."""
        scored: dict[_Pair, PairScore] = {}
        for batch in _batches(list(admitted)):
            scores = judge.judge(
                [(self._candidate(pair, found), admitted[pair]) for pair in batch],
                self._floor,
            )
            scored |= {
                pair: score for pair, score in zip(batch, scores) if score is not None
            }
        return scored

    def _candidate(
        self, pair: _Pair, found: Mapping[_Pair, frozenset[str]]
    ) -> CandidatePair:
        features_of = self.collection.features
        return CandidatePair(features_of(pair[0]), features_of(pair[1]), found[pair])

    def _known(self, near: Neighbours) -> dict[_Pair, bool]:
        """Is a pair right? For those of which content alone makes it clear.

        Of a round that only looks for seeds no wrong pair is a candidate: its model
        learns to rank by content where the rest does not fit.
        """
        known = {}
        for pair, cosine in near.mutual().pairs.items():
            rivals = [self._rivals(page, pair, near) for page in pair]
            if all(r[0][1] <= _CLEAR * cosine for r in rivals if r):
                known[pair] = True
                for page, others in zip(pair, rivals):
                    for other, _ in others:
                        ends = (page, other) if page == pair[0] else (other, page)
                        known.setdefault(ends, False)
        return known

    def _rivals(
        self, page: int, pair: _Pair, near: Neighbours
    ) -> list[tuple[int, float]]:
        """The neighbours of a page of a pair that are no copies of its partner."""
        partner = self._clusters.find(pair[0] if page == pair[1] else pair[1])
        return [
            (other, cosine)
            for other, cosine in near.ranked[page]
            if self._clusters.find(other) != partner
        ]

    @property
    def _floor(self) -> float:
        return min(self.profile.min_score, self.profile.bootstrap.min_score)

    def _usual_ratio(self, near: Neighbours) -> float:
        """The median log length ratio of the pairs that are most likely right."""
        likely = sorted(self._proposed) or sorted(near.mutual().pairs)
        if len(likely) < _MIN_RATIOS:
            return 0.0
        features_of = self.collection.features
        return statistics.median(
            log_ratio(features_of(s), features_of(t)) for s, t in likely
        )

    def _join_near_copies(self, near: Neighbours) -> None:
        """Cluster what is as near to a page as its nearest, if it is the same text."""
        for ranking in near.ranked.values():
            close = [p for p, c in ranking if c >= _AS_NEAR * ranking[0][1]]
            if len(close) > 1:
                join_near_copies(self._clusters, close, self._ngrams)

    def _evidence(
        self, pair: _Pair, near: Neighbours, refused: set[_Pair]
    ) -> dict[str, float]:
        """What is known of a pair beyond its two pages."""
        src, trg = (self._original[page] for page in pair)
        cosine = near.pairs.get((src, trg), 0.0)

        def margin(page: int, partner: int) -> float:
            for other, rival in near.ranked.get(page, ()):
                if self._is_rival(other, page, partner, pair, refused):
                    return min(cosine - rival, MARGIN_CAP)
            return min(cosine, MARGIN_CAP)

        mutual = self._declared.get(pair)
        return {
            "handles.same": float("handles" in self._proposed.get(pair, ())),
            "links.declared": 0.0 if mutual is None else 0.5 + 0.5 * mutual,
            "nearest.cosine": cosine,
            "margin.src": margin(src, trg),
            "margin.trg": margin(trg, src),
        }

    def _likelihood(
        self,
        pair: _Pair,
        likely: Mapping[int, Mapping[int, float]],
        refused: set[_Pair],
    ) -> dict[str, float]:
        """How much better each page is explained by the other than by its rivals."""
        src, trg = (self._original[page] for page in pair)

        def more(page: int, partner: int) -> float:
            gains = likely.get(page, {})
            best = next(
                (
                    gain
                    for other, gain in gains.items()
                    if self._is_rival(other, page, partner, pair, refused)
                ),
                0.0,
            )
            return min(
                max(gains.get(partner, 0.0) - best, -LIKELIHOOD_CAP), LIKELIHOOD_CAP
            )

        return {"likelihood.src": more(src, trg), "likelihood.trg": more(trg, src)}

    def _is_rival(
        self, other: int, page: int, partner: int, pair: _Pair, refused: set[_Pair]
    ) -> bool:
        """Does a page compete for one of a pair with the other one, its partner?

        A copy of the partner does not. Nor does a page that no gate lets pass, where a
        URL or a link names the partner: half of it may be translated.
        """
        if self._clusters.find(other) == self._clusters.find(partner):
            return False
        ends = (page, other) if page == self._original[pair[0]] else (other, page)
        return pair not in self._proposed or ends not in refused

    def _likely(self, near: Neighbours) -> dict[int, dict[int, float]]:
        """What each page gains from those it may be paired with, in nats a word.

        The most first.
        """
        if self.lexicon is None:
            return {}
        proposed = {
            (self._original[src], self._original[trg])
            for src, trg in self._proposed.keys() | self._same_shape.keys()
        }
        compared = near.ranked.keys()  # all, but of a giant
        ends = sorted(near.pairs.keys() | {p for p in proposed if compared >= {*p}})
        sides = [sorted({pair[side] for pair in ends}) for side in (0, 1)]
        number = {page: n for side in sides for n, page in enumerate(side)}
        pages = [[self.collection.features(page) for page in side] for side in sides]
        numbered = [(number[src], number[trg]) for src, trg in ends]
        likely: defaultdict[int, dict[int, float]] = defaultdict(dict)
        found = gains(pages[0], pages[1], numbered, self.lexicon).tolist()
        for (src, trg), (of_src, of_trg) in zip(ends, found):
            likely[src][trg] = of_src
            likely[trg][src] = of_trg
        return {
            page: dict(sorted(gains.items(), key=itemgetter(1), reverse=True))
            for page, gains in likely.items()
        }

    # ------------------------------------------------------------ the bootstrap

    def _bootstrap(self) -> None:
        """Compare through a lexicon of the surest pairs, until it finds no more."""
        config = self.profile.bootstrap
        sure: list[_Pair] = []
        for share in config.shares[1:] if self._given else config.shares:
            self._compare(only_mutual=True)
            sure = self._sure()
            own = self._learn(sure, share)
            if self.lexicon is None and len(sure) < _FEW * min(map(len, self._texts)):
                own = self._more_telling(own, share)
            if not self._take(own):
                break
        self._compare()
        for _ in range(config.more_rounds if len(self.learned) else 0):
            before, sure = len(sure), self._sure()
            if len(sure) < (1 + config.growth) * before:
                break
            if not self._take(self._learn(sure, config.shares[-1])):
                break
            self._compare()
        self._compare_by_shape()

    def _take(self, own: Lexicon) -> bool:
        """Compare through what the site taught from now on, if it taught anything."""
        if len(own):
            self.learned = own
            self.lexicon = self._given + own if self._given else own
        return len(own) > 0

    def _confirmed(self) -> Lexicon | None:
        """The lexicon, less what the site's pairs may have taught for themselves."""
        features_of = self.collection.features
        pairs = [(features_of(src), features_of(trg)) for src, trg in self._taught_by]
        own = confirmed(self.learned, pairs)
        return (self._given + own if self._given else own) or None

    def _more_telling(self, by_words: Lexicon, share: float) -> Lexicon:
        """That lexicon, or one seeded by shape if more pages find a partner through it.

        The few words that begin alike by chance in two languages teach something, too.
        """
        by_shape = self._learn(self._alike(), share)
        same_shape, self._same_shape = self._same_shape, {}
        if self._partners(by_shape) <= self._partners(by_words):
            return by_words
        self._same_shape = same_shape
        return by_shape

    def _partners(self, lexicon: Lexicon) -> int:
        """How many pages find a partner by content, through a first lexicon."""
        if not len(lexicon):
            return 0
        self.lexicon = lexicon
        self._compare(only_mutual=True)
        self.lexicon = None
        return len(self._sure())

    def _sure(self) -> list[_Pair]:
        """The pairs that would be accepted, best first."""
        chosen = one_to_one(
            self._ranked(self.profile.bootstrap.min_score), self._clusters
        )
        return [(pair.src, pair.trg) for pair in chosen]

    def _alike(self) -> list[_Pair]:
        """Pages that are each other's nearest by shape alone, the clearest first."""
        near = shapes(self.collection, *self._originals(), self.profile.shapes)
        self._usual = self._usual_ratio(near)
        # pages of which the first lexicon knows too little stay candidates
        self._same_shape = near.mutual().pairs
        clear = {}
        for pair, alike in self._same_shape.items():
            rivals = [self._rivals(page, pair, near)[:1] for page in pair]
            clear[pair] = alike - max(
                (score for r in rivals for _, score in r), default=0.0
            )
        return sorted(clear, key=lambda pair: (-clear[pair], pair))

    def _learn(self, pairs: Sequence[_Pair], share: float) -> Lexicon:
        """What the best of some pairs teach; `share` of them, if these are not few."""
        config = self.profile.bootstrap
        features_of = self.collection.features
        seeds = [
            (src, trg)
            for src, trg in pairs
            if abs(log_ratio(features_of(src), features_of(trg)) - self._usual)
            < config.max_length_difference
        ]
        enough = max(round(share * len(seeds)), config.at_least)
        seeds = seeds[: min(enough, config.max_pairs)]
        if len(seeds) < config.min_pairs:
            return Lexicon.empty(self.collection.store.langs)
        self._taught_by = seeds
        new = [pair for pair in seeds if pair not in self._segments]
        pages = [(features_of(src), features_of(trg)) for src, trg in new]
        self._segments |= zip(new, segments_of(pages, self._usual))
        segments = [segment for pair in seeds for segment in self._segments[pair]]
        return induce(segments, self.collection.store.langs, config.lexicon)

    # ------------------------------------------------------------ the decision

    def _ranked(self, min_score: float) -> list[Scored]:
        """The candidates that may be accepted, best first."""
        candidates = (
            Scored(*pair, score.score, pair in self._proposed)
            for pair, score in self.scores.items()
            if score.score >= min_score
        )
        best = ranked(candidates, self.collection.url)
        n = self.profile.symmetric
        return symmetric(best, n) if n else best

    def _decide(self) -> list[PairScore]:
        """The accepted pairs, each with the twins and the n best of its pages."""
        self.counts.update(self._refusals)

        def twins(page: int) -> tuple[str, ...]:
            return tuple(self.collection.url(p) for p in self.copies(page) if p != page)

        candidates = self._ranked(self.profile.min_score)
        n = self.profile.n_best
        lists = n_best(self._ranked(self._floor), n) if n else {}

        def best(page: int) -> tuple[tuple[str, float], ...]:
            return tuple(
                (self.collection.url(c.trg if c.src == page else c.src), c.score)
                for c in lists.get(page, ())
            )

        self._ends: dict[tuple[str, str], _Pair] = {}
        pairs = []
        for chosen in one_to_one(candidates, self._clusters):
            score = self.scores[chosen.src, chosen.trg]
            self._ends[score.src_url, score.trg_url] = (chosen.src, chosen.trg)
            pairs.append(
                replace(
                    score,
                    src_twins=twins(chosen.src),
                    trg_twins=twins(chosen.trg),
                    src_n_best=best(chosen.src),
                    trg_n_best=best(chosen.trg),
                )
            )
        return pairs


def _has_few_words(page: PageFeatures) -> bool:
    """Does a page say little, and have a shape?"""
    return len(page.words) < _MUTE and len(set(page.markup)) >= _SHAPED


def _batches(pairs: Sequence[_Pair]) -> Iterator[Sequence[_Pair]]:
    for start in range(0, len(pairs), _AT_ONCE):
        yield pairs[start : start + _AT_ONCE]
