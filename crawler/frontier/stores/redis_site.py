"""A site of the shared frontier while a worker owns it, and its unsaved events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from crawler.data import Site, UrlState
from crawler.errors import FrontierError
from crawler.frontier.stores.bloom import BloomFilter
from crawler.frontier.stores.journal import (
    Event,
    History,
    batched,
    events_of,
    pack,
    replay,
    unpack,
)
from crawler.frontier.stores.memory import MemoryFrontier

# A journal that has grown by so many batches, and by one for each 500 URLs, is written
# anew: repeats go, and what lies together packs better. That costs 1 ms a batch.
_REWRITE = 64
_URLS_A_BATCH = 500
_CHUNK = 5000  # URLs of a batch then: some 200 KB packed


@dataclass(slots=True)
class OwnedSite:
    """A site that is ours; its URLs are in `local`."""

    site: Site
    epoch: int  # the number of our lease of it
    local: MemoryFrontier
    place: int = 0  # of the site among all
    done_before: BloomFilter | None = None  # URLs that are done, not kept one by one
    events: list[Event] = field(default_factory=list)  # since the last commit
    pending: int = 0  # as last committed
    done: int = 0
    batches: int = 0  # of its journal
    written: int = 0  # of them when it was last written anew
    heard: int = 0  # batches of others that are among the events
    asked: bool = False  # by us: it stays with us, and rests when it is let go

    def read(
        self, batches: Sequence[bytes], empty: BloomFilter | None, where: str
    ) -> bool:
        """Go on from a journal; True if nobody had the site before.

        FrontierError for a damaged journal; `where` names the run in its message.
        """
        events = (event for batch in batches for event in unpack(batch, where))
        history = replay(self.site, events)
        self.done_before = deepcopy(empty)
        try:
            if history.forgotten:
                self.done_before = BloomFilter.restore(history.forgotten)
        except ValueError as error:
            raise FrontierError(
                f"{where}: the journal of {self.site}: {error}"
            ) from error
        self.place = self.epoch if history.place is None else history.place
        self.local.take(self.site, history.known)
        self.pending, self.done = self.numbers()
        self.batches = len(batches)
        return history.place is None

    def numbers(self) -> tuple[int, int]:
        """How many URLs are pending or leased, and how many are done."""
        pending, done = self.local.numbers(self.site)
        return pending, done + self.forgotten

    @property
    def forgotten(self) -> int:
        """How many URLs are in the filter alone."""
        return len(self.done_before or ())

    def has_forgotten(self, url: str) -> bool:
        """Whether a URL is done, as far as the filter can tell."""
        return self.done_before is not None and url in self.done_before

    def to_write(self, *, goes: bool) -> tuple[bool, list[bytes]]:
        """Whether the journal is written anew, and the batches for it.

        `goes`: the site is let go, and may rest for long, or for ever.
        """
        most = 1 if goes else max(_REWRITE, sum(self.numbers()) // _URLS_A_BATCH)
        anew = self.batches - self.written + bool(self.events) > most
        events: Iterable[Event] = self.events
        if anew:
            self._forget()
            known = list(self.local.scan(self.site))
            forgotten = self.done_before.state() if self.done_before else []
            events = events_of(History(known, self.place, forgotten))
        batches = [pack(chunk) for chunk in batched(events, _CHUNK)]
        self.batches = len(batches) + (0 if anew else self.batches)
        self.written = len(batches) if anew else self.written
        return anew, batches

    def _forget(self) -> None:
        """With a filter: URLs that are done go into it."""
        if self.done_before is None:
            return
        known = self.local.scan(self.site)
        done = [item.entry.url for item in known if item.state == UrlState.DONE]
        for url in done:
            self.done_before.add(url)
        self.local.forget(self.site, done)

    def committed(self) -> None:
        """Redis knows everything now."""
        self.events.clear()
        self.pending, self.done = self.numbers()
        self.heard = 0
