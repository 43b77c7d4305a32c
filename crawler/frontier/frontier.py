"""The frontier: what is known, what comes next, and what the order learns.

Plain Python over a FrontierStore and a UrlScorer, so that the live crawl, a replayed
one and a simulation on a recorded link graph all follow the same order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crawler.data import (
    Document,
    FrontierEntry,
    KnownUrl,
    Lang,
    Link,
    PairScore,
    Score,
    ScoredUrl,
    Site,
)
from crawler.errors import FrontierError
from crawler.frontier.scope import Scope
from crawler.frontier.site_yield import RunBudget, SiteYield, Spent
from crawler.groups import SiteGroups
from crawler.protocols import FrontierStore, LearningScorer, PushCounts, UrlScorer
from crawler.switchers import declared_language
from crawler.urls import host_of, site_of

# Seeds come first whatever they score; links score in [0, 1].
SEED_SCORE = 10.0
# A popped URL whose score fell is put back, unless it fell by less than this: putting
# back costs a store round trip and changes nothing that matters.
MIN_FALL = 0.01
# What the scorer learned is saved when the pages since then are this share of the known
# URLs, so that saving costs the same for each page however large the crawl is. A kill
# costs it the last of what it learned, and nothing of what was found.
SAVE_SHARE = 0.2
MIN_SAVE = 200  # pages
# URLs that need no look into the store when they are linked again: 10 MB.
REMEMBERED = 50_000
# How many fallen URLs are put back before one is taken anyway.
MAX_PUT_BACK = 50
# What came of a done URL, if not a page in a known language: a page in none, an error,
# a redirect; or it was not fetched, as not worth it or not allowed.
NO_LANGUAGE, NO_PAGE, MOVED, GIVEN_UP, FORBIDDEN = "?", "-", "->", "=", "x"


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL that is being fetched."""

    link: Link
    site: Site
    score: float
    evidence: Mapping[str, float]
    tries: int  # how often it failed before
    scored_at: int = 0  # how many URLs were done when it got its score

    @property
    def url(self) -> str:
        """The URL to fetch."""
        return self.link.url


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
        counts: Counter[str] | None = None,
    ) -> None:
        """`max_depth`: clicks from the nearest seed, 0 for no limit."""
        self.store = store
        self.scorer = scorer
        self.scope = scope
        self.max_depth = max_depth
        self.sites = sites if sites is not None else SiteYield()
        self.budget = budget or RunBudget()
        self.counts = counts if counts is not None else Counter()
        self._learner = scorer if isinstance(scorer, LearningScorer) else None
        # host → http or https, whichever gave a page first. A site links to itself by
        # both, and fetching everything twice would be half of the bandwidth.
        self._schemes: dict[str, str] = {}
        self._unsaved = 0  # pages since the scorer's state was saved
        self._saving: Iterator[str] | None = None  # what is being saved, part by part
        self._done = store.counts()["done"]
        self._dry = False  # what is pending belongs to sites that are closed
        self._taken_over: list[Site] = []
        # URL → the best score that the store was given for it, as long as that stands
        self._offered: dict[str, Score] = {}

    def __len__(self) -> int:
        return len(self.store)

    @property
    def has_open(self) -> bool:
        """Is anything pending that may still be fetched, here or by another worker?"""
        if self._is_spent():
            return False
        return (len(self.store) > 0 and not self._dry) or self.store.elsewhere()

    # ---------------------------------------------------------------- in

    def seed(self, urls: Iterable[str]) -> PushCounts:
        """Put seeds in, ahead of everything; their site, host or path is in scope."""
        scored = []
        for url in urls:
            self.scope.extend(url)
            scored.append(ScoredUrl(Link(url, is_seed=True), SEED_SCORE))
        return self.push(scored)

    def found(self, source: Document, links: Sequence[Link]) -> PushCounts:
        """Score the links of a page as one batch and keep the new and the better."""
        kept = []
        links = list(map(self._unified, links))
        for link in links:
            if site_of(link.url) != source.site:
                self._hear(source, link)
        for link in links:
            refusal = self.refusal(link)
            if refusal:
                self.counts[f"frontier/refused/{refusal}"] += 1
            else:
                kept.append(link)
        return self.push(self.scorer.score(source, kept)) if kept else PushCounts()

    def _hear(self, source: Document, link: Link) -> None:
        """A link to another site: does it say that the two sites are one?"""
        langs, lang = self.sites.langs, source.lang
        if langs is None or lang is None or lang not in langs:
            return
        declared = declared_language(link, langs)
        if (
            declared == langs.other(lang)
            and source.url in self.scope
            and self.sites.groups.declare(source.url, link.url)
        ):
            self.counts["frontier/joined"] += 1
            self._joined(source.site)
            self.store.save("groups", _json(self.sites.groups.groups()))

    def _joined(self, site: Site) -> None:
        """The site has become one of a group: they share scope, budget and beliefs."""
        members = self.sites.groups.members(site)
        self.scope.join(members)
        self.sites.joined(site)
        if self._learner:
            self._learner.joined(members)

    def refusal(self, link: Link) -> str | None:
        """Why a link is not to be crawled; None: it may be."""
        if self.max_depth and link.depth > self.max_depth:
            return "depth"
        return self.scope.refusal(link.url)

    def push(self, scored: Sequence[ScoredUrl]) -> PushCounts:
        """Keep URLs that are scored already (redirect targets, raised links)."""
        if self._learner:
            scored = [item for item in scored if not self._is_given_up(item)]
        fresh = [item for item in scored if not self._is_known(item)]
        counts = self.store.push([self._entry(item) for item in fresh])
        ignored = counts.ignored + len(scored) - len(fresh)
        counts = replace(counts, ignored=ignored)
        self._remember(fresh)
        self._dry = self._dry and not counts.added
        self.counts["frontier/added"] += counts.added
        self.counts["frontier/raised"] += counts.raised
        self.counts["frontier/ignored"] += counts.ignored
        return counts

    def _is_known(self, scored: ScoredUrl) -> bool:
        """Would the store ignore it? Most links of a page are its site's menu."""
        return scored.score <= self._offered.get(scored.link.url, -1.0)

    def _remember(self, offered: Iterable[ScoredUrl]) -> None:
        if len(self._offered) > REMEMBERED:
            self._offered.clear()
        for item in offered:
            known = self._offered.get(item.link.url, item.score)
            self._offered[item.link.url] = max(known, item.score)

    def _is_given_up(self, scored: ScoredUrl) -> bool:
        """Is a URL worth nothing? The scorer says why, as its only evidence."""
        if scored.score > 0.0:
            return False
        self.counts[f"frontier/refused/trap/{next(iter(scored.evidence))}"] += 1
        return True

    def _entry(self, scored: ScoredUrl) -> FrontierEntry:
        link = scored.link
        payload = _payload(scored, 0, self._done)
        return FrontierEntry(
            link.url, site_of(link.url), scored.score, link.depth, payload
        )

    def redirected(self, lease: Lease, location: str) -> Link:
        """A redirect is a page with one link, worth what the page was worth.

        A seed may lead out of the scope (example.com → www.example.org), which then
        grows; a move to https holds for the whole host.
        """
        link = replace(lease.link, url=location)
        scheme, _, rest = location.partition("://")
        if rest == lease.url.partition("://")[2]:
            self._schemes[host_of(location)] = scheme
        if link.is_seed:
            self.scope.extend(location)
        self._release(lease, MOVED)
        self._spend(lease.site, None)
        refusal = self.refusal(link)
        if refusal:
            self.counts[f"frontier/refused/{refusal}"] += 1
        else:
            if self._learner:
                self._learner.redirected(lease.url, link)
            self.push([ScoredUrl(link, lease.score, lease.evidence)])
        return link

    # --------------------------------------------------------------- out

    def next(self, busy: Collection[Site] = ()) -> Lease | None:
        """Lease the best URL of a site that is not busy.

        Sites that rest are asked when nothing else is left, here or at another worker;
        closed ones never.
        """
        if self._is_spent():
            return None
        lease = self._next(busy)
        if lease is None and not busy and not self.store.elsewhere(awake=True):
            if woken := self.sites.wake():
                self._judged(woken)
                lease = self._next(busy)
            self._dry = lease is None
        elif lease is not None:
            self._dry = False  # a site that another worker had may be ours now
        return lease

    def holds(self, lease: Lease) -> bool:
        """Is a lease that had to wait still ours?"""
        return self.store.holds(lease.url)

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
                self.push([ScoredUrl(unified, lease.score, lease.evidence)])
                continue
            if self._learner is None or lease.link.is_seed or put_back == MAX_PUT_BACK:
                return lease
            was = ScoredUrl(lease.link, lease.score, lease.evidence)
            now = self._learner.current(was)
            if self._is_given_up(now):
                lease = replace(lease, score=now.score, evidence=now.evidence)
                self._release(lease, GIVEN_UP)
                continue
            if now.score >= lease.score - MIN_FALL:
                return lease
            put_back += 1
            self.counts["frontier/put_back"] += 1
            payload = _payload(now, lease.tries, self._done)
            self._put_back(lease, now.score, payload)
        return None

    def _put_back(self, lease: Lease, score: Score, payload: bytes) -> None:
        """Make a leased URL pending again, with a score that may be lower."""
        self._offered.pop(lease.url, None)
        self.store.release(lease.url, done=False, score=score, payload=payload)

    def _unified(self, link: Link) -> Link:
        """The link with the scheme that its host is known to answer to."""
        scheme, _, rest = link.url.partition("://")
        known = self._schemes.get(host_of(link.url))
        if known is None or known == scheme:
            return link
        return replace(link, url=f"{known}://{rest}")

    def fetched(
        self,
        lease: Lease,
        document: Document | None,
        *,
        size: int = 0,
        seconds: float = 0.0,
    ) -> None:
        """A URL is done; its document, if it is one, may raise others.

        `size`, `seconds`: of the answer, for the budget of its site.
        """
        lang = None
        if document is not None:
            lang = document.lang
            scheme = lease.url.partition("://")[0]
            self._schemes.setdefault(host_of(lease.url), scheme)
        outcome = (lang or NO_LANGUAGE) if document else NO_PAGE
        self._release(lease, outcome, size, seconds)
        self._spend(lease.site, lang, size, seconds)
        self._unsaved += 1
        if self._learner:
            self.push(self._learner.fetched(lease.link, document))

    def forbidden(self, lease: Lease) -> None:
        """robots.txt forbids a URL: it is done, and has cost its site nothing."""
        self.counts["frontier/refused/robots"] += 1
        self._release(lease, FORBIDDEN)
        if self._learner:
            self.push(self._learner.fetched(lease.link, None))

    def postponed(self, lease: Lease) -> None:
        """A URL gave no answer: the next session tries it again."""
        self.counts["frontier/postponed"] += 1
        self.store.postpone(lease.url)
        if self._learner:
            self.push(self._learner.fetched(lease.link, None))

    def _spend(
        self, site: Site, lang: Lang | None, size: int = 0, seconds: float = 0.0
    ) -> None:
        """Count an answer for the budgets of its site and of the run."""
        self.sites.fetched(site, lang, size, seconds)
        self.store.tally({"pages": 1, "bytes": size})
        self._judged(self.sites.groups.members(site))

    def _judged(self, sites: Iterable[Site]) -> None:
        """Tell the store what is to be had of sites, as other workers ask it."""
        for site in sites:
            if site in self.sites.closed:
                self.store.retire(site)
            else:
                self.store.rest(site, site in self.sites.resting)

    def _is_spent(self) -> bool:
        """Has the run, all its workers, cost what it may, with what is on its way?"""
        if not (self.budget.pages or self.budget.bytes):
            return False
        cost = self.store.tally({"pages": 0, "bytes": 0})
        pages = cost["pages"] + self.store.counts()["leased"]
        return 0 < self.budget.pages <= pages or 0 < self.budget.bytes <= cost["bytes"]

    def _release(
        self, lease: Lease, outcome: str, size: int = 0, seconds: float = 0.0
    ) -> None:
        scored = ScoredUrl(lease.link, lease.score, lease.evidence)
        limits = self.sites.budget
        cost = (size, round(seconds, 1)) if limits.bytes or limits.seconds else None
        payload = _payload(scored, lease.tries, lease.scored_at, outcome, cost)
        self.store.release(lease.url, done=True, payload=payload)
        self._done += 1

    def paired(self, pairs: Sequence[PairScore]) -> None:
        """Pairs were accepted by the aligner: the one backward edge."""
        if self._learner and pairs:
            self.push(self._learner.paired(pairs))

    def retry(self, lease: Lease, *, max_tries: int) -> bool:
        """Put a failed URL back, behind its equals, unless it has had its tries."""
        tries = lease.tries + 1
        scored = ScoredUrl(lease.link, lease.score, lease.evidence)
        if tries >= max_tries:
            return False
        # half: what failed once fails often, and others wait
        score = min(lease.score, 1.0) / 2
        payload = _payload(scored, tries, lease.scored_at)
        self._put_back(lease, score, payload)
        self._dry = False
        return True

    # ------------------------------------------------------------- state

    def commit(self) -> None:
        """Make everything so far survive a kill."""
        if self._saving is None:
            share = SAVE_SHARE * self.counts["frontier/added"]
            if self._unsaved >= max(MIN_SAVE, share):
                self._saving = self._save_learned()
        elif next(self._saving, None) is None:
            self._saving = None
        self.store.commit()

    def _save_learned(self) -> Iterator[str]:
        """Save what was learned in parts: all at once stops a crawl for seconds.

        Until the last part is there, what was saved before stands.
        """
        self._unsaved = 0
        self.store.save("sites", _json(self.sites.state()))
        names: list[str] = []
        turn = "b" if self._saved_parts()[:1] == [self._part("a", 0)] else "a"
        for number, part in enumerate(self._learner.state() if self._learner else ()):
            names.append(self._part(turn, number))
            self.store.save(names[-1], part)
            yield names[-1]
        self.store.save("scorer", _json(names))

    def _part(self, turn: str, number: int) -> str:
        """The name of a part; two turns, so that one is whole."""
        return f"scorer/{self.store.worker}/{turn}/{number}"

    def _saved_parts(self) -> list[str]:
        """The names under which the parts of what was learned are saved."""
        try:
            names = json.loads(self.store.load("scorer") or b"[]")
        except ValueError as error:
            raise FrontierError(
                "what the scorer had learned was written by another version (crawl into"
                " a new RUN_DIR)"
            ) from error
        return list(map(str, names))

    def restore(self) -> None:
        """After a restart: let the scorer go on from what was saved and is known."""
        self.sites.groups = SiteGroups(json.loads(self.store.load("groups") or b"[]"))
        self.sites.restore(json.loads(self.store.load("sites") or b"{}"))
        known = self._recall(self.store.sites())
        if self._learner:
            for members in self.sites.groups.groups():
                self._learner.joined(members)
            saved = (self.store.load(name) or b"" for name in self._saved_parts())
            self._learner.restore(saved, known)
        for _ in known:  # whatever a scorer leaves
            pass
        for members in self.sites.groups.groups():
            self.scope.join(members)
        self._judged(self.sites.barred())
        self._taken_over += self.store.adopted()

    def _adopt(self) -> bool:
        """A pop may bring sites that another worker had: go on from what it knew."""
        sites = self.store.adopted()
        if sites:
            self._offered.clear()  # it may have lowered scores, or lost what it had
            known = self._recall(sites)
            if self._learner:
                self._learner.restore((), known)
            for _ in known:
                pass
            self._judged(sites)
            self._taken_over += sites
        return bool(sites)

    def taken_over(self) -> Sequence[Site]:
        """Sites that became ours since this was last asked, from another worker."""
        sites, self._taken_over = self._taken_over, []
        return sites

    def _recall(self, sites: Iterable[Site]) -> Iterator[KnownUrl]:
        """Every known URL; on the way, what they say of scope, schemes and budgets."""
        for site in sites:
            spent = Spent()
            for known in self.store.scan(site):
                url = known.entry.url
                if link_of(known.entry).is_seed:  # also where a seed had moved to
                    self.scope.extend(url)
                if (
                    known.state == "done"
                    and outcome_of(known.entry) not in _NOT_FETCHED
                ):
                    self._schemes.setdefault(host_of(url), url.partition("://")[0])
                if known.state == "done":
                    spent += self._cost_of(known.entry)
                yield known
            self.sites.recall(site, spent)

    def _cost_of(self, entry: FrontierEntry) -> Spent:
        """What a done URL has cost its site."""
        outcome = outcome_of(entry)
        if outcome in (None, GIVEN_UP, FORBIDDEN):
            return Spent()
        size, seconds = _read(entry.payload).get("c", (0, 0.0))
        return self.sites.cost(outcome, size, seconds)

    def close(self) -> None:
        """Save what was learned and give the storage back."""
        for _ in self._save_learned():
            pass
        self.store.close()


# json.dumps makes one of these at each call, which takes longer than the encoding
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _payload(
    scored: ScoredUrl,
    tries: int,
    scored_at: int,
    outcome: str | None = None,
    cost: tuple[int, float] | None = None,
) -> bytes:
    """The link and its evidence as small JSON; what is empty is left out."""
    link = scored.link
    data: dict[str, Any] = {"d": link.depth, "n": scored_at}
    if link.source_url:
        data["s"] = link.source_url
    if link.anchor:
        data["a"] = link.anchor
    if link.hreflang:
        data["l"] = link.hreflang
    if link.rel:
        data["r"] = link.rel
    if link.is_seed:
        data["seed"] = 1
    if scored.evidence:
        data["e"] = {name: round(value, 4) for name, value in scored.evidence.items()}
    if tries:
        data["t"] = tries
    if outcome is not None:
        data["o"] = outcome
    if cost is not None:
        data["c"] = cost
    return _ENCODER.encode(data).encode("utf-8", "surrogatepass")


def _json(data: Any) -> bytes:  # whatever JSON can say
    return _ENCODER.encode(data).encode("utf-8", "surrogatepass")


def link_of(entry: FrontierEntry) -> Link:
    """The link that an entry was made of."""
    return _link(entry, _read(entry.payload))


def _link(entry: FrontierEntry, data: Mapping[str, Any]) -> Link:
    return Link(
        entry.url,
        data.get("s"),
        data.get("a", ""),
        data.get("l"),
        data.get("r", ""),
        entry.depth,
        is_seed=bool(data.get("seed")),
    )


# None: a URL that is done since its host turned out to answer to the other scheme.
_NOT_FETCHED = (None, NO_PAGE, MOVED, GIVEN_UP, FORBIDDEN)


def outcome_of(entry: FrontierEntry) -> str | None:
    """What came of a done URL: its language, or one of the constants above."""
    outcome: str | None = _read(entry.payload).get("o")
    return outcome


def lease_of(entry: FrontierEntry) -> Lease:
    """The link, the score and the evidence of an entry."""
    data = _read(entry.payload)
    return Lease(
        _link(entry, data),
        entry.site,
        entry.score,
        data.get("e", {}),
        data.get("t", 0),
        data.get("n", 0),
    )


def _read(payload: bytes) -> dict[str, Any]:
    if not payload:
        return {}
    data = json.loads(payload.decode("utf-8", "surrogatepass"))
    return data if isinstance(data, dict) else {}
