"""Are the words that a page is about translated in the other?

Two pages of a manual may read alike but for what each is about: LSet and RSet, erode
and dilate. So every word of a page is weighed by tf·idf, unsaturated: what a page is
about comes often, and on few pages. It is covered as far as its best link into the
other page is as good as the best that the lexicon has; a word that the lexicon does not
know is covered by itself.

Source: containment, Broder (1997), "On the resemblance and containment of documents";
weights of Salton & Buckley (1988). In both directions, so that a page of which half is
missing is told from a page about something else.

In: CandidatePair, boilerplate removed; a LinkTable.  Out: keywords.least and
keywords.most, the shares of the two pages' weight that are covered, the smaller first.
See also: `tsim`, which shares the links and counts all words the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.frequencies import Frequencies
from crawler.aligner.scorers.tsim import FIRST_WORDS, LinkTable, Words
from crawler.data import CandidatePair


class KeywordScorer:
    """Coverage of what either page is about."""

    name: ClassVar[str] = "keywords"

    def __init__(self, links: LinkTable, frequencies: Frequencies) -> None:
        self.links = links
        self.frequencies = frequencies

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """Both features of each pair."""
        return [
            dict(zip(("keywords.least", "keywords.most"), sorted(self._shares(pair))))
            for pair in pairs
        ]

    def _shares(self, pair: CandidatePair) -> list[float]:
        pages = [
            self.links.counted(page.words[:FIRST_WORDS].tobytes())
            for page in (pair.src, pair.trg)
        ]
        covered = self.links.covered(pages[0][0], pages[1][0])
        return [
            self._share(words, counts, quality)
            for (words, counts), quality in zip(pages, covered)
        ]

    def _share(
        self, words: Words, counts: Sequence[int], covered: NDArray[np.float32]
    ) -> float:
        weight = self.frequencies.idf(words) * np.array(counts, np.float32)
        total = float(weight.sum())
        return float(weight @ covered) / total if total > 0 else 0.0
