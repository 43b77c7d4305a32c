"""What each site has cost and given: scouts, budgets, and who has to wait.

With thousands of sites most have nothing to give. A site is scouted first; one whose
pages show no two languages of a wanted pair rests until the other sites have
nothing left. linguacrawl does likewise, but never gives up a site without a page
of the pair (docs/sources.md#other-crawlers-and-readers); here it is given up too, and
comes back when there is time. Sites on several domains that are one
(`crawler.groups`) have one budget.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Self

from crawler.data import Lang, Site
from crawler.groups import SiteGroups
from crawler.protocols import FrontierStore
from crawler.wanted import WantedPairs

# How much of the last pages' promises is kept with each request: the last 50 count.
_KEPT = 0.98
# Pairs, expected and found, that are supposed before a site has shown any.
_PRIOR = 5.0
# Pages of a site before it may end: as many as scout it.
_LOOK = 30


@dataclass(frozen=True, slots=True)
class SiteBudget:
    """What one site may cost; 0: no limit."""

    pages: int = 0
    bytes: int = 0
    seconds: float = 0.0  # that its server took to answer
    # Pages after which a site without a page in both languages of a pair rests; again
    # after each such portion when it comes back.
    scout: int = 0
    # Requests that the next pair may cost; a site whose best URL promises less ends.
    stop_when: float = 0.0
    # Pages in which a site on trial has to give a pair, or is closed; 0: no trial.
    trial: int = 0


@dataclass(frozen=True, slots=True)
class RunBudget:
    """What the whole run may cost, all its workers together; 0: no limit."""

    pages: int = 0
    bytes: int = 0

    def is_spent(self, store: FrontierStore) -> bool:
        """Whether all workers have cost what they may."""
        if not (self.pages or self.bytes):
            return False
        cost = store.tally({"pages": 0, "bytes": 0})
        pages = cost["pages"] + store.counts()["leased"]
        return 0 < self.pages <= pages or 0 < self.bytes <= cost["bytes"]


@dataclass(slots=True)
class Spent:
    """What a site has cost and shown."""

    pages: int = 0
    bytes: int = 0
    seconds: float = 0.0
    langs: frozenset[Lang] = frozenset()  # wanted ones that it has shown
    woken: int = 0  # how often it came back from resting
    # Pairs that its last pages were expected to give, and those that were found.
    expected: float = 0.0
    pairs: float = 0.0

    def __iadd__(self, other: Spent) -> Self:
        self.pages += other.pages
        self.bytes += other.bytes
        self.seconds += other.seconds
        self.langs |= other.langs
        self.woken += other.woken
        self.expected += other.expected
        self.pairs += other.pairs
        return self


@dataclass(slots=True)
class SiteYield:
    """Counts per site, and which sites are not to be asked now."""

    langs: WantedPairs | None = None  # None: no scouting
    budget: SiteBudget = field(default_factory=SiteBudget)
    groups: SiteGroups = field(default_factory=SiteGroups)
    spent: dict[Site, Spent] = field(default_factory=dict)
    # Sites that used up their budget, and those that wait until others are done.
    closed: set[Site] = field(default_factory=set)
    resting: set[Site] = field(default_factory=set)
    # Sites that had to prove themselves, and those that have given a pair.
    trials: set[Site] = field(default_factory=set)
    good: set[Site] = field(default_factory=set)

    def fetched(
        self, site: Site, lang: Lang | None, size: int = 0, seconds: float = 0.0
    ) -> None:
        """Count an answer: bytes of its body, seconds that it took."""
        self.spent.setdefault(site, Spent())
        self.spent[site] += self.cost(lang, size, seconds)
        self._judge(site)

    def cost(self, lang: Lang | None, size: int = 0, seconds: float = 0.0) -> Spent:
        """What one answer costs and shows."""
        if self.langs is None:
            return Spent(1, size, seconds)
        shown = frozenset((lang,)) if lang and lang in self.langs else frozenset()
        return Spent(1, size, seconds, shown)

    def recall(self, site: Site, spent: Spent) -> None:
        """What a site has cost, by its URLs: they know better than what was saved."""
        saved = self.spent.get(site, Spent())
        spent.woken = saved.woken
        spent.expected, spent.pairs = saved.expected, saved.pairs
        self.spent[site] = spent
        self._judge(site)

    def _judge(self, site: Site) -> None:
        members = self.groups.members(site)
        spent = self._together(members)
        if self._over_budget(spent) or self._has_failed(members, spent):
            self.closed.update(members)
        elif self._hopeless(spent):
            self.resting.update(members)
        else:
            self.resting.difference_update(members)

    def _together(self, members: Collection[Site]) -> Spent:
        spent = Spent()
        for member in members:
            spent += self.spent.get(member, Spent())
        return spent

    def expect(self, site: Site, score: float) -> None:
        """Count what a request was expected to give."""
        spent = self.spent.setdefault(site, Spent())
        spent.expected = _KEPT * spent.expected + score
        spent.pairs *= _KEPT

    def paired(self, site: Site) -> None:
        """Count a pair that was found."""
        self.spent.setdefault(site, Spent()).pairs += 1
        members = self.groups.members(site)
        if self.trials.intersection(members) and not self.good.intersection(members):
            self.closed.difference_update(members)  # the pair came after the last page
        self.good.update(members)
        self._judge(site)

    def is_on_trial(self, site: Site) -> bool:
        """Whether a site has still to give its first pair."""
        return site in self.trials - self.good - self.closed

    def _has_failed(self, members: Collection[Site], spent: Spent) -> bool:
        trial = self.budget.trial
        return (
            0 < trial <= spent.pages
            and not self.trials.isdisjoint(members)
            and self.good.isdisjoint(members)
        )

    def next_pair_costs(self, site: Site, score: float) -> float:
        """The requests for the next pair, where the best URL of a site has this score.

        A score is an expected number of pairs; it is corrected by what the last pages
        gave of what was expected of them. 0: the site has shown too little.
        """
        spent = self._together(self.groups.members(site))
        if spent.pages < _LOOK:
            return 0.0
        promised = score * (spent.pairs + _PRIOR) / (spent.expected + _PRIOR)
        return 1 / promised if promised > 0 else math.inf

    def ends(self, site: Site, score: float) -> bool:
        """Close a site (and its group) whose next pair costs too much."""
        most = self.budget.stop_when
        if not most or self.next_pair_costs(site, score) <= most:
            return False
        self.closed.update(self.groups.members(site))
        return True

    def joined(self, site: Site) -> None:
        """The site has become one of a group: what its sites have cost is added up."""
        self._judge(site)

    def _over_budget(self, spent: Spent) -> bool:
        limits = self.budget.pages, self.budget.bytes, self.budget.seconds
        used = spent.pages, spent.bytes, spent.seconds
        return any(0 < limit <= value for limit, value in zip(limits, used))

    def _hopeless(self, spent: Spent) -> bool:
        scout = self.budget.scout
        if not scout or self.langs is None or self.langs.among(spent.langs):
            return False
        return spent.pages >= scout * (1 + spent.woken)

    def barred(self) -> Collection[Site]:
        """The sites that are not to be asked."""
        return self.closed | self.resting if self.closed or self.resting else ()

    def wake(self) -> Collection[Site]:
        """Nothing else is left: the resting sites get another portion each."""
        woken = frozenset(self.resting)
        for site in {self.groups.of(site) for site in woken}:
            self.spent.setdefault(site, Spent()).woken += 1
        self.resting.clear()
        return woken

    def state(self) -> dict[Site, dict[str, Any]]:
        """The counts, as plain data."""
        return {
            site: {name: getattr(spent, name) for name in Spent.__slots__}
            | {"langs": sorted(spent.langs)}
            for site, spent in self.spent.items()
        }

    def restore(self, state: dict[Site, dict[str, Any]]) -> None:
        """Take counts from `state()`."""
        for site, values in state.items():
            known = {k: v for k, v in values.items() if k in Spent.__slots__}
            langs = frozenset(known.pop("langs", ()))
            self.spent[site] = Spent(**known, langs=langs)
            if self.spent[site].pairs:
                self.good.add(site)
        for site in state:  # all first: groups are judged by what they cost together
            self._judge(site)
