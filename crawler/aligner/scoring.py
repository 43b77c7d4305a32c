"""Candidate → score: gates first, cheap features next, STRAND only where it can matter.

Three of four candidates are settled without aligning their markup: either a gate
refuses them, or not even equal markup could lift them over the threshold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from crawler.aligner.frequencies import Frequencies
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.combine import Logistic
from crawler.aligner.scorers.lengths import LengthScorer
from crawler.aligner.scorers.ngrams import NgramScorer
from crawler.aligner.scorers.overlap import OverlapScorer
from crawler.aligner.scorers.strand import StrandScorer
from crawler.data import CandidatePair, PairScore
from crawler.protocols import PairScorer


class PairJudge:
    """Scores the candidates of one site; counts why others were refused.

    `usual` is the log length ratio that translations have there.
    """

    def __init__(
        self,
        profile: AlignProfile,
        model: Logistic,
        frequencies: Frequencies,
        counts: Counter[str],
        *,
        usual: float = 0.0,
    ) -> None:
        self.profile = profile
        self.model = model
        self.counts = counts
        self._cheap: list[PairScorer] = [
            OverlapScorer(),
            LengthScorer(frequencies, usual),
            NgramScorer(frequencies),
        ]
        self._dear: list[PairScorer] = [StrandScorer()]

    def judge(
        self, pair: CandidatePair, evidence: Mapping[str, float]
    ) -> PairScore | None:
        """The score of a pair; None if it is below the threshold, or refused.

        `evidence` is what is known of the pair beyond its two pages.
        """
        features = dict(evidence)
        for scorer in self._cheap:
            features.update(scorer.score([pair])[0])
        refused = self.profile.gates.refuses(pair, features)
        if refused:
            self._count(refused)
            return None
        # without neighbours to compare with, a cosine stands for itself
        for margin in ("margin.src", "margin.trg"):
            features.setdefault(margin, features["ngrams.cosine"])
        if self.model.best_case(features) < self.profile.min_score:
            self._count("content")
            return None
        for scorer in self._dear:
            features.update(scorer.score([pair])[0])
        score = self.model.probability(features)
        if score < self.profile.min_score:
            self._count("score")
            return None
        return PairScore(pair.src.url, pair.trg.url, score, features, pair.found_by)

    def _count(self, reason: str) -> None:
        self.counts[f"align/rejected/{reason}"] += 1
