"""The aligner: pages in, pairs out. It wires the stages; no algorithm lives here.

While a site is crawled, `add` gives the pairs that a page completes, on the evidence
seen so far: a partner by handle or declared link at once, a partner by content when the
site has doubled since the last look. `finish` gives the final pairs, from everything
that was added and from nothing else: the same pages in another order, or out of a WARC
years later, give the same pairs and the same scores.

All that is kept of a page is in the store (a SQLite file if one is given), so a
resumed crawl opens the same file and goes on. Text is not kept: the sentences of a pair
are read again from the WARCs of its two pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.collection import Collection
from crawler.aligner.evidence import trust
from crawler.aligner.features import Featurizer
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.plugins import make
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scoring import PairJudge, named_by
from crawler.aligner.seed_groups import merge_lexicons, seed_groups
from crawler.aligner.site import SiteResult, align_first_look, align_site
from crawler.aligner.store import PageStore
from crawler.aligner.verdicts import Verdicts
from crawler.data import (
    CandidatePair,
    Document,
    Lang,
    LangPair,
    PageFeatures,
    PairScore,
    Rel,
    Site,
)
from crawler.extract.document import Reading
from crawler.groups import group_key
from crawler.protocols import CandidateGenerator
from crawler.switchers import declared_versions, versions_of_others

# A site's pages are compared by content when it has so many, and again whenever it has
# doubled: all looks together cost twice what the last one costs.
_FIRST_LOOK = 64
# Pages that the running frequencies are counted from after a restart.
_REMEMBERED = 5000


class AddedPage(NamedTuple):
    """A page that was put, and the pages before it that it may be paired with."""

    page: int  # the store's id
    features: PageFeatures
    found: Mapping[int, set[str]]  # id of another page → who proposes it


class Aligner:
    """Pairs the pages of any number of sites, each site for itself.

    `store`: a file for the features of pages; without one they stay in memory, some
    5 KB a page. `known`: a lexicon of an earlier run. After `finish`, `learned` is what
    the seed groups taught (`crawler.aligner.seed_groups`), and `lexicon` the sum of
    both. One caller at a time.

    >>> with Aligner(LangPair("en", "is")) as aligner:
    ...     aligner.finish()
    []
    """

    def __init__(
        self,
        langs: LangPair,
        profile: AlignProfile | None = None,
        *,
        store: str | Path | None = None,
        known: Lexicon | None = None,
    ) -> None:
        self.langs = langs
        self.known = self.lexicon = known
        self.learned: Lexicon | None = None
        self.profile = profile or AlignProfile()
        self.counts: Counter[str] = Counter()
        self._path = store
        self._featurizer = Featurizer(langs, head=self.profile.head)
        self._added = Counter[str]()  # site → pages since this object was made

    def open(self) -> Self:
        """Open the store, and make the candidates' plug-ins, before there are pages.

        RunDirError for a store of other languages, ProfileError for a wrong plug-in.
        """
        self.store.commit()
        list(self.generators)
        return self

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ while crawling

    def add(self, document: Document) -> list[PairScore]:
        """Take a page; the pairs that it completes, on the evidence so far."""
        return self.compare([self.put(document)])[0]

    @cached_property
    def store(self) -> PageStore:
        """All that is kept of the pages."""
        return PageStore.open(self.langs, self._path)

    @cached_property
    def generators(self) -> list[CandidateGenerator]:
        """What proposes pairs."""
        return [
            make("candidates", plugin, store=self.store, langs=self.langs)
            for plugin in self.profile.candidates
        ]

    @cached_property
    def _running(self) -> Frequencies:
        """The frequencies so far, over all sites of the run."""
        frequencies = Frequencies(self.langs, self.profile.boilerplate)
        for features in self.store.get(self.store.latest(_REMEMBERED)):
            frequencies.add(features)
        return frequencies

    @cached_property
    def _judge(self) -> PairJudge:
        """The judge while sites are coming in: without a lexicon."""
        return PairJudge.of(self.profile, self._running)

    @cached_property
    def _verdicts(self) -> Verdicts:
        return Verdicts(self.store, self.profile, self._running, self.known)

    def put(self, document: Document) -> AddedPage | None:
        """Take a page that is to be compared; None: there is nothing to compare.

        A page in neither language is not kept, but what it declares of other pages is.
        A URL that was added before changes nothing, unless its text is another one:
        then the text with the smaller digest counts, in whatever order they came.
        """
        self._hear(document)
        if document.lang not in self.langs:
            self.counts["align/dropped/language"] += 1
            return None
        features, running = self._featurizer.featurize(document), self._running
        page = self.store.put(features)
        if page is None:
            self.counts["align/dropped/duplicate"] += 1
            return None
        self.counts["align/pages"] += 1
        running.add(features)
        found: defaultdict[int, set[str]] = defaultdict(set)
        for generator in self.generators:
            for other in generator.add(features):
                found[other].add(generator.name)
        return AddedPage(page, features, found)

    def compare(self, added: Sequence[AddedPage | None]) -> list[list[PairScore]]:
        """The pairs that each page completes; many pages at once cost less."""
        pairs = iter(self._provisional([page for page in added if page]))
        found = [next(pairs) if page else [] for page in added]
        for page, new in zip(added, found):
            if page is not None:
                self._added[page.features.site] += 1
                if self._is_time_to_look(self._added[page.features.site]):
                    new += self._look(page.features.site)
        return found

    def declare(self, url_a: str, url_b: str, lang_b: Lang) -> list[PairScore]:
        """Take what a sitemap declares: b is the version of page a in a language."""
        if lang_b not in self.langs:
            return []
        self.store.declare(url_a, [url_b])
        others = self.store.known(url_b, lang_b)
        pages = self.store.known(url_a, self.langs.other(lang_b)) if others else []
        added = [
            AddedPage(page, features, {other: {"links"}})
            for page, features in zip(pages, self.store.get(pages))
            for other in others
        ]
        return [pair for found in self._provisional(added) for pair in found]

    def verdict(self, url_a: str, url_b: str) -> float | None:
        """P(two pages are a pair), on all that is known now: they are compared.

        None: not enough evidence yet (`crawler.aligner.verdicts`), for example because
        one of them was not added, or has no text of its own. 0: they cannot be one.
        """
        return self.verdicts([(url_a, url_b)])[0]

    def verdicts(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """The verdict on each pair of addresses; many at once cost less."""
        found: list[float | None] = [None] * len(pairs)
        candidates = []
        for number, ends in enumerate(pairs):
            src, trg = (self._pages_at(ends, lang) for lang in self.langs)
            if max(len(src), len(trg)) > 1 and not (src and trg):
                found[number] = 0.0  # both are in one language
            for page in src[:1]:
                [features] = self.store.get([page])
                proposed = [
                    g.name for g in self.generators if {*trg} & {*g.add(features)}
                ]
                added = AddedPage(page, features, {t: {*proposed} for t in trg[:1]})
                candidates += [(number, pair) for _, pair in self._candidates(added)]
        for (number, _), verdict in zip(
            candidates, self._verdicts.of([pair for _, pair in candidates])
        ):
            found[number] = verdict
        return found

    def _pages_at(self, urls: Sequence[str], lang: Lang) -> list[int]:
        """The pages in a language at some addresses."""
        return [page for url in urls for page in self.store.known(url, lang)]

    def commit(self) -> None:
        """Make everything that was added survive a kill."""
        self.store.commit()

    def close(self) -> None:
        """Commit, and give the store back."""
        self.store.close()

    def _hear(self, document: Document) -> None:
        """Take what a page declares of other pages (`versions_of_others`).

        A page in a third language may declare its own version in either language.
        """
        for listed in versions_of_others(document.links, document.url, self.langs):
            self.store.declare(listed[self.langs.src], [listed[self.langs.trg]])
        if document.lang not in self.langs:
            src, trg = (
                declared_versions(document.links, lang, self.langs)
                for lang in self.langs
            )
            if len(src) == 1 and trg:
                self.store.declare(src[0], trg)

    def _provisional(self, added: Sequence[AddedPage]) -> list[list[PairScore]]:
        """Of each page's candidates the best, if it is good enough and new."""
        candidates = [
            (number, other, pair)
            for number, page in enumerate(added)
            for other, pair in self._candidates(page)
        ]
        judge, counts = self._judge, Counter[str]()  # `finish` counts what is refused
        admitted = judge.admit([pair for *_, pair in candidates], counts)
        known = [(c, f) for c, f in zip(candidates, admitted) if f is not None]
        for (*_, pair), features in known:
            features |= named_by(pair.found_by)
        asked = [(pair, features) for (*_, pair), features in known]
        scores = judge.judge(asked, self.profile.min_score, counts)
        best: dict[int, tuple[PairScore, int]] = {}
        for ((number, other, _), _), score in zip(known, scores):
            if score and (number not in best or score.score > best[number][0].score):
                best[number] = score, other
        found: list[list[PairScore]] = [[] for _ in added]
        for number, (score, other) in best.items():
            ends = added[number].page, other
            is_src = added[number].features.lang == self.langs.src
            if self._is_progress(*(ends if is_src else ends[::-1]), score):
                found[number].append(score)
        return found

    def _candidates(self, page: AddedPage) -> Iterator[tuple[int, CandidatePair]]:
        """The proposed pages that have a text, by id, each paired with this one."""
        if not page.found:
            return
        is_text, clean = self.profile.gates.is_text, self._running.clean
        own = clean(page.features)
        if not is_text(page.features, own, self._running):
            return
        others = sorted(page.found)
        for other, theirs in zip(others, self.store.get(others)):
            main = clean(theirs)
            if is_text(theirs, main, self._running):
                is_src = own.lang == self.langs.src
                src, trg = (own, main) if is_src else (main, own)
                yield other, CandidatePair(src, trg, frozenset(page.found[other]))

    def _is_progress(self, src: int, trg: int, pair: PairScore) -> bool:
        """Is a pair better than those of both its pages so far? If so, it is noted."""
        if pair.score <= max(map(self.store.best_emitted, (src, trg))):
            return False
        self.store.emit(src, trg, pair.score)
        self.counts["align/provisional"] += 1
        return True

    @staticmethod
    def _is_time_to_look(pages: int) -> bool:
        return pages >= _FIRST_LOOK and pages & (pages - 1) == 0

    def _look(self, site: str) -> list[PairScore]:
        """Pair by content the pages of a site that have no partner yet."""
        unpaired = self.store.unpaired(site)
        if len(unpaired) > self.profile.max_content_pages:
            return []  # left to `finish`
        collection = Collection.of(
            self.store,
            site,
            self.profile.boilerplate,
            frequencies=self._running,
            only=unpaired,
        )
        links = trust(*self.store.checked_links(site))
        found = align_first_look(collection, self.profile, self.known, links)
        return [
            pair
            for (src, trg), pair in found.accepted.items()
            if self._is_progress(collection.rows[src].id, collection.rows[trg].id, pair)
        ]

    # ------------------------------------------------------------ over a whole site

    def finish(self) -> list[PairScore]:
        """The final pairs of every site, by site and then best first.

        May be called more than once; adding may go on afterwards.
        """
        return list(self.pairs())

    def pairs(self) -> Iterator[PairScore]:
        """As `finish`, site by site, so that they need not fit in memory.

        Sites come by group (`crawler.groups.group_key`) and then by name. All begin
        with the known lexicon; if there is none, the seed groups are aligned first.
        """
        self.store.commit()
        self.lexicon = self.known
        sites = sorted((group_key(site), site) for site in self.store.sites())
        seeds = seed_groups(self.sizes(), self.profile)
        learned = {group: Lexicon.empty(self.langs) for group in seeds}

        def align(group: str, site: Site) -> list[PairScore]:
            found = self.align(site)
            if group in learned:
                learned[group] += found.learned
            self.counts["align/accepted"] += len(found.pairs)
            return found.pairs

        early = {}
        if not self.known:
            early = {site: align(g, site) for g, site in sites if g in learned}
            self.lexicon = merge_lexicons(None, learned.values())
        for group, site in sites:
            yield from early.pop(site) if site in early else align(group, site)
        self.learned = merge_lexicons(None, learned.values())
        self.lexicon = merge_lexicons(self.known, learned.values())

    def align(self, site: Site) -> SiteResult:
        """The pairs of one site; what it taught stays in the result."""
        collection = Collection.of(self.store, site, self.profile.boilerplate)
        return align_site(
            collection, self.generators, self.profile, self.counts, known=self.lexicon
        )

    def sizes(self) -> dict[str, tuple[int, int]]:
        """(pages of src, pages of trg) of each group of sites."""
        sizes: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
        for site, (src, trg) in self.store.counts().items():
            group = group_key(site)
            sizes[group] = sizes[group][0] + src, sizes[group][1] + trg
        return sizes


def take_in(aligner: Aligner, readings: Sequence[Reading]) -> list[list[PairScore]]:
    """Give the aligner what was read; for each reading, the pairs it completes so far.

    A document is added as a page. Of a sitemap, the aligner takes which pages it
    declares versions of each other. A reading of anything else completes nothing.
    """
    documents = [(n, d) for n, r in enumerate(readings) for d in r.documents]
    found: list[list[PairScore]] = [[] for _ in readings]
    completed = aligner.compare([aligner.put(document) for _, document in documents])
    for (number, _), pairs in zip(documents, completed):
        found[number] += pairs
    for reading, pairs in zip(readings, found):
        for link in reading.sitemap.links if reading.sitemap else ():
            if link.rel == Rel.ALTERNATE and link.source_url and link.hreflang:
                pairs += aligner.declare(link.source_url, link.url, link.hreflang)
    return found
