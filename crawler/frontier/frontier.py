"""The frontier: what is known, what comes next, and what the order learns.

Plain Python over a FrontierStore and a UrlScorer, so that the live crawl, a replayed
one and a simulation on a recorded link graph all follow the same order.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import msgspec

from crawler.data import (
    KnownUrl,
    Lang,
    Link,
    Outcome,
    PageFacts,
    PairScore,
    PairVerdict,
    Rel,
    Score,
    ScoredUrl,
    Site,
)
from crawler.frontier.entry import Cost, Lease, encode, entry_of, known_of, lease_of
from crawler.frontier.learned import LearnedState
from crawler.frontier.offered import Offered
from crawler.frontier.scope import Scope
from crawler.frontier.site_yield import RunBudget, SiteYield, Spent
from crawler.frontier.snowball import Snowball
from crawler.frontier.stores.single_worker import SingleWorker
from crawler.frontier.url_forms import UrlForms
from crawler.groups import SiteGroups
from crawler.protocols import (
    FrontierStore,
    LearningScorer,
    PushCounts,
    UrlScorer,
    Workers,
)
from crawler.switchers import declared_language
from crawler.urls import site_of

# Seeds come first whatever they score; links score in [0, 1].
SEED_SCORE = 10.0
# A popped URL whose score fell is put back, unless it fell by less than this: putting
# back costs a store round trip and changes nothing that matters.
MIN_FALL = 0.01
# How many fallen URLs are put back before one is taken anyway.
MAX_PUT_BACK = 50
# Outcomes that cost their site no request.
_WITHOUT_REQUEST = (Outcome.SKIPPED, Outcome.FORBIDDEN, Outcome.OTHER_SCHEME)
_FREE = Cost()


class Frontier:
    """Scores links, keeps them, and hands out the best.

    `counts` collects, by reason, everything that is kept or dropped here.
    """

    def __init__(
        self,
        store: FrontierStore,
        scorer: UrlScorer,
        scope: Scope,
        *,
        max_depth: int = 0,
        sites: SiteYield | None = None,
        budget: RunBudget | None = None,
        snowball: Snowball | None = None,
        counts: Counter[str] | None = None,
    ) -> None:
        """`max_depth`: clicks from the nearest seed, 0 for no limit."""
        self.store = store
        self.scorer = scorer
        self.scope = scope
        self.max_depth = max_depth
        self.sites = sites if sites is not None else SiteYield()
        self.budget = budget or RunBudget()
        self.snowball = snowball or Snowball()
        self.counts = counts if counts is not None else Counter()
        self.workers = store if isinstance(store, Workers) else SingleWorker()
        self._learner = scorer if isinstance(scorer, LearningScorer) else None
        self._learned = LearnedState(store, self.workers.worker, self._learner)
        self._forms = UrlForms()
        self._dry = False  # what is pending belongs to sites that are closed
        self._taken_over: list[Site] = []
        self._offered = Offered()

    @cached_property
    def _done(self) -> int:
        return self.store.counts()["done"]

    def __len__(self) -> int:
        return len(self.store)

    @property
    def has_open(self) -> bool:
        """Whether anything pending may still be fetched, here or by another worker."""
        if self.budget.is_spent(self.store):
            return False
        return (len(self.store) > 0 and not self._dry) or self.workers.open_elsewhere()

    def seed(self, urls: Iterable[str]) -> PushCounts:
        """Put seeds in, ahead of everything; their site, host or path is in scope."""
        scored = []
        for url in urls:
            self.scope.extend(url)
            scored.append(ScoredUrl(Link(url, is_seed=True), SEED_SCORE))
        return self.push(scored)

    def found(self, source: PageFacts, links: Sequence[Link]) -> PushCounts:
        """Score the links of a page as one batch and keep the new and the better."""
        kept = []
        links = list(map(self._unified, links))
        for link in links:
            if site_of(link.url) != source.site:
                self._join_if_declared(source, link)
        for link in links:
            if refusal := self.refusal(link):
                self.counts[f"frontier/refused/{refusal}"] += 1
                if refusal == "scope":
                    self.snowball.named(source, link)
            else:
                kept.append(link)
        return self.push(self.scorer.score(source, kept)) if kept else PushCounts()

    def _join_if_declared(self, source: PageFacts, link: Link) -> None:
        """Make two sites one group where a page declares the other its version.

        The sites of a group share scope, budget and beliefs.
        """
        langs, lang = self.sites.langs, source.lang
        if langs is None or lang is None or lang not in langs:
            return
        declared = declared_language(link, tuple(langs))
        if (
            declared in langs.partners(lang)
            and source.url in self.scope
            and self.sites.groups.declare(source.url, link.url)
        ):
            self.counts["frontier/joined"] += 1
            members = self.sites.groups.members(source.site)
            self.scope.join(members)
            self.sites.joined(source.site)
            if self._learner:
                self._learner.joined(members)
            self.store.save("groups", msgspec.json.encode(self.sites.groups.groups()))

    def refusal(self, link: Link) -> str | None:
        """Why a link is not to be crawled; None: it may be."""
        if self.max_depth and link.depth > self.max_depth:
            return "depth"
        return self.scope.refusal(link.url)

    def push(self, scored: Sequence[ScoredUrl]) -> PushCounts:
        """Keep URLs that are scored already (redirect targets, raised links)."""
        if self._learner:
            scored = [item for item in scored if not self._is_refused(item)]
        fresh = [item for item in scored if item not in self._offered]
        counts = self.store.push([entry_of(item, self._done) for item in fresh])
        ignored = counts.ignored + len(scored) - len(fresh)
        counts = replace(counts, ignored=ignored)
        self._offered.add(fresh)
        self._dry = self._dry and not counts.added
        self.counts["frontier/added"] += counts.added
        self.counts["frontier/raised"] += counts.raised
        self.counts["frontier/ignored"] += counts.ignored
        return counts

    def _is_refused(self, scored: ScoredUrl) -> bool:
        """Whether a URL scores 0, or is a guess of the scorer that must not be crawled.

        Of a URL that scores 0 the scorer gives the reason as the only evidence.
        """
        reason = None
        if scored.score <= 0.0:
            reason = f"trap/{next(iter(scored.evidence))}"
        elif scored.link.rel == Rel.GUESS:
            reason = self.refusal(scored.link)
        if reason:
            self.counts[f"frontier/refused/{reason}"] += 1
        return reason is not None

    def redirected(self, lease: Lease, location: str) -> Link:
        """A redirect is a page with one link, worth what the page was worth.

        A seed may lead out of the scope (example.com → www.example.org), which then
        grows; a move to https holds for the whole host.
        """
        link = replace(lease.link, url=location)
        if self._forms.redirected(lease.url, location):
            self._save_forms()
        if link.is_seed:
            self.scope.extend(location)
        self._release(lease, Outcome.MOVED)
        self._spend(lease.site, None)
        if refusal := self.refusal(link):
            self.counts[f"frontier/refused/{refusal}"] += 1
        else:
            if self._learner:
                self._learner.redirected(lease.url, link)
            self.push([replace(lease.scored, link=link)])
        return link

    def next(self, busy: Collection[Site] = ()) -> Lease | None:
        """Lease the best URL of a site that is not busy.

        Sites that rest are asked when nothing else is left, here or at another worker;
        closed ones never.
        """
        if self.budget.is_spent(self.store):
            return None
        lease = self._next(busy)
        if lease is None and (found := self.snowball.take(self.sites, busy=bool(busy))):
            self.counts["frontier/snowball"] += 1
            self.seed(found.entrances())
            lease = self._next(busy)
        if lease is None and not busy and not self.workers.open_elsewhere(awake=True):
            if woken := self.sites.wake():
                self._judged(woken)
                lease = self._next(busy)
            self._dry = lease is None
        elif lease is not None:
            self._dry = False  # a site that another worker had may be ours now
        return lease

    def holds(self, lease: Lease) -> bool:
        """Whether a lease that had to wait is still this worker's."""
        return self.workers.holds(lease.url)

    def _next(self, busy: Collection[Site]) -> Lease | None:
        put_back = 0
        barred = self.sites.barred()
        busy = {*busy, *barred} if barred else busy
        while entry := self.store.pop(busy):
            if self._adopt() and entry.site in self.sites.barred():
                self.store.release(entry.url, done=False)
                busy = {*busy, *self.sites.barred()}
                continue
            lease = lease_of(entry)
            unified = self._unified(lease.link)
            if unified is not lease.link:  # linked before we knew
                self.store.release(lease.url, done=True)
                self.push([replace(lease.scored, link=unified)])
                continue
            if self._learner is None or lease.link.is_seed or put_back == MAX_PUT_BACK:
                return lease
            now = self._learner.current(lease.scored)
            if self._is_refused(now):
                lease = replace(lease, score=now.score, evidence=now.evidence)
                self._release(lease, Outcome.SKIPPED)
                continue
            if now.score >= lease.score - MIN_FALL:
                if not self.sites.ends(lease.site, now.score):
                    return lease
                self.counts["frontier/stopped"] += 1
                self.store.release(lease.url, done=False)
                self._judged(self.sites.groups.members(lease.site))
                busy = {*busy, *self.sites.barred()}
                continue
            put_back += 1
            self.counts["frontier/put_back"] += 1
            payload = encode(now, tries=lease.tries, scored_at=self._done)
            self._put_back(lease, now.score, payload)
        return None

    def _put_back(self, lease: Lease, score: Score, payload: bytes) -> None:
        """Make a leased URL pending again, with a score that may be lower."""
        self._offered.drop(lease.url)
        self.store.release(lease.url, done=False, score=score, payload=payload)

    def _unified(self, link: Link) -> Link:
        """The link in the form that its host is known to answer in."""
        url = self._forms.unified(link.url)
        return link if url == link.url else replace(link, url=url)

    def _save_forms(self) -> None:
        self.store.save("forms", msgspec.json.encode(self._forms.state()))

    def fetched(
        self, lease: Lease, page: PageFacts | None, *, size: int = 0, seconds: float = 0
    ) -> None:
        """Mark a URL as done; its page, if one came, may raise others.

        `size` (bytes), `seconds`: of the answer, for the budget of its site.
        """
        forms, cost = self._forms, Cost(size, round(seconds, 3))
        if forms.answered(lease.url) if page else forms.failed(lease.url):
            self._save_forms()
        lang = page.lang if page else None
        self._release(lease, Outcome.PAGE if page else Outcome.NO_PAGE, lang, cost)
        self.sites.expect(lease.site, min(lease.score, 1.0))
        self._spend(lease.site, lang, cost)
        self._learned.page_done()
        if self._learner:
            self.push(self._learner.fetched(lease.link, page))

    def forbidden(self, lease: Lease) -> None:
        """Mark a URL that robots.txt forbids as done; it has cost its site nothing."""
        self.counts["frontier/refused/robots"] += 1
        self._release(lease, Outcome.FORBIDDEN)
        if self._learner:
            self.push(self._learner.fetched(lease.link, None))

    def postponed(self, lease: Lease) -> None:
        """Leave a URL that gave no answer to the next session."""
        self.counts["frontier/postponed"] += 1
        self.store.postpone(lease.url)
        if self._learner:
            self.push(self._learner.fetched(lease.link, None))

    def _spend(self, site: Site, lang: Lang | None, cost: Cost = _FREE) -> None:
        """Count an answer for the budgets of its site and of the run."""
        self.sites.fetched(site, lang, cost.size, cost.seconds)
        self.store.tally({"pages": 1, "bytes": cost.size})
        self._judged(self.sites.groups.members(site))

    def _judged(self, sites: Iterable[Site]) -> None:
        """Tell other workers which sites are closed and which rest."""
        for site in sites:
            if site in self.sites.closed:
                self.workers.close_site(site)
            else:
                self.workers.set_resting(site, site in self.sites.resting)

    def _release(
        self,
        lease: Lease,
        outcome: Outcome,
        lang: Lang | None = None,
        cost: Cost = _FREE,
    ) -> None:
        wanted = self.sites.budget.bytes or self.sites.budget.seconds
        payload = encode(
            lease.scored,
            tries=lease.tries,
            scored_at=lease.scored_at,
            outcome=outcome,
            lang=lang,
            cost=cost if wanted else None,
        )
        self._done += 1
        self.store.release(lease.url, done=True, payload=payload)

    def paired(self, pairs: Sequence[PairScore]) -> None:
        """Take the aligner's accepted pairs, for the order to learn from."""
        for pair in pairs:
            self.sites.paired(site_of(pair.src_url))
        if self._learner and pairs:
            self.push(self._learner.paired(pairs))

    def questions(self, lease: Lease) -> Sequence[tuple[str, str]]:
        """Pairs of URLs that the order wants to have compared with this page's."""
        return self._learner.questions(lease.url) if self._learner else ()

    def judged(self, verdicts: Sequence[PairVerdict]) -> None:
        """Take the answers to `questions`."""
        if self._learner and verdicts:
            self.push(self._learner.judged(verdicts))

    def retry(self, lease: Lease, *, max_tries: int) -> bool:
        """Put a failed URL back, behind its equals, unless it has had its tries."""
        tries = lease.tries + 1
        if tries >= max_tries:
            return False
        # half: what failed once fails often, and others wait
        payload = encode(lease.scored, tries=tries, scored_at=lease.scored_at)
        self._put_back(lease, min(lease.score, 1.0) / 2, payload)
        self._dry = False
        return True

    def commit(self) -> None:
        """Make everything so far survive a kill."""
        self._learned.step(self.sites, self.counts["frontier/added"])
        self.snowball.save(self.store)
        self.store.commit()

    def restore(self) -> None:
        """After a restart: let the scorer go on from what was saved and is known."""
        load, decode = self.store.load, msgspec.json.decode
        self.sites.groups = SiteGroups.known(decode(load("groups") or b"[]"))
        self.snowball.restore(load("snowball"), self.sites)
        self.sites.restore(decode(load("sites") or b"{}"))
        self._forms.restore(decode(load("forms") or b"{}"))
        if self._learner:
            for members in self.sites.groups.groups():
                self._learner.joined(members)
        self._restore_sites(self.store.sites(), self._learned.parts())
        for members in self.sites.groups.groups():
            self.scope.join(members)
        self._judged(self.sites.barred())
        self._taken_over += self.workers.take_adopted()

    def _restore_sites(
        self, sites: Iterable[Site], learned: Iterable[bytes] = ()
    ) -> None:
        """Go on with sites from what the store knows of them."""
        known = self._recall(sites)
        if self._learner:
            self._learner.restore(learned, known)
        deque(known, maxlen=0)  # whatever a scorer leaves

    def _adopt(self) -> bool:
        """Go on with sites that a pop brought from another worker; False if none."""
        if sites := self.workers.take_adopted():
            self._offered.clear()  # it may have lowered scores, or lost what it had
            self._restore_sites(sites)
            self._judged(sites)
            self._taken_over += sites
        return bool(sites)

    def taken_over(self) -> Sequence[Site]:
        """Sites that became ours since this was last asked, from another worker."""
        sites, self._taken_over = self._taken_over, []
        return sites

    def _recall(self, sites: Iterable[Site]) -> Iterator[KnownUrl]:
        """Every known URL; scope, schemes and budgets are restored on the way."""
        for site in sites:
            spent = Spent()
            for stored in self.store.scan(site):
                known, cost = known_of(stored)
                url = known.link.url
                if known.link.is_seed:  # also where a seed had moved to
                    self.scope.extend(url)
                if known.outcome == Outcome.PAGE:
                    self._forms.answered(url)
                if known.outcome is not None and known.outcome not in _WITHOUT_REQUEST:
                    cost = cost or _FREE
                    spent += self.sites.cost(known.lang, cost.size, cost.seconds)
                yield known
            self.sites.recall(site, spent)

    def close(self, *, commit: bool = True) -> None:
        """Save what was learned and give the storage back.

        `commit=False`: without what was done since the last commit.
        """
        if commit:
            self._learned.save(self.sites)
            self.snowball.save(self.store, least=1)
        self.store.close(commit=commit)
