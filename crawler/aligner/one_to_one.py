"""The decision: each page in at most one pair, best first.

As in the WMT16 shared task, over clusters of near-duplicates: once a pair of two
clusters is accepted, their other members are its twins. They are paired again only by
evidence of their own, a common handle or a link, as pages of two editions of a manual
are. Before that, Uszkoreit et al. (2010), section 2.1, keep only pairs in which each
page is among the n best of the other (`symmetric`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from crawler.unionfind import UnionFind


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored candidate, by page numbers."""

    src: int
    trg: int
    score: float
    declared: bool  # URLs or links name the two as versions of one page


def ranked(candidates: Iterable[Scored], url: Callable[[int], str]) -> list[Scored]:
    """Best first; ties go to declared pairs, then by URL."""
    return sorted(
        candidates,
        key=lambda c: (-c.score, not c.declared, url(c.src), url(c.trg)),
    )


def n_best(candidates: Sequence[Scored], n: int) -> dict[int, list[Scored]]:
    """The first `n` candidates of each page, in the order given."""
    lists: defaultdict[int, list[Scored]] = defaultdict(list)
    for candidate in candidates:
        for page in (candidate.src, candidate.trg):
            if len(lists[page]) < n:
                lists[page].append(candidate)
    return dict(lists)


def symmetric(candidates: Sequence[Scored], n: int) -> list[Scored]:
    """The candidates that are among the `n` best of both of their pages."""
    lists = n_best(candidates, n)
    return [c for c in candidates if c in lists[c.src] and c in lists[c.trg]]


def one_to_one(candidates: Sequence[Scored], clusters: UnionFind[int]) -> list[Scored]:
    """The accepted candidates, of some that are given best first."""
    pages: set[int] = set()
    joined: set[int] = set()
    accepted = []
    for candidate in candidates:
        ends = (candidate.src, candidate.trg)
        if pages.intersection(ends):
            continue
        heads = {clusters.find(end) for end in ends}
        if joined.intersection(heads) and not candidate.declared:
            continue
        pages.update(ends)
        joined.update(heads)
        accepted.append(candidate)
    return accepted
