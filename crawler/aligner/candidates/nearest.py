"""The nearest pages of the other language, by the cosine of their vectors.

A product of two sparse matrices gives the exact cosine of every src page with every trg
page. Ten million pairs a second, so brute force is the right way up to some 20,000
pages a side (Ture et al. 2011: "do not dismiss brute force").

See also: `shared_words` and `translated_words`, which make the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix


@dataclass(frozen=True, slots=True)
class NearestConfig:
    """How many candidates."""

    n_best: int = 8  # ALIGNMENT section 6: the right page is in the first 8 in 99.9 %
    min_cosine: float = 0.02  # below it two pages share a number by chance
    cells: int = 1 << 24  # cosines held at a time: 64 MB


@dataclass(slots=True)
class Neighbours:
    """Cosines of candidate pairs, and the nearest pages of each page, best first."""

    pairs: dict[tuple[int, int], float] = field(default_factory=dict)
    ranked: dict[int, list[tuple[int, float]]] = field(default_factory=dict)

    def mutual(self) -> Neighbours:
        """Only the pairs of pages that are each other's nearest."""
        nearest = {
            pair: cosine
            for pair, cosine in self.pairs.items()
            if all(self.ranked[page][0][1] <= cosine for page in pair)
        }
        return Neighbours(nearest, self.ranked)

    def worthwhile(self, min_share: float) -> list[tuple[int, int]]:
        """The pairs that are not far below what both of their pages have elsewhere."""
        return [
            pair
            for pair, cosine in self.pairs.items()
            if cosine >= min_share * min(self.ranked[page][0][1] for page in pair)
        ]


def nearest(
    src: Sequence[int],
    trg: Sequence[int],
    rows: csr_matrix,
    columns: csr_matrix,
    config: NearestConfig | None = None,
) -> Neighbours:
    """The nearest pages of each of `src` and `trg`.

    `rows` has a unit vector for each page of `src`, `columns` one for each of `trg`.
    """
    config = config or NearestConfig()
    found = Neighbours()
    for one, other, matrices in (
        (src, trg, (rows, columns)),
        (trg, src, (columns, rows)),
    ):
        for page, (cosines, places) in zip(one, _best(*matrices, config)):
            found.ranked[page] = [
                (other[place], cosine)
                for place, cosine in zip(places.tolist(), cosines.tolist())
                if cosine >= config.min_cosine
            ]
            for partner, cosine in found.ranked[page]:
                pair = (page, partner) if one is src else (partner, page)
                found.pairs[pair] = cosine
    return found


def _best(
    rows: csr_matrix, columns: csr_matrix, config: NearestConfig
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """For each row the largest cosines above 0, and their columns."""
    columns = columns.T.tocsr()
    block = max(1, config.cells // max(columns.shape[1], 1))
    for start in range(0, rows.shape[0], block):
        for cosines in (rows[start : start + block] @ columns).toarray():
            top = _top(cosines, config.n_best)
            yield cosines[top], top


def _top(values: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Indices of the largest values above 0, largest first; the earlier of equals."""
    if len(values) > 4 * count:
        floor = np.partition(values, -count)[-count]
        chosen = np.flatnonzero(values >= max(floor, np.finfo(np.float32).tiny))
    else:
        chosen = np.flatnonzero(values > 0)
    return chosen[np.argsort(-values[chosen], kind="stable")][:count]
