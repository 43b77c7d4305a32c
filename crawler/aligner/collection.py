"""The pages of one site in the order of their URLs, boilerplate removed.

So nothing that is computed from a collection depends on the order in which its pages
were added.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache

from crawler.aligner.features import BOILERPLATE_BLOCK
from crawler.aligner.frequencies import BoilerplateConfig, Frequencies
from crawler.aligner.store import PageRow, PageStore
from crawler.data import PageFeatures

# Pages of so many blocks outside of menus, all of them the same, are one text.
_MIN_BLOCKS = 10
_CACHED = 8192  # cleaned pages in memory, about 60 MB


class Collection:
    """Pages of a site; page numbers index `rows`, which are sorted by URL."""

    def __init__(
        self,
        store: PageStore,
        site: str,
        rows: Sequence[PageRow],
        frequencies: Frequencies,
    ) -> None:
        self.store = store
        self.site = site
        self.rows = rows
        self.frequencies = frequencies
        self.whole = lru_cache(1)(self._whole)  # `features` asks for it, too
        self.features = lru_cache(_CACHED)(self._features)

    @classmethod
    def of(
        cls,
        store: PageStore,
        site: str,
        boilerplate: BoilerplateConfig,
        *,
        frequencies: Frequencies | None = None,
        only: AbstractSet[int] | None = None,
    ) -> Collection:
        """The pages of a site in a store.

        With `frequencies` given, the site is not read to count its own; with `only`,
        other pages (by the store's ids) are left out.
        """
        rows = [row for row in store.rows(site) if only is None or row.id in only]
        return cls(store, site, rows, frequencies or _count(store, rows, boilerplate))

    @cached_property
    def number(self) -> dict[int, int]:
        """The page number of each of the store's ids."""
        return {row.id: number for number, row in enumerate(self.rows)}

    @cached_property
    def sides(self) -> tuple[list[int], list[int]]:
        """The page numbers of src and of trg."""
        sides: tuple[list[int], list[int]] = ([], [])
        for number, row in enumerate(self.rows):
            sides[row.side].append(number)
        return sides

    def side(self, number: int) -> int:
        """0 for a page of src, 1 for one of trg."""
        return self.rows[number].side

    def handle(self, number: int) -> int:
        """A number that is equal for pages of one handle."""
        return self.rows[number].handle

    def declared(self) -> list[tuple[int, int]]:
        """Each (page, page that it declares its other version)."""
        return [
            (self.number[source], self.number[target])
            for source, target in self.store.declarations(self.site)
            if source in self.number and target in self.number
        ]

    def versions(self) -> list[tuple[int, int, int | None]]:
        """Each (page, key of a URL that it declares, the page there or None)."""
        return [
            (
                self.number[source],
                key,
                None if target is None else self.number.get(target),
            )
            for source, key, target in self.store.versions(self.site)
            if source in self.number
        ]

    def url(self, number: int) -> str:
        """The URL of a page."""
        return self.rows[number].url

    def _whole(self, number: int) -> PageFeatures:
        """The features of a page as they were stored, boilerplate and all."""
        return next(self.store.get([self.rows[number].id]))

    def _features(self, number: int) -> PageFeatures:
        return self.frequencies.clean(self.whole(number))


def _count(
    store: PageStore, rows: Sequence[PageRow], boilerplate: BoilerplateConfig
) -> Frequencies:
    """The frequencies of the pages, of which copies count once.

    So do untranslated copies under every language: a text is not boilerplate because it
    has many addresses.
    """
    frequencies = Frequencies(store.langs, boilerplate)
    counted: set[tuple[int, object]] = set()
    for row in rows:
        copies = {(row.side, row.family), (row.side, row.digest)}
        if counted.isdisjoint(copies):
            page = next(store.get([row.id]))
            main = page.blocks[page.blocks & BOILERPLATE_BLOCK == 0]
            if len(main) >= _MIN_BLOCKS:
                copies.add((row.side, main.tobytes()))
            if counted.isdisjoint(copies):
                frequencies.add(page)
        counted |= copies
    return frequencies
