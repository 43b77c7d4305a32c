"""Nearest: the pages of the other language with the largest cosines.

A product of two sparse matrices gives the exact cosine of every src page with every trg
page. Ten million pairs a second, so brute force is the right way up to some 20,000
pages a side (Ture et al. 2011: "do not dismiss brute force").

See also: `shared_words` and `translated_words`, which make the vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.data import Neighbours

# The largest cosines above 0, best first, and their columns (or rows).
_Best = tuple[NDArray[np.float32], NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class NearestConfig:
    """The number of candidates."""

    # In manuals the right page is among the first 8 in 99.7 %
    # (docs/sources.md#alignment-by-content).
    n_best: int = 8
    min_cosine: float = 0.02  # below it two pages have a number in common by chance
    cells: int = 1 << 23  # cosines held at a time, by row and by column: 64 MB


def ranked(
    pairs: Iterable[tuple[tuple[int, int], float]], n_best: int | None = None
) -> Neighbours:
    """The neighbours that some pairs make, given best first.

    With `n_best`, a pair is left out once both pages have so many better ones.
    """
    found: dict[tuple[int, int], float] = {}
    lists: dict[int, list[tuple[int, float]]] = {}
    for (src, trg), cosine in pairs:
        of_src, of_trg = lists.setdefault(src, []), lists.setdefault(trg, [])
        if n_best is None or min(len(of_src), len(of_trg)) < n_best:
            found[src, trg] = cosine
            of_src.append((trg, cosine))
            of_trg.append((src, cosine))
    return Neighbours(found, lists)


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
    pairs: dict[tuple[int, int], float] = {}
    lists: dict[int, list[tuple[int, float]]] = {}
    by_row, by_column = _best(rows, columns, config)
    for one, other, best in ((src, trg, by_row), (trg, src, by_column)):
        for page, (cosines, places) in zip(one, best):
            lists[page] = [
                (other[place], cosine)
                for place, cosine in zip(places.tolist(), cosines.tolist())
                if cosine >= config.min_cosine
            ]
            for partner, cosine in lists[page]:
                pairs[(page, partner) if one is src else (partner, page)] = cosine
    return Neighbours(pairs, lists)


def _best(
    rows: csr_matrix, columns: csr_matrix, config: NearestConfig
) -> tuple[list[_Best], list[_Best]]:
    """The best of each row, and of each column, of the matrix of all cosines."""
    by_row: list[_Best] = []
    by_column: list[list[_Best]] = []  # for each block of rows
    block = max(1, config.cells // max(columns.shape[0], 1))
    columns = columns.T.tocsr()
    for start in range(0, rows.shape[0], block):
        cosines = (rows[start : start + block] @ columns).toarray()
        by_row += [_top(row, config.n_best) for row in cosines]
        by_column.append(
            [
                _top(column, config.n_best, start)
                for column in np.ascontiguousarray(cosines.T)
            ]
        )
    return by_row, [_joined(parts, config.n_best) for parts in zip(*by_column)]


def _joined(parts: Sequence[_Best], count: int) -> _Best:
    """The best of all parts of a column."""
    if len(parts) == 1:
        return parts[0]
    values, places = (np.concatenate(column) for column in zip(*parts))
    best, chosen = _top(values, count)
    return best, places[chosen]


def _top(values: NDArray[np.float32], count: int, start: int = 0) -> _Best:
    """The largest values above 0 and their places, counted from `start`.

    Largest first; of equals the earlier.
    """
    if len(values) > 4 * count:
        floor = np.partition(values, -count)[-count]
        chosen = np.flatnonzero(values >= max(floor, np.finfo(np.float32).tiny))
    else:
        chosen = np.flatnonzero(values > 0)
    chosen = chosen[np.argsort(-values[chosen], kind="stable")][:count]
    return values[chosen], chosen + start
