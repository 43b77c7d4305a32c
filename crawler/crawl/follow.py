"""From a page to the frontier: which of its links are followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from crawler.crawl.intake import IntakeResult
from crawler.crawl.settings import CrawlSettings
from crawler.data import Link, PageFacts, Rel, ScoredUrl, Site
from crawler.frontier.entry import Lease
from crawler.frontier.frontier import SEED_SCORE, Frontier
from crawler.urls import site_of


class Follower:
    """Puts what a page leads to into the frontier, which scores it."""

    def __init__(self, settings: CrawlSettings, frontier: Frontier) -> None:
        self._settings = settings
        self._frontier = frontier
        self._sitemaps: Counter[Site] = Counter()  # that were asked for

    def follow(self, lease: Lease, found: IntakeResult) -> Sequence[Link]:
        """The links that were followed."""
        page = found.page
        if page is not None:
            # García-Romero (2024), step 2: a page in neither language leads nowhere
            gated = self._settings.language_gate and found.reason is not None
            if gated and not lease.link.is_seed:
                return ()
            self._frontier.found(page, page.links)
            return page.links
        if found.sitemap is not None and self._settings.sitemaps:
            self.sitemaps(found.sitemap.sitemaps)
            source = PageFacts(url=lease.url, site=lease.site)
            self._frontier.found(source, found.sitemap.links)
            return found.sitemap.links
        if found.location is not None:  # a redirect is a page with one link
            return (self._frontier.redirected(lease, found.location),)
        return ()

    def sitemaps(self, urls: Sequence[str]) -> None:
        """Fetch sitemaps after the seeds, before any page: one lists thousands."""
        counts = self._frontier.counts
        for url in urls if self._settings.sitemaps else ():
            site = site_of(url)
            if url not in self._frontier.scope:
                counts["frontier/refused/scope"] += 1
            elif self._sitemaps[site] >= self._settings.sitemaps_max:
                counts["frontier/refused/sitemaps"] += 1
            else:
                link = Link(url, rel=Rel.SITEMAP)
                added = self._frontier.push([ScoredUrl(link, SEED_SCORE / 2)]).added
                self._sitemaps[site] += added
