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

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from rapidfuzz.distance import Indel
from scipy.special import betainc

from crawler.data import CandidatePair, Sketch


class StrandScorer:
    """dp, n, r and p of pairs of pages."""

    name: ClassVar[str] = "strand"

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """The four features of each pair."""
        return [strand(pair.src, pair.trg) for pair in pairs]


def strand(src: Sketch, trg: Sketch) -> dict[str, float]:
    """The four features of two pages."""
    dp, aligned = align(src, trg)
    n = sum(a != b for a, b in aligned)
    r, p = correlation(aligned)
    return {"strand.dp": dp, "strand.n": float(n), "strand.r": r, "strand.p": p}


def align(src: Sketch, trg: Sketch) -> tuple[float, list[tuple[int, int]]]:
    """Share of tokens without partner, and the lengths of the aligned chunks."""
    a, b = src.markup, trg.markup
    total = len(a) + len(b)
    if not total:
        return 0.0, []
    lengths_a, lengths_b = src.chunk_lengths.tolist(), trg.chunk_lengths.tolist()
    aligned: list[tuple[int, int]] = []
    unaligned = chunk_a = chunk_b = 0
    # bytes as latin-1 text: the C++ code then compares single bytes, 64 at a time
    for step in Indel.opcodes(a.decode("latin-1"), b.decode("latin-1")):
        a1, a2, b1, b2 = step.src_start, step.src_end, step.dest_start, step.dest_end
        in_a, in_b = a.count(0, a1, a2), b.count(0, b1, b2)
        if step.tag == "equal":
            aligned.extend(
                zip(
                    lengths_a[chunk_a : chunk_a + in_a],
                    lengths_b[chunk_b : chunk_b + in_b],
                )
            )
        else:
            unaligned += (a2 - a1) + (b2 - b1)
        chunk_a += in_a
        chunk_b += in_b
    return unaligned / total, aligned


def correlation(pairs: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Pearson's r and its two-sided significance.

    >>> correlation([(1, 2), (2, 4), (3, 6), (4, 8)])
    (1.0, 0.0)
    """
    count = len(pairs)
    if count < 3:
        return 0.0, 1.0
    x, y = np.array(pairs, float).T
    x, y = x - x.mean(), y - y.mean()
    spread = float(np.sqrt((x @ x) * (y @ y)))
    if spread == 0:
        return 0.0, 1.0
    r = min(1.0, max(-1.0, float(x @ y) / spread))
    # P(|t| > t(r)) with count - 2 degrees of freedom, as a beta function
    return r, float(betainc(count / 2 - 1, 0.5, 1 - r * r))
