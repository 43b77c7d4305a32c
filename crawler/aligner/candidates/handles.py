"""Same URL but for the language: the candidates of Resnik & Smith (2003), section 4.3.

Pages are sorted into buckets by handle; every src page of a bucket meets every trg
page. Duplicate addresses make buckets of more than two. A handle is what is left of a
URL without the tokens that name its language (`HandleCandidates`), or, as in the paper,
without every substring that may (`SubstringCandidates`).

See also: `crawler.handles` (what a handle is), `links` (what pages say themselves).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

from crawler.aligner.store import PageStore
from crawler.data import LangPair, PageFeatures
from crawler.handles import language_substrings, without_substrings
from crawler.protocols import SitePages

# A handle with more pages than this on one side names no page: `/?lang=`.
_MAX_BUCKET = 16


@dataclass(frozen=True, slots=True, eq=False)
class HandleCandidates:
    """Pages of one handle in two languages."""

    store: PageStore
    name: ClassVar[str] = "handles"

    def add(self, page: PageFeatures) -> list[int]:
        """Pages, added before, that may be this one in the other language."""
        other = self.store.langs.other(page.lang)
        return self.store.same_handle(page.handle, other, _MAX_BUCKET)

    def pairs(self, collection: SitePages) -> Iterator[tuple[int, int]]:
        """Every candidate pair of a collection."""
        return _buckets(collection, collection.handle)


@dataclass(frozen=True, slots=True, eq=False)
class SubstringCandidates:
    """Pages of one handle by the paper's own subtraction, which is coarser.

    Asked for all pages at once only: while a crawl goes on, `HandleCandidates` names
    nearly all of them. A pair that only this room proposes gets no higher score for it.
    """

    langs: LangPair
    name: ClassVar[str] = "substrings"

    def add(self, _page: PageFeatures) -> list[int]:
        """None yet."""
        return []

    def pairs(self, collection: SitePages) -> Iterator[tuple[int, int]]:
        """Every candidate pair of a collection."""
        substrings = language_substrings(list(self.langs))
        return _buckets(
            collection,
            lambda page: without_substrings(collection.url(page), substrings),
        )


def _buckets(
    collection: SitePages, handle: Callable[[int], Hashable]
) -> Iterator[tuple[int, int]]:
    """The cross product of both sides of each handle's pages."""
    buckets: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(
        lambda: ([], [])
    )
    for side, numbers in enumerate(collection.sides):
        for number in numbers:
            buckets[handle(number)][side].append(number)
    for src, trg in buckets.values():
        yield from product(src[:_MAX_BUCKET], trg[:_MAX_BUCKET])
