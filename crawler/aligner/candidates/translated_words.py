"""Translated words: pages near by their words, through a lexicon.

The cosine of BM25 vectors after the projection of Ture et al. (2011), section 4.1. All
pages of a side are compared with all of the other.
See also: `bridges.projection` (the vectors), `shared_words` (without a lexicon).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.projection import ProjectionConfig, project
from crawler.aligner.candidates.nearest import NearestConfig, nearest
from crawler.data import Neighbours
from crawler.protocols import SitePages


@dataclass(frozen=True, slots=True)
class TranslatedWordsConfig:
    """Weights and limits of the comparison."""

    projection: ProjectionConfig = field(default_factory=ProjectionConfig)
    # Through a lexicon the right page is the nearest nine times in ten.
    nearest: NearestConfig = field(default_factory=lambda: NearestConfig(n_best=4))


@dataclass(frozen=True, slots=True, eq=False)
class TranslatedWords:
    """The nearest pages by a lexicon."""

    lexicon: Lexicon
    config: TranslatedWordsConfig = field(default_factory=TranslatedWordsConfig)
    compares_all: ClassVar[bool] = True

    def near(
        self, pages: SitePages, src: Sequence[int], trg: Sequence[int]
    ) -> Neighbours:
        """The nearest pages of each of `src` and `trg`."""
        one, other = ([pages.features(page) for page in side] for side in (src, trg))
        rows, columns = project(one, other, self.lexicon, self.config.projection)
        return nearest(src, trg, rows, columns, self.config.nearest)
