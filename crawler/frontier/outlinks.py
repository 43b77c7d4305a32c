"""Other sites that the pages of a crawl link to, and how promising they are.

A site of which addresses in several wanted languages were named comes first (by
hreflang, or by the markers of the address), then the one that most sites name.
"""

from __future__ import annotations

from collections.abc import Container

import msgspec

from crawler.data import Lang, Link, Site
from crawler.handles import handle_of

# Every site links to these, and they do not hold its translations.
PLATFORMS = frozenset(
    """facebook.com twitter.com x.com instagram.com youtube.com linkedin.com google.com
    goo.gl vimeo.com flickr.com pinterest.com tiktok.com whatsapp.com t.me bsky.app
    apple.com microsoft.com addthis.com doi.org w3.org wordpress.org creativecommons.org
    youtu.be wikipedia.org bit.ly issuu.com mozilla.org adobe.com""".split()
)
_SHOWN = 2  # addresses of a site: one in each language
_MOST_URLS = 50  # addresses of a site that are remembered


class Outlinks(msgspec.Struct):
    """The links to a site that was not crawled."""

    site: Site
    pages: int = 0  # that link to it
    sites: set[Site] = set()  # likewise
    langs: set[Lang] = set()  # wanted ones, by its addresses
    urls: dict[str, int] = {}  # how often each was linked to

    def add(self, link: Link, here: Site, wanted: Container[Lang]) -> None:
        """Count a link from a site."""
        self.sites.add(here)
        if link.url in self.urls or len(self.urls) < _MOST_URLS:
            self.urls[link.url] = self.urls.get(link.url, 0) + 1
        said = {link.hreflang, *handle_of(link.url).languages}
        self.langs.update(lang for lang in said if lang and lang in wanted)

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Sorts the most promising one first."""
        return (-len(self.langs), -len(self.sites), -self.pages, self.site)

    def entrances(self) -> list[str]:
        """The addresses with most links, the shortest of equals."""
        ranked = sorted(self.urls, key=lambda url: (-self.urls[url], len(url), url))
        return ranked[:_SHOWN]
