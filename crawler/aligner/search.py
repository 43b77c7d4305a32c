"""Which pages are near, for sites on which not all pairs can be compared.

The profile names the algorithm: matching n-grams over a bridge (`shingles`), or the
signatures of projected vectors (`signatures`).
"""

from __future__ import annotations

from collections.abc import Sequence

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.projection import project
from crawler.aligner.bridges.word_clusters import WordClusters
from crawler.aligner.bridges.word_for_word import WordForWord
from crawler.aligner.candidates.nearest import Neighbours
from crawler.aligner.candidates.shingles import shingles
from crawler.aligner.candidates.signatures import near_signatures
from crawler.aligner.collection import Collection
from crawler.aligner.profile import AlignProfile
from crawler.protocols import Bridge


def search(
    collection: Collection,
    src: Sequence[int],
    trg: Sequence[int],
    lexicon: Lexicon,
    profile: AlignProfile,
) -> Neighbours:
    """The nearest pages of each of `src` and `trg`."""
    if not len(src) or not len(trg):
        return Neighbours()
    if profile.search == "signatures":
        pages = [[collection.features(page) for page in side] for side in (src, trg)]
        config = profile.translated_words.projection
        rows, columns = project(pages[0], pages[1], lexicon, config)
        return near_signatures(src, trg, rows, columns, profile.signatures)
    bridge = bridge_of(lexicon, profile)
    terms = [bridge.encode(collection.features(page)) for page in (*src, *trg)]
    return shingles(src, trg, terms, profile.shingles)


def bridge_of(lexicon: Lexicon, profile: AlignProfile) -> Bridge:
    """The bridge over which n-grams are compared."""
    if profile.bridge == "word_clusters":
        return WordClusters(lexicon, profile.word_clusters)
    return WordForWord(lexicon)
