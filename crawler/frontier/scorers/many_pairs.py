"""A score for several pairs of languages, from a scorer for each of them.

A page of five languages may be the missing half of four pairs: its download is worth
the expected number of new pairs of all the wanted pairs of languages together. Each
pair has a scorer of its own, which knows nothing of the others, and an accepted pair of
pages teaches the scorer of its two languages alone (`AdaptiveScorer.paired`). A scorer
is made when a site shows both of its languages, by its pages, by what they declare or
by its addresses, and it hears of such sites alone: memory and time grow with the
languages that a site has, not with those that are wanted.

Pairs whose other half is in hand add up. Where the other halves are still to be
fetched, one pair costs two downloads, but k pairs of one page cost k + 1: a page that
is worth e to each of k pairs is worth 2·k·e / (k + 1) to all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from crawler.data import (
    KnownUrl,
    Lang,
    LangPair,
    Link,
    PageFacts,
    PairScore,
    PairVerdict,
    Score,
    ScoredUrl,
    Site,
)
from crawler.protocols import LearningScorer, UrlLanguageModel, UrlScorer
from crawler.switchers import declared_language
from crawler.urls import site_of
from crawler.wanted import WantedPairs

T = TypeVar("T")

_SAYS = 0.5  # P(language | URL) from which an address shows a language
_NUMBER = 2  # bytes before a part of the saved state: the scorer that it is of
_SHOWN = 0xFFFF  # that of the languages that sites have shown
_Langs = dict[Site, set[Lang]]


class MaxOverPairs:
    """The best score of a link over the wanted pairs of which its page is a half.

    This is the formula of the paper (`papers.ProductScorer`) for any number of pairs.
    For a page in no wanted language all pairs count.
    """

    def __init__(self, scorers: Mapping[LangPair, UrlScorer]) -> None:
        """Take a scorer for each wanted pair."""
        self._scorers = scorers

    def score(self, source: PageFacts, links: Sequence[Link]) -> list[ScoredUrl]:
        """Score a page's links by each pair in question."""
        asked = [s for pair, s in self._scorers.items() if source.lang in pair]
        scored = [s.score(source, links) for s in asked or self._scorers.values()]
        return [max(of_link, key=lambda s: s.score) for of_link in zip(*scored)]


class SumOverPairs:
    """What a URL is worth to all pairs; the evidence says how much to which.

    `known_of` gives what the frontier knows of sites, for a scorer that comes to them
    later. A site that shows no wanted pair has the scorer of the first it may have.
    """

    def __init__(
        self,
        wanted: WantedPairs,
        build: Callable[[LangPair], LearningScorer],
        weights: Mapping[LangPair, float],
        language_model: UrlLanguageModel | None = None,
    ) -> None:
        """Make scorers by `build`; `weights`: what a new pair of languages counts."""
        self.known_of: Callable[[Iterable[Site]], Iterable[KnownUrl]] = lambda _: ()
        self._wanted = wanted
        self._build = build
        self._weights = weights
        self._model = language_model
        self._scorers: dict[LangPair, LearningScorer] = {}
        self._groups: dict[Site, tuple[Site, ...]] = {}
        self._shown: defaultdict[Site, set[Lang]] = defaultdict(set)
        self._live: dict[Site, dict[LangPair, LearningScorer]] = {}

    def score(self, source: PageFacts, links: Sequence[Link]) -> list[ScoredUrl]:
        """Score what is new on a page, and what it says anew of known URLs."""
        of_site: defaultdict[Site, list[Link]] = defaultdict(list)
        for link in links:
            of_site[self._site(link.url)].append(link)
        scored = []
        for site, own in of_site.items():
            self._show(site, self._languages(own))
            scorers = self._of(site).items()
            scored += self._summed({p: s.score(source, own) for p, s in scorers})
        return scored

    def fetched(self, link: Link, page: PageFacts | None) -> list[ScoredUrl]:
        """Count what the page turned out to be; its other halves may rise."""
        site = self._site(link.url)
        if page and page.lang and page.lang in self._wanted:
            self._show(site, (page.lang,), but=link.url)
        scorers = self._of(site).items()
        return self._summed({pair: s.fetched(link, page) for pair, s in scorers})

    def redirected(self, url: str, link: Link) -> None:
        """Both URLs are one page from now on."""
        for scorer in {**self._at(url), **self._at(link.url)}.values():
            scorer.redirected(url, link)

    def paired(self, pairs: Sequence[PairScore]) -> list[ScoredUrl]:
        """Credit the pages of pairs; each scorer takes those of its languages."""
        return self._told(pairs, lambda p: p.src_url, lambda s, own: s.paired(own))

    def questions(self, url: str) -> Sequence[tuple[str, str]]:
        """The questions of all scorers."""
        return [asked for s in self._at(url).values() for asked in s.questions(url)]

    def judged(self, verdicts: Sequence[PairVerdict]) -> list[ScoredUrl]:
        """Give the verdicts to all scorers; each takes those that it asked for."""
        return self._told(verdicts, lambda v: v.url_a, lambda s, own: s.judged(own))

    def current(self, scored: ScoredUrl) -> ScoredUrl:
        """The score that a pending URL would get now; as it is, if it is not known."""
        asked = ScoredUrl(scored.link, 0.0)
        scorers = self._at(scored.link.url).items()
        said = {pair: scorer.current(asked) for pair, scorer in scorers}
        known = {pair: now for pair, now in said.items() if now is not asked}
        return self._sum(scored.link, known) if known else scored

    def joined(self, sites: Sequence[Site]) -> None:
        """Look for the other halves of their pages on each other from now on."""
        shown = set[Lang]().union(*(self._shown[self._first(site)] for site in sites))
        members = tuple(sites)
        self._groups |= dict.fromkeys(members, members)
        for scorer in self._scorers.values():
            scorer.joined(members)
        self._show(members[0], shown)

    def state(self) -> Iterator[bytes]:
        """The parts of each scorer, with the number of its pair before them."""
        shown = {site: sorted(langs) for site, langs in self._shown.items()}
        yield _SHOWN.to_bytes(_NUMBER) + msgspec.json.encode(shown)
        for number, pair in enumerate(self._wanted.pairs):
            if pair in self._scorers:
                for part in self._scorers[pair].state():
                    yield number.to_bytes(_NUMBER) + part

    def restore(self, state: Iterable[bytes], known: Iterable[KnownUrl]) -> None:
        """Go on from a saved state; what was fetched since it was saved counts now."""
        parts: defaultdict[LangPair, list[bytes]] = defaultdict(list)
        for part in state:
            number, own = int.from_bytes(part[:_NUMBER]), part[_NUMBER:]
            if number == _SHOWN:
                for site, langs in msgspec.json.decode(own, type=_Langs).items():
                    self._shown[site] |= langs
            else:
                parts[self._wanted.pairs[number]].append(own)
        of_site: defaultdict[Site, list[KnownUrl]] = defaultdict(list)
        for url in known:
            of_site[self._first(url.site)].append(url)
        told: defaultdict[LangPair, list[KnownUrl]] = defaultdict(list)
        for site, urls in of_site.items():
            said = {url.lang for url in urls if url.lang and url.lang in self._wanted}
            said |= self._languages([url.link for url in urls])
            self._shown[site] |= said
            for pair in self._pairs_of(site):
                self._live.setdefault(site, {})[pair] = self._scorer(pair)
                told[pair] += urls
        for pair in dict.fromkeys((*parts, *told)):
            self._scorer(pair).restore(parts[pair], told[pair])

    # ------------------------------------------------------------- which scorers

    def _site(self, url: str) -> Site:
        """The site of a URL, or the first of its group."""
        return self._first(site_of(url))

    def _first(self, site: Site) -> Site:
        return self._groups.get(site, (site,))[0]

    def _at(self, url: str) -> Mapping[LangPair, LearningScorer]:
        return self._of(self._site(url))

    def _of(self, site: Site) -> dict[LangPair, LearningScorer]:
        """The scorers of a site; of the pair that it may have, if it shows none."""
        if site not in self._live:
            self._show(site)
        return self._live[site]

    def _languages(self, links: Sequence[Link]) -> set[Lang]:
        """The wanted languages that links declare, or show by their addresses."""
        langs = tuple(self._wanted)
        said = {declared_language(link, langs) for link in links}
        urls = [link.url for link in links]
        for likely in self._model.predict(urls) if self._model else ():
            said.update(lang for lang, p in likely.items() if p >= _SAYS)
        return {lang for lang in said if lang and lang in self._wanted}

    def _show(
        self, site: Site, langs: Collection[Lang] = (), but: str | None = None
    ) -> None:
        """A site has these languages: tell the scorers that come to it what is known.

        All but one URL, of which they will hear.
        """
        live = self._live.setdefault(site, {})
        if live and self._shown[site].issuperset(langs):
            return
        self._shown[site].update(langs)
        new = [pair for pair in self._pairs_of(site) if pair not in live]
        if new:
            members = self._groups.get(site, (site,))
            known = [u for u in self.known_of(members) if u.link.url != but]
            for pair in new:
                live[pair] = self._scorer(pair)
                live[pair].restore((), known)

    def _pairs_of(self, site: Site) -> Sequence[LangPair]:
        """The wanted pairs that a site shows, or the first one that it may have."""
        shown = self._shown[site]
        found = self._wanted.of(shown)
        first = (pair for pair in self._wanted.pairs if shown.intersection(pair))
        return found or [next(first, self._wanted.pairs[0])]

    def _scorer(self, pair: LangPair) -> LearningScorer:
        if pair not in self._scorers:
            scorer = self._scorers[pair] = self._build(pair)
            for members in dict.fromkeys(self._groups.values()):
                scorer.joined(members)
        return self._scorers[pair]

    # ------------------------------------------------------------- what they say

    def _told(
        self,
        items: Sequence[T],
        url_of: Callable[[T], str],
        tell: Callable[[LearningScorer, Sequence[T]], Sequence[ScoredUrl]],
    ) -> list[ScoredUrl]:
        """What rises when the scorers of their sites hear of these."""
        of_site: defaultdict[Site, list[T]] = defaultdict(list)
        for item in items:
            of_site[self._site(url_of(item))].append(item)
        risen: list[ScoredUrl] = []
        for site, own in of_site.items():
            scorers = self._of(site).items()
            risen += self._summed({pair: tell(s, own) for pair, s in scorers})
        return risen

    def _summed(self, found: Mapping[LangPair, Sequence[ScoredUrl]]) -> list[ScoredUrl]:
        """What URLs that rose for one of the pairs are worth to all of them now."""
        risen: dict[str, dict[LangPair, ScoredUrl]] = {}
        for pair, of_pair in found.items():
            for scored in of_pair:
                risen.setdefault(scored.link.url, {})[pair] = scored
        return [
            self._sum(next(iter(known.values())).link, known)
            for known in risen.values()
        ]

    def _sum(self, link: Link, known: Mapping[LangPair, ScoredUrl]) -> ScoredUrl:
        """The worth of a URL; `known`: what some scorers have said now."""
        worth: dict[str, Score] = {}
        pending: list[Score] = []
        reasons: Mapping[str, float] = {}
        for pair, scorer in self._at(link.url).items():
            said = known.get(pair) or scorer.current(ScoredUrl(link, 0.0))
            link = said.link
            reasons = reasons or said.evidence
            worth["-".join(pair)] = value = self._weights[pair] * said.score
            if _is_pending(said.evidence):
                pending.append(value)
        shared = sum(pending)
        total = sum(worth.values())
        if shared:  # see above; for one pair nothing changes
            total += shared * (2 / (1 + shared / max(pending)) - 1)
        # the reason why a URL is worth nothing is the evidence of any scorer
        return ScoredUrl(link, total, worth if total else reasons or worth)


def _is_pending(evidence: Mapping[str, float]) -> bool:
    """Whether a score is of a page whose other half must be fetched, too."""
    complete = evidence.get("complete")
    if complete is None:
        return False
    together, explore = evidence.get("together", 0.0), evidence.get("explore", 0.0)
    return complete < max(together / 2, explore)
