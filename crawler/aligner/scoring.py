"""Candidate → score: gates first, cheap features next, STRAND only where it can matter.

Three of four candidates are settled without aligning their markup: either a gate
refuses them, or not even equal markup could lift them over the threshold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.avsim import AvsimScorer
from crawler.aligner.scorers.combine import load_model
from crawler.aligner.scorers.isotonic import SiteDifferences
from crawler.aligner.scorers.lengths import LengthScorer
from crawler.aligner.scorers.ngrams import NgramScorer
from crawler.aligner.scorers.overlap import OverlapScorer
from crawler.aligner.scorers.strand import StrandScorer
from crawler.aligner.scorers.tsim import TsimScorer
from crawler.data import CandidatePair, PairScore
from crawler.protocols import PairScorer

Features = dict[str, float]

# That the next best page is this much further off in cosine is all that a margin can
# say: a page without a partner has no rival for it either. (Of the pages that 70 %
# leaves alone more are told so, of others as many; 0.1 to 0.25 are alike.)
MARGIN_CAP = 0.2


class PairJudge:
    """Scores the candidates of one site; counts why others were refused.

    `usual` is the log length ratio that translations have there. With a lexicon,
    content is compared through it, and another model weighs the features; with one
    whose links are `confirmed` by other pairs (`bridges.leaving_one_out`) each two
    blocks are, too.
    """

    def __init__(
        self,
        profile: AlignProfile,
        frequencies: Frequencies,
        counts: Counter[str],
        *,
        usual: float = 0.0,
        lexicon: Lexicon | None = None,
        confirmed: Lexicon | None = None,
    ) -> None:
        self.profile = profile
        self.counts = counts
        self.model = load_model(
            profile.model, "words" if lexicon is None else "lexicon"
        )
        self._cheap: list[PairScorer] = [
            OverlapScorer(frequencies),
            LengthScorer(frequencies, usual),
        ]
        self._content: PairScorer = (
            NgramScorer(frequencies) if lexicon is None else TsimScorer(lexicon)
        )
        self._expensive: list[PairScorer] = [StrandScorer()]
        if confirmed is not None:
            self._expensive.append(AvsimScorer(confirmed))
        self._differences = SiteDifferences()

    def admit(self, pairs: Sequence[CandidatePair]) -> list[Features | None]:
        """The cheap features of each; None for a pair that cannot be a translation."""
        found: list[Features] = [{} for _ in pairs]
        for scorer in self._cheap:
            for features, more in zip(found, scorer.score(pairs)):
                features.update(more)
        passed: dict[int, Features] = {}
        for number, (pair, features) in enumerate(zip(pairs, found)):
            if refused := self.profile.gates.refuses(pair, features):
                self._count(refused)
            else:
                passed[number] = features
        contents = self._content.score([pairs[number] for number in passed])
        for features, content in zip(passed.values(), contents):
            features.update(content)
        return [passed.get(number) for number in range(len(pairs))]

    def adapt(
        self, known: Sequence[tuple[CandidatePair, Features]], right: Sequence[bool]
    ) -> None:
        """Fit the model to the site, of which some admitted pairs are known."""
        if known:
            for scorer in self._expensive:
                self._complete(scorer, known)
            pairs = [features for _, features in known]
            self._differences = SiteDifferences(pairs, right)
            for features in pairs:
                features |= self._differences.features(features)
            self.model = self.model.adapted(pairs, right)

    def judge(
        self, admitted: Sequence[tuple[CandidatePair, Features]], min_score: float
    ) -> list[PairScore | None]:
        """The score of each admitted pair; None if it is below the threshold.

        The features are what `admit` gave, and what is known of a pair beyond its two
        pages; those that are still absent are added.
        """
        for _, features in admitted:
            # without neighbours to compare with, a cosine stands for itself
            cosine = features.get("ngrams.cosine", 0.0)
            features.setdefault("nearest.cosine", cosine)
            for name in ("margin.src", "margin.trg"):
                features.setdefault(name, min(cosine, MARGIN_CAP))
        likely = list(range(len(admitted)))
        for scorer in self._expensive:
            likely = [n for n in likely if self._best_case(admitted[n][1]) >= min_score]
            self._complete(scorer, [admitted[n] for n in likely])
        self.counts["align/rejected/content"] += len(admitted) - len(likely)
        scores: list[PairScore | None] = [None] * len(admitted)
        for number in likely:
            pair, features = admitted[number]
            features |= self._differences.features(features)
            score = self.model.probability(features)
            if score < min_score:
                self._count("score")
                continue
            scores[number] = PairScore(
                pair.src.url, pair.trg.url, score, features, pair.found_by
            )
        return scores

    def _best_case(self, features: Features) -> float:
        """The most that the score can become once all scorers have been asked."""
        return self.model.best_case(features | self._differences.features(features))

    @staticmethod
    def _complete(
        scorer: PairScorer, pairs: Sequence[tuple[CandidatePair, Features]]
    ) -> None:
        """Add the features of an expensive scorer where they are absent."""
        left = [
            (pair, features)
            for pair, features in pairs
            if not any(name.startswith(scorer.name) for name in features)
        ]
        for (_, features), found in zip(left, scorer.score([p for p, _ in left])):
            features.update(found)

    def _count(self, reason: str) -> None:
        self.counts[f"align/rejected/{reason}"] += 1
