"""The plug-in points: what a class must do to take a place in Bifocal.

Models and vector code need many things at once, so everything is batch first; the
crawl needs one document at a time, so what it calls is incremental. A plug-in from
outside needs no registration: its dotted path goes in a setting or a TOML profile, and
`tests/contracts/` can be run against it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from crawler.data import (
    CandidatePair,
    Document,
    FrontierEntry,
    KnownUrl,
    Lang,
    Link,
    Neighbours,
    PageFacts,
    PageFeatures,
    PairScore,
    PairVerdict,
    ScoredUrl,
    SentencePair,
    Site,
    StoredUrl,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class UrlLanguageModel(Protocol):
    """P(language | URL)."""

    def predict(self, urls: Sequence[str]) -> list[Mapping[Lang, float]]:
        """For each URL the probability of each language, `unk` for none; sums to 1."""
        ...


class UrlPairModel(Protocol):
    """P(parallel | URL, URL)."""

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the probability that its pages are translations."""
        ...


class UrlScorer(Protocol):
    """How promising are the links of a page?"""

    def score(self, source: PageFacts, links: Sequence[Link]) -> list[ScoredUrl]:
        """One ScoredUrl for each link that is worth keeping, in the links' order."""
        ...


@runtime_checkable
class LearningScorer(UrlScorer, Protocol):
    """A UrlScorer that learns while the crawl goes on."""

    def fetched(self, link: Link, page: PageFacts | None) -> list[ScoredUrl]:
        """Learn from a fetched URL, None: no page came; the pending URLs that rose."""
        ...

    def redirected(self, url: str, link: Link) -> None:
        """A URL leads to another: what was known of it holds for that one."""
        ...

    def paired(self, pairs: Sequence[PairScore]) -> list[ScoredUrl]:
        """Pairs were accepted: the reward. Pending URLs that rise."""
        ...

    def questions(self, url: str) -> Sequence[tuple[str, str]]:
        """Pairs of URLs to compare, now that a page has come from `url`."""
        ...

    def judged(self, verdicts: Sequence[PairVerdict]) -> list[ScoredUrl]:
        """What the comparisons gave; pending URLs that rise."""
        ...

    def current(self, scored: ScoredUrl) -> ScoredUrl:
        """A pending URL with the score that it would get now: it may have fallen."""
        ...

    def joined(self, sites: Sequence[Site]) -> None:
        """These sites are one from now on; the first stands for them."""
        ...

    def state(self) -> Iterable[bytes]:
        """What was learned, in parts; the crawl goes on between two of them."""
        ...

    def restore(self, state: Iterable[bytes], known: Iterable[KnownUrl]) -> None:
        """Go on from the parts of a saved state, if any, and the frontier's URLs."""
        ...


@dataclass(frozen=True, slots=True)
class Detection:
    """What a LanguageDetector says of a text."""

    lang: Lang | None  # None: too short, or in no language that the detector knows
    confidence: float  # share of the text in that language, 0 to 1
    reliable: bool
    shares: tuple[tuple[Lang, float], ...] = ()  # of the languages in it, if known


class LanguageDetector(Protocol):
    """Which language is a text in?"""

    def detect(self, text: str, *, hint: Lang | None = None) -> Detection:
        """Detect the main language; `hint` is what the page declares."""
        ...


@dataclass(frozen=True, slots=True)
class PushCounts:
    """What became of the entries of one push."""

    added: int = 0
    raised: int = 0  # already pending, now with a better score
    ignored: int = 0  # already pending with at least this score, leased, or done


class FrontierStore(Protocol):
    """Keeps the URLs of a crawl: best first, each URL once, and a score may rise.

    A URL is pending, leased (popped, not yet released) or done. Ties go to the URL
    that was pushed first. A URL belongs to one site, always the same. Storage that
    fails raises FrontierError; what was not committed is then lost, as in a kill.
    A store that several workers share is a `Workers` as well.
    """

    def push(self, entries: Sequence[FrontierEntry]) -> PushCounts:
        """Add new URLs; raise pending ones whose score got better, payload included.

        The counts are exact, repeats within the batch included. A score of NaN raises
        ValueError before anything is taken.
        """
        ...

    def pop(self, busy: Collection[Site] = ()) -> FrontierEntry | None:
        """Lease the best pending URL of a site that is not busy, if there is one."""
        ...

    def release(
        self,
        url: str,
        *,
        done: bool,
        score: float | None = None,
        payload: bytes | None = None,
    ) -> None:
        """End a lease: done for good, or pending again.

        A new score may be lower: this is the only way down. A new payload replaces the
        old one, for a done URL too (what came of it). ValueError if the URL is not
        leased.
        """
        ...

    def postpone(self, url: str) -> None:
        """Make a leased URL that nobody will release pending in the next session.

        It counts as leased, and may be forgotten until then.
        """
        ...

    def sites(self) -> Sequence[Site]:
        """Every site that has a URL here, in the order of first pushes."""
        ...

    def scan(self, site: Site) -> Iterable[StoredUrl]:
        """Every URL of a site that was ever pushed, in the order of first pushes.

        The frontier may be changed meanwhile.
        """
        ...

    def save(self, name: str, value: bytes) -> None:
        """Keep a small value with the frontier: what was learned while crawling."""
        ...

    def load(self, name: str) -> bytes | None:
        """The value that was saved under a name, also after a restart."""
        ...

    def tally(self, amounts: Mapping[str, int]) -> Mapping[str, int]:
        """Add to the run's counters; the sums of those ever named here.

        Of all workers, the others' as of the last commit.
        """
        ...

    def counts(self) -> Mapping[str, int]:
        """How many URLs are `pending`, `leased` and `done`."""
        ...

    def commit(self) -> None:
        """Make everything so far survive a kill, as one transaction."""
        ...

    def __len__(self) -> int:
        """How many URLs are pending."""
        ...

    def close(self, *, commit: bool = True) -> None:
        """Give the storage back; leased URLs will be pending again.

        `commit=False`: without what was done since the last commit.
        """
        ...


@runtime_checkable
class Workers(Protocol):
    """The workers that share a frontier: each site belongs to one of them at a time."""

    @property
    def worker(self) -> str:
        """The name of this worker, for its files; "0" where there is only one."""
        ...

    @property
    def run(self) -> str | None:
        """The name of the run that several workers share; None: there is only one."""
        ...

    def holds(self, url: str) -> bool:
        """Is a URL, popped some time ago, still leased to this worker?"""
        ...

    def close_site(self, site: Site) -> None:
        """Nothing more of a site is wanted: no worker has to wait for it."""
        ...

    def set_resting(self, site: Site, resting: bool) -> None:
        """A site waits until nothing else is open at any worker, or does no more."""
        ...

    def take_adopted(self) -> Sequence[Site]:
        """Sites that came from another worker since this was last asked."""
        ...

    def open_elsewhere(self, *, awake: bool = False) -> bool:
        """Has another worker, or nobody yet, a site that is not exhausted?

        `awake`: one that does not rest.
        """
        ...


class SitePages(Protocol):
    """The pages of one site as the batch stages see them, in URL order."""

    @property
    def sides(self) -> tuple[list[int], list[int]]:
        """The page numbers of src and of trg."""
        ...

    def side(self, number: int) -> int:
        """0 for a page of src, 1 for one of trg."""
        ...

    def handle(self, number: int) -> int:
        """A number that pages of one handle have in common."""
        ...

    def declared(self) -> Iterable[tuple[int, int]]:
        """(page, page that it declares its other version)."""
        ...

    def versions(self) -> Iterable[tuple[int, int, int | None]]:
        """(page, key of a URL that it declares, the page there or None)."""
        ...

    def url(self, number: int) -> str:
        """The URL of a page."""
        ...

    def features(self, number: int) -> PageFeatures:
        """The features of a page, boilerplate removed."""
        ...


class CandidateGenerator(Protocol):
    """Who could be parallel with this page?

    A crawl asks page by page, while the site is coming in; the final result asks once,
    over everything. Both answers name pages that the store holds.
    """

    name: ClassVar[str]

    def add(self, page: PageFeatures) -> Iterable[int]:
        """Ids of pages, stored before, that may be this one in the other language."""
        ...

    def pairs(self, collection: SitePages) -> Iterable[tuple[int, int]]:
        """Every candidate (src, trg) of a collection, by page number.

        The same pages give the same pairs, in whatever order they were stored.
        """
        ...


class ContentSearch(Protocol):
    """Which pages of a site are near in content?"""

    compares_all: ClassVar[bool]  # every page with every other: not for giant sites

    def near(
        self, pages: SitePages, src: Sequence[int], trg: Sequence[int]
    ) -> Neighbours:
        """The nearest pages of each of `src` and `trg`, by page number."""
        ...


class PairScorer(Protocol):
    """How parallel are two pages?"""

    name: ClassVar[str]

    def score(self, pairs: Sequence[CandidatePair]) -> list[Mapping[str, float]]:
        """For each pair its features, named `scorer.feature`."""
        ...


class Bridge(Protocol):
    """Bring two languages into one vocabulary."""

    def encode(self, page: PageFeatures) -> NDArray[np.uint64]:
        """Its terms in reading order, comparable with those of the other language."""
        ...


class SentenceAligner(Protocol):
    """Which sentences of two parallel documents belong together?"""

    def align(
        self, pair: PairScore, src: Document, trg: Document
    ) -> Iterable[SentencePair]:
        """The beads, in the order of the page."""
        ...
