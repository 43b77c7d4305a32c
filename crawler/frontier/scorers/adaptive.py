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
takes for translations, the same place in the link lists of two pages that are a pair,
rare words in both addresses. How often each kind comes true, which sections hold pages
of which language, whom to believe about the language of a URL that does not say it, and
which sections give pairs: all is counted per site while crawling (`beliefs.py`), so
nothing has to be tuned for a site.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from crawler.data import (
    KnownUrl,
    LangPair,
    Link,
    Outcome,
    PageFacts,
    PairScore,
    PairVerdict,
    Rel,
    ScoredUrl,
    Site,
)
from crawler.errors import FrontierError
from crawler.frontier.scorers.copies import parts_of, text_key
from crawler.frontier.scorers.expectation import AdaptiveConfig, Expectation
from crawler.frontier.scorers.guesses import Guesses
from crawler.frontier.scorers.known_urls import (
    ALIGNED,
    ALIKE,
    DECLARED,
    GONE,
    NEITHER,
    SRC,
    TRG,
    WORDS,
    KnownUrls,
    UrlRecord,
    counts_of,
)
from crawler.frontier.scorers.link_lists import aligned
from crawler.frontier.scorers.saved_state import packed, unpacked
from crawler.frontier.scorers.trials import Trials
from crawler.protocols import UrlLanguageModel, UrlPairModel
from crawler.switchers import declared_language

# Links to a URL whose page's language is counted: more say the same again.
_MAX_SOURCES = 3
# Links of each of two paired pages that the pair model compares, each with each: what
# is new on two pages is seldom more, and 500 comparisons take as long as a page.
_MAX_COMPARED = 24
# P(parallel) from which two links of two paired pages are a hypothesis, if each is the
# best of the other: the model's base rate, 1 in 13, is of links taken at random.
_ALIKE = 0.1
# URLs that share words with a new one and become hypotheses, and P(one is in each
# language) from which they do.
_MAX_SIMILAR, _TWO_LANGUAGES = 2, 0.5
# P(pair) from which a verdict counts as a pair, as the aligner accepts one; and pages
# that one page is compared with at once.
_IS_PAIR, _MAX_QUESTIONS = 0.5, 4
# What counts as a rise: less changes no order that matters and costs a push.
_MIN_RISE = 1e-3


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
        guess: bool = False,
    ) -> None:
        """Take the languages of the crawl and the two URL models.

        `guess`: fetch addresses, too, that no page links to (`guesses.py`).

        `counts` collects what is worth telling: pages that were copies of others, and
        URLs that were forgotten since there were more than `max_urls` (0: none are).
        """
        self.langs = langs
        self.language_model = language_model
        self.pair_model = pair_model
        self.config = config or AdaptiveConfig()
        self.counts = counts if counts is not None else Counter()
        self.max_urls = max_urls
        self.known = KnownUrls(langs)
        self.expected = Expectation(langs, self.known, self.config)
        # The last page, its text, and whether it led to new ones.
        self._last: tuple[UrlRecord, int, bool] | None = None
        self.trials = Trials(self.known, self.expected)
        self.guesses = Guesses(self.known, self.expected, self.counts, on=guess)

    # ---------------------------------------------------------- protocol

    def score(self, source: PageFacts, links: Sequence[Link]) -> list[ScoredUrl]:
        """Score what is new on a page, and what it says anew of known URLs."""
        touched: dict[UrlRecord, None] = {}
        where = self.expected.outcome(source.lang)
        page = self.known.get(source.url)
        found = []
        new = []
        for link in links:
            url = self.known.get(link.url)
            if url is None:
                url = self.known.add(link)
                touched[url] = None
                touched.update(dict.fromkeys(self.known.siblings(url)))
                new.append(url)
            found.append(url)
            if url.outcome is not None:
                continue
            self.guesses.linked(url, link)
            if url.sources[where] < _MAX_SOURCES:
                a, b, c = (n + (k == where) for k, n in enumerate(url.sources))
                url.sources = counts_of(a, b, c)
                touched[url] = None
            self._declare(link, url, page, touched)
        self._ask_model(new)
        self._share_words(new, touched)
        if self._last is not None and page is self._last[0]:
            leads_on = self.expected.copies.leads_on(
                parts_of(source.url), [url.parts for url in new]
            )
            self._last = (*self._last[:2], leads_on)
        if page is not None and not page.paired:
            self.known.link(page, tuple(dict.fromkeys(found)))
            if page.outcome != NEITHER:  # the paper's question: page and link
                self._compare(
                    [(page, url) for url in new if self._is_open(url)], touched
                )
        return self._rescore(touched)

    def fetched(self, link: Link, page: PageFacts | None) -> list[ScoredUrl]:
        """Count what the page turned out to be; its other half may rise."""
        self._settle()
        if 0 < self.max_urls < self.known.weight:
            self._forget()
        url = self.known.get(link.url) or self.known.add(link)
        if page is None:
            self.expected.record_outcome(url, GONE)
            return self._rescore(self.guesses.fetched(url, link))
        text = text_key(page, url.site)
        url.copy = self.expected.copies.is_copy(text)
        self.counts["frontier/copies"] += url.copy
        self._last = url, text, False
        self.expected.record_outcome(url, self.expected.outcome(page.lang))
        self.trials.page()
        touched: dict[UrlRecord, None] = {}
        for other, kind in self.known.partners(url).items():
            if other.outcome is None:
                touched[other] = None
            elif {url.outcome, other.outcome} == {SRC, TRG} and not other.paired:
                self.trials.begin(url, other, kind)
        touched.update(dict.fromkeys(self.guesses.fetched(url, link)))
        return self._rescore(touched)

    def questions(self, url: str) -> list[tuple[str, str]]:
        """Pairs of URLs for the aligner to compare, now that the page of one is in."""
        record = self.known.get(url)
        partners = self.known.partners(record) if record else ()
        asked = [
            (url, other.url)
            for other in partners
            if other.outcome in (SRC, TRG) and not other.paired
        ]
        return asked[:_MAX_QUESTIONS] + self.trials.due()

    def judged(self, verdicts: Sequence[PairVerdict]) -> list[ScoredUrl]:
        """Credit hypotheses with what the aligner says of them."""
        pairs = []
        for verdict in verdicts:
            self.trials.credit(verdict)
            p = verdict.probability
            if p is not None and p >= _IS_PAIR:
                pairs.append(PairScore(verdict.url_a, verdict.url_b, p))
        return self.paired(pairs)

    def redirected(self, url: str, link: Link) -> None:
        """Both URLs are one page from now on."""
        self.guesses.redirected(self.known.get(url), self.known.get(link.url))
        self.known.move(url, link)

    def paired(self, pairs: Sequence[PairScore]) -> list[ScoredUrl]:
        """Credit the pages of a pair, and align their links."""
        touched: dict[UrlRecord, None] = {}
        for pair in pairs:
            src, trg = self.known.get(pair.src_url), self.known.get(pair.trg_url)
            if src is None or trg is None or NEITHER in (src.outcome, trg.outcome):
                continue  # not known any more, or a pair of other languages
            self.trials.credit(PairVerdict(src.url, trg.url, 1.0))
            self._align(src, trg, touched)
            touched.update(dict.fromkeys(self.guesses.paired(src, trg)))
            for url in (src, trg):
                if not url.paired:
                    url.paired = True
                    self.known.link(url, ())
                    self.expected.paired(url)
        return self._rescore(touched)

    def joined(self, sites: Sequence[Site]) -> None:
        """Look for the other halves of their pages on each other from now on."""
        self.known.join(sites)
        self.expected.join(sites)

    def current(self, scored: ScoredUrl) -> ScoredUrl:
        """The score that a pending URL would get now."""
        url = self.known.get(scored.link.url)
        if url is None or url.link is None:
            return scored
        link = url.link
        url.score, evidence = self.expected.value(url)
        if url.score == 0.0:
            url.outcome, url.link = GONE, None
        return ScoredUrl(link, url.score, evidence)

    # ------------------------------------------------------------- state

    def state(self) -> Iterator[bytes]:
        """What is not in the frontier's store: the counts, and a row for each URL.

        Each part is packed when it is asked for. The counts are those of the call; what
        becomes of a URL between it and its row is in the row alone.
        """
        self._settle()
        counts = {
            **self.expected.state(),
            "trials": self.trials.state(),
            "guesses": self.guesses.rules.state(),
        }
        return packed(counts, self.known)

    def restore(self, state: Iterable[bytes], known: Iterable[KnownUrl]) -> None:
        """Go on from a saved state; what was fetched since it was saved counts now."""
        counts: dict[str, dict[Any, Any]] = {}
        try:
            counts = unpacked(state, self.known)
            if counts:
                self.expected.restore(counts)
                self.expected.copies.leads_on((), map(parts_of, self.known.records))
                self.trials.restore(counts["trials"])
        except (zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FrontierError(
                f"what the scorer had learned cannot be read: {error!r} (it was written"
                " by another version; crawl into a new RUN_DIR)"
            ) from error
        for url in known:
            record = self.known.get(url.link.url)
            if record is None:
                if 0 < self.max_urls <= self.known.weight:
                    continue
                record = self.known.add(url.link)
                record.score = url.score
            if record.outcome is None:
                self._bring_up_to_date(record, url)
        self._ask_model(
            [url for url in self.known.records.values() if url.link and not url.model]
        )
        self.guesses.restore(counts.get("guesses", {}))

    def _bring_up_to_date(self, record: UrlRecord, url: KnownUrl) -> None:
        """Take what came of a URL after the state was saved."""
        match url.outcome:
            case None:
                record.link = url.link
            case Outcome.SKIPPED:
                record.outcome, record.link = GONE, None
            case Outcome.MOVED:
                if record.url == url.link.url:  # its target has a row of its own
                    record.link = None
                    self.known.take_out(record)
            case Outcome.PAGE:
                self.expected.record_outcome(record, self.expected.outcome(url.lang))
            case _:
                self.expected.record_outcome(record, GONE)

    def _forget(self) -> None:
        """Let the oldest quarter of the URLs go: the web has no end, memory has.

        What the frontier holds of them stays, with the score that it has. A section
        that few pages were fetched of is forgotten too.
        """
        self.counts["frontier/forgotten"] += self.known.forget()
        self.expected.forget(self.max_urls)
        self.trials.forget()

    # ------------------------------------------------------------ learning

    def _declare(
        self,
        link: Link,
        url: UrlRecord,
        page: UrlRecord | None,
        touched: dict[UrlRecord, None],
    ) -> None:
        """Take what the page says of the link: its language, that it is a version."""
        named = declared_language(link, self.langs)
        if named is None and link.rel != Rel.ALTERNATE:
            return
        if named is not None and named != url.language:
            url.language = named
            touched[url] = None
        if page is not None and page is not url and url.partners.get(page) != DECLARED:
            self.known.add_hypothesis(page, url, DECLARED)
            touched[url] = None

    def _align(
        self, src: UrlRecord, trg: UrlRecord, touched: dict[UrlRecord, None]
    ) -> None:
        """The k-th link of a page and the k-th of its translation: two halves?"""
        left, right = (
            map(self.known.resolve, src.links),
            map(self.known.resolve, trg.links),
        )
        here, there = dict.fromkeys(left), dict.fromkeys(right)
        for one, two in aligned(
            [url for url in here if url not in there],
            [url for url in there if url not in here],
            key=lambda url: url.url,
        ):
            if one.handle != two.handle:
                self.known.add_hypothesis(one, two, ALIGNED)
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

    def _is_open(self, url: UrlRecord) -> bool:
        """Is it of use to look for its other half by the look of its URL?"""
        return not (
            url.scheme
            or url.paired
            or url.outcome in (NEITHER, GONE)
            or DECLARED in url.partners.values()
        )

    def _compare(
        self,
        pairs: Sequence[tuple[UrlRecord, UrlRecord]],
        touched: dict[UrlRecord, None],
    ) -> None:
        """Ask the pair model, as one batch; of a URL's candidates the best counts."""
        best: dict[UrlRecord, tuple[float, UrlRecord]] = {}
        said = self.pair_model.predict([(one.url, two.url) for one, two in pairs])
        for (one, two), p in zip(pairs, said, strict=True):
            for url, other in ((one, two), (two, one)):
                if p > best.get(url, (_ALIKE,))[0]:
                    best[url] = p, other
        for one, (_, two) in best.items():
            if best[two][1] is one and one.handle != two.handle:
                self.known.add_hypothesis(one, two, ALIKE)
                touched[one] = touched[two] = None

    def _share_words(
        self, new: Sequence[UrlRecord], touched: dict[UrlRecord, None]
    ) -> None:
        """New URLs and known ones that share rare words: two halves?

        Only if they are in the two languages, more likely than not.
        """
        for url in new:
            if url.listing:
                continue
            a, b, _ = self.expected.language(url)
            found = 0
            for other in self.known.similar(url):
                if other.paired or other.outcome in (NEITHER, GONE):
                    continue
                c, d, _ = self.expected.language(other)
                if a * d + b * c >= _TWO_LANGUAGES:
                    self.known.add_hypothesis(url, other, WORDS)
                    touched[url] = touched[other] = None
                    found += 1
                if found == _MAX_SIMILAR:
                    break

    def _ask_model(self, new: Iterable[UrlRecord]) -> None:
        """Ask for the language of the URLs that do not name it, as one batch."""
        unmarked = [url for url in new if not url.scheme and url.language is None]
        if unmarked:
            said = self.language_model.predict([url.url for url in unmarked])
            for url, distribution in zip(unmarked, said, strict=True):
                url.model = self.expected.lang_odds(distribution)

    def _settle(self) -> None:
        """Count the last page as a copy or not: all is known of it."""
        if self._last is not None:
            url, text, leads_on = self._last
            self.expected.copies.add(url.url, text, leads_on=leads_on)
            self._last = None

    def _rescore(self, touched: Iterable[UrlRecord]) -> list[ScoredUrl]:
        """Those of the touched URLs that rose."""
        risen = []
        for url in touched:
            if url.link is None:
                continue
            score, evidence = self.expected.value(url)
            if score > url.score + _MIN_RISE:
                url.score = score
                risen.append(ScoredUrl(url.link, score, evidence))
        return risen
