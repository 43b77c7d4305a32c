"""A bounded sample of the pages of each site, the same whatever order rows come in.

A page is what its language versions share: a URL handle (Resnik & Smith, 2003), or the
first of the URLs that a sitemap declares to be versions. Of a site those pages are kept
whose hashes are smallest. As all versions of a page have one hash, pairs are sampled
whole, copies count once, and the largest hash kept gives the number of all pages
(k minimum values: Bar-Yossef et al., 2002). Samples of one site merge, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec
from xxhash import xxh3_64_intdigest

from crawler.data import LangPair, Site
from crawler.groups import SiteGroups, group_key
from crawler.handles import Handle, handle_of
from crawler.prospect.rows import Row
from crawler.urls import MET_AGAIN, site_of

# A share of one half is known to within 0.09 (two standard errors of 128 pages).
SAMPLE = 128
# A site of a hundred pages takes 60 KB: 12 GB in all.
MOST_SITES = 200_000
_ALL = 2**64 - 1  # above every hash but one

SRC, TRG, PLAIN = 0, 1, 2  # the last: no language is known
_PLACES = 3


class SiteSample(msgspec.Struct):
    """The sampled pages of one site, or of a group of sites."""

    rows: int = 0
    newest: str = ""  # YYYYMMDD
    below: int = _ALL  # hashes under this are kept
    pages: dict[int, list[str]] = {}  # hash → URLs at SRC, TRG, PLAIN, or ""
    declared: set[int] = set()  # pages whose versions a sitemap lists

    @property
    def scale(self) -> float:
        """Pages of the site for each sampled one; 1: the sample has all."""
        return _ALL / self.below

    def add(self, page: int, place: int, url: str) -> None:
        """Keep the first URL, by name, of a page and place that the sample has."""
        if page >= self.below:
            return
        urls = self.pages.get(page)
        if urls is None:
            urls = self.pages[page] = [""] * _PLACES
            if len(self.pages) > 2 * SAMPLE:
                self._keep(sorted(self.pages)[SAMPLE])
        if not urls[place] or url < urls[place]:
            urls[place] = url

    def merge(self, other: SiteSample) -> None:
        """Add a sample of other rows."""
        self.rows += other.rows
        self.newest = max(self.newest, other.newest)
        self._keep(min(self.below, other.below))
        for page, urls in other.pages.items():
            for place, url in enumerate(urls):
                if url:
                    self.add(page, place, url)
        self.declared |= other.declared & self.pages.keys()

    def trim(self) -> None:
        """Drop what is kept for later rows: the sample depends on no order now."""
        if self.below < _ALL and len(self.pages) > SAMPLE:
            self._keep(sorted(self.pages)[SAMPLE])

    def _keep(self, below: int) -> None:
        self.below = below
        self.pages = {page: urls for page, urls in self.pages.items() if page < below}
        self.declared &= self.pages.keys()


@lru_cache(MET_AGAIN)
def _site_of_host(authority: str) -> Site:
    return site_of(f"https://{authority}/")


class Samples(msgspec.Struct):
    """The samples of some rows, in a form that can be stored and merged."""

    sites: dict[Site, SiteSample]
    groups: list[tuple[Site, ...]]  # of more than one site


class Prospector:
    """Samples of all sites that rows name."""

    def __init__(self, langs: LangPair, most_sites: int = MOST_SITES) -> None:
        self.langs = langs
        self._most = most_sites
        self._samples: dict[Site, SiteSample] = {}
        self._groups = SiteGroups()

    def add(self, rows: Iterable[Row], counts: Counter[str]) -> None:
        """Take rows; those of sites over the limit are counted and left out."""
        for row in rows:
            site = _site_of_host(row.url.split("/", 3)[2])
            sample = self._samples.get(site)
            if sample is None:
                if len(self._samples) >= self._most:
                    counts["prospect/dropped/too_many_sites"] += 1
                    continue
                sample = self._samples[site] = SiteSample()
            sample.rows += 1
            sample.newest = max(sample.newest, row.date)
            self._place(row, site, sample)

    def _place(self, row: Row, site: Site, sample: SiteSample) -> None:
        handle = handle_of(row.url)
        place = self._side(row, handle)
        if place is None:
            return
        name, of_site = handle.text, site
        first = row.version_of
        if first and group_key(site_of(first)) == group_key(site):
            self._groups.declare(first, row.url)
            name, of_site = handle_of(first).text, site_of(first)
        # example.is/a and example.com/a are one page, should these be one group
        shared = name.replace(of_site, group_key(of_site), 1)
        page = xxh3_64_intdigest(shared.encode("utf-8", "replace"))
        sample.add(page, place, row.url)
        if first and page in sample.pages:
            sample.declared.add(page)

    def _side(self, row: Row, handle: Handle) -> int | None:
        """Where a page belongs by its source, else by its markers; None: nowhere."""
        sides = (self.langs.src, self.langs.trg)
        if row.languages:
            first = row.languages[0]
            return sides.index(first) if first in sides else None
        if not handle.markers:
            return PLAIN
        named = handle.languages
        is_src, is_trg = sides[SRC] in named, sides[TRG] in named
        return None if is_src == is_trg else TRG if is_trg else SRC

    def taken(self) -> Samples:
        """What the rows so far gave; this starts anew."""
        taken = Samples(self._samples, list(self._groups.groups()))
        self._samples, self._groups = {}, SiteGroups()
        return taken

    def merge(self, other: Samples, counts: Counter[str]) -> None:
        """Take what other rows gave; sites over the limit as in `add`."""
        for site, sample in other.sites.items():
            known = self._samples.get(site)
            if known is not None:
                known.merge(sample)
            elif len(self._samples) < self._most:
                self._samples[site] = sample
            else:
                counts["prospect/dropped/too_many_sites"] += sample.rows
        self._groups = SiteGroups.known([*self._groups.groups(), *other.groups])

    def samples(self) -> dict[tuple[Site, ...], SiteSample]:
        """The sample of each site, those of a group of sites merged."""
        merged: dict[tuple[Site, ...], SiteSample] = {}
        for site in sorted(self._samples):
            merged.setdefault(self._groups.members(site), SiteSample()).merge(
                self._samples[site]
            )
        for sample in merged.values():
            sample.trim()
        return merged
