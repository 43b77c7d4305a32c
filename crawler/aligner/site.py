"""One site, all at once: candidates → scores → near-duplicates → 1-1.

This is the result that counts: `Aligner.finish` asks for it, and nothing that was
decided while crawling goes into it.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from crawler.aligner.candidates.links import declared_pairs
from crawler.aligner.candidates.shared_words import Neighbours, shared_words
from crawler.aligner.collection import Collection
from crawler.aligner.near_duplicates import Clusters, join_copies, join_rivals
from crawler.aligner.one_to_one import Scored, one_to_one
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.combine import Logistic
from crawler.aligner.scorers.lengths import log_ratio
from crawler.aligner.scoring import PairJudge
from crawler.data import CandidatePair, PairScore
from crawler.protocols import CandidateGenerator

_Pair = tuple[int, int]  # page numbers, src first
_Found = Mapping[_Pair, set[str]]  # candidate → the generators that named it

# With fewer pairs than this their usual length ratio is not known.
_MIN_RATIOS = 5


class SiteAlignment:
    """The stages over one collection; `pairs` has the result, best first.

    At a first look, while a site is still coming in, candidates are only pages whose
    contents are each other's nearest: a tenth of the work. What URLs and links propose
    was looked at when the pages came.
    """

    def __init__(
        self,
        collection: Collection,
        generators: Sequence[CandidateGenerator],
        profile: AlignProfile,
        model: Logistic,
        counts: Counter[str],
        *,
        first_look: bool = False,
    ) -> None:
        self.collection = collection
        self.profile = profile
        self.counts = counts
        texts = [[p for p in side if self._is_text(p)] for side in collection.sides]
        found = self._proposed(() if first_look else generators, texts)
        near = self._neighbours(texts, found)
        if first_look:
            near = near.mutual()
        judge = PairJudge(
            profile,
            model,
            collection.frequencies,
            counts,
            usual=self._usual_ratio(found, near),
        )
        for pair in near.pairs:
            found[pair].add("words")
        self._scores = self._judged(judge, found, near)
        self.pairs = self._decided(texts, found)

    def page_ids(self, pair: PairScore) -> tuple[int, int]:
        """The store's ids of an accepted pair's pages."""
        src, trg = self._ends[pair.src_url, pair.trg_url]
        return self.collection.rows[src].id, self.collection.rows[trg].id

    # ------------------------------------------------------------ stages

    def _is_text(self, page: int) -> bool:
        gates, frequencies = self.profile.gates, self.collection.frequencies
        is_text = gates.is_text(self.collection.whole(page), frequencies)
        self.counts["align/rejected/no_text"] += not is_text
        return is_text

    def _proposed(
        self, generators: Sequence[CandidateGenerator], texts: Sequence[list[int]]
    ) -> defaultdict[_Pair, set[str]]:
        """What URLs and links propose."""
        eligible = {page for side in texts for page in side}
        found: defaultdict[_Pair, set[str]] = defaultdict(set)
        for generator in generators:
            for pair in generator.pairs(self.collection):
                if eligible.issuperset(pair):
                    found[pair].add(generator.name)
        return found

    def _neighbours(self, texts: Sequence[list[int]], found: _Found) -> Neighbours:
        """What content proposes: for all pages, or, if they are too many, the rest."""
        if max(map(len, texts)) > self.profile.max_content_pages:
            partnered = {page for pair in found for page in pair}
            texts = [[p for p in side if p not in partnered] for side in texts]
        return shared_words(
            self.collection, texts[0], texts[1], self.profile.shared_words
        )

    def _usual_ratio(self, found: _Found, near: Neighbours) -> float:
        """The median log length ratio of the pairs that are most likely right."""
        likely = sorted(found) or [
            pair for pair in sorted(near.pairs) if min(near.margin(*pair)) > 0
        ]
        if len(likely) < _MIN_RATIOS:
            return 0.0
        sketch = self.collection.sketch
        return statistics.median(log_ratio(sketch(s), sketch(t)) for s, t in likely)

    def _judged(
        self, judge: PairJudge, found: _Found, near: Neighbours
    ) -> dict[_Pair, PairScore]:
        """The candidates that are good enough, with their scores."""
        mutual = declared_pairs(self.collection)
        scores = {}
        for pair in sorted(found):
            src, trg = (self.collection.sketch(page) for page in pair)
            margins = near.margin(*pair)
            declared = mutual.get(pair)
            evidence = {
                "handles.same": float("handles" in found[pair]),
                "links.declared": 0.0 if declared is None else 0.5 + 0.5 * declared,
                "margin.src": margins[0],
                "margin.trg": margins[1],
            }
            candidate = CandidatePair(src, trg, frozenset(found[pair]))
            if score := judge.judge(candidate, evidence):
                scores[pair] = score
        return scores

    def _decided(self, texts: Sequence[list[int]], found: _Found) -> list[PairScore]:
        """The 1-1 choice among them, each with the twins of its pages."""
        clusters = self._clusters(texts)
        candidates = [
            Scored(*pair, score.score, bool(found[pair] - {"words"}))
            for pair, score in self._scores.items()
        ]
        members = clusters.members(page for side in texts for page in side)

        def twins(page: int) -> tuple[str, ...]:
            copies = members.get(clusters.of(page), ())
            return tuple(self.collection.url(p) for p in copies if p != page)

        self._ends: dict[tuple[str, str], _Pair] = {}
        pairs = []
        for chosen in one_to_one(candidates, clusters, self.collection.url):
            score = self._scores[chosen.src, chosen.trg]
            self._ends[score.src_url, score.trg_url] = (chosen.src, chosen.trg)
            pairs.append(
                replace(score, src_twins=twins(chosen.src), trg_twins=twins(chosen.trg))
            )
        return pairs

    def _clusters(self, texts: Sequence[list[int]]) -> Clusters:
        clusters = Clusters()
        for side in texts:
            join_copies(clusters, side, self.collection.sketch)
        rivals: defaultdict[int, set[int]] = defaultdict(set)
        for src, trg in self._scores:
            rivals[src].add(trg)
            rivals[trg].add(src)
        for page in sorted(rivals):
            if len(rivals[page]) > 1:
                join_rivals(clusters, sorted(rivals[page]), self.collection.sketch)
        return clusters
