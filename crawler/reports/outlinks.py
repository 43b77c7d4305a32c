"""Other sites that the pages of a crawl link to, and that may be bilingual.

Links that leave the crawled sites, from pages and sitemaps, by the site that they lead
to. A site of which addresses in both languages were named comes first (by hreflang, or
by the markers of the address), then the one that most sites name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import partial

from crawler.data import Lang, LangPair, Page, Site
from crawler.extract.bounded import PageReader
from crawler.extract.document import read_page
from crawler.handles import handle_of
from crawler.urls import site_of

# Every site links to these, and they do not hold its translations.
_PLATFORMS = frozenset(
    """facebook.com twitter.com x.com instagram.com youtube.com linkedin.com google.com
    goo.gl vimeo.com flickr.com pinterest.com tiktok.com whatsapp.com t.me bsky.app
    apple.com microsoft.com addthis.com doi.org w3.org wordpress.org creativecommons.org
    youtu.be wikipedia.org bit.ly issuu.com mozilla.org adobe.com""".split()
)
_SHOWN = 2  # addresses of a site: one in each language


@dataclass(slots=True)
class Outlinks:
    """The links to a site that was not crawled."""

    site: Site
    pages: int = 0  # that link to it
    sites: set[Site] = field(default_factory=set)  # likewise
    langs: set[Lang] = field(default_factory=set)  # of the pair, by its addresses
    urls: Counter[str] = field(default_factory=Counter)  # how often each was linked to

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Sorts the most promising one first."""
        return (-len(self.langs), -len(self.sites), -self.pages, self.site)

    def entrances(self) -> list[str]:
        """The addresses with most links, the shortest of equals."""
        ranked = sorted(self.urls, key=lambda url: (-self.urls[url], len(url), url))
        return ranked[:_SHOWN]


def outlinks(
    pages: Iterable[Page], langs: LangPair, known: Collection[Site] = ()
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
            if site == here or site in known or site in _PLATFORMS:
                continue
            outlink = found.setdefault(site, Outlinks(site))
            outlink.sites.add(here)
            outlink.urls[link.url] += 1
            said = {link.hreflang, *handle_of(link.url).languages}
            outlink.langs.update(lang for lang in langs if lang in said)
            named.add(site)
        for site in named:
            found[site].pages += 1
    return sorted(found.values(), key=lambda outlink: outlink.rank)
