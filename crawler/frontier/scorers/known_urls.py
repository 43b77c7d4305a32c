"""The known URLs of a crawl: a record each, and which could be translations.

Two URLs that may be translations of each other are a hypothesis of some kind: they have
the same handle, a page declares it, the pair model takes them for two halves, or they
stand at the same place of the link lists of two pages that are a pair, or share words
that few other URLs have; or one was guessed from the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count, islice
from types import MappingProxyType
from typing import Any

from crawler.data import Lang, LangPair, Link, Site
from crawler.frontier.scorers.beliefs import LangOdds
from crawler.frontier.scorers.copies import Part, parts_of
from crawler.frontier.scorers.shared_words import SharedWords
from crawler.handles import handle_of
from crawler.listings import is_listing
from crawler.unionfind import UnionFind
from crawler.urls import MET_AGAIN, site_of

# What a URL turned out to be: a page in the one language, in the other, in neither, or
# no page at all.
SRC, TRG, NEITHER, GONE = range(4)
# Kinds of hypotheses.
HANDLE, DECLARED, ALIKE, ALIGNED = "handle", "declared", "alike", "aligned"
WORDS = "words"
GUESSED = "guessed"
_STRENGTH = {
    WORDS: 0,
    ALIGNED: 1,
    ALIKE: 2,
    GUESSED: 3,
    DECLARED: 4,
}  # of two kinds, the stronger one stands
_DIGITS = re.compile(r"\d+")
ALL_SITES = "*"
# Hypotheses that one URL may have beside its handle: a page that many URLs could
# translate is a hub, not a translation.
_MAX_PARTNERS = 8
# URLs of one handle that are looked at: if 50 share it, it does not identify a page.
_MAX_BUCKET = 50

# A URL weighs one, some 1.5 KB; so many characters of it, or links of its page, weigh
# one more: a page may have 5,000 links, and each of them 2,000 characters.
_CHARACTERS, _LINKS = 200, 250

# Most of millions of URLs have no hypothesis: they share one empty mapping.
NOBODY: Mapping[Any, str] = MappingProxyType({})


@lru_cache
def counts_of(src: int, trg: int, neither: int) -> tuple[int, int, int]:
    """Three small numbers; most URLs share theirs."""
    return src, trg, neither


@dataclass(slots=True, eq=False)
class UrlRecord:
    """The facts about one URL; those for its scoring are dropped when it is fetched."""

    number: int  # 0, 1, 2, ... as they came to be known
    url: str
    site: Site  # the one that stands for its group
    handle: str  # with that site in the place of its own
    address: str  # the handle as it is
    scheme: str  # how it says its language
    language: Lang | None  # the one that it, or a link to it, names
    listing: bool
    link: Link | None  # None: fetched
    sources: tuple[int, int, int] = (0, 0, 0)  # links from pages of each outcome
    model: LangOdds | None = None  # P(outcome | URL), for URLs that name no language
    parts: tuple[Part, ...] = ()  # that may change nothing
    score: float = -1.0
    outcome: int | None = None  # None: pending
    copy: bool = False  # of a page that was fetched before
    paired: bool = False
    partners: Mapping[UrlRecord, str] = field(default_factory=lambda: NOBODY)  # by kind
    links: tuple[UrlRecord, ...] = ()  # of a page that is not paired yet
    moved_to: UrlRecord | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        """The sections that it lies in, coarse to fine."""
        return folders_of(self.address)

    @property
    def query_pattern(self) -> tuple[str, ...]:
        """The path with the names of its parameters; () without a query."""
        path, _, query = self.address.partition("?")
        if not query:
            return ()
        names = sorted({item.partition("=")[0] for item in query.split("&")})
        return (f"{path}?{'&'.join(names)}",)

    @property
    def last_name(self) -> tuple[str, ...]:
        """The last name of its path in whatever folder, such as feed; () at the top."""
        host, _, path = self.address.partition("?")[0].rstrip("/").partition("/")
        folder, _, name = path.rpartition("/")
        return (f"{host}/…/{_DIGITS.sub('#', name)}",) if folder else ()

    @property
    def sections(self) -> tuple[str, ...]:
        """The folders, and before them the crawl as a whole: prior of a new site."""
        return (ALL_SITES, *self.folders)


class KnownUrls:
    """The records by URL, and by the handle that their other half would have.

    `langs`: only their markers tell URLs of one handle apart.
    """

    def __init__(self, langs: LangPair) -> None:
        self.records: dict[str, UrlRecord] = {}
        self.weight = 0  # in URLs of usual length
        self._numbers = count()
        self._markers = frozenset(langs)
        self._buckets: dict[str, tuple[UrlRecord, ...]] = {}  # by handle
        self._groups = UnionFind[Site]()
        self.words = SharedWords[UrlRecord]()

    def get(self, url: str) -> UrlRecord | None:
        """The record of a URL."""
        return self.records.get(url)

    def add(self, link: Link) -> UrlRecord:
        """A new record for the target of a link."""
        handle = handle_of(link.url, self._markers)
        marked = handle.languages & self._markers
        url = UrlRecord(
            number=next(self._numbers),
            url=link.url,
            site="",
            handle="",
            address=handle.text,
            scheme=handle.scheme,
            language=next(iter(marked)) if len(marked) == 1 else None,
            listing=is_listing(handle.text),
            parts=parts_of(link.url),
            link=link,
        )
        self.records[link.url] = url
        self.weight += _weight(link.url)
        self._place(url)
        return url

    def link(self, page: UrlRecord, links: tuple[UrlRecord, ...]) -> None:
        """Remember the links of a page in the place of those that it had."""
        self.weight += len(links) // _LINKS - len(page.links) // _LINKS
        page.links = links

    def _place(self, url: UrlRecord) -> None:
        """Enter a URL under its handle."""
        own = site_of(url.url)
        url.site = self._groups.find(own)
        url.handle = url.address
        if url.site != own:
            url.handle = url.address.replace(own, url.site, 1)
        self._buckets[url.handle] = (*self._buckets.get(url.handle, ()), url)
        self.words.add(url.site, url.address, url)

    def take_out(self, url: UrlRecord) -> None:
        """Remove a URL from its handle."""
        left = [other for other in self._buckets[url.handle] if other is not url]
        self._buckets[url.handle] = tuple(left)

    @staticmethod
    def resolve(url: UrlRecord) -> UrlRecord:
        """The record that a redirected one became."""
        while url.moved_to is not None:
            url = url.moved_to
        return url

    def siblings(self, url: UrlRecord) -> Iterator[UrlRecord]:
        """The other URLs of its handle."""
        for other in self._buckets[url.handle][:_MAX_BUCKET]:
            other = self.resolve(other)
            if other is not url:
                yield other

    def similar(self, url: UrlRecord) -> Iterator[UrlRecord]:
        """Others of its site that share rare words with it, the most similar first."""
        for other in dict.fromkeys(
            map(self.resolve, self.words.similar(url.site, url.address))
        ):
            if other is not url and other.handle != url.handle:
                yield other

    def partners(self, url: UrlRecord) -> dict[UrlRecord, str]:
        """The URLs that could be its translation, with the kind of hypothesis."""
        found = dict.fromkeys(self.siblings(url), HANDLE)
        for other, kind in url.partners.items():
            if kind == GUESSED:  # an address that differs in nothing but markers, too
                found[self.resolve(other)] = kind
            found.setdefault(self.resolve(other), kind)
        found.pop(url, None)
        return found

    def is_linked(self, url: UrlRecord, link: Link) -> None:
        """A page links to a URL that was guessed: it is as any other from now on."""
        url.link = link
        for other, kind in list(url.partners.items()):
            if kind == GUESSED:
                for one, two in ((url, other), (other, url)):
                    one.partners = {u: k for u, k in one.partners.items() if u != two}

    def add_hypothesis(self, one: UrlRecord, two: UrlRecord, kind: str) -> None:
        """Suppose that two URLs are translations; of two kinds the stronger stands."""
        known = one.partners.get(two)
        if known is None:
            new = len(one.partners) < _MAX_PARTNERS > len(two.partners)
        else:
            new = _STRENGTH[kind] > _STRENGTH[known]
        if new:
            one.partners = {**one.partners, two: kind}
            two.partners = {**two.partners, one: kind}

    def join(self, sites: Sequence[Site]) -> None:
        """Make sites one group: their pages may be translations of each other."""
        for site in sites[1:]:
            self._groups.join(sites[0], site)
        for url in dict.fromkeys(self.records.values()):
            if url.site in sites and url.site != self._groups.find(url.site):
                self.take_out(url)
                self._place(url)

    def move(self, url: str, link: Link) -> None:
        """Record a redirect: both URLs have one record from now on."""
        old = self.records.get(url)
        # What a chain of redirects ends at: a chain may come back to its start.
        new = self.resolve(self.records.get(link.url) or self.add(link))
        if old is None:
            self.weight += _weight(url)
        if old is None or self.resolve(old) is new:
            self.records[url] = new
            return
        for other, kind in old.partners.items():
            self.add_hypothesis(new, other, kind)
        a, b, c = (max(n, m) for n, m in zip(new.sources, old.sources))
        new.sources = counts_of(a, b, c)
        new.language = new.language or old.language
        old.moved_to = self.records[url] = new
        old.link = old.model = None

    def forget(self) -> int:
        """Forget the oldest quarter of the URLs; returns their number."""
        oldest = list(islice(self.records, len(self.records) // 4))
        gone = [self.records.pop(name) for name in oldest]
        kept = set(map(self.resolve, self.records.values()))
        for url in gone:
            if self.resolve(url) not in kept:  # break the cycles of references
                url.partners, url.links = NOBODY, ()
        for handle, bucket in list(self._buckets.items()):
            some = tuple(url for url in bucket if self.resolve(url) in kept)
            if not some:
                del self._buckets[handle]
            elif len(some) < len(bucket):
                self._buckets[handle] = some
        for url in kept:
            if url.partners:
                partners = {
                    u: k for u, k in url.partners.items() if self.resolve(u) in kept
                }
                url.partners = partners or NOBODY
            url.links = tuple(link for link in url.links if self.resolve(link) in kept)
        self.words.clear()
        for name, url in self.records.items():
            self.name(name, url)
        self.recount()
        return len(oldest)

    def name(self, name: str, url: UrlRecord) -> None:
        """Enter the words of a name that a record has, or had before a redirect."""
        url = self.resolve(url)
        self.words.add(url.site, handle_of(name, self._markers).text, url)

    def recount(self) -> None:
        """Compute the weight from all records."""
        pages = {id(url): len(url.links) // _LINKS for url in self.records.values()}
        self.weight = sum(map(_weight, self.records)) + sum(pages.values())


def _weight(name: str) -> int:
    return 1 + len(name) // _CHARACTERS


@lru_cache(MET_AGAIN)
def _prefixes(folder: str) -> tuple[str, ...]:
    parts = folder.split("/")
    chain = []
    for n in range(min(len(parts), 4)):
        if n and parts[n].isdigit():
            chain.append("/".join([*parts[:n], "#"]))
        chain.append("/".join(parts[: n + 1]))
    return tuple(chain)


def folders_of(handle: str) -> tuple[str, ...]:
    """The host and the first three folders of a handle, coarse to fine.

    Before a folder that is a number stand all numbers beside it.

    >>> folders_of("example.org/guide/a.html")
    ('example.org', 'example.org/guide')
    >>> folders_of("example.org/2024/a.html")
    ('example.org', 'example.org/#', 'example.org/2024')
    >>> folders_of("example.org")
    ('example.org',)
    """
    path = handle.partition("?")[0]
    return _prefixes(path.rpartition("/")[0] or path)
