"""The order of Bifocal: the expected number of new pairs of one more download.

Not in the papers, which score a link only against the page that it stands on. Here a
URL is worth, whichever is more:

* *complete*: P(it is the missing half of a page that was fetched),
* *together*: half of P(it and a URL that is still pending are two halves), since two
  downloads give one pair,
* *explore*: what pages of its section and its language have given so far, with no
  partner in sight; worth most in the language whose pages are waited for;

times P(it is a page and no error) and P(it is no copy of a page that was fetched,
`copies.py`).

Who could be whose other half is a *hypothesis* of some kind: the same handle, a
declaration of the page (hreflang, switcher, sitemap), two URLs that the pair model
takes for translations, the same place in the link lists of two pages that are a pair.
How often each kind comes true, which sections hold pages of which language, whom to
believe about the language of a URL that does not say it, and which sections give pairs:
all is counted per site while crawling (`beliefs.py`), so nothing has to be tuned for a
site.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

from crawler.data import (
    Document,
    KnownUrl,
    Lang,
    LangPair,
    Link,
    PairScore,
    ScoredUrl,
    Site,
)
from crawler.errors import FrontierError
from crawler.frontier.beliefs import UNDECIDED, Rates, Shares, Three, Witness, certain
from crawler.frontier.copies import Copies, Part, parts_of, text_of
from crawler.frontier.evidence import declared_language, folders_of
from crawler.frontier.frontier import (
    FORBIDDEN,
    GIVEN_UP,
    MOVED,
    NO_PAGE,
    link_of,
    outcome_of,
)
from crawler.frontier.link_lists import aligned
from crawler.handles import handle_of
from crawler.protocols import UrlLanguageModel, UrlPairModel
from crawler.urls import site_of

# What a URL turned out to be: a page in the one language, in the other, in neither, or
# no page at all.
SRC, TRG, NEITHER, GONE = range(4)
# Kinds of hypotheses.
HANDLE, DECLARED, ALIKE, ALIGNED = "handle", "declared", "alike", "aligned"
_STRENGTH = {ALIGNED: 0, ALIKE: 1, DECLARED: 2}  # of two kinds, the stronger one stands
_ALL_SITES = "*"
# Pages that list pages: seldom a pair, for each side lists its own.
_LISTING = re.compile(
    r"(?:^|[/?&=_-])(?:tags?|categor(?:y|ies|ia|ias|ie)|archives?|authors?|search|page"
    r"|kategori[ea]?|etiquetas?|mots?-cles?|schlagwort|feed|rss|login|user|users|comments?"
    r"|calendar|print|genindex|index-\d+)(?:[/?&=_-]|$|\d)"
)
# Hypotheses that one URL may have beside its handle: a hub is nobody's other half.
_MAX_PARTNERS = 8
# Links to a URL whose page's language is counted: more say the same again.
_MAX_SOURCES = 3
# URLs of one handle that are looked at: a handle that 50 URLs share is no page's.
_MAX_BUCKET = 50
# Links of each of two paired pages that the pair model compares, each with each: what
# is new on two pages is seldom more, and 500 comparisons take as long as a page.
_MAX_COMPARED = 24
# P(parallel) from which two links of two paired pages are a hypothesis, if each is the
# best of the other: the model's base rate, 1 in 13, is of links taken at random.
_ALIKE = 0.1
# P(copy) from which a URL is not worth a download at all. With the prior below that
# takes 35 copies in a row, so an endless calendar ends, and ten printed pages do not.
_IS_TRAP = 0.95
# What counts as a rise: less changes no order that matters and costs a push.
_MIN_RISE = 1e-3


@dataclass(frozen=True, slots=True)
class AdaptiveConfig:
    """Priors: what holds before a site has shown anything.

    Chosen on the sites that are built from packages, by the mean area under the curve
    of benchmarks/crawl_curve.py. They matter for the first tens of downloads only.
    """

    p_handle: float = 0.85  # two URLs of one handle, in two languages, are a pair
    p_declared: float = 0.8  # so are a page and what it declares its version
    p_alike: float = 0.6  # so are two URLs that the pair model takes for one
    p_aligned: float = 0.5  # so are the k-th links of two pages that are a pair
    p_listing: float = 0.4  # times this for listings
    p_marked: float = 0.9  # a URL that names a language is in it
    p_source: float = 0.8  # a URL that names none is in the language of its sources
    p_model: float = 0.75  # … or in the one that the URL-language model says
    p_sibling: float = 0.8  # … or in the other one than the marked URL of its handle
    p_yield: float = 0.3  # a page of an untried section becomes half of a pair
    p_page: float = 1.0  # a URL leads to a page, not to an error or a file
    p_idle: float = 0.1  # what tells two URLs apart changes nothing on the page
    # How many downloads a prior weighs, and a section's for the folders below it.
    language_strength: float = 2.0
    witness_strength: float = 4.0
    match_strength: float = 3.0
    yield_strength: float = 4.0
    page_strength: float = 20.0
    idle_strength: float = 2.0
    # A section's pages were fetched because they looked promising, so for URLs that do
    # not name a language they are no fair sample: this many of them count at most.
    fair_sample: float = 8.0
    # A thousand pages of one section are no sample of the others: this many at most.
    fair_site: float = 30.0
    # Pages of each language that are waited for at the start: the balance of two
    # languages must not swing with the first page.
    need_floor: float = 1.0
    # A download without a partner in sight gives half a pair later, if at all.
    explore: float = 0.8


# There are millions of URLs, and most of them have nobody: these are shared.
_NOBODY: Mapping[Any, str] = MappingProxyType({})


@lru_cache
def _counts(src: int, trg: int, neither: int) -> tuple[int, int, int]:
    return src, trg, neither


@dataclass(slots=True, eq=False)
class _Url:
    """What is known of one URL. What only pending ones need goes when it is fetched."""

    url: str
    site: Site  # the one that stands for its group
    handle: str  # with that site in the place of its own
    address: str  # the handle as it is
    scheme: str  # how it says its language
    language: Lang | None  # the one that it, or a link to it, names
    listing: bool
    link: Link | None  # None: fetched
    sources: tuple[int, int, int] = (0, 0, 0)  # links from pages of each outcome
    model: Three | None = None  # P(outcome | URL), for URLs that name no language
    parts: tuple[Part, ...] = ()  # that may change nothing
    score: float = -1.0
    outcome: int | None = None  # None: pending
    copy: bool = False  # of a page that was fetched before
    paired: bool = False
    partners: Mapping[_Url, str] = field(default_factory=lambda: _NOBODY)  # by kind
    links: tuple[_Url, ...] = ()  # of a page that is not paired yet
    moved_to: _Url | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        """The sections that it lies in, coarse to fine."""
        return folders_of(self.address)

    @property
    def sections(self) -> tuple[str, ...]:
        """The same, after the crawl as a whole: a new site is like those before it."""
        return (_ALL_SITES, *self.folders)


class _SiteBeliefs:
    """What holds for a whole site: whom to believe, and what is waited for."""

    def __init__(self, config: AdaptiveConfig) -> None:
        strength = config.witness_strength
        self.witnesses = {
            "source": Witness(strength, config.p_source),
            "model": Witness(strength, config.p_model),
            "sibling": Witness(strength, config.p_sibling),
        }
        self.unpaired = [0, 0]  # pages of src and of trg without a partner


class AdaptiveScorer:
    """Scores links by what their download is expected to give."""

    def __init__(
        self,
        langs: LangPair,
        language_model: UrlLanguageModel,
        pair_model: UrlPairModel,
        config: AdaptiveConfig | None = None,
        counts: Counter[str] | None = None,
        *,
        max_urls: int = 0,
    ) -> None:
        """Take the languages of the crawl and the two URL models.

        `counts` collects what is worth telling: pages that were copies of others, and
        URLs that were forgotten since there were more than `max_urls` (0: none are).
        """
        self.langs = langs
        self.language_model = language_model
        self.pair_model = pair_model
        self.config = config or AdaptiveConfig()
        self.counts = counts if counts is not None else Counter()
        self.max_urls = max_urls
        self._markers = frozenset(langs)
        self._urls: dict[str, _Url] = {}
        self._buckets: dict[str, tuple[_Url, ...]] = {}  # by handle
        self._sites: dict[Site, _SiteBeliefs] = {}
        self._groups: dict[Site, Site] = {}  # site → the one that stands for it
        self._languages = Shares(self.config.language_strength)
        self._matches = Rates(self.config.match_strength)
        self._yields = Rates(self.config.yield_strength, self.config.fair_site)
        self._pages = Rates(self.config.page_strength, self.config.fair_sample)
        self._copies = Copies(self.config.idle_strength, self.config.p_idle)
        # The last page, its text, and whether it led to new ones.
        self._last: tuple[_Url, int, bool] | None = None
        # Hypotheses whose both pages were just fetched: the aligner has its say next.
        self._trials: list[tuple[_Url, _Url, str]] = []

    # ---------------------------------------------------------- protocol

    def score(self, source: Document, links: Sequence[Link]) -> list[ScoredUrl]:
        """Score what is new on a page, and what it says anew of known URLs."""
        touched: dict[_Url, None] = {}
        where = self._outcome(source.lang)
        page = self._urls.get(source.url)
        found = []
        new = []
        for link in links:
            url = self._urls.get(link.url)
            if url is None:
                url = self._new(link)
                touched[url] = None
                touched.update(dict.fromkeys(self._bucket(url)))
                new.append(url)
            found.append(url)
            if url.outcome is not None:
                continue
            if url.sources[where] < _MAX_SOURCES:
                a, b, c = (n + (k == where) for k, n in enumerate(url.sources))
                url.sources = _counts(a, b, c)
                touched[url] = None
            self._declare(link, url, page, touched)
        self._ask_model(new)
        if self._last is not None and page is self._last[0]:
            leads_on = self._copies.leads_on(
                parts_of(source.url), [url.parts for url in new]
            )
            self._last = (*self._last[:2], leads_on)
        if page is not None and not page.paired:
            page.links = tuple(dict.fromkeys(found))
            if page.outcome != NEITHER:  # the paper's question: page and link
                self._compare(
                    [(page, url) for url in new if self._is_open(url)], touched
                )
        return self._rescore(touched)

    def fetched(self, link: Link, document: Document | None) -> list[ScoredUrl]:
        """Count what the page turned out to be; its other half may rise."""
        self._settle()
        if 0 < self.max_urls < len(self._urls):
            self._forget()
        url = self._urls.get(link.url) or self._new(link)
        if document is None:
            self._turned_out(url, GONE)
            return []
        text = text_of(document, url.site)
        url.copy = self._copies.is_copy(text)
        self.counts["frontier/copies"] += url.copy
        self._last = url, text, False
        self._turned_out(url, self._outcome(document.lang))
        touched: dict[_Url, None] = {}
        for other, kind in self._partners(url).items():
            if other.outcome is None:
                touched[other] = None
            elif {url.outcome, other.outcome} == {SRC, TRG} and not other.paired:
                self._trials.append((url, other, kind))
        return self._rescore(touched)

    def redirected(self, url: str, link: Link) -> None:
        """Both URLs are one page from now on."""
        old = self._urls.get(url)
        new = self._urls.get(link.url) or self._new(link)
        if old is None or old is new:
            self._urls[url] = new
            return
        for other, kind in old.partners.items():
            self._suppose(new, other, kind)
        a, b, c = (max(n, m) for n, m in zip(new.sources, old.sources))
        new.sources = _counts(a, b, c)
        new.language = new.language or old.language
        old.moved_to = self._urls[url] = new
        old.link = old.model = None

    def paired(self, pairs: Sequence[PairScore]) -> list[ScoredUrl]:
        """Credit the pages of a pair, and align their links."""
        touched: dict[_Url, None] = {}
        for pair in pairs:
            src, trg = self._urls.get(pair.src_url), self._urls.get(pair.trg_url)
            if src is None or trg is None:
                continue
            self._align(src, trg, touched)
            for url in (src, trg):
                if not url.paired:
                    url.paired, url.links = True, ()
                    if url.outcome in (SRC, TRG):
                        self._site(url).unpaired[url.outcome] -= 1
                    if not url.copy:
                        # half for each page: the rate counts pairs per download
                        self._yields.add(url.sections, 0.5, 0.0)
        return self._rescore(touched)

    def joined(self, sites: Sequence[Site]) -> None:
        """Look for the other halves of their pages on each other from now on."""
        first = sites[0]
        self._groups.update(dict.fromkeys(sites, first))
        for url in dict.fromkeys(self._urls.values()):
            if url.site != first and url.site in sites:
                left = [u for u in self._buckets[url.handle] if u is not url]
                self._buckets[url.handle] = tuple(left)
                self._place(url)
        for site in sites[1:]:
            if (beliefs := self._sites.pop(site, None)) is not None:
                ours = self._sites.setdefault(first, _SiteBeliefs(self.config))
                ours.unpaired = [a + b for a, b in zip(ours.unpaired, beliefs.unpaired)]

    def current(self, scored: ScoredUrl) -> ScoredUrl:
        """The score that a pending URL would get now."""
        url = self._urls.get(scored.link.url)
        if url is None or url.link is None:
            return scored
        link = url.link
        url.score, evidence = self._value(url)
        if url.score == 0.0:
            url.outcome, url.link = GONE, None
        return ScoredUrl(link, url.score, evidence)

    # ------------------------------------------------------------- state

    def state(self) -> bytes:
        """The counts and, one row for each URL, what is not in the frontier's store.

        Packed row by row: in one text it takes as much memory as what it tells of.
        """
        self._settle()
        names: dict[_Url, list[str]] = {}
        for name, url in self._urls.items():
            names.setdefault(self._at(url), []).append(name)
        numbers = {url: n for n, url in enumerate(names)}

        def number(url: _Url) -> int:
            return numbers[url if url.moved_to is None else self._at(url)]

        rows = (
            {
                "urls": names[url],
                "url": url.url,
                "outcome": url.outcome,
                "paired": url.paired,
                "copy": url.copy,
                "language": url.language,
                "sources": url.sources,
                "model": url.model,  # whole: near ties would come out otherwise
                "score": url.score,
                "partners": [
                    (number(other), kind) for other, kind in url.partners.items()
                ],
                "links": list(map(number, url.links)),
            }
            for url in numbers
        )
        counts = {
            "languages": self._languages.state(),
            "matches": self._matches.state(),
            "yields": self._yields.state(),
            "pages": self._pages.state(),
            "copies": self._copies.state(),
            "sites": {
                site: {
                    "unpaired": beliefs.unpaired,
                    **{name: w.state() for name, w in beliefs.witnesses.items()},
                }
                for site, beliefs in self._sites.items()
            },
        }
        encode = json.JSONEncoder(separators=(",", ":")).encode
        packer = zlib.compressobj(1)
        packed = [packer.compress(f'{{"counts":{encode(counts)},"urls":['.encode())]
        for place, row in enumerate(rows):
            packed.append(packer.compress(f"{',' * (place > 0)}{encode(row)}".encode()))
        return b"".join([*packed, packer.compress(b"]}"), packer.flush()])

    def restore(self, state: bytes, known: Iterable[KnownUrl]) -> None:
        """Go on from a saved state; what was fetched since it was saved counts now."""
        if state:
            self._read_state(state)
        for url in known:
            link, outcome = link_of(url.entry), outcome_of(url.entry)
            record = self._urls.get(link.url)
            if record is None:
                if 0 < self.max_urls <= len(self._urls):
                    continue
                record = self._new(link)
                record.score = url.entry.score
            if record.outcome is None:
                if url.state != "done":
                    record.link = link
                elif outcome == GIVEN_UP:
                    record.outcome, record.link = GONE, None
                elif outcome != MOVED:
                    gone = outcome in (None, NO_PAGE, FORBIDDEN)
                    self._turned_out(record, GONE if gone else self._outcome(outcome))
                elif record.url == link.url:  # its target has a row of its own
                    record.link = None
                    bucket = self._buckets[record.handle]
                    self._buckets[record.handle] = tuple(
                        other for other in bucket if other is not record
                    )
        self._ask_model(
            [url for url in self._urls.values() if url.link and not url.model]
        )

    def _read_state(self, state: bytes) -> None:
        try:
            data = json.loads(zlib.decompress(state).decode("utf-8", "surrogatepass"))
            counts, rows = data["counts"], data["urls"]
            self._languages.restore(counts["languages"])
            self._matches.restore(counts["matches"])
            self._yields.restore(counts["yields"])
            self._pages.restore(counts["pages"])
            self._copies.restore(counts["copies"])
            for site, saved in counts["sites"].items():
                beliefs = self._sites[site] = _SiteBeliefs(self.config)
                beliefs.unpaired = saved["unpaired"]
                for name, witness in beliefs.witnesses.items():
                    witness.restore(saved[name])
            urls = [self._new(Link(row["url"])) for row in rows]
            for url, row in zip(urls, rows, strict=True):
                self._urls.update(dict.fromkeys(row["urls"], url))
                self._copies.leads_on((), map(parts_of, row["urls"]))
                url.link = None
                url.outcome, url.paired = row["outcome"], row["paired"]
                url.copy = row["copy"]
                url.language, url.score = row["language"], row["score"]
                url.sources = _counts(*row["sources"])
                url.model = tuple(row["model"]) if row["model"] else None
                partners = {urls[n]: kind for n, kind in row["partners"]}
                url.partners = partners or _NOBODY
                url.links = tuple(urls[n] for n in row["links"])
        except (zlib.error, ValueError, KeyError, TypeError, IndexError) as error:
            raise FrontierError(
                f"what the scorer had learned cannot be read: {error!r} (it was written"
                " by another version; crawl into a new RUN_DIR)"
            ) from error

    def _forget(self) -> None:
        """Let the oldest quarter of the URLs go: the web has no end, memory has.

        What the frontier holds of them stays, with the score that it has. A section
        that few pages were fetched of is forgotten too.
        """
        oldest = list(islice(self._urls, len(self._urls) // 4))
        self.counts["frontier/forgotten"] += len(oldest)
        for name in oldest:
            del self._urls[name]
        kept = set(map(self._at, self._urls.values()))
        for handle, bucket in list(self._buckets.items()):
            left = tuple(url for url in bucket if self._at(url) in kept)
            if not left:
                del self._buckets[handle]
            elif len(left) < len(bucket):
                self._buckets[handle] = left
        for url in kept:
            if url.partners:
                partners = {
                    u: k for u, k in url.partners.items() if self._at(u) in kept
                }
                url.partners = partners or _NOBODY
            url.links = tuple(link for link in url.links if self._at(link) in kept)
        self._copies.forget(self.max_urls)
        for counted in (self._languages, self._matches, self._yields, self._pages):
            counted.forget(self.max_urls)

    # ------------------------------------------------------- what is known

    @staticmethod
    def _at(url: _Url) -> _Url:
        """The record that a redirected one became."""
        while url.moved_to is not None:
            url = url.moved_to
        return url

    def _site(self, url: _Url) -> _SiteBeliefs:
        beliefs = self._sites.get(url.site)
        if beliefs is None:
            beliefs = self._sites[url.site] = _SiteBeliefs(self.config)
        return beliefs

    def _outcome(self, lang: Lang | None) -> int:
        if lang == self.langs.src:
            return SRC
        return TRG if lang == self.langs.trg else NEITHER

    def _new(self, link: Link) -> _Url:
        handle = handle_of(link.url, self._markers)
        marked = handle.languages & self._markers
        url = _Url(
            url=link.url,
            site="",
            handle="",
            address=handle.text,
            scheme=handle.scheme,
            language=next(iter(marked)) if len(marked) == 1 else None,
            listing=bool(_LISTING.search(handle.text)),
            parts=parts_of(link.url),
            link=link,
        )
        self._urls[link.url] = url
        self._place(url)
        return url

    def _place(self, url: _Url) -> None:
        """Put a URL where its other half would be looked for."""
        own = site_of(url.url)
        url.site = self._groups.get(own, own)
        url.handle = url.address
        if url.site != own:
            url.handle = url.address.replace(own, url.site, 1)
        self._buckets[url.handle] = (*self._buckets.get(url.handle, ()), url)

    def _bucket(self, url: _Url) -> Iterator[_Url]:
        for other in self._buckets[url.handle][:_MAX_BUCKET]:
            other = self._at(other)
            if other is not url:
                yield other

    def _partners(self, url: _Url) -> dict[_Url, str]:
        """Who could be its other half, and why."""
        found = dict.fromkeys(self._bucket(url), HANDLE)
        for other, kind in url.partners.items():
            found.setdefault(self._at(other), kind)
        found.pop(url, None)
        return found

    # ------------------------------------------------------------ learning

    def _declare(
        self, link: Link, url: _Url, page: _Url | None, touched: dict[_Url, None]
    ) -> None:
        """Take what the page says of the link: its language, that it is a version."""
        named = declared_language(link, self.langs)
        if named is None and link.rel != "alternate":
            return
        if named is not None and named != url.language:
            url.language = named
            touched[url] = None
        if page is not None and page is not url and url.partners.get(page) != DECLARED:
            self._suppose(page, url, DECLARED)
            touched[url] = None

    def _suppose(self, one: _Url, two: _Url, kind: str) -> None:
        """Make two URLs a hypothesis of this kind, if it is not one of a stronger."""
        known = one.partners.get(two)
        if known is None:
            new = len(one.partners) < _MAX_PARTNERS > len(two.partners)
        else:
            new = _STRENGTH[kind] > _STRENGTH[known]
        if new:
            one.partners = {**one.partners, two: kind}
            two.partners = {**two.partners, one: kind}

    def _align(self, src: _Url, trg: _Url, touched: dict[_Url, None]) -> None:
        """The k-th link of a page and the k-th of its translation: two halves?"""
        left, right = map(self._at, src.links), map(self._at, trg.links)
        here, there = dict.fromkeys(left), dict.fromkeys(right)
        for one, two in aligned(
            [url for url in here if url not in there],
            [url for url in there if url not in here],
            key=lambda url: url.url,
        ):
            if one.handle != two.handle:
                self._suppose(one, two, ALIGNED)
                touched[one] = touched[two] = None
        self._compare(
            [
                (one, two)
                for one in [u for u in here if self._is_open(u)][:_MAX_COMPARED]
                for two in [u for u in there if self._is_open(u)][:_MAX_COMPARED]
                if one is not two
            ],
            touched,
        )

    def _is_open(self, url: _Url) -> bool:
        """Is it of use to look for its other half by the look of its URL?"""
        return not (
            url.scheme
            or url.paired
            or url.outcome in (NEITHER, GONE)
            or DECLARED in url.partners.values()
        )

    def _compare(
        self, pairs: Sequence[tuple[_Url, _Url]], touched: dict[_Url, None]
    ) -> None:
        """Ask the pair model, as one batch; of a URL's candidates the best counts."""
        best: dict[_Url, tuple[float, _Url]] = {}
        said = self.pair_model.predict([(one.url, two.url) for one, two in pairs])
        for (one, two), p in zip(pairs, said, strict=True):
            for url, other in ((one, two), (two, one)):
                if p > best.get(url, (_ALIKE,))[0]:
                    best[url] = p, other
        for one, (_, two) in best.items():
            if best[two][1] is one and one.handle != two.handle:
                self._suppose(one, two, ALIKE)
                touched[one] = touched[two] = None

    def _ask_model(self, new: Iterable[_Url]) -> None:
        """Ask for the language of the URLs that do not name it, as one batch."""
        unmarked = [url for url in new if not url.scheme and url.language is None]
        if unmarked:
            said = self.language_model.predict([url.url for url in unmarked])
            for url, distribution in zip(unmarked, said, strict=True):
                url.model = self._three(distribution)

    def _turned_out(self, url: _Url, outcome: int) -> None:
        """Count what a fetched URL is; a sitemap is no page and no error."""
        if url.link is None or url.link.rel != "sitemap":
            self._pages.add(url.folders, float(outcome != GONE))
        if outcome != GONE:  # an error says nothing of languages or of pairs
            self._yields.add(url.sections, 0.0)
            for witness, said in self._testimony(url):
                witness.add(outcome, said)
            self._languages.add(self._language_chain(url), outcome)
        if outcome in (SRC, TRG):
            self._site(url).unpaired[outcome] += 1
        url.outcome, url.link, url.model, url.parts = outcome, None, None, ()

    def _settle(self) -> None:
        """All is known of the last page: which hypotheses came true?"""
        for url, other, kind in self._trials:
            success = 1.0 if url.paired and other.paired else 0.0
            self._matches.add(self._match_chain(url, kind), success)
        self._trials.clear()
        if self._last is not None:
            url, text, leads_on = self._last
            self._copies.add(url.url, text, leads_on=leads_on)
            self._last = None

    # ------------------------------------------------------------- beliefs

    def _three(self, distribution: Mapping[Lang, float]) -> Three:
        """A model's distribution as src, trg, neither; `unk` says nothing."""
        unknown = distribution.get("unk", 0.0) / 3
        src = distribution.get(self.langs.src, 0.0) + unknown
        trg = distribution.get(self.langs.trg, 0.0) + unknown
        return src, trg, max(0.0, 1.0 - src - trg)

    def _match_chain(self, url: _Url, kind: str) -> list[str]:
        return [f"{kind} {folder}" for folder in url.folders]

    def _language_chain(self, url: _Url) -> list[str]:
        said = url.scheme
        if not said and url.language is not None:  # third languages are all one here
            known = url.language if url.language in self.langs else "other"
            said = f"declared:{known}"
        return [f"{said} {folder}" for folder in url.folders]

    def _language(self, url: _Url) -> Three:
        """P(src), P(trg), P(neither) of a pending URL."""
        c = self.config
        chain = self._language_chain(url)
        if url.language is not None or url.scheme:
            prior = certain(self._outcome(url.language), c.p_marked)
            return self._languages.distribution(chain, prior)
        p = self._languages.distribution(chain, UNDECIDED, most=c.fair_sample)
        for witness, said in self._testimony(url):
            a, b, n = (x * y for x, y in zip(p, witness.likelihood(said)))
            p = a, b, n
        total = sum(p)
        return p[0] / total, p[1] / total, p[2] / total

    def _testimony(self, url: _Url) -> list[tuple[Witness, Three]]:
        """Who says what of the language of a URL that names none."""
        if url.language is not None or url.scheme:
            return []
        witnesses = self._site(url).witnesses
        found = []
        if url.model is not None:
            found.append((witnesses["model"], url.model))
        total = sum(url.sources)
        if total:
            src, trg, neither = url.sources
            shares = (src / total, trg / total, neither / total)
            found.append((witnesses["source"], shares))
        sibling = self._sibling(url)
        if sibling is not None:
            found.append((witnesses["sibling"], certain(1 - sibling, 1.0)))
        return found

    def _sibling(self, url: _Url) -> int | None:
        """The language of another URL of its handle, if one of the two is known."""
        for other in self._bucket(url):
            outcome = other.outcome
            if outcome is None and other.language is not None:
                outcome = self._outcome(other.language)
            if outcome in (SRC, TRG):
                return outcome
        return None

    def _value(self, url: _Url) -> tuple[float, dict[str, float]]:
        """The expected number of new pairs of its download, and the parts of it."""
        c = self.config
        p_copy, idle = self._copies.expected(url.parts)
        if p_copy >= _IS_TRAP:
            return 0.0, {f"idle_{idle}": p_copy}
        p_page = self._pages.rate(url.folders, c.p_page)
        p = self._language(url)
        priors = {
            HANDLE: c.p_handle,
            DECLARED: c.p_declared,
            ALIKE: c.p_alike,
            ALIGNED: c.p_aligned,
        }
        complete = together = 0.0
        for other, kind in self._partners(url).items():
            if other.paired or other.outcome in (NEITHER, GONE):
                continue
            prior = priors[kind] * (c.p_listing if url.listing else 1.0)
            match = self._matches.rate(self._match_chain(url, kind), prior)
            if other.outcome is None:
                q = self._language(other)
                together = max(together, match * (p[0] * q[1] + p[1] * q[0]))
            else:
                complete = max(complete, match * p[1 - other.outcome])
        gain = self._yields.rate(url.sections, c.p_yield)
        src, trg = (n + c.need_floor for n in self._site(url).unpaired)
        # the share of the unpaired pages that wait for a page in this language, so that
        # a balanced site counts a page of either language once
        need = 2 * (p[SRC] * trg + p[TRG] * src) / (src + trg)
        explore = c.explore * need * gain
        evidence = {
            "p_src": p[SRC],
            "p_trg": p[TRG],
            "complete": complete,
            "together": together,
            "yield": gain,
            "explore": explore,
            "p_page": p_page,
        }
        if p_copy:
            evidence[f"idle_{idle}"] = p_copy
        worth = max(complete, together / 2, explore)
        return worth * p_page * (1.0 - p_copy), evidence

    def _rescore(self, touched: Iterable[_Url]) -> list[ScoredUrl]:
        """Those of the touched URLs that rose."""
        risen = []
        for url in touched:
            if url.link is None:
                continue
            score, evidence = self._value(url)
            if score > url.score + _MIN_RISE:
                url.score = score
                risen.append(ScoredUrl(url.link, score, evidence))
        return risen
