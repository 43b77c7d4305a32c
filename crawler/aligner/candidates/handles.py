"""Same URL but for the language: the candidates of Resnik & Smith (2003), section 4.3.

Pages are sorted into buckets by handle; every src page of a bucket meets every trg
page. Duplicate addresses make buckets of more than two.

See also: `crawler.handles` (what a handle is), `links` (what pages say themselves).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from typing import ClassVar

from crawler.aligner.store import SketchStore
from crawler.data import Sketch
from crawler.protocols import SitePages

# A handle with more pages than this on one side names no page: `/?lang=`.
_MAX_BUCKET = 16


class HandleCandidates:
    """Pages of one handle in two languages."""

    name: ClassVar[str] = "handles"

    def __init__(self, store: SketchStore) -> None:
        self.store = store

    def add(self, sketch: Sketch) -> list[int]:
        """Pages, added before, that may be this one in the other language."""
        other = self.store.langs.other(sketch.lang)
        return self.store.same_handle(sketch.handle, other, _MAX_BUCKET)

    def pairs(self, collection: SitePages) -> Iterator[tuple[int, int]]:
        """Every candidate pair of a collection."""
        buckets: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(
            lambda: ([], [])
        )
        for side, numbers in enumerate(collection.sides):
            for number in numbers:
                buckets[collection.handle(number)][side].append(number)
        for src, trg in buckets.values():
            yield from _cross(src, trg)


def _cross(src: list[int], trg: list[int]) -> Iterable[tuple[int, int]]:
    return product(src[:_MAX_BUCKET], trg[:_MAX_BUCKET])
