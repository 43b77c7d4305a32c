"""STRAND: compare two pages by the shape of their HTML.

Resnik & Smith (2003), section 2.1.3. Both linearized pages are aligned by a longest
common subsequence of tokens, a chunk matching any chunk; from the alignment come four
numbers: dp, the share of tokens without partner; n, the number of aligned chunks of
unequal length; r, the correlation of the lengths of aligned chunks; p, its
significance.

In: CandidatePair.  Out: strand.dp, strand.n, strand.r, strand.p.
Differs from the paper: pages are cut at 3,000 tokens (`sketch`); without three aligned
chunks, or with lengths that do not vary, r is 0 and p is 1.
See also: `combine` (how features become a score); a threshold on dp holds for one
aligner only: difflib finds 44 % of the common subsequence of unrelated pages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rapidfuzz.distance import Indel
from scipy.special import betainc

from crawler.data import CandidatePair, Sketch

Lengths = NDArray[np.uint16]


class StrandScorer:
    """dp, n, r and p of pairs of pages."""

    name: ClassVar[str] = "strand"

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The four features of each pair."""
        return [strand(pair.src, pair.trg) for pair in pairs]


def strand(src: Sketch, trg: Sketch) -> dict[str, float]:
    """The four features of two pages."""
    dp, lengths = align(src, trg)
    n = np.count_nonzero(lengths[0] != lengths[1])
    r, p = correlation(*lengths)
    return {"strand.dp": dp, "strand.n": float(n), "strand.r": r, "strand.p": p}


def align(src: Sketch, trg: Sketch) -> tuple[float, tuple[Lengths, Lengths]]:
    """Share of tokens without partner, and the lengths of the aligned chunks."""
    a, b = src.markup, trg.markup
    total = len(a) + len(b)
    if not total:
        return 0.0, (src.chunk_lengths[:0], trg.chunk_lengths[:0])
    # bytes as latin-1 text: the C++ code then compares single bytes, 64 at a time
    steps = Indel.opcodes(a.decode("latin-1"), b.decode("latin-1"))
    blocks = np.array([(m.a, m.b, m.size) for m in steps.as_matching_blocks()])
    starts_a, starts_b, sizes = blocks.T
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    token_a = np.repeat(starts_a, sizes) + within
    token_b = np.repeat(starts_b, sizes) + within
    is_chunk_a, is_chunk_b = (np.frombuffer(m, np.uint8) == 0 for m in (a, b))
    chunks = is_chunk_a[token_a]
    lengths_a = src.chunk_lengths[(np.cumsum(is_chunk_a) - 1)[token_a[chunks]]]
    lengths_b = trg.chunk_lengths[(np.cumsum(is_chunk_b) - 1)[token_b[chunks]]]
    return 1 - 2 * len(within) / total, (lengths_a, lengths_b)


def correlation(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Pearson's r and its two-sided significance.

    >>> correlation([1, 2, 3, 4], [2, 4, 6, 8])
    (1.0, 0.0)
    """
    a, b = np.asarray(x, float), np.asarray(y, float)
    count = len(a)
    if count < 3:
        return 0.0, 1.0
    a, b = a - a.sum() / count, b - b.sum() / count
    spread = math.sqrt((a @ a) * (b @ b))
    if spread == 0:
        return 0.0, 1.0
    r = min(1.0, max(-1.0, float(a @ b) / spread))
    # P(|t| > t(r)) with count - 2 degrees of freedom, as a beta function
    return r, float(betainc(count / 2 - 1, 0.5, 1 - r * r))
