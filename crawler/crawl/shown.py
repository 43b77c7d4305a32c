"""The pairs of languages that sites show, while a crawl for several pairs runs.

A pair has files and an aligner from the moment at which some site has shown pages in
both of its languages, and it hears of the pages of such sites alone. What a site had
before is read again from its WARC files then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from crawler.crawl.pairing import Pairing
from crawler.data import Document, Lang, LangPair, Page, Site
from crawler.errors import WarcError
from crawler.rundir import RunDir
from crawler.switchers import declared_language
from crawler.urls import site_of
from crawler.wanted import WantedPairs
from crawler.warc.reader import page_of, read_record
from crawler.warc.record import WarcLocation
from crawler.warc.stored import stored_locations

# Pages of a site that are read again for a language that shows late, the last ones: a
# minute. `bifocal align` reads all.
_MOST_LATE = 5_000


class ShownPairs:
    """The pairings of a run, by what each site shows; of one pair, that always."""

    def __init__(
        self, run: RunDir, wanted: WantedPairs, begin: Callable[[LangPair], Pairing]
    ) -> None:
        """`begin` opens the files of a pair."""
        self._run = run
        self._wanted = wanted
        self._begin = begin
        self._pairings: dict[LangPair, Pairing] = {}
        self._langs: defaultdict[Site, set[Lang]] = defaultdict(set)
        self._stored: defaultdict[Site, list[WarcLocation]] = defaultdict(list)
        self._fresh: list[tuple[Site, WarcLocation]] = []

    def restore(self) -> None:
        """Go on with the pairs that the run has."""
        if self._wanted.only:
            self._pairing(self._wanted.only)
            return
        for pair in self._wanted.pairs:
            if self._run.of_pair(pair, self._wanted).run_json.exists():
                for site in self._pairing(pair).aligner.store.counts():
                    self._langs[site].update(pair)
        for url, location in (
            stored_locations(self._run.warc) if self._wanted.pairs else ()
        ):
            self._stored[site_of(url)].append(location)

    def __iter__(self) -> Iterator[Pairing]:
        """Every pairing, in the order of the wanted pairs."""
        place = self._wanted.place
        return iter([self._pairings[p] for p in sorted(self._pairings, key=place)])

    def __len__(self) -> int:
        return len(self._pairings)

    def of(self, site: Site) -> Sequence[Pairing]:
        """The pairings that a site's pages are for."""
        if self._wanted.only:
            return list(self._pairings.values())
        pairs = self._wanted.of(self._langs.get(site, ()))
        return [self._pairings[pair] for pair in pairs if pair in self._pairings]

    def keep(self, url: str, location: WarcLocation) -> None:
        """Remember where a page is stored."""
        if not self._wanted.only:
            self._fresh.append((site_of(url), location))

    def show(
        self, documents: Iterable[Document]
    ) -> Iterator[tuple[Site, Sequence[Pairing], Sequence[WarcLocation]]]:
        """Sites, pairings that are for them from now on, and pages stored before."""
        if self._wanted.only:
            return
        fresh, self._fresh = self._fresh, []
        for site, langs in _shown(documents, self._wanted):
            before = self._wanted.of(self._langs[site])
            self._langs[site] |= langs
            after = self._wanted.of(self._langs[site])
            new = [self._pairing(pair) for pair in after if pair not in before]
            if new:
                yield site, new, self._stored[site][-_MOST_LATE:]
        for site, location in fresh:
            self._stored[site].append(location)

    def page(self, location: WarcLocation, counts: Counter[str]) -> Page | None:
        """A page as it was stored; one that cannot be read is counted."""
        try:
            return page_of(read_record(location, self._run.warc), counts)
        except WarcError:
            counts["warc/dropped/unreadable"] += 1
            return None

    def _pairing(self, pair: LangPair) -> Pairing:
        if pair not in self._pairings:
            self._run.begin_part(pair, self._wanted)
            self._pairings[pair] = self._begin(pair)
        return self._pairings[pair]


def _shown(
    documents: Iterable[Document], wanted: WantedPairs
) -> Iterator[tuple[Site, set[Lang]]]:
    """The languages that pages show of their sites, and of others that they declare."""
    langs = tuple(wanted)
    for document in documents:
        if document.lang is None or document.lang not in wanted:
            continue
        yield document.site, {document.lang}
        for link in document.links:
            site = site_of(link.url)
            said = declared_language(link, langs) if site != document.site else None
            if said and said in wanted.partners(document.lang):
                yield document.site, {said}
                yield site, {document.lang, said}
