"""Links: pages that declare each other, by hreflang, language menus or sitemaps.

The siblings of Resnik & Smith (2003), section 2.1.1. A declaration is evidence, not
proof: a menu may lead to a home page, an alternate to a copy that was not translated.
So a link that is returned counts more than one that is not, and a page that many
declare, and that declares none of them, is not their translation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from crawler.aligner.store import PageStore
from crawler.data import PageFeatures
from crawler.protocols import SitePages

# At most so many pages may declare a page that does not declare them: a few addresses
# of one text may, all articles of a section that lead to its front page may not.
MAX_ONE_WAY = 4
_LIMIT = 16


@dataclass(frozen=True, slots=True, eq=False)
class LinkCandidates:
    """Pages of which one declares the other its version."""

    store: PageStore
    name: ClassVar[str] = "links"

    def add(self, page: PageFeatures) -> list[int]:
        """Pages, added before, that this one declares or that declare it."""
        other = self.store.langs.other(page.lang)
        declared = self.store.declared_by(page.url, other, _LIMIT)
        declaring = self.store.declaring(page.url, other, _LIMIT)
        if len(declaring) > MAX_ONE_WAY:
            declaring = [page for page in declaring if page in declared]
        return list(dict.fromkeys(declared + declaring))

    def pairs(self, collection: SitePages) -> Iterator[tuple[int, int]]:
        """Every candidate pair of a collection."""
        return iter(declared_pairs(collection))


def declared_pairs(collection: SitePages) -> dict[tuple[int, int], bool]:
    """(src, trg) → whether each declares the other."""
    declared = set(collection.declared())
    fan_in: defaultdict[int, int] = defaultdict(int)
    for source, target in declared:
        fan_in[target] += (target, source) not in declared
    pairs: dict[tuple[int, int], bool] = {}
    for source, target in sorted(declared):
        mutual = (target, source) in declared
        if mutual or fan_in[target] <= MAX_ONE_WAY:
            src_first = collection.side(source) == 0
            pairs[(source, target) if src_first else (target, source)] = mutual
    return pairs


def other_versions(collection: SitePages) -> dict[int, frozenset[int]]:
    """Of each page that names its own other version, the pages there.

    Empty: no page is known there. A URL that more than a few pages name is nobody's
    own version, and one in the page's own language is none.
    """
    named = list(collection.versions())
    sources: defaultdict[int, set[int]] = defaultdict(set)
    for page, key, _ in named:
        sources[key].add(page)
    versions: dict[int, frozenset[int]] = {}
    for page, key, other in named:
        if len(sources[key]) > MAX_ONE_WAY:
            continue
        if other is None:
            versions.setdefault(page, frozenset())
        elif collection.side(other) != collection.side(page):
            versions[page] = versions.get(page, frozenset()) | {other}
    return versions
