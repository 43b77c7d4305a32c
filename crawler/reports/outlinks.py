"""Other sites that the pages of a crawl link to, and that may be bilingual.

Links that leave the crawled sites, from pages and sitemaps, by the site that they lead
to, ranked as `crawler.frontier.outlinks` ranks them.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from functools import partial

from crawler.data import Lang, Page, Site
from crawler.extract.bounded import PageReader
from crawler.extract.document import read_page
from crawler.frontier.outlinks import PLATFORMS, Outlinks
from crawler.urls import site_of


def outlinks(
    pages: Iterable[Page], langs: Container[Lang], known: Collection[Site] = ()
) -> list[Outlinks]:
    """The sites that these pages link to, except `known` ones; best first."""
    found: dict[Site, Outlinks] = {}
    reader = PageReader()
    for page in pages:
        here = site_of(page.url)
        reading = reader.read(page.url, partial(read_page, page))
        links = reading.document.links if reading.document else ()
        links += reading.sitemap.links if reading.sitemap else ()
        named: set[Site] = set()
        for link in links:
            site = site_of(link.url)
            if site == here or site in known or site in PLATFORMS:
                continue
            found.setdefault(site, Outlinks(site)).add(link, here, langs)
            named.add(site)
        for site in named:
            found[site].pages += 1
    return sorted(found.values(), key=lambda outlink: outlink.rank)
