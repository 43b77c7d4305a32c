"""Signatures: pages as short strings of bits that differ as the pages do.

Ture, Elsayed & Lin (2011), section 4. A page's vector becomes 1,000 bits by random
projection (a bit is the sign of a product with a random vector), or by the simhash or
minhash with which the paper compares it. Pages are then found by sorting the signatures
in Q random orders of their bits and comparing each with the last B in every sorted
table; a table is cut into chunks of M, each with the last B signatures of the one
before it. `planner` says what Q and B cost and bring.

In: the vectors of pages (`bridges.projection`).  Out: pairs with estimated cosines.
Differs from the paper: simhash may have more than 64 bits, and of each minimal term one
random bit is kept (Li & König 2010, "b-bit minwise hashing"), so that all three are
compared in the same way.
See also: `nearest`, exact, and faster up to some 20,000 pages a side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.projection import ProjectionConfig, project
from crawler.aligner.candidates.hamming import (
    Pairs,
    Signatures,
    all_pairs,
    window_pairs,
)
from crawler.aligner.candidates.nearest import NearestConfig, ranked
from crawler.data import Neighbours
from crawler.errors import ProfileError
from crawler.protocols import SitePages

_WORD = 64


@dataclass(frozen=True, slots=True)
class SignaturesConfig:
    """The paper's numbers."""

    signature: str = "random_projection"  # section 4.2; or "simhash", "minhash"
    bits: int = 1000  # D, section 4.2
    min_cosine: float = 0.3  # tau; T = 400 of 1,000 bits
    tables: int = 300  # Q, section 6.2; 0: brute force
    window: int = 200  # B
    chunk: int = 490_000  # M
    seed: int = 1
    projection: ProjectionConfig = field(default_factory=ProjectionConfig)
    nearest: NearestConfig = field(default_factory=NearestConfig)

    def __post_init__(self) -> None:
        """Refuse a signature that is not there."""
        if self.signature not in SIGNATURES:
            known = ", ".join(SIGNATURES)
            raise ProfileError(f"signature: {self.signature!r} is not one of {known}")

    @property
    def max_distance(self) -> int:
        """T: the distance at which the estimated cosine is `min_cosine`."""
        return int(SIGNATURES[self.signature].distance(self.min_cosine, self.bits))


@dataclass(frozen=True, slots=True, eq=False)
class SignatureSearch:
    """The pages whose signatures are near, with the cosines that these promise."""

    lexicon: Lexicon
    config: SignaturesConfig = field(default_factory=SignaturesConfig)
    compares_all: ClassVar[bool] = False

    def near(
        self, pages: SitePages, src: Sequence[int], trg: Sequence[int]
    ) -> Neighbours:
        """The nearest pages of each of `src` and `trg`."""
        one, other = ([pages.features(page) for page in side] for side in (src, trg))
        rows, columns = project(one, other, self.lexicon, self.config.projection)
        return near_signatures(src, trg, rows, columns, self.config)


def near_signatures(
    src: Sequence[int],
    trg: Sequence[int],
    rows: csr_matrix,
    columns: csr_matrix,
    config: SignaturesConfig,
) -> Neighbours:
    """The pages whose signatures are near, with the cosines that these promise.

    `rows` has a unit vector for each page of `src`, `columns` one for each of `trg`.
    """
    kind = SIGNATURES[config.signature]
    one, other = (kind.make(side, config.bits, config.seed) for side in (rows, columns))
    if config.tables:
        pairs = sliding_window(one, other, config)
    else:
        pairs = all_pairs(one, other, config.max_distance)
    pairs = pairs[np.argsort(pairs[:, 2], kind="stable")]
    return ranked(
        (
            ((src[i], trg[j]), kind.cosine(distance, config.bits))
            for i, j, distance in pairs.tolist()
        ),
        config.nearest.n_best,
    )


# ---------------------------------------------------------------- signatures


def random_projection(vectors: csr_matrix, bits: int, seed: int) -> Signatures:
    """Section 4.2: the signs of the products with random normal vectors."""
    chance = np.random.default_rng(seed)
    return _signs(vectors, bits, lambda s: chance.standard_normal(s, np.float32))


def simhash(vectors: csr_matrix, bits: int, seed: int) -> Signatures:
    """Section 4.2: each bit is the sign of a sum of weights over hashed terms."""
    chance = np.random.default_rng(seed)
    return _signs(
        vectors, bits, lambda s: 1 - 2 * chance.integers(0, 2, s).astype(np.float32)
    )


def minhash(vectors: csr_matrix, bits: int, seed: int) -> Signatures:
    """Section 4.2: the least term under each of many random orders, a bit of each.

    Two bits are equal if the least terms are, as often as Jaccard's coefficient says,
    and of the others every second time. A page without terms has zeros.
    """
    chance = np.random.default_rng(seed)
    size = vectors.shape[1]
    found = np.zeros((vectors.shape[0], _padded(bits)), np.uint8)
    filled = np.flatnonzero(np.diff(vectors.indptr))
    starts = vectors.indptr[filled].astype(np.int64)
    for n in range(bits if len(filled) else 0):
        order, bit = chance.permutation(size), chance.integers(0, 2, size, np.uint8)
        found[filled, n] = bit[np.minimum.reduceat(order[vectors.indices], starts)]
    return np.packbits(found, axis=1).view(np.uint64)


def _signs(
    vectors: csr_matrix,
    bits: int,
    draw: Callable[[tuple[int, int]], NDArray[np.float32]],
) -> Signatures:
    """Bits: whether the product with each of `bits` random vectors is 0 or more."""
    signs = np.zeros((vectors.shape[0], _padded(bits)), np.uint8)
    for start in range(0, bits, _WORD):  # 64 at a time, to bound memory
        width = min(_WORD, bits - start)
        signs[:, start : start + width] = vectors @ draw((vectors.shape[1], width)) >= 0
    return np.packbits(signs, axis=1).view(np.uint64)


def _padded(bits: int) -> int:
    return -(-bits // _WORD) * _WORD


@dataclass(frozen=True, slots=True)
class Signature:
    """A way to make signatures, and what their distances mean."""

    make: Callable[[csr_matrix, int, int], Signatures]  # vectors, bits, seed
    cosine: Callable[[float, int], float]  # of a distance of so many bits
    distance: Callable[[float, int], float]  # of a cosine


def _cosine_of_angle(distance: float, bits: int) -> float:
    return math.cos(math.pi * distance / bits)


def _angle_of_cosine(cosine: float, bits: int) -> float:
    return bits * math.acos(cosine) / math.pi


SIGNATURES = {
    "random_projection": Signature(
        random_projection, _cosine_of_angle, _angle_of_cosine
    ),
    "simhash": Signature(simhash, _cosine_of_angle, _angle_of_cosine),
    "minhash": Signature(
        minhash,
        lambda distance, bits: 1 - 2 * distance / bits,
        lambda cosine, bits: bits * (1 - cosine) / 2,
    ),
}


# ---------------------------------------------------------------- the sliding window


def sliding_window(src: Signatures, trg: Signatures, config: SignaturesConfig) -> Pairs:
    """Section 4.3: the pairs that are near in at least one table, sorted."""
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
