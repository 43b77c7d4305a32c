"""Signatures: pages as short strings of bits that differ as the pages do.

Ture, Elsayed & Lin (2011), section 4. A page's vector becomes 1,000 bits by random
projection (bit = 1 if r·u >= 0), so that cos(u, v) is about cos(π/D · distance); 64-bit
simhash and minhash are what the paper compares it with. Pages are then found by sorting
the signatures in Q random orders of their bits and comparing each with the last B in
every sorted table; a table is cut into chunks of M, each with the last B signatures of
the one before it. `planner` says what Q and B cost and bring.

In: unit vectors (`bridges.projection`).  Out: pairs with estimated cosines.
See also: `nearest`, exact, and faster up to some 20,000 pages a side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.candidates.hamming import (
    Pairs,
    Signatures,
    all_pairs,
    window_pairs,
)
from crawler.aligner.candidates.nearest import NearestConfig, Neighbours

_WORD = 64


@dataclass(frozen=True, slots=True)
class SignaturesConfig:
    """The paper's numbers."""

    bits: int = 1000  # D, section 4.2
    min_cosine: float = 0.3  # tau; T = 400 of 1,000 bits
    tables: int = 300  # Q, section 6.2; 0: brute force
    window: int = 200  # B
    chunk: int = 490_000  # M
    seed: int = 1
    nearest: NearestConfig = field(default_factory=NearestConfig)

    @property
    def max_distance(self) -> int:
        """T: the distance at which the estimated cosine is `min_cosine`."""
        return int(self.bits * math.acos(self.min_cosine) / math.pi)


def near_signatures(
    src: Sequence[int],
    trg: Sequence[int],
    rows: csr_matrix,
    columns: csr_matrix,
    config: SignaturesConfig | None = None,
) -> Neighbours:
    """The pages whose signatures are near, with the cosines that these promise.

    `rows` has a unit vector for each page of `src`, `columns` one for each of `trg`.
    """
    config = config or SignaturesConfig()
    one, other = (
        random_projection(side, config.bits, config.seed) for side in (rows, columns)
    )
    if config.tables:
        pairs = sliding_window(one, other, config)
    else:
        pairs = all_pairs(one, other, config.max_distance)
    found = Neighbours()
    for i, j, distance in pairs[np.argsort(pairs[:, 2], kind="stable")].tolist():
        ends = src[i], trg[j]
        lists = [found.ranked.setdefault(page, []) for page in ends]
        if min(map(len, lists)) < config.nearest.n_best:
            cosine = math.cos(math.pi * distance / config.bits)
            found.pairs[ends] = cosine
            lists[0].append((ends[1], cosine))
            lists[1].append((ends[0], cosine))
    return found


# ---------------------------------------------------------------- signatures


def random_projection(vectors: csr_matrix, bits: int, seed: int) -> Signatures:
    """Section 4.2: the signs of the products with random normal vectors."""
    chance = np.random.default_rng(seed)
    signs = np.zeros((vectors.shape[0], -(-bits // _WORD) * _WORD), np.uint8)
    for start in range(0, bits, _WORD):  # 64 at a time, to bound memory
        width = min(_WORD, bits - start)
        normal = chance.standard_normal((vectors.shape[1], width), np.float32)
        signs[:, start : start + width] = vectors @ normal >= 0
    return _packed(signs)


def simhash(vectors: csr_matrix, seed: int) -> Signatures:
    """Section 4.2: 64 bits, each the sign of a sum of weights over hashed terms."""
    chance = np.random.default_rng(seed)
    sign = 1 - 2 * chance.integers(0, 2, (vectors.shape[1], _WORD), dtype=np.int8)
    return _packed((vectors @ sign.astype(np.float32) >= 0).astype(np.uint8))


def minhash(vectors: csr_matrix, count: int, seed: int) -> NDArray[np.uint32]:
    """Section 4.2: the least term under `count` random orders; equal as Jaccard says.

    A page without terms has the largest number everywhere.
    """
    chance = np.random.default_rng(seed)
    result = np.full((vectors.shape[0], count), np.iinfo(np.uint32).max, np.uint32)
    filled = np.flatnonzero(np.diff(vectors.indptr))
    for n in range(count):
        order = chance.permutation(vectors.shape[1]).astype(np.uint32)
        if len(filled):
            least = np.minimum.reduceat(
                order[vectors.indices], vectors.indptr[filled].astype(np.int64)
            )
            result[filled, n] = least
    return result


def _packed(bits: NDArray[np.uint8]) -> Signatures:
    return np.packbits(bits, axis=1).view(np.uint64)


# ---------------------------------------------------------------- the sliding window


def sliding_window(src: Signatures, trg: Signatures, config: SignaturesConfig) -> Pairs:
    """Section 4.3: pairs that are near in at least one table, each once, sorted."""
    both = np.concatenate([src, trg])
    in_trg = np.arange(len(both)) >= len(src)
    bits = np.unpackbits(both.view(np.uint8), axis=1)[:, : config.bits]
    chance = np.random.default_rng(config.seed + 1)
    found = [np.empty((0, 3), np.int64)]
    for _ in range(config.tables):
        first = chance.permutation(config.bits)[: 4 * _WORD]  # ties are copies
        keys = np.packbits(bits[:, first], axis=1)
        order = np.lexsort(keys.T[::-1])
        for chunk in _chunks(len(both), config.chunk, config.window):
            pages = order[chunk]
            pairs = window_pairs(
                both[pages], in_trg[pages], config.window, config.max_distance
            )
            ends = np.sort(pages[pairs[:, :2]], axis=1)  # src comes first
            found.append(np.c_[ends[:, 0], ends[:, 1] - len(src), pairs[:, 2]])
    return np.unique(np.concatenate(found), axis=0)


def _chunks(count: int, size: int, overlap: int) -> Iterator[slice]:
    """Consecutive parts of a table, each with the last rows of the one before."""
    for start in range(0, max(count, 1), size):
        yield slice(max(0, start - overlap), start + size)
