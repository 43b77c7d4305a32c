"""The URLs that are done, with a stated probability of error, in 2 to 3 bytes each.

A Bloom filter (Bloom 1970) whose bit positions follow from two hashes (Kirsch and
Mitzenmacher 2006), grown as Almeida et al. (2007) do: when it is full, a filter of
twice the size and half the error is begun. Errors add up to less than the first's,
times two, so the first gets half of what was asked for.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

_FIRST = 1000  # URLs: 2 KB with an error of 0.001


@dataclass(slots=True)
class _Filter:
    capacity: int
    error: float
    held: int
    bits: bytearray

    @classmethod
    def empty(cls, capacity: int, error: float) -> Self:
        return cls(capacity, error, 0, bytearray(_size(capacity, error)))

    def places(self, key: bytes) -> Iterator[tuple[int, int]]:
        """The byte and the bit of each position of a key."""
        first = int.from_bytes(key[:8], "little")
        step = int.from_bytes(key[8:], "little") | 1
        size = 8 * len(self.bits)
        for n in range(math.ceil(-math.log2(self.error))):
            place = (first + n * step) % size
            yield place >> 3, 1 << (place & 7)

    def add(self, key: bytes) -> None:
        for byte, bit in self.places(key):
            self.bits[byte] |= bit
        self.held += 1

    def has(self, key: bytes) -> bool:
        return all(self.bits[byte] & bit for byte, bit in self.places(key))


class BloomFilter:
    """A set of strings; membership is wrongly affirmed with probability `error`.

    >>> done = BloomFilter(error=0.001)
    >>> for n in range(5000): done.add(f"https://a.is/{n}")
    >>> all(f"https://a.is/{n}" in done for n in range(5000)), len(done)
    (True, 5000)
    >>> sum(f"https://b.is/{n}" in done for n in range(5000)) < 15
    True
    """

    def __init__(self, error: float) -> None:
        """ValueError if the error is not a probability."""
        if not 0 < error < 1:
            raise ValueError(
                f"{error} is not a probability (give a number between 0 and 1)"
            )
        self._error = error
        self._filters: list[_Filter] = []

    def add(self, text: str) -> None:
        """Add a string that is not in the set."""
        newest = self._filters[-1] if self._filters else None
        if newest is None:
            newest = _Filter.empty(_FIRST, self._error / 2)
            self._filters.append(newest)
        elif newest.held >= newest.capacity:
            newest = _Filter.empty(2 * newest.capacity, newest.error / 2)
            self._filters.append(newest)
        newest.add(_key(text))

    def __contains__(self, text: str) -> bool:
        key = _key(text)
        return any(one.has(key) for one in self._filters)

    def __len__(self) -> int:
        return sum(one.held for one in self._filters)

    def state(self) -> list[list[object]]:
        """The filters as plain data for JSON."""
        head: list[list[object]] = [[self._error]]
        return head + [
            [one.capacity, one.error, one.held, b64encode(one.bits).decode()]
            for one in self._filters
        ]

    @classmethod
    def restore(cls, state: Sequence[object]) -> Self:
        """Take what `state` gave; ValueError if it is damaged."""
        restored = None
        for item in state:
            match item:
                case [float(error)] if restored is None:
                    restored = cls(error)
                    continue
                case [int(capacity), float(error), int(held), str(text)] if (
                    restored is not None
                ):
                    bits = bytearray(b64decode(text, validate=True))
                    if bits and len(bits) == _size(capacity, error):
                        one = _Filter(capacity, error, held, bits)
                        restored._filters.append(one)
                        continue
            raise ValueError("the saved filter is damaged")
        if restored is None:
            raise ValueError("the saved filter is damaged")
        return restored


def _size(capacity: int, error: float) -> int:
    """The bytes of a filter that is half full of bits when it is full of keys."""
    return math.ceil(capacity * -math.log(error) / math.log(2) ** 2 / 8)


def _key(text: str) -> bytes:
    # BLAKE2, because pages choose their URLs: what they cannot foresee they cannot hide
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
