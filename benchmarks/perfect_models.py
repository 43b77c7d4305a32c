"""URL models that are never wrong on a recorded site: what is left is the formula."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from crawler.data import Lang
from crawler.extract.document import Reading
from crawler.replay.world import address_of

# More redirects in a row than this lead nowhere.
_MAX_REDIRECTS = 10


class PerfectModels:
    """Both URL models, from the pages themselves and the true pairs."""

    def __init__(
        self, read: Callable[[str], Reading], pairs: Collection[tuple[str, str]]
    ) -> None:
        """`read` gives what is at a URL; `pairs` are addresses, src first."""
        self._read = read
        self._pairs = pairs
        self.language = _PerfectLanguage(self)
        self.pair = _PerfectPairs(self)

    def lang(self, url: str) -> Lang | None:
        """The language of the page that a URL leads to."""
        document = self._read(self._end(url)).document
        return document.lang if document else None

    def are_pair(self, one: str, two: str) -> bool:
        """Do two URLs lead to the pages of a true pair?"""
        ends = address_of(self._end(one)), address_of(self._end(two))
        return ends in self._pairs or ends[::-1] in self._pairs

    def _end(self, url: str) -> str:
        for _ in range(_MAX_REDIRECTS):
            location = self._read(url).location
            if location is None:
                break
            url = location
        return url


class _PerfectLanguage:
    def __init__(self, known: PerfectModels) -> None:
        self._known = known

    def predict(self, urls: Sequence[str]) -> list[Mapping[Lang, float]]:
        """1 for the language of the page; `unk` where there is none."""
        return [{self._known.lang(url) or "unk": 1.0} for url in urls]


class _PerfectPairs:
    def __init__(self, known: PerfectModels) -> None:
        self._known = known

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """1 for two URLs of a true pair, 0 for others."""
        return [float(self._known.are_pair(*pair)) for pair in pairs]
