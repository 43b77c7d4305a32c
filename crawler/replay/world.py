"""A recorded world: WARC files that answer as the web did.

Recorded answers are given as they were, errors and redirects included. A recording
holds one form of an address where a web server knows several; the other usual forms
answer with a redirect to the recorded one: `/dir` → `/dir/`, `/dir/index.html` ↔
`/dir/`, `/page.html` ↔ `/page`. Everything else is 404, also a robots.txt that was not
recorded. http and https are one: the requested form is preferred.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote_to_bytes

from crawler.data import Page
from crawler.errors import ReplayError, WarcError
from crawler.urls import canonicalize
from crawler.warc.index import WarcIndex

_COMPUTED_AT = datetime(1970, 1, 1, tzinfo=UTC)  # no clock: every run gives the same
_HTML = ("Content-Type", "text/html; charset=utf-8")
_NOT_FOUND = b"<!doctype html><title>404 Not Found</title><h1>Not Found</h1>"
_SAFE = "/~!$&'()*+,;=:@%"  # a server treats these like their escaped forms
_SLASHES = re.compile("/{2,}")
# A page is asked for once or twice; files that are asked for more often are small.
_CACHED_PAGES = 64


def address_of(url: str) -> str:
    """The normal form, without scheme, of URLs that a web server answers alike.

    >>> address_of("https://example.org//a%2Db/%7Euser?x=%41")
    'example.org/a-b/~user?x=A'
    """
    rest = (canonicalize(url) or url).partition("://")[2]
    rest, mark, query = rest.partition("?")
    host, _, path = rest.partition("/")
    raw = f"/{path}".encode("utf-8", "replace")
    path = _SLASHES.sub("/", quote(unquote_to_bytes(raw), safe=_SAFE))
    return f"{host}{path}{mark}{query}"


def other_forms(address: str) -> Iterator[str]:
    """The addresses that a web server commonly treats as this one, likeliest first.

    >>> list(other_forms("example.org/a/index.html"))[-2:]
    ['example.org/a/', 'example.org/a/index']
    """
    path, mark, query = address.partition("?")
    tail = mark + query
    if path.endswith("/"):
        yield f"{path}index.html{tail}"
        return
    yield f"{path}/{tail}"
    yield f"{path}/index.html{tail}"
    yield f"{path}.html{tail}"
    if path.endswith("/index.html"):
        yield path.removesuffix("index.html") + tail
    if path.endswith(".html"):
        yield path.removesuffix(".html") + tail


class ReplayWorld:
    """Answers for every URL, from recordings only.

    `counts` has `replay/hit`, `replay/redirect` (computed ones) and `replay/miss`.
    """

    def __init__(self, index: WarcIndex) -> None:
        """Serve an index; `open` builds one."""
        self.counts: Counter[str] = Counter()
        self._index = index
        self._cache: OrderedDict[str, Page] = OrderedDict()

    @cached_property
    def _recorded(self) -> dict[str, tuple[str, ...]]:
        recorded: dict[str, tuple[str, ...]] = {}
        for url in self._index:
            address = address_of(url)
            recorded[address] = (*recorded.get(address, ()), url)
        return recorded

    @classmethod
    def open(cls, paths: str | Path | Iterable[str | Path]) -> Self:
        """A world of WARC files (plain, gz, xz, zst) and folders of them.

        Raises ReplayError for a recording that is empty, damaged or no WARC: a world
        with holes would answer 404 where there was a page.
        """
        counts: Counter[str] = Counter()
        try:
            index = WarcIndex.build(paths, counts=counts)
        except WarcError as error:
            raise ReplayError(str(error)) from error
        where = ", ".join(map(str, [paths] if isinstance(paths, str | Path) else paths))
        damage = sorted(k for k in counts if k.startswith("warc/damaged/"))
        if damage:
            raise ReplayError(
                f"{where}: damaged recording ({', '.join(damage)}),"
                f" {len(index)} pages are readable (copy it again, or record it anew)"
            )
        if not len(index):
            raise ReplayError(f"{where}: no page in it (give a recording of a site)")
        return cls(index)

    def __len__(self) -> int:
        return len(self._index)

    def urls(self) -> Iterator[str]:
        """The recorded URLs, in the order of recording."""
        return iter(self._index)

    def answer(self, url: str) -> Page:
        """The answer to GET; 404 if the page is not recorded."""
        address = address_of(url)
        recorded = self._find(url, address)
        if recorded is not None:
            self.counts["replay/hit"] += 1
            return self._page(recorded, url)
        for form in other_forms(address):
            if form in self._recorded:
                self.counts["replay/redirect"] += 1
                scheme = url.partition(":")[0]
                target = self._recorded[form][0].partition("://")[2]
                location = ("Location", f"{scheme}://{target}")
                return Page(url, 301, (location, _HTML), b"", _COMPUTED_AT)
        self.counts["replay/miss"] += 1
        return Page(url, 404, (_HTML,), _NOT_FOUND, _COMPUTED_AT)

    def _find(self, url: str, address: str) -> str | None:
        """The recorded URL that answers for an address: same scheme, then 200 first."""
        scheme = url.partition("://")[0]
        best = sorted(
            self._recorded.get(address, ()),
            key=lambda known: (
                known != url,
                not known.startswith(f"{scheme}://"),
                self._index.status(known) != 200,
            ),
        )
        for known in best:
            if known.startswith(f"{scheme}://") or not self._moves_to(known, address):
                return known
        return None

    def _moves_to(self, known: str, address: str) -> bool:
        """Is this only the redirect from http to https? It would lead to itself."""
        if not 300 <= self._index.status(known) < 400:
            return False
        location = self._page(known, known).header("location")
        return location is not None and address_of(location) == address

    def _page(self, recorded: str, url: str) -> Page:
        page = self._cache.pop(recorded, None) or self._index.read(recorded)
        self._cache[recorded] = page
        if len(self._cache) > _CACHED_PAGES:
            self._cache.popitem(last=False)
        return page if page.url == url else replace(page, url=url)

    def close(self) -> None:
        """Give temporary files back."""
        self._index.close()
