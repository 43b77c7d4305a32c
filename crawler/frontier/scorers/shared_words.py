"""Rare words that two addresses share: names, numbers and cognates in translated slugs.

Not in the papers. A translated slug keeps the names of people and places, years and
numbers, and the words that two languages share but for their endings. A word is rare if
few addresses of the site have it; it counts by its information, log(addresses / those
with the word), and two addresses are similar by the share that they have in common
(Dice's coefficient).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypeVar
from urllib.parse import unquote

from crawler.data import Site
from crawler.languages import fold

T = TypeVar("T", bound=Hashable)

# Letters of a word that count: its ending may differ in the other language.
_STEM = 6
_MIN_WORD = 4  # letters: shorter words are articles and prepositions
_WORD = re.compile(r"[^\W\d_]+|\d+")
_MAX_WORDS = 16  # of an address, its last ones
# Addresses that may share a word: one that more of them have tells no pages apart.
_MAX_SHARED = 12
_MAX_CANDIDATES = 16
# Share from which two addresses are similar. With 0.4 the mean area on five of the
# noisy sites is 0.01 lower.
_MIN_SHARE = 0.3


@lru_cache(maxsize=4096)  # asked again for each new address that shares a word
def words_of(address: str) -> tuple[str, ...]:
    """The words of an address that a translation may share, cut to their stems.

    >>> words_of("a.example/news/2023-visit-of-nordic-ministers")
    ('2023', 'minist', 'news', 'nordic', 'visit')
    """
    path = unquote(address.partition("/")[2].partition("?")[0])
    words = _WORD.findall(fold(path))[-_MAX_WORDS:]
    long = (word for word in words if len(word) >= _MIN_WORD or word.isdigit())
    return tuple(sorted({word[:_STEM] for word in long}))


@dataclass(slots=True)
class _Words(Generic[T]):
    """The words of one site."""

    addresses: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    of_word: dict[str, tuple[tuple[str, T], ...]] = field(default_factory=dict)

    def information(self, words: tuple[str, ...]) -> float:
        """The sum over some words, in nats."""
        counts = self.counts
        total = 1 + self.addresses
        return sum(math.log(total / max(1, counts[word])) for word in words)


class SharedWords(Generic[T]):
    """The addresses of each site by their words; an address stands for an item."""

    def __init__(self) -> None:
        self._sites: dict[Site, _Words[T]] = {}

    def add(self, site: Site, address: str, item: T) -> None:
        """Enter an address."""
        known = self._sites.setdefault(site, _Words())
        known.addresses += 1
        for word in words_of(address):
            known.counts[word] += 1
            if known.counts[word] <= _MAX_SHARED:
                known.of_word[word] = (
                    *known.of_word.get(word, ()),
                    (address, item),
                )
            else:
                known.of_word.pop(word, None)

    def similar(self, site: Site, address: str) -> list[T]:
        """The items of similar addresses, the most similar first."""
        known = self._sites.get(site)
        if known is None:
            return []
        words = words_of(address)
        common: dict[tuple[str, T], float] = {}
        for word in words:
            for other in known.of_word.get(word, ()):
                common[other] = common.get(other, 0.0) + known.information((word,))
        own = known.information(words)
        best = sorted(common.items(), key=lambda item: -item[1])[:_MAX_CANDIDATES]
        shares = [
            (2 * shared / (own + known.information(words_of(other))), item)
            for (other, item), shared in best
            if other != address
        ]
        shares.sort(key=lambda found: -found[0])
        return [item for share, item in shares if share >= _MIN_SHARE]

    def clear(self) -> None:
        """Forget all addresses."""
        self._sites.clear()
