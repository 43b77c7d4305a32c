"""A site that another worker had brings its documents along.

The aligner and the sentences of the worker that takes a site over need the pages that
the other one has fetched, or a pair with one half on either side of the change would
not be found before `bifocal align` reads everything. They are read from the WARC files
of the same run, which are those of the run directories beside our own. Where workers
have no disk in common, nothing is found and nothing is lost: see docs/distributed.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic

from crawler.crawl.intake import Intake
from crawler.data import Page, Site
from crawler.frontier.frontier import Frontier
from crawler.rundir import RunDir
from crawler.urls import site_of
from crawler.warc.stored import stored_pages

_EVERY = 0.1  # seconds between two portions …
_PORTION = 0.05  # … and how long one may take: the crawl goes on meanwhile


class TakeOver:
    """Reads the stored pages of adopted sites, a portion at a time.

    `others` gives the run directories of the other workers.
    """

    def __init__(
        self,
        frontier: Frontier,
        intake: Intake,
        others: Callable[[], Sequence[RunDir]],
    ) -> None:
        self._frontier = frontier
        self._intake = intake
        self._others = others
        self._pages: Iterator[Page] = iter(())
        self._sites: set[Site] = set()  # that were adopted
        self._due = 0.0

    def tick(self, now: float) -> None:
        """Read a portion, if it is time."""
        if now >= self._due:
            self._due = now + _EVERY
            self._read(monotonic() + _PORTION)

    def close(self) -> None:
        """Read what is left, before the final pairs are made."""
        self._read(float("inf"))

    def _read(self, until: float) -> None:
        while monotonic() < until:
            page = next(self._pages, None)
            if page is not None:
                self._frontier.counts["take_over/pages"] += 1
                self._frontier.paired(self._intake.take_stored(page))
            elif sites := self._frontier.taken_over():
                self._sites.update(sites)
                self._pages = self._stored(frozenset(sites))
            else:
                break

    def pages_of(self, site: Site) -> Iterator[Page]:
        """The pages of an adopted site, for a pair of languages that it shows late."""
        return self._stored(frozenset(self._sites & {site}))

    def _stored(self, sites: frozenset[Site]) -> Iterator[Page]:
        for run in self._others() if sites else ():
            yield from stored_pages(
                run.warc, lambda url: site_of(url) in sites, self._frontier.counts
            )
