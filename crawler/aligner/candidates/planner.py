"""Planner: the recall and the cost of a sliding window over signatures.

Ture, Elsayed & Lin (2011), section 5: with D-bit signatures, Q tables and a window of B
over C pages, two pages of cosine t meet and are kept with probability

    [1 - (1 - (1 - θ/π)ⁿ)^Q] · Σ_{i=0..T} C(D-n, i) ρⁱ (1-ρ)^(D-n-i),   ρ = θ/π

where θ = arccos t and n, the bits that pages within a window share, lies between
⌊log₂(C/B)⌋ and ⌈log₂(C/B)⌉. The second factor bounds the recall of any search, brute
force included. Costs are comparisons of signatures of two languages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.stats import binom

from crawler.aligner.candidates.signatures import SignaturesConfig

_WINDOWS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_MAX_TABLES = 5000  # 17 times the paper's; more cost more than brute force


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to search; `tables` = 0 is brute force."""

    tables: int
    window: int
    recall: float
    comparisons: float

    @property
    def is_brute_force(self) -> bool:
        """Whether every page is compared with every other."""
        return self.tables == 0


def upper_bound(
    cosine: float, config: SignaturesConfig, shared_bits: float = 0
) -> float:
    """P(distance <= T | cosine): the share of pairs that any search can find.

    >>> round(upper_bound(0.35, SignaturesConfig()), 2)
    0.87
    """
    rho = math.acos(cosine) / math.pi
    return float(binom.cdf(config.max_distance, round(config.bits - shared_bits), rho))


def recall_of(
    cosine: float, tables: int, window: int, pages: int, config: SignaturesConfig
) -> float:
    """P(a pair of that cosine is found); the mean over both bounds of n."""
    exact = math.log2(max(pages / window, 1))
    same = 1 - math.acos(cosine) / math.pi
    bounds = [
        (1 - (1 - same**n) ** tables) * upper_bound(cosine, config, n)
        for n in (math.floor(exact), math.ceil(exact))
    ]
    return sum(bounds) / len(bounds)


def plan(
    src_pages: int,
    trg_pages: int,
    recall: float,
    cosine: float,
    config: SignaturesConfig | None = None,
) -> list[Plan]:
    """Ways to find a share (`recall`) of the pairs of a cosine, the cheapest first.

    For each window with the fewest tables; and brute force. The list is empty if no
    search finds so many: then only more bits help.
    """
    config = config or SignaturesConfig()
    bound = upper_bound(cosine, config)
    if bound < recall:
        return []
    pages = src_pages + trg_pages
    crossing = 2 * src_pages * trg_pages / pages**2  # pairs of two languages
    ways = [Plan(0, 0, bound, float(src_pages * trg_pages))]
    for window in _WINDOWS:
        if window < pages and recall <= recall_of(
            cosine, _MAX_TABLES, window, pages, config
        ):
            tables = _fewest(recall, cosine, window, pages, config)
            found = recall_of(cosine, tables, window, pages, config)
            ways.append(Plan(tables, window, found, tables * pages * window * crossing))
    return sorted(ways, key=lambda way: way.comparisons)


def _fewest(
    recall: float, cosine: float, window: int, pages: int, config: SignaturesConfig
) -> int:
    low, high = 1, _MAX_TABLES
    while low < high:
        middle = (low + high) // 2
        if recall_of(cosine, middle, window, pages, config) >= recall:
            high = middle
        else:
            low = middle + 1
    return low
