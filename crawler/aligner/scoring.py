"""Candidate → score: cheap features first, expensive ones only where they can matter.

Three of four candidates are settled without aligning their markup: a gate refuses them,
or not even equal markup could lift them over the threshold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.plugins import make
from crawler.aligner.profile import AlignProfile, GateConfig
from crawler.aligner.scorers.combine import Content, Model
from crawler.aligner.scorers.isotonic import SiteDifferences
from crawler.config import Plugin
from crawler.data import CandidatePair, PairScore
from crawler.protocols import PairScorer

Features = dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class PairJudge:
    """Scores the candidates of one site."""

    gates: GateConfig
    margin_cap: float
    cheap: Sequence[PairScorer]  # asked of every candidate; gates read their features
    content: Sequence[PairScorer]  # asked of those that pass
    expensive: Sequence[PairScorer]  # asked of those that may reach the threshold
    model: Model
    differences: SiteDifferences = field(default_factory=SiteDifferences)

    @classmethod
    def of(
        cls,
        profile: AlignProfile,
        frequencies: Frequencies,
        *,
        usual: float = 0.0,
        lexicon: Lexicon | None = None,
        confirmed: Lexicon | None = None,
    ) -> PairJudge:
        """The judge that a profile describes.

        `usual` is the log length ratio that translations have there. With a lexicon,
        content is compared through it, and another model weighs the features; one whose
        links are `confirmed` by other pairs comes from `bridges.leaving_one_out`.
        """
        content: Content = "words" if lexicon is None else "lexicon"
        parts = {
            "frequencies": frequencies,
            "usual": usual,
            "lexicon": lexicon,
            "confirmed": confirmed,
        }

        def made(chosen: Sequence[Plugin]) -> list[PairScorer]:
            scorers = (make("scorer", plugin, **parts) for plugin in chosen)
            return [scorer for scorer in scorers if scorer is not None]

        return cls(
            profile.gates,
            profile.evidence.margin_cap,
            made(profile.scorers.cheap),
            made(getattr(profile.scorers, content)),
            made(profile.scorers.expensive),
            make("model", profile.model, content=content),
        )

    def admit(
        self, pairs: Sequence[CandidatePair], counts: Counter[str]
    ) -> list[Features | None]:
        """The cheap features of each; None for a pair that cannot be a translation."""
        found: list[Features] = [{} for _ in pairs]
        _add(self.cheap, pairs, found)
        passed: dict[int, Features] = {}
        for number, (pair, features) in enumerate(zip(pairs, found)):
            if refused := self.gates.refuses(pair, features):
                counts[f"align/rejected/{refused}"] += 1
            else:
                passed[number] = features
        _add(self.content, [pairs[n] for n in passed], list(passed.values()))
        return [passed.get(number) for number in range(len(pairs))]

    def adapted(
        self, known: Sequence[tuple[CandidatePair, Features]], right: Sequence[bool]
    ) -> PairJudge:
        """The judge of a site, of which some admitted pairs are known."""
        if not known:
            return self
        for scorer in self.expensive:
            _complete(scorer, known)
        pairs = [features for _, features in known]
        differences = SiteDifferences.of(pairs, right)
        for features in pairs:
            features |= differences.features(features)
        model = self.model.adapted(pairs, right)
        return replace(self, model=model, differences=differences)

    def judge(
        self,
        admitted: Sequence[tuple[CandidatePair, Features]],
        min_score: float,
        counts: Counter[str],
    ) -> list[PairScore | None]:
        """The score of each admitted pair; None if it is below the threshold.

        The features are those of `admit`, and what is known of a pair beyond its two
        pages; those that are still absent are added. `counts`: why others are refused.
        """
        for _, features in admitted:
            # without neighbours, a pair's own cosine takes their place
            cosine = features.get("ngrams.cosine", 0.0)
            features.setdefault("nearest.cosine", cosine)
            for name in ("margin.src", "margin.trg"):
                features.setdefault(name, min(cosine, self.margin_cap))
        likely = list(range(len(admitted)))
        for scorer in self.expensive:
            likely = [n for n in likely if self._best_case(admitted[n][1]) >= min_score]
            _complete(scorer, [admitted[n] for n in likely])
        counts["align/rejected/content"] += len(admitted) - len(likely)
        scores: list[PairScore | None] = [None] * len(admitted)
        for number in likely:
            pair, features = admitted[number]
            features |= self.differences.features(features)
            score = self.model.probability(features)
            if score < min_score:
                counts["align/rejected/score"] += 1
                continue
            scores[number] = PairScore(
                pair.src.url, pair.trg.url, score, features, pair.found_by
            )
        return scores

    def _best_case(self, features: Features) -> float:
        """The highest score that the absent features allow."""
        return self.model.best_case(features | self.differences.features(features))


def named_by(found_by: Collection[str]) -> Features:
    """What URLs and links say of a pair while its site comes in.

    That both pages declare each other is not asked then: one link counts.
    """
    return {
        "handles.same": float("handles" in found_by),
        "links.declared": 0.5 * ("links" in found_by),
    }


def _add(
    scorers: Sequence[PairScorer],
    pairs: Sequence[CandidatePair],
    found: Sequence[Features],
) -> None:
    """Add the features that each scorer gives each pair."""
    for scorer in scorers:
        for features, more in zip(found, scorer.score(pairs)):
            features.update(more)


def _complete(
    scorer: PairScorer, pairs: Sequence[tuple[CandidatePair, Features]]
) -> None:
    """Add the features of an expensive scorer where they are absent."""
    left = [
        (pair, features)
        for pair, features in pairs
        if not any(name.startswith(scorer.name) for name in features)
    ]
    _add([scorer], [pair for pair, _ in left], [features for _, features in left])
