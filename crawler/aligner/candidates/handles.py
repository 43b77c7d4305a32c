"""Handles: pages whose URLs are equal but for the language.

Resnik & Smith (2003), section 4.3: pages are put into buckets by handle, and every src
page of a bucket is paired with every trg page; pages with several addresses make
buckets of more than two. A handle is a URL without the tokens that name its language
(`HandleCandidates`) or, as in the paper, without every substring that may
(`SubstringCandidates`).

See also: `crawler.handles` (how a handle is made), `links` (what pages declare).
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

# Of a handle such as `/?lang=`, which stands for many pages, so many are paired.
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

    Only for a whole site: while pages come in, `HandleCandidates` names nearly all of
    them. A pair that only this class proposes gets no higher score for it.
    """

    langs: LangPair
    name: ClassVar[str] = "substrings"

    def add(self, _page: PageFeatures) -> list[int]:
        """No pages; see above."""
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
    """Each (src, trg) of one handle."""
    buckets: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(
        lambda: ([], [])
    )
    for side, numbers in enumerate(collection.sides):
        for number in numbers:
            buckets[handle(number)][side].append(number)
    for src, trg in buckets.values():
        yield from product(src[:_MAX_BUCKET], trg[:_MAX_BUCKET])
