"""One site, all at once: candidates → scores → near-duplicates → 1-1.

This is the result that counts: `Aligner.finish` asks for it, and nothing that was
decided while crawling goes into it. The order of the stages:

1. `evidence`: which pages have a text, which are copies, what URLs and links propose;
2. `bootstrap`: rounds of comparing pages by content, through a lexicon that they teach;
3. `named_pairs`: short pages, which only an address or a link can pair;
4. here: each page in at most one pair (`one_to_one`), copies named as twins; scores
   hold where as many pages have a partner as on this site (`base_rate`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from crawler.aligner.base_rate import at_base_rate, base_rate
from crawler.aligner.bootstrap import Knowledge, best_first, bootstrap, compare
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.collection import Collection
from crawler.aligner.evidence import Pair, SiteTexts
from crawler.aligner.named_pairs import with_short_pages
from crawler.aligner.one_to_one import n_best, one_to_one
from crawler.aligner.profile import AlignProfile
from crawler.data import PairScore
from crawler.protocols import CandidateGenerator
from crawler.unionfind import UnionFind


@dataclass(frozen=True, slots=True, eq=False)
class SiteResult:
    """The pairs of a site, and what it taught."""

    accepted: Mapping[Pair, PairScore]  # by page numbers, best first
    scores: Mapping[Pair, PairScore]  # every candidate scored in the last round
    learned: Lexicon  # from this site alone
    lexicon: Lexicon | None  # what was used in the end: given and learned
    clusters: UnionFind[int]  # page numbers of copies and near-copies

    @property
    def pairs(self) -> list[PairScore]:
        """The accepted pairs, best first."""
        return list(self.accepted.values())


def align_site(
    collection: Collection,
    generators: Sequence[CandidateGenerator],
    profile: AlignProfile,
    counts: Counter[str],
    *,
    known: Lexicon | None = None,
) -> SiteResult:
    """All stages over one collection. `known` is what earlier sites taught."""
    texts = SiteTexts.of(collection, generators, profile, counts)
    last, knowledge = bootstrap(texts, known or None)  # an empty one is none
    last = with_short_pages(texts, knowledge, last)
    counts.update(last.counts)
    return _decide(texts, last.scores, knowledge)


def align_first_look(
    collection: Collection,
    profile: AlignProfile,
    known: Lexicon | None = None,
    trust: float = 0.0,
) -> SiteResult:
    """Pair, of a site that is still coming in, the pages nearest to each other.

    A tenth of the work. What URLs and links propose was looked at when the pages came;
    `trust` says how much a link to another version has been worth (nats), for pages
    that name one which is not here yet.
    """
    texts = SiteTexts.of(collection, (), profile, Counter())
    knowledge = Knowledge.before(texts, known or None, trust)
    found, knowledge = compare(texts, knowledge, seeding=True)
    return _decide(texts, found.scores, knowledge)


def _decide(
    texts: SiteTexts, scores: Mapping[Pair, PairScore], knowledge: Knowledge
) -> SiteResult:
    """The accepted pairs, each with the twins and the n best of its pages."""
    profile, url, clusters = texts.profile, texts.collection.url, knowledge.clusters
    if profile.base_rate:
        scores = _at_base_rate(texts, scores, clusters)
    n = profile.n_best
    lists = n_best(best_first(texts, scores, profile.floor), n) if n else {}

    def twins(page: int) -> tuple[str, ...]:
        return tuple(url(other) for other in clusters.members(page) if other != page)

    def best(page: int) -> tuple[tuple[str, float], ...]:
        return tuple(
            (url(c.trg if c.src == page else c.src), c.score)
            for c in lists.get(page, ())
        )

    chosen_pairs = best_first(texts, scores, profile.min_score)
    if profile.one_to_one:
        chosen_pairs = one_to_one(chosen_pairs, clusters)
    accepted = {
        (chosen.src, chosen.trg): replace(
            scores[chosen.src, chosen.trg],
            src_twins=twins(chosen.src),
            trg_twins=twins(chosen.trg),
            src_n_best=best(chosen.src),
            trg_n_best=best(chosen.trg),
        )
        for chosen in chosen_pairs
    }
    return SiteResult(
        accepted, scores, knowledge.learned, knowledge.lexicon, knowledge.clusters
    )


def _at_base_rate(
    texts: SiteTexts, scores: Mapping[Pair, PairScore], clusters: UnionFind[int]
) -> dict[Pair, PairScore]:
    """The scores at the site's own base rate.

    Pairs that a URL or a link names keep theirs: it has said that there is a partner.
    """
    profile = texts.profile
    best = one_to_one(best_first(texts, scores, profile.floor), clusters)
    named = {
        clusters.find(page)
        for pair in best
        if pair.declared and pair.score >= profile.min_score
        for page in (pair.src, pair.trg)
    }
    left = min(len({*map(clusters.find, side)} - named) for side in texts.originals())
    by_content = [pair.score for pair in best if not pair.declared]
    rate = base_rate(by_content, left, profile.base_rate)
    changed = dict(scores)
    for pair in scores.keys() - texts.proposed.keys() - texts.short.keys():
        score = at_base_rate(scores[pair].score, rate, profile.base_rate)
        changed[pair] = replace(scores[pair], score=score)
    return changed
