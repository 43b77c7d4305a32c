"""Pages that say the same, by a lexicon: candidates without any URL or shared word.

The cosine of BM25 vectors after the projection of Ture et al. (2011), section 4.1, all
pages of a side with all of the other.
See also: `bridges.projection` (the vectors), `shared_words` (without a lexicon).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.projection import ProjectionConfig, project
from crawler.aligner.candidates.nearest import NearestConfig, Neighbours, nearest
from crawler.aligner.collection import Collection


@dataclass(frozen=True, slots=True)
class TranslatedWordsConfig:
    """How pages are weighed and compared."""

    projection: ProjectionConfig = field(default_factory=ProjectionConfig)
    # With a lexicon the right page is the first nine times in ten.
    nearest: NearestConfig = field(default_factory=lambda: NearestConfig(n_best=4))


def translated_words(
    collection: Collection,
    src: Sequence[int],
    trg: Sequence[int],
    lexicon: Lexicon,
    config: TranslatedWordsConfig | None = None,
) -> Neighbours:
    """The nearest pages, by the lexicon, of each of `src` and `trg`."""
    config = config or TranslatedWordsConfig()
    if not len(src) or not len(trg):
        return Neighbours()
    pages = [[collection.features(page) for page in side] for side in (src, trg)]
    rows, columns = project(pages[0], pages[1], lexicon, config.projection)
    return nearest(src, trg, rows, columns, config.nearest)
