"""Which URLs belong to a crawl, and which look like traps.

The scope is what the seeds say it is: their registered domains, their hosts, or
everything below their paths. Traps are recognised by shape alone here; those that only
the crawl can show (calendars, facets) are learned from the site's own yield.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Self

from crawler.data import Site
from crawler.errors import UsageError
from crawler.urls import host_of, registered_domain, split

KINDS = ("site", "host", "path")

# a/b/a/b/a/b or a/a/a/a: a relative link that should have been absolute
_REPEATED = re.compile(r"/(?P<run>[^/]+(?:/[^/]+){0,3}?)(?:/(?P=run)){2,}(?:/|$)")
# Heritrix stops at 20 path segments too (TooManyPathSegmentsDecideRule)
MAX_SEGMENTS = 20
# more parameters than this are a faceted search
MAX_PARAMETERS = 8
# Hosts of one site: Wikipedia has some 350 languages, each with a mobile host as well;
# with a wildcard in the DNS there is no end of them, and each has a robots.txt.
MAX_HOSTS = 1000


class Scope:
    """The URLs that may be crawled.

    >>> scope = Scope.of("path", ["https://example.org/is/"])
    >>> scope.refusal("https://example.org/is/um"), scope.refusal("https://example.org/")
    (None, 'scope')
    """

    def __init__(self, kind: str = "site") -> None:
        """`kind`: `site`, `host` or `path`."""
        if kind not in KINDS:
            raise UsageError(f"unknown scope {kind!r} (write scope=site, host or path)")
        self.kind = kind
        self._sites: set[Site] = set()
        self._prefixes: dict[str, list[str]] = {}
        self._hosts: dict[Site, set[str]] = {}  # that links led to

    @classmethod
    def of(cls, kind: str, seeds: Iterable[str]) -> Self:
        """The scope of these canonical seeds."""
        scope = cls(kind)
        for seed in seeds:
            scope.extend(seed)
        return scope

    def extend(self, seed: str) -> None:
        """Take a seed's site, host or path in."""
        host = host_of(seed)
        if self.kind == "site":
            self._sites.add(registered_domain(host))
        elif self.kind == "host":
            self._sites.add(host)
        else:
            path = split(seed).path
            folder = path[: path.rindex("/") + 1]
            self._prefixes.setdefault(host, []).append(folder)

    def join(self, sites: Iterable[Site]) -> None:
        """Take in the sites of a group; who asked for a host or a path wants no more.

        A group with no site in the scope stays outside.
        """
        sites = frozenset(sites)
        if self.kind == "site" and self._sites & sites:
            self._sites |= sites

    def __contains__(self, url: str) -> bool:
        host = host_of(url)
        if self.kind == "site":
            return registered_domain(host) in self._sites
        if self.kind == "host":
            return host in self._sites
        return split(url).path.startswith(tuple(self._prefixes.get(host, ())))

    def refusal(self, url: str) -> str | None:
        """Why a canonical URL is not to be crawled; None: it may be."""
        if url not in self:
            return "scope"
        host = host_of(url)
        hosts = self._hosts.setdefault(registered_domain(host), set())
        if host not in hosts:
            if len(hosts) >= MAX_HOSTS:
                return "trap/hosts"
            hosts.add(host)
        return trap(url)


@lru_cache(maxsize=65_536)  # every page of a site links to the same menu
def trap(url: str) -> str | None:
    """The kind of trap that a URL looks like, if it does.

    >>> trap("https://example.org/a/b/a/b/a/b/c")
    'trap/repeated'
    >>> trap("https://example.org/2026/01/01/")
    """
    parts = split(url)
    if parts.path.count("/") > MAX_SEGMENTS:
        return "trap/segments"
    if parts.query.count("=") > MAX_PARAMETERS:
        return "trap/parameters"
    match = _REPEATED.search(parts.path)
    if match and not match["run"].isdigit():
        return "trap/repeated"
    return None
