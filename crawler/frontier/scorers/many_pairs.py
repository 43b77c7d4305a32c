"""A score for several pairs of languages, from a scorer for each of them.

A page of five languages may be the missing half of four pairs: its download is worth
the expected number of new pairs of all the wanted pairs of languages together. Each
pair has a scorer of its own, which knows nothing of the others, and an accepted pair of
pages teaches the scorer of its two languages alone (`AdaptiveScorer.paired`). Memory
and time grow with the number of wanted pairs.

Pairs whose other half is in hand add up. Where the other halves are still to be
fetched, one pair costs two downloads, but k pairs of one page cost k + 1: a page that
is worth e to each of k pairs is worth 2·k·e / (k + 1) to all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from crawler.data import (
    KnownUrl,
    LangPair,
    Link,
    PageFacts,
    PairScore,
    PairVerdict,
    Score,
    ScoredUrl,
    Site,
)
from crawler.protocols import LearningScorer, UrlScorer

_NUMBER = 2  # bytes before a part of the saved state: the scorer that it is of


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

    `weights`: what a new pair of these languages counts.
    """

    def __init__(
        self,
        scorers: Mapping[LangPair, LearningScorer],
        weights: Mapping[LangPair, float],
    ) -> None:
        """Take a scorer for each wanted pair, and its weight."""
        self._pairs = list(scorers)
        self._scorers = list(scorers.values())
        self._weights = weights

    def score(self, source: PageFacts, links: Sequence[Link]) -> list[ScoredUrl]:
        """Score what is new on a page, and what it says anew of known URLs."""
        return self._summed([s.score(source, links) for s in self._scorers])

    def fetched(self, link: Link, page: PageFacts | None) -> list[ScoredUrl]:
        """Count what the page turned out to be; its other halves may rise."""
        return self._summed([s.fetched(link, page) for s in self._scorers])

    def redirected(self, url: str, link: Link) -> None:
        """Both URLs are one page from now on."""
        for scorer in self._scorers:
            scorer.redirected(url, link)

    def paired(self, pairs: Sequence[PairScore]) -> list[ScoredUrl]:
        """Credit the pages of pairs; each scorer takes those of its languages."""
        return self._summed([s.paired(pairs) for s in self._scorers])

    def questions(self, url: str) -> Sequence[tuple[str, str]]:
        """The questions of all scorers."""
        return [asked for s in self._scorers for asked in s.questions(url)]

    def judged(self, verdicts: Sequence[PairVerdict]) -> list[ScoredUrl]:
        """Give the verdicts to all scorers; each takes those that it asked for."""
        return self._summed([s.judged(verdicts) for s in self._scorers])

    def current(self, scored: ScoredUrl) -> ScoredUrl:
        """The score that a pending URL would get now; as it is, if it is not known."""
        asked = ScoredUrl(scored.link, 0.0)
        said = [scorer.current(asked) for scorer in self._scorers]
        known = {n: now for n, now in enumerate(said) if now is not asked}
        return self._sum(scored.link, known) if known else scored

    def joined(self, sites: Sequence[Site]) -> None:
        """Look for the other halves of their pages on each other from now on."""
        for scorer in self._scorers:
            scorer.joined(sites)

    def state(self) -> Iterator[bytes]:
        """The parts of each scorer, with its number before them."""
        for number, scorer in enumerate(self._scorers):
            for part in scorer.state():
                yield number.to_bytes(_NUMBER) + part

    def restore(self, state: Iterable[bytes], known: Iterable[KnownUrl]) -> None:
        """Go on from a saved state; what was fetched since it was saved counts now."""
        parts: list[list[bytes]] = [[] for _ in self._scorers]
        for part in state:
            parts[int.from_bytes(part[:_NUMBER])].append(part[_NUMBER:])
        urls = list(known)
        for scorer, own in zip(self._scorers, parts):
            scorer.restore(own, urls)

    def _summed(self, found: Sequence[Sequence[ScoredUrl]]) -> list[ScoredUrl]:
        """What URLs that rose for one of the pairs are worth to all of them now."""
        risen: dict[str, dict[int, ScoredUrl]] = {}
        for number, of_pair in enumerate(found):
            for scored in of_pair:
                risen.setdefault(scored.link.url, {})[number] = scored
        return [
            self._sum(next(iter(known.values())).link, known)
            for known in risen.values()
        ]

    def _sum(self, link: Link, known: Mapping[int, ScoredUrl]) -> ScoredUrl:
        """The worth of a URL; `known`: by number, what some scorers have said now."""
        worth: dict[str, Score] = {}
        pending: list[Score] = []
        reasons: Mapping[str, float] = {}
        for number, scorer in enumerate(self._scorers):
            said = known.get(number) or scorer.current(ScoredUrl(link, 0.0))
            link = said.link
            reasons = reasons or said.evidence
            pair = self._pairs[number]
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
