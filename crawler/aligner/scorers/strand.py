"""STRAND: compare two pages by the shape of their HTML.

Resnik & Smith (2003), section 2.1.3. Both linearized pages are aligned by a longest
common subsequence of tokens, a chunk matching any chunk; from the alignment come four
numbers: dp, the share of tokens without partner; n, the number of aligned chunks of
unequal length; r, the correlation of the lengths of aligned chunks; p, its
significance.

In: CandidatePair.  Out: strand.dp, strand.n, strand.r, strand.p.
Differs from the paper: pages are cut at 3,000 tokens (`features`); without three
aligned chunks, or with lengths that do not vary, r is 0 and p is 1.
Pairs are aligned one by one in C++ (`rapidfuzz`, 64 tokens at a time); everything after
that is done for many pairs at once, which makes it four times as fast.
See also: `combine` (how features become a score); a threshold on dp holds for one
aligner only: difflib finds 44 % of the common subsequence of unrelated pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rapidfuzz.distance import Indel
from scipy.special import betainc

from crawler.data import CandidatePair

_AT_ONCE = 256  # pairs; their tokens take at most 30 MB


class StrandScorer:
    """dp, n, r and p of pairs of pages."""

    name: ClassVar[str] = "strand"

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The four features of each pair."""
        return list(
            chain.from_iterable(
                _features(align(pairs[start : start + _AT_ONCE]))
                for start in range(0, len(pairs), _AT_ONCE)
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class Alignments:
    """The alignments of the pages of some pairs."""

    dp: NDArray[np.float64]  # of each pair: the share of tokens without partner
    pair: NDArray[np.int64]  # of each two aligned chunks: the number of their pair
    src: NDArray[np.int64]  # their lengths
    trg: NDArray[np.int64]


def align(pairs: Sequence[CandidatePair]) -> Alignments:
    """Longest common subsequences of tokens, and what they make of the chunks."""
    pages = [pair.src for pair in pairs], [pair.trg for pair in pairs]
    markup = [b"".join([page.markup for page in side]) for side in pages]
    starts: tuple[list[int], list[int]] = [], []  # of blocks of equal tokens
    sizes: list[int] = []
    count, blocks_of, matched = [], [], []
    offsets = [0, 0]
    for pair in pairs:
        # bytes as latin-1 text: the C++ code then compares single bytes
        a, b = (page.markup.decode("latin-1") for page in (pair.src, pair.trg))
        blocks = Indel.opcodes(a, b).as_matching_blocks()
        starts[0].extend([offsets[0] + block.a for block in blocks])
        starts[1].extend([offsets[1] + block.b for block in blocks])
        mine = [block.size for block in blocks]
        sizes += mine
        blocks_of.append(len(mine))
        matched.append(sum(mine))
        count.append(len(a) + len(b))
        offsets[0] += len(a)
        offsets[1] += len(b)
    length = np.array(sizes, np.int64)
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    tokens = [np.repeat(np.array(side, np.int64), length) + within for side in starts]
    is_chunk = [np.frombuffer(side, np.uint8) == 0 for side in markup]
    aligned = is_chunk[0][tokens[0]]
    lengths = [
        np.concatenate([page.chunk_lengths for page in side])[
            (np.cumsum(chunk) - 1)[token[aligned]]
        ]
        for side, chunk, token in zip(pages, is_chunk, tokens)
    ]
    pair_of_block = np.repeat(np.arange(len(pairs)), blocks_of)
    return Alignments(
        1 - 2 * np.array(matched) / np.maximum(count, 1),
        np.repeat(pair_of_block, length)[aligned],
        lengths[0].astype(np.int64),
        lengths[1].astype(np.int64),
    )


def _features(found: Alignments) -> list[Mapping[str, float]]:
    pairs = len(found.dp)
    n = np.bincount(found.pair, found.src != found.trg, pairs)
    r, p = correlations(found.src, found.trg, found.pair, pairs)
    columns = (found.dp, n, r, p)
    return [
        dict(zip(("strand.dp", "strand.n", "strand.r", "strand.p"), row))
        for row in zip(*(column.tolist() for column in columns))
    ]


def correlations(
    x: ArrayLike, y: ArrayLike, group: ArrayLike, groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each group Pearson's r and its two-sided significance.

    >>> r, p = correlations([1, 2, 3, 4], [2, 4, 6, 8], [0, 0, 0, 0], 2)
    >>> r.tolist(), p.tolist()
    ([1.0, 0.0], [0.0, 1.0])
    """
    number = np.asarray(group, np.int64)
    count = np.bincount(number, minlength=groups)

    def sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(number, values, groups).astype(float)

    a, b = (
        values - (sums(values) / np.maximum(count, 1))[number]
        for values in (np.asarray(x, float), np.asarray(y, float))
    )
    spread = np.sqrt(sums(a * a) * sums(b * b))
    known = (count >= 3) & (spread > 0)
    r = np.zeros(groups)
    r[known] = np.clip(sums(a * b)[known] / spread[known], -1, 1)
    p = np.ones(groups)
    # P(|t| > t(r)) with count - 2 degrees of freedom, as a beta function
    p[known] = betainc(count[known] / 2 - 1, 0.5, 1 - r[known] ** 2)
    return r, p
