"""Word for word: a trg page in the words of src, each by its best translation.

The cheapest stand-in for the machine translation that Uszkoreit et al. (2010) put
before everything else: word order is kept, so n-grams of both pages can be compared.

In: a Lexicon.  Out: a Bridge. A word that the lexicon does not know stands for itself.
See also: `word_clusters`, `projection` (all translations, no order).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import places_in
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import PageFeatures


class WordForWord:
    """Terms of a page: words of src."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._src = lexicon.langs.src
        order = np.lexsort((lexicon.src, -lexicon.count, lexicon.trg))
        self._words, first = np.unique(lexicon.trg[order], return_index=True)
        self._best = lexicon.src[order][first]

    def encode(self, page: PageFeatures) -> NDArray[np.uint64]:
        """The terms of a page, in reading order."""
        terms = page.words.astype(np.uint64)
        if page.lang != self._src:
            places, known = places_in(self._words, page.words)
            terms[known] = self._best[places[known]]
        return terms
