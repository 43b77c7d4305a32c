"""The shares of languages in a text, from a detector that names one language each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from crawler.data import Lang
from crawler.protocols import Detection

PIECE = 200  # characters: two or three sentences
_MAX_PIECES = 16  # evenly spread; more do not change the answer
_MIN_CHARACTERS = 30  # less is no sentence
_RELIABLE = 0.6  # of the pieces


def by_pieces(text: str, language: Callable[[str], Lang | None]) -> Detection:
    """Ask of pieces of a text, and count.

    >>> by_pieces("word " * 100, lambda piece: "en").confidence
    1.0
    """
    if len(text) < _MIN_CHARACTERS:
        return Detection(None, 0.0, reliable=False)
    starts = range(0, max(1, len(text) - PIECE // 2), PIECE)
    step = -(-len(starts) // _MAX_PIECES)
    found = Counter(language(text[at : at + PIECE]) for at in starts[::step])
    total = found.total()
    shares = tuple(
        (lang, count / total) for lang, count in found.most_common() if lang is not None
    )
    if not shares:
        return Detection(None, 0.0, reliable=False)
    lang, share = shares[0]
    return Detection(lang, share, share >= _RELIABLE, shares)
