"""Array functions that numpy lacks, or that sorting does in a fraction of its time.

No value is below 0; `values` and `known` have one dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ by the golden ratio: spreads bits
Number = TypeVar("Number", np.uint32, np.uint64, np.int64)


def unique(values: NDArray[Number]) -> NDArray[Number]:
    """Each value once, sorted, in a quarter of the time of np.unique.

    >>> unique(np.array([5, 3, 5], np.uint32)).tolist()
    [3, 5]
    """
    values = np.sort(values)
    return values[_is_new(values)]


def unique_inverse(
    values: NDArray[Number],
) -> tuple[NDArray[Number], NDArray[np.int64]]:
    """Each value once, sorted, and for each given value its place among these.

    >>> [array.tolist() for array in unique_inverse(np.array([5, 3, 5], np.uint32))]
    [[3, 5], [1, 0, 1]]
    """
    order = order_of(values)
    values = values[order]
    is_new = _is_new(values)
    number = np.empty(len(values), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return values[is_new], number


def order_of(values: NDArray[Number]) -> NDArray[np.int64]:
    """The places of values, smallest first, in a fifth of the time of np.argsort.

    Value and place are sorted as one number.
    """
    bits = len(values).bit_length()
    if int(values.max(initial=0)).bit_length() + bits > 64:
        return np.argsort(values, kind="stable")
    packed = values.astype(np.uint64) << np.uint64(bits)
    packed |= np.arange(len(values), dtype=np.uint64)
    packed.sort()
    packed &= np.uint64((1 << bits) - 1)
    return packed.view(np.int64)


def _is_new(values: NDArray[Any]) -> NDArray[np.bool_]:
    """(values,): whether each of some sorted values differs from the one before."""
    is_new = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=is_new[1:])
    return is_new


def ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of several ranges, one after the other.

    >>> ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    ends = np.cumsum(counts)
    places = np.arange(ends[-1] if len(ends) else 0)
    places += np.repeat(starts - (ends - counts), counts)
    return places


def places_in(
    known: NDArray[Number], values: NDArray[Number]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The place of each value among sorted ones, or 0, and whether it is there."""
    if not len(known):
        return np.zeros(len(values), np.int64), np.zeros(len(values), bool)
    places = np.searchsorted(known, values)
    places[places == len(known)] = 0
    is_known = known[places] == values
    places *= is_known
    return places, is_known


def concat_with_ids(
    sets: Sequence[NDArray[np.uint32]] | Sequence[NDArray[np.uint16]],
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """The set that each id is in, and the ids of all sets, one set after the other."""
    number = np.repeat(np.arange(len(sets)), [len(ids) for ids in sets])
    return number, np.concatenate([np.empty(0, np.uint32), *sets])


def pack_keys(sets: Sequence[NDArray[np.uint32]]) -> NDArray[np.uint64]:
    """The ids of all sets: the number of the set in the upper 32 bits, then the id."""
    number, ids = concat_with_ids(sets)
    return number.view(np.uint64) << np.uint64(32) | ids


def ngrams(terms: NDArray[np.uint64], order: int) -> NDArray[np.uint64]:
    """Hashes of the runs of `order` terms, in the order given.

    >>> len(ngrams(np.array([7, 8, 9], np.uint64), 2))
    2
    """
    count = max(len(terms) - order + 1, 0)
    hashed = np.zeros(count, np.uint64)
    for offset in range(order):
        hashed = (hashed ^ terms[offset : offset + count]) * _GOLDEN
        hashed ^= hashed >> np.uint64(29)
    return hashed


def overlaps(
    one: Sequence[NDArray[np.uint32]],
    other: Sequence[NDArray[np.uint32]],
    weight: Callable[[NDArray[np.uint32]], NDArray[np.float32]],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The weight of each set of `one`, of `other`, and of what both have; (sets,).

    >>> a, b = np.array([1, 2], np.uint32), np.array([2, 3], np.uint32)
    >>> [found.tolist() for found in overlaps([a, a], [b, a], np.float32)]
    [[3.0, 3.0], [5.0, 3.0], [2.0, 3.0]]
    """
    count = len(one)
    number, ids = concat_with_ids([*one, *other])
    alone = np.bincount(number, weight(ids), 2 * count)
    number[number >= count] -= count
    keys = number << 32 | ids
    keys.sort()
    keys = keys[1:][keys[1:] == keys[:-1]]
    both = np.bincount(keys >> 32, weight(keys.astype(np.uint32)), count)
    return alone[:count], alone[count:], both
