"""What one more download is expected to give, by what was counted until now.

The priors are AdaptiveConfig's, the counts `beliefs.py`'s, by section and by site; what
makes one URL worth more than another stands in `crawler.frontier.scorers.adaptive`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crawler.data import Lang, LangPair, Rel, Site
from crawler.frontier.scorers.beliefs import (
    UNDECIDED,
    EvidenceSource,
    LangOdds,
    Rates,
    Shares,
    certain,
)
from crawler.frontier.scorers.copies import Copies
from crawler.frontier.scorers.known_urls import (
    ALIGNED,
    ALIKE,
    DECLARED,
    GONE,
    GUESSED,
    HANDLE,
    NEITHER,
    SRC,
    TRG,
    WORDS,
    KnownUrls,
    UrlRecord,
)

# P(copy) from which a URL is not worth a download at all. With the prior below that
# takes 35 copies in a row, so an endless calendar ends, and ten printed pages do not.
_IS_TRAP = 0.95


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
    p_words: float = 0.3  # so are two URLs that share rare words
    p_guessed: float = 0.5  # a guessed address has a page, the other half
    p_listing: float = 0.4  # times this for listings
    p_marked: float = 0.9  # a URL that names a language is in it
    p_source: float = 0.8  # a URL that names none is in the language of its sources
    p_model: float = 0.75  # … or in the one that the URL-language model says
    p_sibling: float = 0.8  # … or in the other one than the marked URL of its handle
    p_yield: float = 0.3  # a page of an untried section becomes half of a pair
    p_page: float = 1.0  # a URL leads to a page, not to an error or a file
    p_irrelevant: float = 0.1  # what tells two URLs apart changes nothing on the page
    # How many downloads a prior weighs, and a section's for the folders below it.
    language_strength: float = 2.0
    source_strength: float = 4.0
    match_strength: float = 3.0
    yield_strength: float = 4.0
    page_strength: float = 20.0
    query_strength: float = 2.0  # the same, for a path with these parameters
    irrelevant_strength: float = 2.0
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


class _SiteBeliefs:
    """What holds for a whole site: whom to believe, and what is waited for."""

    def __init__(self, config: AdaptiveConfig) -> None:
        strength = config.source_strength
        self.evidence_sources = {
            "source": EvidenceSource(strength, config.p_source),
            "model": EvidenceSource(strength, config.p_model),
            "sibling": EvidenceSource(strength, config.p_sibling),
        }
        self.unpaired = [0, 0]  # pages of src and of trg without a partner


class Expectation:
    """Counts what pages turn out to be, and says what to expect of pending URLs."""

    def __init__(
        self, langs: LangPair, known: KnownUrls, config: AdaptiveConfig
    ) -> None:
        """`known` says who could be whose other half."""
        self.langs = langs
        self.config = config
        self._priors = {
            HANDLE: config.p_handle,
            DECLARED: config.p_declared,
            ALIKE: config.p_alike,
            ALIGNED: config.p_aligned,
            WORDS: config.p_words,
            GUESSED: config.p_guessed,
        }
        self._known = known
        self._sites: dict[Site, _SiteBeliefs] = {}
        self._languages = Shares(config.language_strength)
        self._matches = Rates(config.match_strength)
        self._yields = Rates(config.yield_strength, config.fair_site)
        self._pages = Rates(config.page_strength, config.fair_sample)
        self._queries = Rates(config.query_strength)
        self.copies = Copies(config.irrelevant_strength, config.p_irrelevant)

    # ------------------------------------------------------------- counting

    def outcome(self, lang: Lang | None) -> int:
        """What a page in this language is."""
        if lang == self.langs.src:
            return SRC
        return TRG if lang == self.langs.trg else NEITHER

    def record_outcome(self, url: UrlRecord, outcome: int) -> None:
        """Count what a fetched URL is.

        A sitemap is no page and no error; that a guess is wrong says nothing of links.
        """
        guessed = url.link is not None and url.link.rel == Rel.GUESS
        if guessed and outcome == GONE:
            self.record_test(url, GUESSED, 0.0)
        elif url.link is None or url.link.rel != Rel.SITEMAP:
            self._pages.add(url.folders, float(outcome != GONE))
            self._queries.add(url.query_pattern, float(outcome != GONE))
            self._queries.add(url.last_name, float(outcome != GONE))
        if outcome != GONE:  # an error says nothing of languages or of pairs
            self._yields.add(url.sections, 0.0)
            for source, said in self._evidence(url):
                source.add(outcome, said)
            self._languages.add(self._language_chain(url), outcome)
        if outcome in (SRC, TRG):
            self._site(url).unpaired[outcome] += 1
        url.outcome, url.link, url.model, url.parts = outcome, None, None, ()

    def paired(self, url: UrlRecord) -> None:
        """Count a page that has become half of a pair."""
        if url.outcome in (SRC, TRG):
            self._site(url).unpaired[url.outcome] -= 1
        if not url.copy:
            # half for each page: the rate counts pairs per download
            self._yields.add(url.sections, 0.5, 0.0)

    def record_test(
        self, url: UrlRecord, kind: str, success: float, trials: float = 1.0
    ) -> None:
        """Count a hypothesis of this kind that was put to the test.

        `success` is the probability that it came true; with `trials=0` what an earlier
        one is to be corrected by.
        """
        self._matches.add(self._match_chain(url, kind), success, trials)

    def join(self, sites: Sequence[Site]) -> None:
        """What is waited for on several sites is so on one of them."""
        first = sites[0]
        for site in sites[1:]:
            if (beliefs := self._sites.pop(site, None)) is not None:
                ours = self._sites.setdefault(first, _SiteBeliefs(self.config))
                ours.unpaired = [a + b for a, b in zip(ours.unpaired, beliefs.unpaired)]

    def forget(self, most: int) -> None:
        """Keep so many sections and texts at most, and sites that have known URLs."""
        self.copies.forget(most)
        known = {url.site for url in self._known.records.values()}
        self._sites = {s: found for s, found in self._sites.items() if s in known}
        for counted in (self._languages, self._matches, self._yields):
            counted.forget(most)
        for counted in (self._pages, self._queries):
            counted.forget(most)

    def state(self) -> dict[str, Mapping[Any, Any]]:
        """The counts as they are now, as tables of plain data."""
        return {
            "languages": self._languages.state(),
            "matches": self._matches.state(),
            "yields": self._yields.state(),
            "pages": self._pages.state(),
            "queries": self._queries.state(),
            **self.copies.state(),
            "sites": {
                site: {
                    "unpaired": [*beliefs.unpaired],
                    **{name: w.state() for name, w in beliefs.evidence_sources.items()},
                }
                for site, beliefs in self._sites.items()
            },
        }

    def restore(self, counts: Mapping[str, Mapping[Any, Any]]) -> None:
        """Take counts from `state()`."""
        self._languages.restore(counts["languages"])
        self._matches.restore(counts["matches"])
        self._yields.restore(counts["yields"])
        self._pages.restore(counts["pages"])
        self._queries.restore(counts["queries"])
        self.copies.restore(counts)
        for site, saved in counts["sites"].items():
            beliefs = self._sites[site] = _SiteBeliefs(self.config)
            beliefs.unpaired = saved["unpaired"]
            for name, source in beliefs.evidence_sources.items():
                source.restore(saved[name])

    # ------------------------------------------------------------- expecting

    def value(self, url: UrlRecord) -> tuple[float, dict[str, float]]:
        """The expected number of new pairs of its download, and the parts of it."""
        c = self.config
        p_copy, kind_of_part = self.copies.expected(url.parts)
        if p_copy >= _IS_TRAP:
            return 0.0, {f"irrelevant_{kind_of_part}": p_copy}
        sections = url.sections
        p_page = self._pages.rate(sections[1:], c.p_page)
        p_page = self._queries.rate(url.query_pattern, p_page)
        p_page *= self._queries.rate(url.last_name, 1.0)
        p = self.language(url)
        complete = together = 0.0
        partners = self._known.partners(url)
        for other, kind in partners.items():
            if other.paired or other.outcome in (NEITHER, GONE):
                continue
            match = self._match(url, kind)
            if kind == WORDS:
                match *= 1.0 - max(self._promised(url), self._promised(other))
            if other.outcome is None:
                q = self.language(other)
                together = max(together, match * (p[0] * q[1] + p[1] * q[0]))
            else:
                complete = max(complete, match * p[1 - other.outcome])
        gain = self._yields.rate(sections, c.p_yield)
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
            evidence[f"irrelevant_{kind_of_part}"] = p_copy
        worth = max(complete, together / 2, explore)
        return worth * p_page * (1.0 - p_copy), evidence

    def _match(self, url: UrlRecord, kind: str) -> float:
        """P(a hypothesis of this kind is true), for a URL of this section."""
        prior = self._priors[kind] * (self.config.p_listing if url.listing else 1.0)
        return self._matches.rate(self._match_chain(url, kind), prior)

    def _promised(self, url: UrlRecord) -> float:
        """P(the other half of a URL is one that a page declares, or of its handle)."""
        p = self.language(url)
        best = 0.0
        for other, kind in self._known.partners(url).items():
            if kind in (HANDLE, DECLARED) and other.outcome not in (NEITHER, GONE):
                q = self.language(other)
                two = p[SRC] * q[TRG] + p[TRG] * q[SRC]
                best = max(best, self._match(url, kind) * two)
        return best

    def guess(self, page: UrlRecord) -> float:
        """P(the address that is guessed from a page is that of its other half)."""
        chain = self._match_chain(page, GUESSED)
        return self._matches.rate(chain, self.config.p_guessed)

    def language(self, url: UrlRecord) -> LangOdds:
        """P(src), P(trg), P(neither) of a URL."""
        if url.outcome is not None:
            return certain(min(url.outcome, NEITHER), 1.0)
        c = self.config
        chain = self._language_chain(url)
        if url.language is not None or url.scheme:
            prior = certain(self.outcome(url.language), c.p_marked)
            return self._languages.distribution(chain, prior)
        p = self._languages.distribution(chain, UNDECIDED, most=c.fair_sample)
        for source, said in self._evidence(url):
            a, b, n = source.likelihood(said)
            p = p[0] * a, p[1] * b, p[2] * n
        total = sum(p)
        return p[0] / total, p[1] / total, p[2] / total

    def _evidence(self, url: UrlRecord) -> list[tuple[EvidenceSource, LangOdds]]:
        """Who says what of the language of a URL that names none."""
        if url.language is not None or url.scheme:
            return []
        evidence_sources = self._site(url).evidence_sources
        found = []
        if url.model is not None:
            found.append((evidence_sources["model"], url.model))
        total = sum(url.sources)
        if total:
            src, trg, neither = url.sources
            shares = (src / total, trg / total, neither / total)
            found.append((evidence_sources["source"], shares))
        sibling = self._sibling(url)
        if sibling is not None:
            found.append((evidence_sources["sibling"], certain(1 - sibling, 1.0)))
        return found

    def _sibling(self, url: UrlRecord) -> int | None:
        """The language of another URL of its handle, if one of the two is known."""
        for other in self._known.siblings(url):
            outcome = other.outcome
            if outcome is None and other.language is not None:
                outcome = self.outcome(other.language)
            if outcome in (SRC, TRG):
                return outcome
        return None

    def lang_odds(self, distribution: Mapping[Lang, float]) -> LangOdds:
        """A model's distribution as src, trg, neither; `unk` says nothing."""
        unknown = distribution.get("unk", 0.0) / 3
        src = distribution.get(self.langs.src, 0.0) + unknown
        trg = distribution.get(self.langs.trg, 0.0) + unknown
        return src, trg, max(0.0, 1.0 - src - trg)

    def _site(self, url: UrlRecord) -> _SiteBeliefs:
        beliefs = self._sites.get(url.site)
        if beliefs is None:
            beliefs = self._sites[url.site] = _SiteBeliefs(self.config)
        return beliefs

    def _match_chain(self, url: UrlRecord, kind: str) -> list[str]:
        return [f"{kind} {folder}" for folder in url.folders]

    def _language_chain(self, url: UrlRecord) -> list[str]:
        said = url.scheme
        if not said and url.language is not None:  # third languages are all one here
            known = url.language if url.language in self.langs else "other"
            said = f"declared:{known}"
        return [f"{said} {folder}" for folder in url.folders]
