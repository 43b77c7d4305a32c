"""Likelihood: how much better a page explains another than its language does.

Each page is a language model, through the lexicon that of the other language too; a
word f of page D' then has the probability α p(f) + (1 - α) Σ p(f|e) p(e|D). The gain of
D' is the logarithm of that over p(f), the mean of its words: nats a word. Of a page cut
in half every word still is in the whole one, so what it gains does not suffer, as a
cosine does; and a word that only one of two rivals explains counts with all its weight.

Source: Xu & Weischedel (2000), "Cross-lingual information retrieval using hidden Markov
models", sections 2 and 3.
Differs from the paper: both directions, and lengths are divided out; α is 0.3 for the
paper's 0.7, which was fitted to queries of few words (with that one page in a hundred
more is lost of those that have half of their blocks).

In: pages of both sides, boilerplate removed; a Lexicon.  Out: two gains of each pair
that is asked for; `site` makes likelihood.src and likelihood.trg of them, what a page
gains from its partner beyond what it gains from the best rival of that.
See also: `bridges.projection` (the cosine by which candidates are found).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from crawler.aligner.arrays import unique
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.projection import translation_matrix, word_counts
from crawler.data import PageFeatures

_GENERAL = 0.3  # α: of a word's probability what comes from the language at large
_AT_ONCE = 512  # pages whose models are in memory together, some 10 MB
# What adds less than 5 % to the probability that a word has anyway is not kept.
_LEAST = 0.05


def gains(
    src: Sequence[PageFeatures],
    trg: Sequence[PageFeatures],
    pairs: Sequence[tuple[int, int]],
    lexicon: Lexicon,
) -> NDArray[np.float64]:
    """(pairs, 2): the gains of the src page and of the trg page of each pair.

    `pairs` number the pages of both sides.
    """
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    if not len(ends):
        return np.zeros((0, 2))
    sides = src, trg
    vocabulary = unique(np.concatenate([p.words for side in sides for p in side]))
    counts = [word_counts(side, vocabulary) for side in sides]
    found = [
        _gains(counts[1 - side], counts[side], ends[:, ::-1] if side == 0 else ends, m)
        for side, m in enumerate(
            translation_matrix(vocabulary, vocabulary, known)
            for known in (lexicon, lexicon.reversed())
        )
    ]
    return np.column_stack(found)


def _gains(
    models: csr_matrix,
    pages: csr_matrix,
    pairs: NDArray[np.int64],
    bridge: csr_matrix,
) -> NDArray[np.float64]:
    """(pairs,): the gain of the page of each pair (model, page).

    `models` and `pages` count words, a row for each; `bridge` has p(word of a page |
    word of a model).
    """
    model_of, page_of = pairs.T
    frequency = np.asarray(pages.sum(axis=0)).ravel() + 0.5
    general = frequency / frequency.sum() * _GENERAL / (1 - _GENERAL)
    found = np.zeros(len(pairs))
    order = np.argsort(model_of, kind="stable")
    starts = np.arange(0, models.shape[0], _AT_ONCE)
    cuts = np.searchsorted(model_of[order], starts[1:])
    for start, mine in zip(starts, np.split(order, cuts)):
        block = _log_odds(models[start : start + _AT_ONCE], bridge, general)
        for few in np.array_split(mine, 1 + len(mine) // _AT_ONCE):
            shared = block[model_of[few] - start].multiply(pages[page_of[few]])
            found[few] = np.asarray(shared.sum(axis=1)).ravel()
    lengths = np.maximum(np.asarray(pages.sum(axis=1)).ravel(), 1)
    found /= lengths[page_of]
    return found


def _log_odds(
    models: csr_matrix, bridge: csr_matrix, general: NDArray[np.float64]
) -> csr_matrix:
    """log(1 + p(word | page) / p(word)) for the words that each model explains."""
    lengths = np.maximum(np.asarray(models.sum(axis=1)).ravel(), 1)
    odds = (diags(1 / lengths) @ models @ bridge).tocsr().astype(np.float32)
    odds.data /= general[odds.indices].astype(np.float32)
    odds.data[odds.data < _LEAST] = 0
    odds.eliminate_zeros()
    odds.sort_indices()
    np.log1p(odds.data, out=odds.data)
    return odds
