"""Word for word: a trg page in the words of src, each by its best translation.

The cheapest stand-in for the machine translation that Uszkoreit et al. (2010) put
before everything else: word order is kept, so n-grams of both pages can be compared.

In: a Lexicon.  Out: a Bridge. A word that the lexicon does not know stands for itself.
See also: `word_clusters`, `projection` (all translations, no order).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import places_in
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import PageFeatures


@dataclass(frozen=True, eq=False)
class WordForWord:
    """Terms of a page: words of src."""

    lexicon: Lexicon

    @cached_property
    def best(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The words of trg, sorted, and the best translation of each."""
        src, trg = self.lexicon.src, self.lexicon.trg
        order = np.lexsort((src, -self.lexicon.count, trg))
        words, first = np.unique(trg[order], return_index=True)
        return words, src[order][first]

    def encode(self, page: PageFeatures) -> NDArray[np.uint64]:
        """The terms of a page, in reading order."""
        terms = page.words.astype(np.uint64)
        if page.lang != self.lexicon.langs.src:
            words, translations = self.best
            places, known = places_in(words, page.words)
            terms[known] = translations[places[known]]
        return terms
