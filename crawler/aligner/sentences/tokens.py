"""The words and marks of sentences as numbers, and which of them look alike.

A word has the id that it has everywhere in the aligner (`crawler.aligner.words`). Marks
are words here: a question answers to a question, a quotation to a quotation. Full stops
and commas are left out, since nearly every sentence has them.

In: texts.  Out: Tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from crawler.aligner.arrays import ranges, unique_inverse
from crawler.aligner.words import Bounded, word_id, words_of

_MARK = re.compile(r"[^\w\s.,'’‘`]")
# Every language has quotation marks and dashes of its own.
_SAME_MARK = {
    **dict.fromkeys("«»„“”‹›「」『』", '"'),
    **dict.fromkeys("–—―−", "-"),
    **dict(zip("？！：；（）", "?!:;()")),
    "…": "...",
}
# Words that begin alike are taken for cognates (Simard et al. 1992).
_PREFIX = 4
_NO_PREFIX = bytes(4)

Ids = NDArray[np.uint32]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens of some sentences, one after the other."""

    vocabulary: Ids  # each token once, sorted; odd: a number or a mark
    prefixes: Ids  # of the vocabulary; 0: too short to have one
    word: Places  # of each token its place in the vocabulary
    starts: Places  # of each sentence its first token, and the end: (sentences + 1,)

    def __len__(self) -> int:
        """How many sentences."""
        return len(self.starts) - 1

    @property
    def counts(self) -> Places:
        """Tokens of each sentence."""
        return np.diff(self.starts)

    @property
    def is_number(self) -> NDArray[np.bool_]:
        """Of each word of the vocabulary, whether it is a number or a mark."""
        return (self.vocabulary & 1).astype(bool)

    def grouped(self, runs: Sequence[slice]) -> Tokens:
        """Runs of sentences, each as one."""
        starts = self.starts[[run.start for run in runs]]
        counts = self.starts[[run.stop for run in runs]] - starts
        ends = np.concatenate([[0], np.cumsum(counts)])
        word = self.word[ranges(starts, counts)]
        return Tokens(self.vocabulary, self.prefixes, word, ends)


class TokenIds:
    """Texts → Tokens, the same in every run."""

    def __init__(self) -> None:
        self._packed = Bounded(_pack)

    def encode(self, texts: Sequence[str]) -> Tokens:
        """The tokens of each text.

        >>> tokens = TokenIds().encode(["Are there 3 huts?", "3 huts."])
        >>> tokens.starts.tolist(), len(tokens.vocabulary)
        ([0, 5, 7], 5)
        """
        packed = [
            b"".join(map(self._packed.__getitem__, text.lower().split()))
            for text in texts
        ]
        starts = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) // 8 for text in packed], out=starts[1:])
        table = np.frombuffer(b"".join(packed), "<u4").reshape(-1, 2)
        vocabulary, word = unique_inverse(table[:, 0])
        prefixes = np.zeros(len(vocabulary), np.uint32)
        prefixes[word] = table[:, 1]
        return Tokens(vocabulary, prefixes, word, starts)


def _pack(piece: str) -> bytes:
    """Id and prefix of each token of what stands between two blanks."""
    packed = b"".join(word_id(word) + _prefix(word) for word in words_of(piece))
    if piece.isalnum():
        return packed
    marks = (_SAME_MARK.get(mark, mark) for mark in _MARK.findall(piece))
    return packed + b"".join(_bytes(_hash(mark) | 1) + _NO_PREFIX for mark in marks)


def _prefix(word: str) -> bytes:
    """A number for the first letters, accents left out."""
    if len(word) <= _PREFIX or not word.isalpha():
        return _NO_PREFIX
    if not word.isascii():
        word = unicodedata.normalize("NFD", word)
        word = "".join(c for c in word if not unicodedata.combining(c))
    return _bytes(_hash(word[:_PREFIX]))


def _bytes(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _hash(text: str) -> int:
    return xxhash.xxh32_intdigest(text.encode("utf-8", "replace"))
