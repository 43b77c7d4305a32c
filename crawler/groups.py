"""Sites on several domains that are one: example.fr and example.com.

A site is a registered domain, and an organisation may have one for each language or
country. Two sites are one group when their domains differ in the public suffix alone
and a page of one declares a page of the other its version in the other language, by
hreflang or by a language menu. A name alone proves nothing (example.org is somebody
else's), and a declaration alone would let any page lead a crawl to any host.

The crawl asks this of links as they come, to know where it may go, who shares a budget
and whose pages may be two halves; the aligner asks it of the pages that it has, so that
pairing the WARC files again, in whatever order, gives the same pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from crawler.data import Site
from crawler.unionfind import UnionFind
from crawler.urls import host_labels, site_of


def group_key(site: Site) -> str:
    """The same for all sites that could be one group: what to shard by.

    >>> group_key("example.fr"), group_key("example.co.uk"), group_key("127.0.0.1")
    ('example', 'example', '127.0.0.1')
    """
    return host_labels(site)[1]


class SiteGroups:
    """Which sites are one, from the declarations between their pages.

    >>> groups = SiteGroups()
    >>> groups.declare("https://example.fr/a", "https://www.example.com/a")
    True
    >>> groups.declare("https://example.fr/b", "https://example.com/b")  # they are
    False
    >>> groups.of("example.fr"), groups.members("example.com")
    ('example.com', ('example.com', 'example.fr'))
    """

    def __init__(self) -> None:
        self._sets = UnionFind[Site]()

    @classmethod
    def known(cls, groups: Iterable[Iterable[Site]]) -> Self:
        """Go on from the groups of more than one site that are known."""
        found = cls()
        for first, *rest in groups:
            for site in rest:
                found._sets.join(first, site)
        return found

    def of(self, site: Site) -> Site:
        """The site that stands for the group: the first by name."""
        return self._sets.find(site)

    def members(self, site: Site) -> tuple[Site, ...]:
        """The sites of a group, by name."""
        return tuple(self._sets.members(site))

    def declare(self, source: str, target: str) -> bool:
        """A page declares another its version; True: their sites are one from now."""
        one, two = site_of(source), site_of(target)
        return group_key(one) == group_key(two) and self._sets.join(one, two)

    def groups(self) -> Sequence[tuple[Site, ...]]:
        """The groups of more than one site, by name."""
        return list(map(tuple, self._sets.sets()))
