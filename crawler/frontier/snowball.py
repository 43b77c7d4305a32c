"""Sites that good sites link to, taken into a crawl one after the other.

A site is good once it has given a pair. The sites that its pages in the wanted
languages link to are candidates; the most promising becomes a seed, on trial: it has so
many pages to give a pair, or is closed. One that gives a pair is a good site itself.
Scope, robots.txt and budgets hold for all as ever. In: the links that the scope
refuses. Out: seeds.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, field

import msgspec

from crawler.data import Lang, Link, PageFacts, Site
from crawler.frontier.outlinks import PLATFORMS, Outlinks
from crawler.frontier.site_yield import SiteYield
from crawler.protocols import FrontierStore
from crawler.urls import site_of

logger = logging.getLogger(__name__)

# Candidates in memory, 2 KB each: a site has some ten outward links to new sites.
_MOST = 20_000
_AT_ONCE = 8  # trials while other sites are busy: the worst candidates wait
_SAVE = 500  # links after which candidates are saved


class _State(msgspec.Struct):
    """What a snowball knows, as it is stored."""

    candidates: dict[Site, Outlinks] = {}
    taken: set[Site] = set()


@dataclass(slots=True)
class Snowball:
    """The candidates of a crawl, and those that were taken."""

    langs: Collection[Lang] = ()
    most: int = 0  # sites that may be taken; 0: none
    state: _State = field(default_factory=_State)
    _unsaved: int = 0
    _last: tuple[Site, str] = ("", "")  # site and page that were named last

    def named(self, source: PageFacts, link: Link) -> None:
        """Count a link that leaves the scope."""
        site = site_of(link.url)
        known = self.state.candidates
        if (
            not self.most
            or source.lang not in self.langs
            or site in PLATFORMS
            or site in self.state.taken
        ):
            return
        if site not in known:
            if len(known) >= _MOST:
                return
            known[site] = Outlinks(site)
        known[site].add(link, source.site, self.langs)
        known[site].pages += self._last != (site, source.url)
        self._last = site, source.url
        self._unsaved += 1

    def take(self, sites: SiteYield, *, busy: bool) -> Outlinks | None:
        """The most promising candidate that a good site names, now on trial.

        `busy`: other sites are being crawled, so a few trials at a time will do.
        """
        if len(self.state.taken) >= self.most:
            return None
        if busy and sum(map(sites.is_on_trial, self.state.taken)) >= _AT_ONCE:
            return None
        good = {
            site: len(found.sites & sites.good)
            for site, found in self.state.candidates.items()
        }
        best = min(
            (found for site, found in self.state.candidates.items() if good[site]),
            key=lambda found: (-len(found.langs), -good[found.site], found.rank),
            default=None,
        )
        if best is not None:
            del self.state.candidates[best.site]
            self.state.taken.add(best.site)
            sites.trials.add(best.site)
            logger.info("snowball: %s, which %d sites name", best.site, len(best.sites))
            self._unsaved = _SAVE
        return best

    def save(self, store: FrontierStore, least: int = _SAVE) -> None:
        """Store the state, if so many links came since it was stored."""
        if self._unsaved >= least:
            self._unsaved = 0
            store.save("snowball", msgspec.json.encode(self.state))

    def restore(self, state: bytes | None, sites: SiteYield) -> None:
        """Go on from a state that was saved."""
        if state and self.most:
            self.state = msgspec.json.decode(state, type=_State)
            sites.trials |= self.state.taken
