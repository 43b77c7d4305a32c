"""The bootstrap: rounds of comparing a site's pages, each through what the last taught.

The first round compares pages by the words that both languages share. Its surest pairs
teach a lexicon, through which the next rounds compare (segments → word association →
projection, twice, and again while that finds more). What earlier sites taught takes the
place of the first of these rounds. At the end pages of few words are compared by shape.

In: the pages of a site that have a text; a lexicon of earlier sites, if there is one.
Out: the last round, with the score of every candidate; what is known then.
See also: `site` (what comes before and after), `evidence` (what rounds know of pairs).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from crawler.aligner.bridges.leaving_one_out import confirmed
from crawler.aligner.bridges.lexicon import Lexicon, Segment, induce
from crawler.aligner.bridges.segments import segments_of
from crawler.aligner.candidates.shapes import shapes
from crawler.aligner.evidence import (
    Pair,
    Rivals,
    SiteTexts,
    page_gains,
    trust_in_links,
)
from crawler.aligner.near_duplicates import join_near_copies
from crawler.aligner.one_to_one import Scored, one_to_one, ranked, symmetric
from crawler.aligner.plugins import make
from crawler.aligner.scorers.lengths import log_ratio
from crawler.aligner.scorers.strand import StrandScorer
from crawler.aligner.scoring import Features, PairJudge
from crawler.data import Neighbours, PairScore
from crawler.protocols import ContentSearch
from crawler.unionfind import UnionFind

_AT_ONCE = 512  # candidates whose pages are in memory together: 20 MB
_MAX_KNOWN = 2000  # pairs that a model is adapted to; it has five numbers to learn


Segments = Mapping[Pair, Sequence[Segment]]


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """The lexicon that some pairs of a site taught."""

    lexicon: Lexicon
    seeds: Sequence[Pair]  # the pairs that taught it
    segments: Segments  # of every pair that was ever a seed


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """All that is known of a site before a round."""

    given: Lexicon | None  # of earlier sites
    learned: Lexicon  # of this one: the last lesson that taught anything
    lexicon: Lexicon | None  # both: pages are compared through it
    clusters: UnionFind[int]  # copies and near-copies found so far
    seeds: Sequence[Pair] = ()  # the pairs that taught what was learned
    segments: Segments = field(default_factory=dict)
    same_shape: Mapping[Pair, float] = field(default_factory=dict)  # stay candidates
    trust: float = 0.0  # nats that a link to another version is worth; 0: not known

    @classmethod
    def before(
        cls, texts: SiteTexts, given: Lexicon | None, trust: float = 0.0
    ) -> Knowledge:
        """The knowledge before the first round."""
        nothing = Lexicon.empty(texts.collection.store.langs)
        return cls(given, nothing, given, texts.copies, trust=trust)

    def after(self, lesson: Lesson) -> Knowledge:
        """The knowledge after a lesson; the lexicon stays if it taught nothing."""
        known = replace(self, segments=lesson.segments)
        if not len(lesson.lexicon):
            return known
        lexicon = self.given + lesson.lexicon if self.given else lesson.lexicon
        return replace(
            known, learned=lesson.lexicon, lexicon=lexicon, seeds=lesson.seeds
        )

    def confirmed(self, texts: SiteTexts) -> Lexicon | None:
        """The lexicon, less what the site's pairs may have taught for themselves."""
        own = confirmed(self.learned, [texts.features(pair) for pair in self.seeds])
        return (self.given + own if self.given else own) or None


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """The result of comparing the pages of a site once."""

    near: Neighbours
    usual: float  # log length ratio of translations here
    judge: PairJudge  # adapted to the site
    scores: Mapping[Pair, PairScore]  # of the candidates that are good enough
    counts: Counter[str]  # why others are not
    trust: float  # nats that a link to another version is worth

    def accepted(self, texts: SiteTexts, clusters: UnionFind[int]) -> list[Pair]:
        """The pairs that would be accepted, best first."""
        candidates = best_first(texts, self.scores, texts.profile.bootstrap.min_score)
        return [(pair.src, pair.trg) for pair in one_to_one(candidates, clusters)]


def bootstrap(texts: SiteTexts, given: Lexicon | None) -> tuple[Round, Knowledge]:
    """Compare through a lexicon of the surest pairs, until it finds no more."""
    config = texts.profile.bootstrap
    known = Knowledge.before(texts, given)
    sure: list[Pair] = []
    for share in config.shares[1:] if given else config.shares:
        found, known = compare(texts, known, seeding=True)
        sure = found.accepted(texts, known.clusters)
        lesson = learn(texts, known, sure, share, found.usual)
        few = len(sure) < config.few_seeds * min(map(len, texts.sides))
        if known.lexicon is None and few:
            lesson, known = _more_telling(texts, known, lesson, share)
        known = known.after(lesson)
        if not len(lesson.lexicon):
            break
    found, known = compare(texts, known)
    for _ in range(config.more_rounds if len(known.learned) else 0):
        before, sure = len(sure), found.accepted(texts, known.clusters)
        if len(sure) < (1 + config.growth) * before:
            break
        lesson = learn(texts, known, sure, config.shares[-1], found.usual)
        known = known.after(lesson)
        if not len(lesson.lexicon):
            break
        found, known = compare(texts, known)
    return compare_by_shape(texts, known, found), known


# ---------------------------------------------------------------- one round


def compare(
    texts: SiteTexts, known: Knowledge, *, seeding: bool = False
) -> tuple[Round, Knowledge]:
    """Score all candidates, through the lexicon of this round.

    `seeding`: by content only those that are each other's nearest. What is known
    afterwards has the near-copies that were found.
    """
    profile, lexicon = texts.profile, known.lexicon
    near = neighbours(texts, lexicon, seeding=seeding)
    gained = {}
    if lexicon is not None and not seeding:
        gained = page_gains(texts, near, lexicon, known.same_shape)
    if seeding:
        near = near.mutual()
    usual = texts.usual_ratio(near)
    judge = PairJudge.of(
        profile,
        texts.collection.frequencies,
        usual=usual,
        lexicon=lexicon,
        confirmed=None if seeding else known.confirmed(texts),
    )
    counts = Counter[str]()
    found = dict(texts.proposed)
    for pair in near.worthwhile(profile.min_share):
        by_content = {"words" if lexicon is None else "lexicon"}
        found[pair] = found.get(pair, frozenset()) | by_content
    for pair in known.same_shape:
        found[pair] = found.get(pair, frozenset()) | {"shapes"}
    admitted = admit(texts, judge, found, counts)
    clusters = _with_near_copies(texts, known.clusters, near)
    refused = found.keys() - admitted.keys()
    trust = known.trust or trust_in_links(texts, near, admitted.keys())
    rivals = Rivals(texts, near, clusters, refused, trust)
    for pair, features in admitted.items():
        features |= rivals.margins(pair)
    clear = [item for item in rivals.known().items() if item[0] in admitted]
    clear = clear[:: 1 + len(clear) // _MAX_KNOWN]
    judge = judge.adapted(
        [(texts.candidate(pair, found[pair]), admitted[pair]) for pair, _ in clear],
        [right for _, right in clear],
    )
    # after that: these are nats, which nothing that is learned may make up for
    for pair, features in admitted.items():
        features |= rivals.likelihoods(pair, gained)
    scores = _score(texts, judge, admitted, found, counts)
    made = Round(near, usual, judge, scores, counts, trust)
    return made, replace(known, clusters=clusters)


def neighbours(
    texts: SiteTexts, lexicon: Lexicon | None, *, seeding: bool
) -> Neighbours:
    """The pages near in content: of all pages or, if too many, of those left."""
    profile, nothing = texts.profile, Neighbours()
    src, trg = texts.originals()
    limit = profile.max_content_pages
    if max(len(src), len(trg)) > limit:
        partnered = {page for pair in texts.proposed for page in pair}
        src, trg = ([p for p in side if p not in partnered] for side in (src, trg))
    is_giant = max(len(src), len(trg)) > limit
    if lexicon is None:
        chosen = profile.first_search
    else:
        chosen = profile.seed_search if seeding else profile.search
    for plugin in (chosen, profile.search, profile.giant_search):
        frequencies = texts.collection.frequencies
        # None: it needs a lexicon. What URLs and links propose has to teach the first
        # one of a giant.
        found: ContentSearch | None = make(
            "search", plugin, frequencies=frequencies, lexicon=lexicon
        )
        if found is not None and not (is_giant and found.compares_all):
            return found.near(texts.collection, src, trg) if src and trg else nothing
    return nothing


def compare_by_shape(texts: SiteTexts, known: Knowledge, last: Round) -> Round:
    """The last round, with pages compared by shape that have no partner by words.

    No lexicon knows the few words of a page, or the words of a language that shares
    none; and pages that are alike are few once all others are paired. How much more
    alike two of them are than their rivals is evidence of its own (shapes.margin).
    """
    paired = {page for pair in last.accepted(texts, known.clusters) for page in pair}
    src, trg = ([p for p in side if p not in paired] for side in texts.originals())
    config = texts.profile.shapes
    near = shapes(texts.collection, src, trg, StrandScorer(), config)
    alike = _alike(Rivals(texts, near, known.clusters))
    clear = {pair: m for pair, m in alike.items() if m >= config.min_margin}
    pages = texts.collection.features
    few = {page for page in (*src, *trg) if config.has_few_words(pages(page))}
    found = {
        pair: frozenset(["shapes"])
        for pair in near.pairs
        if pair in clear or (not few.isdisjoint(pair) and pair not in last.scores)
    }
    counts = last.counts.copy()
    admitted = admit(texts, last.judge, found, counts)
    rivals = Rivals(texts, last.near, known.clusters, trust=last.trust)
    for pair, features in admitted.items():
        if pair in last.scores:
            features |= last.scores[pair].features
        else:
            features |= rivals.margins(pair)
        cap = texts.profile.evidence.margin_cap
        features["shapes.margin"] = min(clear.get(pair, 0.0), cap)
    scores = _score(texts, last.judge, admitted, found, counts)
    return replace(last, scores={**last.scores, **scores}, counts=counts)


def admit(
    texts: SiteTexts,
    judge: PairJudge,
    found: Mapping[Pair, frozenset[str]],
    counts: Counter[str],
) -> dict[Pair, Features]:
    """The cheap features of those candidates that no gate refuses."""
    admitted: dict[Pair, Features] = {}
    for batch in _batches(sorted(found)):
        pairs = [texts.candidate(pair, found[pair]) for pair in batch]
        admitted |= {
            pair: features
            for pair, features in zip(batch, judge.admit(pairs, counts))
            if features is not None
        }
    return admitted


def _score(
    texts: SiteTexts,
    judge: PairJudge,
    admitted: Mapping[Pair, Features],
    found: Mapping[Pair, frozenset[str]],
    counts: Counter[str],
) -> dict[Pair, PairScore]:
    """The scores of those candidates that are good enough."""
    scored: dict[Pair, PairScore] = {}
    for batch in _batches(list(admitted)):
        pairs = [(texts.candidate(p, found[p]), admitted[p]) for p in batch]
        scores = judge.judge(pairs, texts.profile.floor, counts)
        scored |= {p: score for p, score in zip(batch, scores) if score is not None}
    return scored


def _batches(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    for begin in range(0, len(pairs), _AT_ONCE):
        yield pairs[begin : begin + _AT_ONCE]


def _with_near_copies(
    texts: SiteTexts, clusters: UnionFind[int], near: Neighbours
) -> UnionFind[int]:
    """The clusters, and those of near-copies among the nearest of each page."""
    clusters, config = clusters.copy(), texts.profile.copies
    for ranking in near.ranked.values():
        close = [p for p, c in ranking if c >= config.as_near * ranking[0][1]]
        if len(close) > 1:
            join_near_copies(clusters, close, texts.trigrams, config.min_jaccard)
    return clusters


def best_first(
    texts: SiteTexts, scores: Mapping[Pair, PairScore], min_score: float
) -> list[Scored]:
    """The candidates that may be accepted, best first."""
    candidates = (
        Scored(*pair, score.score, texts.is_named(pair))
        for pair, score in scores.items()
        if score.score >= min_score
    )
    best = ranked(candidates, texts.collection.url)
    n = texts.profile.symmetric
    return symmetric(best, n) if n else best


# ---------------------------------------------------------------- seeds


def learn(
    texts: SiteTexts,
    known: Knowledge,
    pairs: Sequence[Pair],
    share: float,
    usual: float,
) -> Lesson:
    """A lexicon from the best of some pairs: `share` of them, if these are not few.

    `usual` is the log length ratio of translations here, as the last round saw it.
    """
    config, langs = texts.profile.bootstrap, texts.collection.store.langs
    seeds = [
        pair
        for pair in pairs
        if abs(log_ratio(*texts.features(pair)) - usual) < config.max_length_difference
    ]
    enough = max(round(share * len(seeds)), config.at_least)
    seeds = seeds[: min(enough, config.max_pairs)]
    segments = known.segments
    if len(seeds) < config.min_pairs:
        return Lesson(Lexicon.empty(langs), (), segments)
    new = [pair for pair in seeds if pair not in segments]
    found = segments_of([texts.features(pair) for pair in new], usual)
    segments = {**segments, **dict(zip(new, found))}
    chosen = [segment for pair in seeds for segment in segments[pair]]
    return Lesson(induce(chosen, langs, config.lexicon), seeds, segments)


def _more_telling(
    texts: SiteTexts, known: Knowledge, by_words: Lesson, share: float
) -> tuple[Lesson, Knowledge]:
    """That lesson, or one seeded by shape if more pages find a partner through it.

    The few words that begin alike by chance in two languages teach something, too.
    """
    near = shapes(
        texts.collection, *texts.originals(), StrandScorer(), texts.profile.shapes
    )
    clear = _alike(Rivals(texts, near, known.clusters))
    usual = texts.usual_ratio(near)
    known = replace(known, segments=by_words.segments)
    by_shape = learn(texts, known, list(clear), share, usual)
    partners = []
    for lesson in (by_shape, by_words):
        count = 0
        if len(lesson.lexicon):
            found, after = compare(texts, known.after(lesson), seeding=True)
            count = len(found.accepted(texts, after.clusters))
            known = replace(known, clusters=after.clusters)
        partners.append(count)
    if partners[0] <= partners[1]:
        return replace(by_words, segments=by_shape.segments), known
    # pages of which the first lexicon knows too little stay candidates
    return by_shape, replace(known, same_shape=near.mutual().pairs)


def _alike(rivals: Rivals) -> dict[Pair, float]:
    """Pages that are each other's nearest by shape: how much nearer than any rival."""
    clear: dict[Pair, float] = {}
    for pair, alike in rivals.near.mutual().pairs.items():
        nearest = [rival for page in pair for rival in rivals.of(page, pair)[:1]]
        clear[pair] = alike - max((score for _, score in nearest), default=0.0)
    return dict(sorted(clear.items(), key=lambda item: (-item[1], item[0])))
