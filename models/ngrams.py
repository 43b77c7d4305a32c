"""Hashed character n-grams and words: the input of the compact models.

All texts of a batch are hashed at once. A text is a row of code points, and the hash of
any span of it is a difference of two prefix sums (Rabin and Karp), so that n-grams of
every order and whole words cost a few array operations each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

ORDERS = (2, 3, 4, 5, 6)  # of the character n-grams
MAX_CHARS = 160  # of a text; 99 % of the URLs are shorter, and slugs rarely end later
PADDING = 0  # fills a row behind its last n-gram

_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that it has an inverse modulo 2**64
_MIX = np.uint64(0xD6E8FEB86659FD93)
_WORDS = np.uint64(0xA0761D6478BD642F)  # keeps a word apart from the equal n-gram

IntArray = npt.NDArray[np.int64]


def url_string(url: str) -> str:
    """The text of a URL that n-grams are taken of: decoded, lower case, ends marked.

    >>> url_string("https://www.Example.org/Caf%C3%A9/?a=1")
    '^example.org/café/?a=1$'
    """
    text = url.split("://", 1)[-1].removeprefix("www.")
    text = (unquote(text) if "%" in text else text).lower()
    return f"^{text[: MAX_CHARS - 2].rstrip('/')}$"


@cache
def _powers() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Powers of the base and of its inverse, modulo 2**64."""
    inverse = np.uint64(pow(int(_BASE), -1, 2**64))
    up = np.full(MAX_CHARS + 1, _BASE)
    down = np.full(MAX_CHARS + 1, inverse)
    up[0] = down[0] = 1
    return np.cumprod(up, dtype=np.uint64), np.cumprod(down, dtype=np.uint64)


@cache
def _is_word() -> npt.NDArray[np.bool_]:
    """True for letters and digits by code point up to 127; entry 128 is all others."""
    return np.array([chr(i).isalnum() for i in range(128)] + [True])


def hashed_ngrams(
    texts: Sequence[str], buckets: int, orders: Sequence[int] = ORDERS
) -> IntArray:
    """(texts, n-grams) bucket numbers from 1 to `buckets` - 1; 0 fills the rows.

    `buckets` is a power of two. Equal n-grams get equal numbers on every machine.

    >>> hashed_ngrams(["ab"], 16, orders=(2,)).shape
    (1, 2)
    """
    rows, width = len(texts), max((len(t) for t in texts), default=0)
    width = min(max(width, 1), MAX_CHARS)
    codes = np.zeros((rows, width), dtype=np.uint64)
    lengths = np.empty(rows, dtype=np.int64)
    for i, text in enumerate(texts):
        data = text[:width].encode("utf-32-le", "replace")
        lengths[i] = len(data) // 4
        codes[i, : lengths[i]] = np.frombuffer(data, dtype="<u4")
    up, down = _powers()
    sums = np.zeros((rows, width + 1), dtype=np.uint64)
    np.cumsum(codes * up[:width], axis=1, out=sums[:, 1:])
    shift = np.uint64(64 - (buckets.bit_length() - 1))
    parts = []
    for n in orders:
        count = width - n + 1
        if count < 1:
            continue
        hashes = (sums[:, n:] - sums[:, :count]) * down[:count]
        hashes += np.uint64(n)
        inside = np.arange(count) + n <= lengths[:, None]
        parts.append(_bucket(hashes, shift) * inside)
    parts.append(_words(codes, sums, down, shift))
    return np.concatenate(parts, axis=1)


def _bucket(hashes: npt.NDArray[np.uint64], shift: np.uint64) -> IntArray:
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MIX
    numbers = (hashes >> shift).astype(np.int64)
    return np.maximum(numbers, 1)


def _words(
    codes: npt.NDArray[np.uint64],
    sums: npt.NDArray[np.uint64],
    down: npt.NDArray[np.uint64],
    shift: np.uint64,
) -> IntArray:
    """(texts, words) bucket numbers of the words of each text; 0 fills the rows."""
    rows = len(codes)
    letter = _is_word()[np.minimum(codes, 128)]
    edge = np.zeros((rows, 1), dtype=np.bool_)
    starts = letter & ~np.concatenate([edge, letter[:, :-1]], axis=1)
    ends = letter & ~np.concatenate([letter[:, 1:], edge], axis=1)
    row, first = np.nonzero(starts)
    last = np.nonzero(ends)[1]
    hashes = (sums[row, last + 1] - sums[row, first]) * down[first]
    numbers = _bucket(hashes ^ _WORDS, shift)
    counts = np.bincount(row, minlength=rows)
    column = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    words = np.zeros((rows, int(counts.max(initial=0))), dtype=np.int64)
    words[row, column] = numbers
    return words
