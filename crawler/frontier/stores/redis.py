"""The shared frontier: sites are leased to workers, and Redis keeps their journals.

A worker orders the URLs of its sites in memory, as `memory:` does, so politeness,
order and the embedded aligner stay in one place. What it changes goes to Redis at each
commit, one compressed batch a site; whoever owns a site next replays its journal.

Each time that a site is given away it gets a new number: what a worker writes that was
thought dead (`redis_lease.py`) bears an old one, is refused, and the worker lets the
site go.

URLs are those of `redis_connection.py`, with more in the query: `worker`, `lease`,
`pause`, `patience` (seconds) and `bloom`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Self

from crawler.data import FrontierEntry, Score, Site, StoredUrl
from crawler.errors import UsageError
from crawler.frontier.stores.bloom import BloomFilter
from crawler.frontier.stores.heap import refuse_nan
from crawler.frontier.stores.journal import (
    Event,
    batched,
    entries_of,
    pack,
    pushed,
    text_of,
    unpack,
)
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.frontier.stores.redis_connection import Connection
from crawler.frontier.stores.redis_lease import Claim, WorkerLease, ms
from crawler.frontier.stores.redis_site import OwnedSite
from crawler.protocols import PushCounts

_LOOK = 1.0  # seconds between two looks for sites that have become free
_SITES = 500  # in one call: it stops everyone else for some milliseconds
_OFFERED = 100_000  # URLs of others that we remember to have offered: 20 MB


class RedisFrontier:
    """A FrontierStore that several workers share (`redis://…`)."""

    def __init__(
        self, redis: Connection, lease: WorkerLease, bloom: BloomFilter | None
    ) -> None:
        """Take the lease of a worker; `bloom`: an empty filter for done URLs."""
        self._redis = redis
        self._lease = lease
        self._bloom = bloom
        self.run = redis.run
        self.worker = lease.worker
        self._local = MemoryFrontier()
        self._owned: dict[Site, OwnedSite] = {}
        self._dirty: dict[Site, None] = {}  # those with events, in order
        self._foreign: set[Site] = set()  # sites of other workers, as far as we know
        self._closed: set[Site] = set()
        self._resting: set[Site] = set()
        self._offers: dict[Site, dict[str, FrontierEntry]] = {}  # since the last commit
        self._offered: dict[str, Score] = {}
        self._leases: dict[str, Site] = {}
        self._adopted: list[Site] = []
        self._lost: set[str] = set()  # URLs in hand whose site was taken from us
        self._counters: Counter[str] = Counter()  # what was added since the last commit
        self._sums: dict[str, int] = {}  # of all workers, without that
        self._commits = 0
        self._looked = self._renewed = float("-inf")
        self._elsewhere = (0, 0, 0)  # open sites, pending and done URLs of others
        self._awake_elsewhere = 0  # of these sites

    @classmethod
    def open(cls, url: str) -> Self:
        """Connect; FrontierError if nobody answers, UsageError for a wrong URL."""
        redis = Connection.parse(url)
        try:
            bloom = redis.options.get("bloom")
            empty = BloomFilter(float(bloom)) if bloom else None
        except ValueError as error:
            raise UsageError(f"{redis.name}: bloom={bloom}: {error}") from error
        store = cls(redis, WorkerLease.begin(url, redis), empty)
        store._look(wanted=0)
        store._looked = float("-inf")  # the first pop takes what is free
        return store

    # ------------------------------------------------------------------- push

    def push(self, entries: Sequence[FrontierEntry]) -> PushCounts:
        """Add new URLs; raise pending ones whose score got better, payload included.

        What goes to a site of another worker counts as ignored: that one will know.
        """
        refuse_nan(entry.score for entry in entries)
        sites = dict.fromkeys(entry.site for entry in entries)
        known = (self._owned, self._foreign, self._closed)
        new = [site for site in sites if not any(site in group for group in known)]
        for some in batched(new, _SITES):
            self._foreign.update(some)
            self._take(self._lease.claim(0, *some, owned=self._owned).granted)
        added = raised = 0
        for entry in entries:
            owned = self._owned.get(entry.site)
            if owned is None:
                if entry.site not in self._closed:
                    self._offer(entry)
            elif not owned.has_forgotten(entry.url):
                counts = self._local.push([entry])
                if not counts.ignored:
                    self._note(entry.site, owned, pushed(entry))
                    added += counts.added
                    raised += counts.raised
        return PushCounts(added, raised, len(entries) - added - raised)

    def _offer(self, entry: FrontierEntry) -> None:
        """Keep what is for another worker until the next commit; once will do."""
        if self._offered.get(entry.url, float("-inf")) < entry.score:
            if len(self._offered) >= _OFFERED:
                self._offered.clear()
            self._offered[entry.url] = entry.score
            self._offers.setdefault(entry.site, {})[entry.url] = entry

    def _note(self, site: Site, owned: OwnedSite, event: Event) -> None:
        owned.events.append(event)
        self._dirty[site] = None

    # -------------------------------------------------------------------- pop

    def pop(self, busy: Collection[Site] = ()) -> FrontierEntry | None:
        """Lease the best pending URL of our sites that are not busy.

        Now and then, and when there is none, sites that are free become ours.
        """
        if time.monotonic() - self._looked >= _LOOK:
            self._share()
        entry = self._local.pop(busy)
        if entry is not None:
            self._leases[entry.url] = entry.site
            self._owned[entry.site].asked = True
        return entry

    def release(
        self,
        url: str,
        *,
        done: bool,
        score: Score | None = None,
        payload: bytes | None = None,
    ) -> None:
        """End a lease: done for good, or pending again; ValueError if there is none."""
        if score is not None:
            refuse_nan([score])
        if url in self._lost:  # another worker will fetch it, or has
            self._lost.discard(url)
            return
        self._local.release(url, done=done, score=score, payload=payload)
        site = self._leases.pop(url)
        owned = self._owned[site]
        kind = "d" if done else "b"
        self._note(site, owned, (kind, url, score, text_of(payload)))

    def postpone(self, url: str) -> None:
        """Do nothing: `close` makes it pending again, or whoever gets the site."""

    def holds(self, url: str) -> bool:
        """Is a URL still leased to this worker, or was its site taken from us?"""
        if time.monotonic() - self._looked >= _LOOK:
            self._share()
        return url in self._leases

    # ------------------------------------------------- sites, scan, save, load

    def sites(self) -> Sequence[Site]:
        """Our sites, in the order in which workers first heard of them."""
        return tuple(sorted(self._owned, key=lambda site: self._owned[site].place))

    def scan(self, site: Site) -> Iterator[StoredUrl]:
        """Every URL of one of our sites, in the order of first pushes.

        With `bloom`, some that are done are not known by name any more.
        """
        return self._local.scan(site)

    def close_site(self, site: Site) -> None:
        """Mark a site of which nothing more is wanted: no worker waits for it."""
        self._closed.add(site)
        if site in self._owned:
            self._dirty[site] = None

    def set_resting(self, site: Site, resting: bool) -> None:
        """A site waits until nothing else is open at any worker, or does no more."""
        if resting != (site in self._resting):
            self._resting ^= {site}
            if site in self._owned:
                self._dirty[site] = None

    def save(self, name: str, value: bytes) -> None:
        """Keep a small value, for this worker and for whoever starts next."""
        values = {f"{self.worker}/{name}": value, name: value}
        key = self._redis.prefix + "values"
        self._redis.ask(lambda client: client.hset(key, mapping=values))

    def load(self, name: str) -> bytes | None:
        """The value that this worker saved under a name, or else the last one did."""
        names = [f"{self.worker}/{name}", name]
        key = self._redis.prefix + "values"
        found = self._redis.ask(lambda client: client.hmget(key, names))
        return next((value for value in found if value is not None), None)

    def tally(self, amounts: Mapping[str, int]) -> Mapping[str, int]:
        """Add to the run's counters; their sums, of all workers as last heard of."""
        self._counters.update(amounts)
        return {name: self._sums.get(name, 0) + n for name, n in self._counters.items()}

    def counts(self) -> Mapping[str, int]:
        """How many URLs are `pending`, `leased` and `done`, of all workers."""
        ours = self._local.counts()
        forgotten = sum(owned.forgotten for owned in self._owned.values())
        _, pending, done = self._elsewhere
        return {
            "pending": ours["pending"] + pending,
            "leased": ours["leased"],
            "done": ours["done"] + forgotten + done,
        }

    def __len__(self) -> int:
        """Pending URLs, of all workers as last heard of."""
        return len(self._local) + self._elsewhere[1]

    def take_adopted(self) -> Sequence[Site]:
        """Sites with a past that became ours since this was last asked."""
        adopted, self._adopted = self._adopted, []
        return [site for site in adopted if site in self._owned]

    def open_elsewhere(self, *, awake: bool = False) -> bool:
        """Has another worker, or nobody yet, a site that is not exhausted?

        `awake`: one that does not rest.
        """
        return (self._awake_elsewhere if awake else self._elsewhere[0]) > 0

    # ----------------------------------------------------------------- commit

    def commit(self) -> None:
        """Everything so far is in Redis, one batch a site."""
        if self._dirty or self._counters.total():
            self._write(list(self._dirty))
        for some in batched(self._offers.items(), _SITES):
            args = []
            for site, theirs in some:
                best = max(entry.score for entry in theirs.values())
                args += [site, pack(map(pushed, theirs.values())), best]
            keys = ("id", "sites", "free", "owners", "resting")
            self._redis.call("offer", keys, self._lease.id, self._redis.prefix, *args)
        self._offers.clear()

    def close(self, *, commit: bool = True) -> None:
        """Let all sites go; `commit=False`: as they were at the last commit.

        Leased URLs will be pending again.
        """
        if commit:
            self._let_all_go()
            self._lease.end()
        else:  # the sites are somebody's again when our lease has run out
            self._lease.stop()
        self._redis.close()

    def _let_all_go(self) -> None:
        for url in list(self._leases):
            self._local.release(url, done=False)
        self._leases.clear()
        self.commit()
        while self._owned:  # what others push meanwhile is written first
            self._write(list(self._owned), release=True)

    def _write(self, sites: Sequence[Site], *, release: bool = False) -> None:
        """Write what is new of these sites, let them go if asked; renew the lease."""
        for some in batched(sites, _SITES) if sites else [[]]:
            self._write_some(some, release=release)

    def _write_some(self, sites: Sequence[Site], *, release: bool) -> None:
        self._commits += 1
        lease = self._lease
        lease.works()
        args: list[Any] = [lease.id, self._redis.prefix, self.worker]
        args += [ms(lease.seconds), ms(lease.pause), self._commits]
        counters = dict(self._counters)  # those that are 0 too: others add to them
        args += [len(counters), *(x for pair in counters.items() for x in pair)]
        for site in sites:
            args += self._written(site, release=release)
        keys = "id sites free owners pauses workers totals commits resting".split()
        sums, answers = self._redis.call("commit", keys, *args)
        self._counters = Counter(dict.fromkeys(counters, 0))
        self._sums = dict(zip(counters, sums, strict=True))
        for site, answer in zip(sites, answers, strict=True):
            if answer == 0:
                self._let_go(site)
                continue
            owned = self._owned[site]
            self._dirty.pop(site, None)
            owned.committed()
            self._hear(site, answer)
            if release and not answer:
                self._let_go(site)

    def _written(self, site: Site, *, release: bool) -> list[Any]:
        """The arguments of the script for a site."""
        owned = self._owned[site]
        pending, done = owned.numbers()
        heard = owned.heard
        anew, batches = owned.to_write(goes=release)
        best = self._best(site)
        return [
            *(site, owned.epoch, "" if best is None else best),
            "rests" if site in self._resting else "awake",
            *(pending - owned.pending, done - owned.done),
            ("rest" if owned.asked else "free") if release else "keep",
            "replace" if anew else "append",
            *(heard, len(batches), *batches),
        ]

    def _let_go(self, site: Site) -> None:
        """A site is not ours any more."""
        del self._owned[site]
        self._dirty.pop(site, None)
        self._resting.discard(site)
        self._local.drop(site)
        gone = [url for url, theirs in self._leases.items() if theirs == site]
        for url in gone:
            del self._leases[url]
            self._lost.add(url)

    # ------------------------------------------------------------ who has what

    def _share(self) -> None:
        """Renew our lease, take a fair share of the free sites, give back the rest."""
        if time.monotonic() - self._renewed >= self._lease.beat:
            self._renewed = time.monotonic()
            # of each site, as this is how we learn that one was taken from us
            self._write(list(self._owned))
        elif self._dirty:
            self._write(list(self._dirty))
        in_hand = set(self._leases.values())
        open_here = [site for site in self._owned if self._is_open(site)]
        exhausted = self._owned.keys() - set(open_here) - in_hand
        if exhausted:
            self._write(sorted(exhausted), release=True)
        heard = self._look(wanted=0)
        fair = -(-(heard.awake or heard.open_sites) // max(heard.workers, 1))
        ours = self._shared_out(heard)
        if len(ours) < fair:
            self._look(wanted=fair - len(ours))
            ours = self._shared_out(heard)
        self._give_back([s for s in ours if s not in in_hand], len(ours) - fair, fair)

    def _shared_out(self, heard: Claim) -> list[Site]:
        """Our open sites; those that rest count when there are no others anywhere."""
        return [
            site
            for site in self._owned
            if self._is_open(site) and not (heard.awake and site in self._resting)
        ]

    def _give_back(self, sites: Sequence[Site], surplus: int, fair: int) -> None:
        """Let go what is more than a fair share, of these sites if it can be.

        Those that we have not begun; and of the others, those with the fewest pages, if
        somebody has come who has far less: such a change of hands costs a pause.
        """
        if surplus <= 0:
            return
        begun = [site for site in sites if self._owned[site].asked]
        untouched = [site for site in sites if not self._owned[site].asked]
        given = untouched[:surplus]
        if surplus >= fair:  # twice a fair share or more
            begun.sort(key=lambda site: self._owned[site].done)
            given += begun[: surplus - len(given)]
        if given:
            self._write(given, release=True)

    def _is_open(self, site: Site) -> bool:
        return self._best(site) is not None

    def _best(self, site: Site) -> Score | None:
        """The best score of a site that has URLs left; None if it is exhausted."""
        if site in self._closed:
            return None
        best = self._local.best(site)
        if best is None and site in self._leases.values():
            return 0.0  # its last URL is in hand, and pending again if we die
        return best

    def _look(self, wanted: int) -> Claim:
        """Take up to so many free sites; what was heard of the others."""
        claim = self._lease.claim(wanted, owned=self._owned)
        self._take(claim.granted)
        self._looked = time.monotonic()
        ours = list(filter(self._is_open, self._owned))
        awake = sum(site not in self._resting for site in ours)
        self._awake_elsewhere = max(claim.awake - awake, 0)
        self._elsewhere = (
            max(claim.open_sites - len(ours), 0),
            max(claim.pending - sum(o.pending for o in self._owned.values()), 0),
            max(claim.done - sum(o.done for o in self._owned.values()), 0),
        )
        return claim

    def _take(self, granted: Sequence[tuple[Site, int]]) -> None:
        """Sites that became ours: replay their journals, hear what others pushed."""
        for some in batched(granted, _SITES):
            names = [f"{what}:{site}" for site, _ in some for what in ("site", "in")]
            journals = batched(self._redis.lists(names), 2)
            for (site, epoch), (journal, inbox) in zip(some, journals, strict=True):
                self._begin(site, epoch, journal)
                self._hear(site, inbox)

    def _hear(self, site: Site, inbox: Sequence[bytes]) -> None:
        """Take what others pushed; the next commit writes it, and empties the inbox."""
        for batch in inbox:
            self.push(entries_of(site, unpack(batch, self._redis.name)))
        if inbox:
            self._owned[site].heard = len(inbox)
            self._dirty[site] = None

    def _begin(self, site: Site, epoch: int, batches: Sequence[bytes]) -> None:
        owned = self._owned[site] = OwnedSite(site, epoch, self._local)
        is_new = owned.read(batches, self._bloom, self._redis.name)
        self._foreign.discard(site)
        if is_new:
            self._note(site, owned, ("o", owned.place))
        if batches:
            self._adopted.append(site)
            sites, pending, done = self._elsewhere
            self._elsewhere = (
                sites,
                max(pending - owned.pending, 0),
                max(done - owned.done, 0),
            )
