"""The order of Bifocal: the expected number of new pairs of one more download.

Not in the papers, which score a link only against the page that it stands on. Here a
URL is worth, whichever is more:

* *complete*: P(it is the missing half of a page that was fetched),
* *together*: half of P(it and a URL that is still pending are two halves), since two
  downloads give one pair,
* *yield*: what pages of its section have given so far, with no partner in sight.

Who could be whose other half is a *hypothesis* of some kind: the same handle, a
declaration of the page (hreflang, switcher, sitemap), the same place in the link lists
of two pages that are a pair. How often each kind comes true, which sections hold pages
of which language, and which give pairs, is counted per site while crawling
(`beliefs.py`), so nothing has to be tuned for a site.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz.distance import Indel

from crawler.data import Document, KnownUrl, Lang, LangPair, Link, PairScore, ScoredUrl
from crawler.frontier.beliefs import Rates, Shares, Three, Witness
from crawler.frontier.evidence import evidence_of
from crawler.protocols import UrlLanguageModel, UrlPairModel
from crawler.urls import site_of

_LISTING = re.compile(
    r"(?:^|[/?&=_-])(?:tags?|categor(?:y|ies|ia|ias|ie)|archives?|authors?|search|page"
    r"|kategori[ea]?|etiquetas?|mots?-cles?|schlagwort|feed|rss|login|user|users|comments?"
    r"|calendar|print|genindex|index-\d+)(?:[/?&=_-]|$|\d)"
)
HANDLE, DECLARED, ALIGNED = "handle", "declared", "aligned"


_UNKNOWN = (1 / 3, 1 / 3, 1 / 3)


@dataclass(frozen=True, slots=True)
class AdaptiveConfig:
    """Priors, fitted on the package-built worlds only (benchmarks/crawl_curve.py)."""

    language_strength: float = 2.0
    match_strength: float = 3.0
    yield_strength: float = 4.0
    p_marked: float = 0.9  # a URL that names a language is in it
    p_source: float = 0.8  # an unmarked link leads to the language of its page
    p_handle: float = 0.85  # two URLs of one handle, in two languages, are a pair
    p_declared: float = 0.8
    p_aligned: float = 0.5
    yield_prior: float = 0.3
    together: float = 0.5
    witness_strength: float = 4.0
    p_model: float = 0.75
    p_sibling: float = 0.8
    need_floor: float = 1.0
    most: float = 8.0
    p_listing: float = 0.4
    balance: bool = True
    explore: float = 0.8


@dataclass(slots=True)
class _Url:
    """What is known of one URL."""

    link: Link
    handle: str
    scheme: str
    language: Lang | None
    folders: tuple[str, ...]
    sources: list[int] = field(default_factory=lambda: [0, 0, 0])
    listing: bool = False
    outcome: int | None = None  # 0 src, 1 trg, 2 neither; None: pending
    paired: bool = False
    score: float = -1.0
    partners: dict[str, str] = field(default_factory=dict)  # url → kind
    links: tuple[str, ...] = ()
    model: tuple[float, float, float] = (
        1 / 3,
        1 / 3,
        1 / 3,
    )  # P(src, trg, other | url)


def _certain(outcome: int, share: float) -> Three:
    """`share` for one outcome, the rest for the two others."""
    rest = (1.0 - share) / 2
    src, trg, other = (share if k == outcome else rest for k in range(3))
    return src, trg, other


def _shape(url: str) -> str:
    """What a URL and its translation share: depth, numbers, kind of page."""
    path, _, query = url.partition("://")[2].partition("?")
    folders = path.split("/")[1:]
    numbers = " ".join(re.findall(r"\d+", path))
    return (
        f"{len(folders)} {bool(folders and folders[-1])} {numbers} {query.count('=')}"
    )


def aligned(left: Sequence[str], right: Sequence[str]) -> list[tuple[str, str]]:
    """Links of two pages that stand in the same place of their lists."""
    if len(left) == len(right):
        return list(zip(left, right))
    pairs: list[tuple[str, str]] = []
    for step in Indel.opcodes([_shape(u) for u in left], [_shape(u) for u in right]):
        here = left[step.src_start : step.src_end]
        there = right[step.dest_start : step.dest_end]
        if len(here) == len(there):
            pairs += zip(here, there)
    return pairs


class AdaptiveScorer:
    """Scores links by what their download is expected to give."""

    def __init__(
        self,
        langs: LangPair,
        language_model: UrlLanguageModel,
        pair_model: UrlPairModel,
        config: AdaptiveConfig | None = None,
    ) -> None:
        """Take the languages of the crawl and the two URL models."""
        self.langs = langs
        self.language_model = language_model
        self.pair_model = pair_model
        self.config = config or AdaptiveConfig()
        self._urls: dict[str, _Url] = {}
        self._buckets: dict[str, list[str]] = {}
        self._languages = Shares(self.config.language_strength)
        self._source_witness = Witness(
            self.config.witness_strength, self.config.p_source
        )
        self._model_witness = Witness(self.config.witness_strength, self.config.p_model)
        self._sibling_witness = Witness(
            self.config.witness_strength, self.config.p_sibling
        )
        self._matches = Rates(self.config.match_strength)
        self._yields = Rates(self.config.yield_strength)
        self._unpaired = [0, 0]
        self._trials: list[tuple[_Url, _Url, str]] = []

    # ---------------------------------------------------------- protocol

    def score(self, source: Document, links: Sequence[Link]) -> list[ScoredUrl]:
        """Score what is new on a page, and what it says anew of known URLs."""
        touched: dict[str, None] = {}
        where = self._outcome(source.lang)
        fresh = [link.url for link in links if link.url not in self._urls]
        models = dict(zip(fresh, self.language_model.predict(fresh))) if fresh else {}
        for link in links:
            url = self._urls.get(link.url)
            if url is None:
                url = self._new(link)
                url.model = self._three(models[link.url])
                touched[link.url] = None
                for other in self._buckets[url.handle]:
                    touched[other] = None
            elif url.outcome is not None:
                continue
            if url.sources[where] < 3:
                url.sources[where] += 1
                touched[link.url] = None
            self._declare(link, url, touched)
        page = self._urls.get(source.url)
        if page is not None:
            page.links = tuple(link.url for link in links)
        return self._rescore(touched)

    def fetched(self, link: Link, document: Document | None) -> list[ScoredUrl]:
        """Count what the page turned out to be; its other half may rise."""
        self._settle()
        url = self._urls.get(link.url) or self._new(link)
        url.outcome = self._outcome(document.lang if document else None)
        if document is None:
            url.outcome = 2
        if url.language is None and not url.scheme:
            for witness, said in self._testimony(url):
                witness.add(url.outcome, said)
        if document is not None:
            self._languages.add(self._language_chain(url), url.outcome)
        if url.outcome < 2:
            self._unpaired[url.outcome] += 1
        self._yields.add(url.folders, 0.0)
        touched: dict[str, None] = {}
        for other, kind in self._partners(url):
            if other.outcome is None:
                touched[other.link.url] = None
            elif url.outcome + other.outcome == 1 and not other.paired:
                self._trials.append((url, other, kind))
        return self._rescore(touched)

    def redirected(self, url: str, link: Link) -> None:
        """Both URLs are one page from now on."""
        old = self._urls.get(url) or self._new(replace(link, url=url))
        new = self._urls.get(link.url)
        if new is None:
            old.link = link
            self._urls[link.url] = old
        elif new is not old:
            for other, kind in old.partners.items():
                new.partners.setdefault(other, kind)
            new.sources = [a + b for a, b in zip(new.sources, old.sources)]
            self._urls[url] = new

    def paired(self, pairs: Sequence[PairScore]) -> list[ScoredUrl]:
        """Credit the pages of a pair, and align their links."""
        touched: dict[str, None] = {}
        for pair in pairs:
            src, trg = self._urls.get(pair.src_url), self._urls.get(pair.trg_url)
            if src is None or trg is None:
                continue
            for url in (src, trg):
                if not url.paired:
                    url.paired = True
                    if url.outcome is not None and url.outcome < 2:
                        self._unpaired[url.outcome] -= 1
                    self._yields.add(url.folders, 0.5, 0.0)
            self._align(src, trg, touched)
        return self._rescore(touched)

    def current(self, scored: ScoredUrl) -> ScoredUrl:
        """The score that a pending URL would get now."""
        url = self._urls.get(scored.link.url)
        if url is None:
            return scored
        url.score, evidence = self._value(url)
        return ScoredUrl(url.link, url.score, evidence)

    def state(self) -> bytes:
        """The counts, as JSON."""
        return json.dumps(
            {
                "languages": self._languages.state(),
                "matches": self._matches.state(),
                "yields": self._yields.state(),
            }
        ).encode()

    def restore(self, state: bytes, known: Iterable[KnownUrl]) -> None:
        """Go on from saved counts."""

    # ------------------------------------------------------------ inside

    def _three(self, distribution: Mapping[Lang, float]) -> tuple[float, float, float]:
        """A model's distribution as src, trg, other; `unk` says nothing."""
        unknown = distribution.get("unk", 0.0) / 3
        src = distribution.get(self.langs.src, 0.0) + unknown
        trg = distribution.get(self.langs.trg, 0.0) + unknown
        return src, trg, max(0.0, 1.0 - src - trg)

    def _outcome(self, lang: Lang | None) -> int:
        return 0 if lang == self.langs.src else 1 if lang == self.langs.trg else 2

    def _new(self, link: Link) -> _Url:
        found = evidence_of(link, self.langs)
        url = _Url(link, found.handle.text, found.scheme, found.language, found.folders)
        url.listing = bool(_LISTING.search(url.handle))
        self._urls[link.url] = url
        self._buckets.setdefault(url.handle, []).append(link.url)
        return url

    def _declare(self, link: Link, url: _Url, touched: dict[str, None]) -> None:
        found = evidence_of(link, self.langs)
        if found.language and url.language != found.language:
            url.language = found.language
            touched[link.url] = None
        if found.declared and link.source_url and link.source_url not in url.partners:
            source = self._urls.get(link.source_url)
            if source is not None and len(url.partners) < 8:
                url.partners[link.source_url] = DECLARED
                source.partners.setdefault(link.url, DECLARED)
                touched[link.url] = None

    def _align(self, src: _Url, trg: _Url, touched: dict[str, None]) -> None:
        """The k-th link of a page and the k-th of its translation: two halves?"""
        both = set(src.links) & set(trg.links)
        left = [url for url in src.links if url not in both]
        right = [url for url in trg.links if url not in both]
        for u, v in aligned(left, right):
            one, two = self._urls[u], self._urls[v]
            if one.handle != two.handle and len(one.partners) < 8 > len(two.partners):
                one.partners.setdefault(v, ALIGNED)
                two.partners.setdefault(u, ALIGNED)
                touched[u] = touched[v] = None

    def _partners(self, url: _Url) -> list[tuple[_Url, str]]:
        found: dict[int, tuple[_Url, str]] = {}
        for name in self._buckets[url.handle]:
            other = self._urls[name]
            if other is not url:
                found.setdefault(id(other), (other, HANDLE))
        for name, kind in url.partners.items():
            known = self._urls.get(name)
            if known is not None and known is not url:
                found.setdefault(id(known), (known, kind))
        return list(found.values())

    def _settle(self) -> None:
        for url, other, kind in self._trials:
            success = 1.0 if url.paired and other.paired else 0.0
            self._matches.add(self._match_chain(url, kind), success)
        self._trials.clear()

    def _match_chain(self, url: _Url, kind: str) -> list[str]:
        return [f"{kind} {folder}" for folder in url.folders]

    def _language_chain(self, url: _Url) -> list[str]:
        return [f"{url.scheme} {folder}" for folder in url.folders]

    def _language(self, url: _Url) -> Three:
        c = self.config
        if url.language is not None or url.scheme:
            prior = _certain(self._outcome(url.language), c.p_marked)
            return self._languages.distribution(self._language_chain(url), prior)
        chain = self._language_chain(url)
        p = list(self._languages.distribution(chain, _UNKNOWN, most=c.most))
        for witness, said in self._testimony(url):
            for k, likelihood in enumerate(witness.likelihood(said)):
                p[k] *= likelihood
        n = sum(p)
        return p[0] / n, p[1] / n, p[2] / n

    def _testimony(self, url: _Url) -> list[tuple[Witness, Three]]:
        found = [(self._model_witness, url.model)]
        total = sum(url.sources)
        if total:
            src, trg, other = url.sources
            found.append(
                (self._source_witness, (src / total, trg / total, other / total))
            )
        sibling = self._sibling(url)
        if sibling is not None:
            found.append((self._sibling_witness, _certain(1 - sibling, 1.0)))
        return found

    def _sibling(self, url: _Url) -> int | None:
        for other in self._buckets[url.handle]:
            known = self._urls[other]
            if known is url:
                continue
            if known.outcome is not None and known.outcome < 2:
                return known.outcome
            if known.language is not None:
                outcome = self._outcome(known.language)
                if outcome < 2:
                    return outcome
        return None

    def _value(self, url: _Url) -> tuple[float, Mapping[str, float]]:
        c = self.config
        p = self._language(url)
        complete = together = 0.0
        for other, kind in self._partners(url):
            if other.paired:
                continue
            prior = (
                c.p_handle
                if kind == HANDLE
                else c.p_declared
                if kind == DECLARED
                else c.p_aligned
            )
            if url.listing:
                prior *= c.p_listing
            match = self._matches.rate(self._match_chain(url, kind), prior)
            if other.outcome is None:
                q = self._language(other)
                together = max(together, match * (p[0] * q[1] + p[1] * q[0]))
            elif other.outcome < 2:
                complete = max(complete, match * p[1 - other.outcome])
        gain = self._yields.rate(url.folders, c.yield_prior)
        u0, u1 = self._unpaired
        k = c.need_floor
        need = (u1 + k) / (u0 + u1 + 2 * k), (u0 + k) / (u0 + u1 + 2 * k)
        if c.balance:
            explore = c.explore * 2 * (p[0] * need[0] + p[1] * need[1]) * gain
        else:
            explore = c.explore * (p[0] + p[1]) * gain
        value = max(complete, c.together * together, explore)
        return value, {
            "p_src": p[0],
            "p_trg": p[1],
            "complete": complete,
            "together": together,
            "yield": gain,
        }

    def _rescore(self, touched: Mapping[str, None]) -> list[ScoredUrl]:
        risen = []
        for name in touched:
            url = self._urls[name]
            if url.outcome is not None:
                continue
            score, evidence = self._value(url)
            if score > url.score + 1e-6:
                url.score = score
                risen.append(ScoredUrl(url.link, score, evidence))
        return risen


__all__ = ["AdaptiveConfig", "AdaptiveScorer", "site_of"]
