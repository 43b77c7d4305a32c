"""The decision: each page in at most one pair, best pairs first.

Greedy in the order of scores, as in the WMT16 shared task, over clusters of
near-duplicates: when two clusters have been joined, their other members are twins of
that pair. They are paired again only by evidence of their own, a common handle or a
link, as the pages of two editions of one manual are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crawler.aligner.near_duplicates import Clusters


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored candidate, by page numbers."""

    src: int
    trg: int
    score: float
    declared: bool  # its URLs or links say that the two belong together


def one_to_one(
    candidates: Sequence[Scored],
    clusters: Clusters,
    url: Callable[[int], str],
) -> list[Scored]:
    """The accepted pairs, best first; ties go to declared pairs, then by URL."""
    ranked = sorted(
        candidates,
        key=lambda c: (-c.score, not c.declared, url(c.src), url(c.trg)),
    )
    pages: set[int] = set()
    joined: set[int] = set()
    accepted = []
    for candidate in ranked:
        ends = (candidate.src, candidate.trg)
        if pages.intersection(ends):
            continue
        heads = {clusters.of(end) for end in ends}
        if joined.intersection(heads) and not candidate.declared:
            continue
        pages.update(ends)
        joined.update(heads)
        accepted.append(candidate)
    return accepted
