"""The aligner: pages in, pairs out. It wires the stages; no algorithm lives here.

While a site is crawled, `add` gives the pairs that a page completes, on the evidence
seen so far: a partner by handle or declared link at once, a partner by content when the
site has doubled since the last look. `finish` gives the final pairs, from everything
that was added and from nothing else: the same pages in another order, or out of a WARC
years later, give the same pairs and the same scores.

Nothing of a page stays in memory between calls but what the store keeps (a SQLite file
if one is given), so a resumed crawl opens the same file and goes on. Text is not kept:
who wants the sentences of a pair reads its two pages again from their WARC.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.collection import Collection
from crawler.aligner.features import Featurizer
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.plugins import make
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scoring import PairJudge
from crawler.aligner.seed_groups import merge_lexicons, seed_groups
from crawler.aligner.site import SiteResult, align_first_look, align_site
from crawler.aligner.store import PageStore
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
from crawler.switchers import declared_versions

# The first look at a site's content, and then at every doubling: what all looks cost
# together is twice what the last one costs.
_FIRST_LOOK = 64
# After a restart the running frequencies are those of so many pages.
_REMEMBERED = 5000


class AddedPage(NamedTuple):
    """A page that was put, and who of those before it may be its other half."""

    page: int  # the store's id
    features: PageFeatures
    found: Mapping[int, set[str]]  # other page → the generators that propose it


class Aligner:
    """Pairs the pages of any number of sites, each site for itself.

    `store`: a file to keep the features in; without one they stay in memory, some 5 KB
    a page. `known`: a lexicon of an earlier run; after `finish`, `learned` is what the
    teachers among the sites added (`crawler.aligner.teachers`), and `lexicon` both.
    Not thread-safe: one caller at a time.

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
        self.store = PageStore(langs, store)
        self._featurizer = Featurizer(langs)
        self.generators: list[CandidateGenerator] = [
            make("candidates", plugin, store=self.store, langs=langs)
            for plugin in self.profile.candidates
        ]
        # what is known while the site is still coming in: over all sites of the run
        self._running = Frequencies(langs, self.profile.boilerplate)
        for features in self.store.get(self.store.latest(_REMEMBERED)):
            self._running.add(features)
        self._judge = PairJudge.of(self.profile, self._running)
        self._added = Counter[str]()  # site → pages since this object was made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ while crawling

    def add(self, document: Document) -> list[PairScore]:
        """Take a page; the pairs that it completes, as far as can be known now."""
        return self.compare([self.put(document)])[0]

    def put(self, document: Document) -> AddedPage | None:
        """Take a page that is to be compared; None: there is nothing to compare.

        A page in neither language is not kept, but what it declares of other pages is.
        A URL that was added before changes nothing, unless its text is another one:
        then the text with the smaller digest counts, in whatever order they came.
        """
        if document.lang not in self.langs:
            self._hear(document)
            self.counts["align/dropped/language"] += 1
            return None
        features = self._featurizer.featurize(document)
        page = self.store.put(features)
        if page is None:
            self.counts["align/dropped/duplicate"] += 1
            return None
        self.counts["align/pages"] += 1
        self._running.add(features)
        found: defaultdict[int, set[str]] = defaultdict(set)
        for generator in self.generators:
            for other in generator.add(features):
                found[other].add(generator.name)
        return AddedPage(page, features, found)

    def compare(self, added: Sequence[AddedPage | None]) -> list[list[PairScore]]:
        """The pairs that each of some pages completes; many cost less together."""
        pairs = iter(self._provisional([page for page in added if page]))
        found = [next(pairs) if page else [] for page in added]
        for page, new in zip(added, found):
            if page is not None:
                self._added[page.features.site] += 1
                if self._is_time_to_look(self._added[page.features.site]):
                    new += self._look(page.features.site)
        return found

    def declare(self, url_a: str, url_b: str, lang_b: Lang) -> list[PairScore]:
        """Take what a sitemap says: page b is the version of page a in a language."""
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

    def commit(self) -> None:
        """Make everything that was added survive a kill."""
        self.store.commit()

    def close(self) -> None:
        """Commit, and give the store back."""
        self.store.close()

    def _hear(self, document: Document) -> None:
        """A page in a third language may know both versions of a page."""
        src, trg = (
            declared_versions(document.links, lang, self.langs) for lang in self.langs
        )
        if len(src) == 1 and trg:
            self.store.declare(src[0], trg)

    def _provisional(self, added: Sequence[AddedPage]) -> list[list[PairScore]]:
        """Of each page's candidates the best, if it is good enough and new."""
        numbers, others, pairs = [], [], []
        for number, page in enumerate(added):
            for other, pair in self._candidates(page) if page.found else ():
                numbers.append(number)
                others.append(other)
                pairs.append(pair)
        admitted = [
            (number, other, pair, features)
            for number, other, pair, features in zip(
                numbers, others, pairs, self._judge.admit(pairs, Counter())
            )
            if features is not None
        ]
        for _, _, pair, features in admitted:
            features["handles.same"] = float("handles" in pair.found_by)
            features["links.declared"] = 0.5 * ("links" in pair.found_by)
        scores = self._judge.judge(
            [(pair, features) for *_, pair, features in admitted],
            self.profile.min_score,
            Counter(),
        )
        best: dict[int, tuple[PairScore, int]] = {}
        for (number, other, *_), score in zip(admitted, scores):
            if score and (number not in best or score.score > best[number][0].score):
                best[number] = score, other
        found: list[list[PairScore]] = [[] for _ in added]
        for number, (score, other) in best.items():
            if self._is_progress(added[number].page, other, score):
                found[number].append(score)
        return found

    def _candidates(self, page: AddedPage) -> Iterator[tuple[int, CandidatePair]]:
        """Those of the proposed pages that have a text, paired with this one."""
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

    def _is_progress(self, page: int, other: int, pair: PairScore) -> bool:
        """Is a pair better than what either page has? If so, note it."""
        if pair.score <= max(map(self.store.best_emitted, (page, other))):
            return False
        self.store.emit(page, other, pair.score)
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
        found = align_first_look(collection, self.profile, self.known)
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

        Sites come by group (`crawler.groups.group_key`) and then by name. What is
        known at the start is known to all; if that is nothing, the teachers go first.
        """
        self.store.commit()
        self.lexicon = self.known
        sites = sorted((group_key(site), site) for site in self.store.sites())
        teaching = seed_groups(self._sizes(), self.profile)
        lessons = {group: Lexicon.empty(self.langs) for group in teaching}

        def align(group: str, site: Site) -> list[PairScore]:
            found = self.align(site)
            if group in lessons:
                lessons[group] += found.learned
            self.counts["align/accepted"] += len(found.pairs)
            return found.pairs

        early = {}
        if not self.known:
            early = {site: align(g, site) for g, site in sites if g in lessons}
            self.lexicon = merge_lexicons(None, lessons.values())
        for group, site in sites:
            yield from early.pop(site) if site in early else align(group, site)
        self.learned = merge_lexicons(None, lessons.values())
        self.lexicon = merge_lexicons(self.known, lessons.values())

    def align(self, site: Site) -> SiteResult:
        """The pairs of one site; what it taught stays in the result."""
        collection = Collection.of(self.store, site, self.profile.boilerplate)
        return align_site(
            collection, self.generators, self.profile, self.counts, known=self.lexicon
        )

    def _sizes(self) -> dict[str, tuple[int, int]]:
        """How many pages each group of sites has on either side."""
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
    documents = [reading.document for reading in readings]
    found = aligner.compare([aligner.put(d) if d else None for d in documents])
    for reading, pairs in zip(readings, found):
        for link in reading.sitemap.links if reading.sitemap else ():
            if link.rel == Rel.ALTERNATE and link.source_url and link.hreflang:
                pairs += aligner.declare(link.source_url, link.url, link.hreflang)
    return found
