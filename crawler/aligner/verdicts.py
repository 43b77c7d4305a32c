"""Verdicts: the probability that two pages are a pair, on what is known now.

A crawl that has both pages asks whether the address or the link that led from one to
the other was right. It gets a probability, or None: not enough evidence yet. Two
languages share few words, so that two pages share none says nothing before a lexicon
covers their words. What they do share, or what makes a translation impossible, counts
at once. Of a page that is in a pair with another one, what is left counts.

The lexicon is that of earlier runs, if there is one, and what the pairs so far teach:
it is learned when somebody asks, and again when there are twice as many pairs.

In: candidates, and the pairs so far.  Out: probabilities.
See also: `site`, which gives the final scores when a site is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.bridges.lexicon import Lexicon, induce
from crawler.aligner.bridges.projection import project
from crawler.aligner.bridges.segments import segments_of
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.lengths import log_ratio
from crawler.aligner.scorers.likelihood import gains
from crawler.aligner.scoring import Features, PairJudge, named_by
from crawler.aligner.store import PageStore
from crawler.data import CandidatePair, PageFeatures

_MOST_PAIRS = 200  # that a running lexicon is learned from: 0.5 s
_RIVALS = 16  # pages of each side that two pages are held against
# If the lexicon has less of the words of either page than this, that they do not
# translate each other says nothing.
_COVERED = 0.3


PagePair = tuple[PageFeatures, PageFeatures]


@dataclass(slots=True, eq=False)
class Verdicts:
    """The lexicon of a crawl so far, and what it says of two pages."""

    store: PageStore
    profile: AlignProfile
    frequencies: Frequencies  # the running ones, of all pages
    given: Lexicon | None = None  # of earlier runs
    _lexicon: Lexicon | None = None
    _judge: PairJudge | None = None
    _pairs: int = 0  # that were there when the lexicon was learned
    _rivals: Sequence[PagePair] = ()

    def of(self, pairs: Sequence[CandidatePair]) -> list[float | None]:
        """The probability of each pair; None: not enough evidence yet."""
        judge = self._up_to_date()
        counts = Counter[str]()  # `finish` counts what is refused
        admitted = judge.admit(pairs, counts)
        asked = [(p, f) for p, f in zip(pairs, admitted) if f is not None]
        for pair, features in asked:
            features |= named_by(pair.found_by) | self._margins(pair)
        scored = (found.score for found in judge.judge(asked, 0.0, counts) if found)
        return [
            0.0 if features is None else self._believed(pair, next(scored))
            for pair, features in zip(pairs, admitted)
        ]

    def _believed(self, pair: CandidatePair, score: float) -> float | None:
        """The score, if it is one: not below a half for want of known words."""
        if score >= self.profile.min_score or self._is_covered(pair):
            return score
        return None

    def _is_covered(self, pair: CandidatePair) -> bool:
        """Does the lexicon know enough words of both pages to say no?"""
        lexicon = self._lexicon
        return lexicon is not None and all(
            _share(page.words, known) >= _COVERED
            for page, known in ((pair.src, lexicon.src), (pair.trg, lexicon.trg))
        )

    def _up_to_date(self) -> PairJudge:
        """The judge; it learns again when the pairs so far have doubled."""
        pairs = self.store.emitted(_MOST_PAIRS)
        enough = max(2 * self._pairs, self.profile.bootstrap.min_pairs)
        if self._judge is None or len(pairs) >= enough:
            learned = None
            if len(pairs) >= enough:
                clean, get = self.frequencies.clean, self.store.get
                pages = list(zip(*(map(clean, get(side)) for side in zip(*pairs))))
                learned = self._learned(pages)
                self._pairs = len(pairs)
                self._rivals = pages[:: 1 + len(pages) // _RIVALS]
            if self.given and learned:
                learned = self.given + learned
            self._lexicon = learned or self.given
            self._judge = PairJudge.of(
                self.profile, self.frequencies, lexicon=self._lexicon
            )
        return self._judge

    def _learned(self, pairs: Sequence[PagePair]) -> Lexicon:
        """What some pairs teach."""
        usual = median(log_ratio(*pair) for pair in pairs)
        segments = [s for found in segments_of(pairs, usual) for s in found]
        return induce(segments, self.store.langs, self.profile.bootstrap.lexicon)

    def _margins(self, pair: CandidatePair) -> Features:
        """How much nearer two pages are, and better explained, than by any rival."""
        lexicon, evidence = self._lexicon, self.profile.evidence
        urls = {pair.src.url, pair.trg.url}
        others = [p for p in self._rivals if urls.isdisjoint((p[0].url, p[1].url))]
        if lexicon is None or not others:
            return {}
        src, trg = (
            [own, *side] for own, side in zip((pair.src, pair.trg), zip(*others))
        )
        rows, columns = project(src, trg, lexicon)
        near = [(rows[0] @ columns.T).toarray()[0], (columns[0] @ rows.T).toarray()[0]]
        places = range(1, len(src))
        ends = [(0, 0), *((0, n) for n in places), *((n, 0) for n in places)]
        gained = gains(src, trg, ends, lexicon)
        own = gained[0]
        rival = gained[1 : len(src), 0].max(), gained[len(src) :, 1].max()
        features = {"nearest.cosine": float(near[0][0])}
        for side, name in enumerate(("src", "trg")):
            margin = near[side][0] - near[side][1:].max()
            features[f"margin.{name}"] = float(min(margin, evidence.margin_cap))
            cap, gain = evidence.likelihood_cap, own[side] - max(rival[side], 0.0)
            features[f"likelihood.{name}"] = float(min(max(gain, -cap), cap))
        return features


def _share(words: NDArray[np.uint32], known: NDArray[np.uint32]) -> float:
    """The share of some words that is known."""
    return float(np.isin(words, known).mean()) if len(words) else 0.0
