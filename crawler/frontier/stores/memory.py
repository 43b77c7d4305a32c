"""The frontier in memory: nothing survives the process, nothing needs a disk.

For tests, replays and crawls that fit (about 700 bytes a URL); `sqlite:PATH` is for the
others. It is also the plain statement of the contract in `crawler.protocols`, which the
other stores are compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from crawler.data import FrontierEntry, Score, Site, StoredUrl, UrlState
from crawler.frontier.stores.heap import LazyHeap, Rank, refuse_nan
from crawler.protocols import PushCounts


@dataclass(slots=True)
class _Row:
    entry: FrontierEntry
    order: int  # of the first push
    state: UrlState = UrlState.PENDING

    @property
    def rank(self) -> Rank:
        return -self.entry.score, self.order


@dataclass(slots=True)
class _Urls:
    """The URLs of one site."""

    known: dict[str, _Row] = field(default_factory=dict)
    pending: LazyHeap = field(default_factory=LazyHeap)


class MemoryFrontier:
    """A FrontierStore of dictionaries and heaps (`memory:`)."""

    def __init__(self) -> None:
        self._sites: dict[Site, _Urls] = {}
        self._heads: LazyHeap = LazyHeap()  # each site's best pending URL
        self._leases: dict[str, _Row] = {}
        self._values: dict[str, bytes] = {}
        self._counters: Counter[str] = Counter()
        self._known = 0
        self._pending = 0

    def push(self, entries: Sequence[FrontierEntry]) -> PushCounts:
        """Add new URLs; raise pending ones whose score got better, payload included."""
        refuse_nan(entry.score for entry in entries)
        added = raised = 0
        for entry in entries:
            urls = self._sites.setdefault(entry.site, _Urls())
            row = urls.known.get(entry.url)
            if row is None:
                self._known += 1
                row = urls.known[entry.url] = _Row(entry, self._known)
                added += 1
                self._pending += 1
            elif row.state == UrlState.PENDING and entry.score > row.entry.score:
                row.entry = entry
                raised += 1
            else:
                continue
            self._offer(urls, row)
        return PushCounts(added, raised, len(entries) - added - raised)

    def pop(self, busy: Collection[Site] = ()) -> FrontierEntry | None:
        """Lease the best pending URL of a site that is not busy, if there is one."""
        site = self._heads.best(busy)
        if site is None:
            return None
        urls = self._sites[site]
        url = urls.pending.best()
        assert url is not None
        urls.pending.discard(url)
        following = urls.pending.best()
        if following is None:
            self._heads.discard(site)
        else:
            self._heads.set(site, urls.known[following].rank)
        row = self._leases[url] = urls.known[url]
        row.state = UrlState.LEASED
        self._pending -= 1
        return row.entry

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
        row = self._leases.pop(url, None)
        if row is None:
            raise ValueError(f"{url} is not leased")
        if score is not None:
            row.entry = replace(row.entry, score=score)
        if payload is not None:
            row.entry = replace(row.entry, payload=payload)
        row.state = UrlState.DONE if done else UrlState.PENDING
        if not done:
            self._pending += 1
            self._offer(self._sites[row.entry.site], row)

    def _offer(self, urls: _Urls, row: _Row) -> None:
        urls.pending.set(row.entry.url, row.rank)
        head = self._heads.rank(row.entry.site)
        if head is None or row.rank < head:
            self._heads.set(row.entry.site, row.rank)

    def postpone(self, url: str) -> None:
        """Do nothing: a URL is in memory, leased or not."""

    # ------------------------------------------------ one site in, one site out

    def take(self, site: Site, known: Iterable[StoredUrl]) -> None:
        """A site from elsewhere: what it knows, in the order of first pushes."""
        urls = self._sites.setdefault(site, _Urls())
        for item in known:
            self._known += 1
            done = item.state == UrlState.DONE
            state = UrlState.DONE if done else UrlState.PENDING
            row = urls.known[item.entry.url] = _Row(item.entry, self._known, state)
            if not done:
                self._pending += 1
                self._offer(urls, row)

    def drop(self, site: Site) -> None:
        """Forget a site; it goes on elsewhere."""
        urls = self._sites.pop(site)
        self._heads.discard(site)
        self._known -= len(urls.known)
        self._pending -= len(urls.pending)
        for url in [url for url, row in self._leases.items() if row.entry.site == site]:
            del self._leases[url]

    def forget(self, site: Site, urls: Iterable[str]) -> None:
        """Forget URLs of a site that are done; somebody else remembers them."""
        known = self._sites[site].known
        for url in urls:
            del known[url]
            self._known -= 1

    def numbers(self, site: Site) -> tuple[int, int]:
        """How many URLs of a site are pending or leased, and how many are done."""
        urls = self._sites[site]
        leased = sum(row.entry.site == site for row in self._leases.values())
        waiting = len(urls.pending) + leased
        return waiting, len(urls.known) - waiting

    def best(self, site: Site) -> Score | None:
        """The best pending score of a site."""
        rank = self._heads.rank(site)
        return None if rank is None else -rank[0]

    def sites(self) -> Sequence[Site]:
        """Every site that has a URL here, in the order of first pushes."""
        return tuple(self._sites)

    def scan(self, site: Site) -> Iterator[StoredUrl]:
        """Every URL of a site that was ever pushed, in the order of first pushes."""
        if site in self._sites:
            for row in tuple(self._sites[site].known.values()):  # pushes may go on
                yield StoredUrl(row.entry, row.state)

    def save(self, name: str, value: bytes) -> None:
        """Keep a small value."""
        self._values[name] = value

    def load(self, name: str) -> bytes | None:
        """The value that was saved under a name."""
        return self._values.get(name)

    def tally(self, amounts: Mapping[str, int]) -> Mapping[str, int]:
        """Add to the run's counters; their sums."""
        self._counters.update(amounts)
        return self._counters

    def counts(self) -> Mapping[str, int]:
        """How many URLs are `pending`, `leased` and `done`."""
        leased = len(self._leases)
        return {
            "pending": self._pending,
            "leased": leased,
            "done": self._known - self._pending - leased,
        }

    def commit(self) -> None:
        """Do nothing: memory does not survive a kill."""

    def __len__(self) -> int:
        return self._pending

    def close(self, *, commit: bool = True) -> None:
        """Do nothing: the memory goes when the store does."""
