"""The shared frontier: sites are leased to workers, and Redis keeps their journals.

A worker orders the URLs of its sites in memory, as `memory:` does, so politeness,
order and the embedded aligner stay in one place. What it changes goes to Redis at each
commit, one compressed batch a site; whoever owns a site next replays its journal. A
lease runs by the server's clock and has a number: what a worker writes that was thought
dead is refused, and it lets the site go.

    redis://HOST:PORT/DB?run=NAME      rediss:// with TLS, unix:///PATH.sock?run=NAME

`worker`, `lease` (seconds) and `patience` (seconds without Redis) may follow in the
query. All keys begin with `{bifocal:RUN}:`, so a cluster keeps a run together.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from crawler.data import FrontierEntry, KnownUrl, Score, Site
from crawler.errors import FrontierError, UsageError
from crawler.frontier.heap import refuse_nan
from crawler.frontier.journal import (
    Event,
    batched,
    entries_of,
    events_of,
    pack,
    pushed,
    replay,
    text_of,
    unpack,
)
from crawler.frontier.memory import MemoryFrontier
from crawler.protocols import PushCounts

try:
    import redis
    from redis.exceptions import ConnectionError as Gone
    from redis.exceptions import OutOfMemoryError, RedisError
    from redis.exceptions import TimeoutError as Late
except ImportError as error:
    raise UsageError(
        "FRONTIER_URL=redis://… needs the package redis (pip install 'bifocal[redis]')"
    ) from error

T = TypeVar("T")

_LUA = Path(__file__).parent / "lua"
# Seconds: long enough for the slowest page (DOWNLOAD_TIMEOUT), so that no site is taken
# from a worker that is well; what a killed one held waits that long.
_LEASE = 90.0
_PATIENCE = 300.0  # seconds that Redis may be gone: a restart with its data takes one
_PAUSE = (
    10.0  # seconds that a released site waits for its next owner, out of politeness
)
_LOOK = 1.0  # seconds between two looks for sites that have become free
_SITES = 500  # in one call: it stops everyone else for some milliseconds
# A journal that has grown by so many batches, and by one for each 500 URLs, is written
# anew: repeats go, and what lies together packs better. That costs 1 ms a batch.
_REWRITE = 64
_URLS_A_BATCH = 500
_CHUNK = 5000  # URLs of a batch then: some 200 KB packed


@dataclass(slots=True)
class _Owned:
    """A site that is ours, and what Redis does not know of it yet."""

    epoch: int
    events: list[Event] = field(default_factory=list)
    pending: int = 0  # as last committed
    done: int = 0
    batches: int = 0  # of its journal
    written: int = 0  # of them when it was last written anew
    fetched: bool = False  # by us: it stays with us


class RedisFrontier:
    """A FrontierStore that several workers share (`redis://…`)."""

    def __init__(self, url: str) -> None:
        """Connect; FrontierError if nobody answers, UsageError for a wrong URL."""
        server, run, options = _parse(url)
        try:
            self._lease = float(options.get("lease", _LEASE))
            self._patience = float(options.get("patience", _PATIENCE))
        except ValueError as error:
            raise UsageError(f"{_plain(url)}: {error} (give seconds)") from error
        self.worker = options.get("worker") or f"{socket.gethostname()}-{os.getpid()}"
        self._name, self._prefix = _plain(server), _prefix(run)
        self._local = MemoryFrontier()
        self._owned: dict[Site, _Owned] = {}
        self._leases: dict[str, Site] = {}
        self._adopted: list[Site] = []
        self._lost: set[str] = set()  # URLs in hand whose site was taken from us
        self._looked = self._renewed = float("-inf")
        self._elsewhere = (0, 0, 0)  # open sites, pending and done URLs of others
        self._redis = _connect(server)
        self._claim, self._commit, self._offer = map(
            self._script, ("claim", "commit", "offer")
        )
        self._look(wanted=0)
        self._looked = float("-inf")  # the first pop takes what is free

    # ------------------------------------------------------------------- push

    def push(self, entries: Sequence[FrontierEntry]) -> PushCounts:
        """Add new URLs; raise pending ones whose score got better, payload included.

        What goes to a site of another worker counts as ignored: that one will know.
        """
        refuse_nan(entry.score for entry in entries)
        added = raised = 0
        new = dict.fromkeys(e.site for e in entries if e.site not in self._owned)
        if new:
            self._take(self._ask(0, *new))
        foreign: dict[Site, list[FrontierEntry]] = {}
        for entry in entries:
            owned = self._owned.get(entry.site)
            if owned is None:
                foreign.setdefault(entry.site, []).append(entry)
                continue
            counts = self._local.push([entry])
            if not counts.ignored:
                owned.events.append(pushed(entry))
                added += counts.added
                raised += counts.raised
        for site, theirs in foreign.items():
            best = max(entry.score for entry in theirs)
            args = [self._prefix, site, pack(map(pushed, theirs)), best]
            keys = self._keys("sites", "free", "owners", "order")
            self._patiently(partial(self._offer, keys=keys, args=args))
        return PushCounts(added, raised, len(entries) - added - raised)

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
        self._owned[site].fetched = True
        event = ("d" if done else "b", url, score, text_of(payload))
        self._owned[site].events.append(event)

    # ------------------------------------------------- sites, scan, save, load

    def sites(self) -> Sequence[Site]:
        """Our sites, in the order of first pushes."""
        raw = self._patiently(partial(self._redis.zrange, self._key("order"), 0, -1))
        order = dict.fromkeys(map(_site, raw))
        new = [site for site in self._local.sites() if site not in order]
        return (*(site for site in order if site in self._owned), *new)

    def scan(self, site: Site) -> Iterator[KnownUrl]:
        """Every URL of one of our sites, in the order of first pushes."""
        return self._local.scan(site)

    def save(self, name: str, value: bytes) -> None:
        """Keep a small value, for this worker and for whoever starts next."""
        values = {f"{self.worker}/{name}": value, name: value}
        self._patiently(
            lambda: self._redis.hset(self._prefix + "values", mapping=values)
        )

    def load(self, name: str) -> bytes | None:
        """The value that this worker saved under a name, or else the last one did."""
        names = [f"{self.worker}/{name}", name]
        found = self._patiently(
            lambda: self._redis.hmget(self._prefix + "values", names)
        )
        return next((value for value in found if value is not None), None)

    def counts(self) -> Mapping[str, int]:
        """How many URLs are `pending`, `leased` and `done`, of all workers."""
        ours = self._local.counts()
        _, pending, done = self._elsewhere
        return {
            "pending": ours["pending"] + pending,
            "leased": ours["leased"],
            "done": ours["done"] + done,
        }

    def __len__(self) -> int:
        """Pending URLs, of all workers as last heard of."""
        return len(self._local) + self._elsewhere[1]

    def adopted(self) -> Sequence[Site]:
        """Sites with a past that became ours since this was last asked."""
        adopted, self._adopted = self._adopted, []
        return [site for site in adopted if site in self._owned]

    def elsewhere(self) -> bool:
        """Has another worker, or nobody yet, a site that is not exhausted?"""
        return self._elsewhere[0] > 0

    # ----------------------------------------------------------------- commit

    def commit(self) -> None:
        """Everything so far is in Redis, one batch a site."""
        self._write([site for site, owned in self._owned.items() if owned.events])

    def close(self) -> None:
        """Commit, and let all sites go. Leased URLs will be pending again."""
        for url in list(self._leases):
            self._local.release(url, done=False)
        self._leases.clear()
        self._write(list(self._owned), release=True)
        self._patiently(lambda: self._redis.zrem(self._key("workers"), self.worker))
        self._redis.close()

    def _write(self, sites: Sequence[Site], *, release: bool = False) -> None:
        """Write what is new of these sites, and let them go if asked."""
        for some in batched(sites, _SITES):
            self._write_some(some, release=release)

    def _write_some(self, sites: Sequence[Site], *, release: bool) -> None:
        args: list[Any] = [self._prefix, self.worker, _ms(self._lease), _ms(_PAUSE)]
        for site in sites:
            args += self._written(site, release=release)
        names = ("sites", "free", "owners", "deadlines", "workers", "totals", "order")
        keys = self._keys(*names)
        answers = self._patiently(lambda: self._commit(keys=keys, args=args))
        for site, answer in zip(sites, answers, strict=True):
            owned = self._owned[site]
            if answer == 0:
                self._let_go(site)
                continue
            owned.events.clear()
            owned.pending, owned.done = self._local.numbers(site)
            owned.batches += len(answer)
            for batch in answer:
                self._local.push(entries_of(site, unpack(batch, self._name)))
            if release and not answer:
                self._let_go(site)

    def _written(self, site: Site, *, release: bool) -> list[Any]:
        """What the script gets of a site."""
        owned, (pending, done) = self._owned[site], self._local.numbers(site)
        best = self._local.best(site)
        grown = owned.batches - owned.written
        anew = grown > max(_REWRITE, (pending + done) // _URLS_A_BATCH)
        events = events_of(self._local.scan(site)) if anew else owned.events
        batches = [pack(chunk) for chunk in batched(events, _CHUNK)]
        owned.batches = len(batches) + (0 if anew else owned.batches)
        owned.written = len(batches) if anew else owned.written
        return [
            *(site, owned.epoch, "" if best is None else best),
            *(pending - owned.pending, done - owned.done),
            "release" if release else "keep",
            "replace" if anew else "append",
            *(len(batches), *batches),
        ]

    def _let_go(self, site: Site) -> None:
        """A site is not ours any more."""
        del self._owned[site]
        self._local.drop(site)
        gone = [url for url, theirs in self._leases.items() if theirs == site]
        for url in gone:
            del self._leases[url]
            self._lost.add(url)

    # ------------------------------------------------------------ who has what

    def _share(self) -> None:
        """Renew our leases, take a fair share of the free sites, give back the rest."""
        if time.monotonic() - self._renewed >= self._lease / 4:
            self._renewed = time.monotonic()
            self._write(list(self._owned))
        for site in [s for s, o in self._owned.items() if self._local.best(s) is None]:
            if site not in self._leases.values():
                self._write([site], release=True)
        open_sites, workers = self._look(wanted=0)
        mine = [site for site in self._owned if self._local.best(site) is not None]
        fair = -(-open_sites // max(workers, 1))
        if len(mine) < fair:
            self._look(wanted=fair - len(mine))
        in_hand = set(self._leases.values())
        untouched = [s for s in mine if not self._owned[s].fetched and s not in in_hand]
        for site in untouched[: max(len(mine) - fair, 0)]:
            self._write([site], release=True)

    def _look(self, wanted: int) -> tuple[int, int]:
        """Take up to so many free sites; how many sites are open, and workers alive."""
        answer = self._ask(wanted)
        self._take(answer)
        self._looked = time.monotonic()
        _, open_sites, workers, pending, done = answer
        ours = sum(self._local.best(site) is not None for site in self._owned)
        self._elsewhere = (
            max(open_sites - ours, 0),
            max(pending - sum(o.pending for o in self._owned.values()), 0),
            max(done - sum(o.done for o in self._owned.values()), 0),
        )
        return open_sites, workers

    def _ask(self, wanted: int, *sites: Site) -> Any:
        names = ("sites", "free", "owners", "deadlines", "epoch", "workers", "totals")
        args = [self.worker, _ms(self._lease), wanted, *sites]
        return self._patiently(lambda: self._claim(keys=self._keys(*names), args=args))

    def _take(self, answer: Any) -> None:
        """Read the journals of the sites that became ours."""
        for raw, epoch in answer[0]:
            site = _site(raw)
            self._owned[site] = _Owned(epoch)
            key = f"{self._prefix}site:{site}"
            batches = self._patiently(partial(self._redis.lrange, key, 0, -1))
            events = (e for batch in batches for e in unpack(batch, self._name))
            self._local.take(site, replay(site, events))
            owned = self._owned[site]
            owned.pending, owned.done = self._local.numbers(site)
            owned.batches = len(batches)
            if batches:
                self._adopted.append(site)
        if answer[0]:
            self._write([_site(raw) for raw, _ in answer[0]])

    # ----------------------------------------------------------------- Redis

    def _script(self, name: str) -> Callable[..., Any]:
        text = (_LUA / f"{name}.lua").read_text("utf-8")
        script: Callable[..., Any] = self._redis.register_script(text)
        return script

    def _key(self, name: str) -> str:
        return self._prefix + name

    def _keys(self, *names: str) -> list[str]:
        return [self._prefix + name for name in names]

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask Redis, again while it is gone or full; FrontierError after a while."""
        wait, end = 0.05, time.monotonic() + self._patience
        while True:
            try:
                return ask()
            except (Gone, Late, OutOfMemoryError) as error:
                if time.monotonic() >= end:
                    raise FrontierError(
                        f"{self._name}: {error} (is Redis running, and has it room?"
                        " The same command goes on from the last commit)"
                    ) from error
                time.sleep(wait)
                wait = min(2 * wait, 2.0)
            except RedisError as error:
                raise FrontierError(f"{self._name}: {error}") from error


class SharedState:
    """What everybody may see of a shared frontier: `bifocal status`."""

    def __init__(self, url: str) -> None:
        """Connect; FrontierError if nobody answers, UsageError for a wrong URL."""
        server, run, _ = _parse(url)
        self._name, self._prefix = _plain(server), _prefix(run)
        self._redis = _connect(server)
        self._before: tuple[float, int] | None = None

    def lines(self) -> Iterator[str]:
        """The totals, then a line for each worker, the busiest first."""
        names = ("totals", "owners", "workers", "sites", "deadlines")
        try:
            with self._redis.pipeline(transaction=True) as pipe:
                totals, owners, workers, sites, deadlines = (
                    self._prefix + name for name in names
                )
                pipe.time().hgetall(totals).hgetall(owners).zcard(sites)
                pipe.zrange(workers, 0, -1, withscores=True)
                pipe.zrange(deadlines, 0, -1, withscores=True)
                clock, total, owned, open_sites, alive, ends = pipe.execute()
        except RedisError as error:
            raise FrontierError(f"{self._name}: {error} (is Redis running?)") from error
        now = clock[0] + clock[1] / 1e6
        done = int(total.get(b"done", 0))
        yield (
            f"{done:,} URLs done{self._rate(now, done)},"
            f" {int(total.get(b'pending', 0)):,} pending, {open_sites:,} open sites"
        )
        lease_ends = {site: end / 1000 - now for site, end in ends}
        sites_of: dict[bytes, list[bytes]] = {name: [] for name, _ in alive}
        for site, owner in owned.items():
            number, _, name = owner.partition(b"|")
            if number:
                sites_of.setdefault(name, []).append(site)
        ends_of = dict(alive)
        for name, theirs in sorted(sites_of.items(), key=lambda item: -len(item[1])):
            left = ends_of.get(name, 0) / 1000 - now
            late = sum(lease_ends.get(site, 0) < 0 for site in theirs)
            state = f"renewed, {left:.0f} s left" if left > 0 else "not heard of"
            stuck = f", {late} stuck leases" if late else ""
            yield f"  {_printable(name)}: {len(theirs):,} sites, {state}{stuck}"

    def _rate(self, now: float, done: int) -> str:
        before, self._before = self._before, (now, done)
        if before is None or now <= before[0]:
            return ""
        return f" ({(done - before[1]) / (now - before[0]):.1f}/s)"


_OURS = ("run", "worker", "lease", "patience")


def _parse(url: str) -> tuple[str, str, dict[str, str]]:
    """The server, the run, and our options; what else the query has is redis-py's."""
    server, _, query = url.partition("?")
    options = dict(parse_qsl(query))
    theirs = {name: value for name, value in options.items() if name not in _OURS}
    if not options.get("run"):
        raise UsageError(
            f"{_plain(url)}: of which run? (write redis://HOST/0?run=NAME)"
        )
    return server + "?" * bool(theirs) + urlencode(theirs), options["run"], options


def _connect(server: str) -> Any:
    try:
        return redis.Redis.from_url(server)
    except ValueError as error:
        raise UsageError(f"{_plain(server)}: {error}") from error


def _prefix(run: str) -> str:
    return f"{{bifocal:{run}}}:"


def _site(raw: bytes) -> Site:
    return raw.decode("utf-8", "surrogatepass")


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


def _plain(url: str) -> str:
    """A URL without its password, for messages."""
    return re.sub("//[^/@]*@", "//", url.partition("?")[0])


def _printable(name: bytes) -> str:
    return "".join(c if c.isprintable() else "?" for c in _site(name))
