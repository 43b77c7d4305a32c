"""A worker's lease: it is there, and these sites of the shared frontier are its own.

A worker has one lease for all its sites, by the server's clock. Every call renews it,
and between calls a thread does, so a step may take as long as it has to: a slow page, a
delay of minutes, the alignment of long ones. A worker whose lease has run out is
thought dead, and its sites go to others; but where nobody at all was heard of, it was
Redis that was gone, and everybody gets a new lease (`lua/claim.lua`).
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple, Self

from crawler.data import Site
from crawler.errors import FrontierError
from crawler.frontier.stores.redis_connection import Connection

# Seconds that the sites of a killed worker wait. Some beats may be lost on the way.
_LEASE = 90.0
_BEATS = 4  # in a lease
# Leases that one step may last: a worker that does nothing for longer hangs, and may
# not keep its sites from the others.
_LONGEST_STEP = 10
_PAUSE = 10.0  # seconds that a released site rests, out of politeness


class Claim(NamedTuple):
    """What a worker was given, and what it heard of the others."""

    granted: list[tuple[Site, int]]  # with the number of the lease of each
    open_sites: int  # of all workers
    awake: int  # those of them that do not rest
    workers: int
    pending: int  # URLs, of all workers
    done: int


class WorkerLease:
    """Says to Redis that a worker is there, and asks for sites in its name."""

    def __init__(
        self,
        redis: Connection,
        own: Connection,
        worker: str,
        seconds: float,
        pause: float,
    ) -> None:
        """`own`: of the thread; two threads on one would mix up their answers."""
        self._redis = redis
        self._own = own
        self.worker = worker
        self.seconds = seconds
        self.beat = seconds / _BEATS
        self.pause = pause
        self.id = b""
        self._step = time.monotonic()  # when the worker last did something
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)

    @classmethod
    def begin(cls, url: str, redis: Connection) -> Self:
        """Get a lease; what a worker of this name left behind is free after a pause."""
        own = Connection.parse(url)
        own.patience = 0.0  # the next beat is another try
        name = redis.options.get("worker") or f"{socket.gethostname()}-{os.getpid()}"
        seconds, pause = redis.seconds("lease", _LEASE), redis.seconds("pause", _PAUSE)
        lease = cls(redis, own, name, seconds, pause)
        lease.id = redis.call(
            "hello",
            ("id", "owners", "pauses", "workers", "commits"),
            *(uuid.uuid4().hex, lease.worker, ms(lease.seconds), ms(lease.pause)),
        )
        lease._thread.start()
        return lease

    def claim(self, wanted: int, *sites: Site, owned: Collection[Site] = ()) -> Claim:
        """Take these sites, or else up to so many of the best, of those that are free.

        `owned`: those that the worker knows to be its own.
        """
        self.works()
        claim = self._claim(self._redis, wanted, *sites)
        if self._redis.interrupted:
            known = {*owned, *(site for site, _ in claim.granted)}
            claim.granted.extend(self._granted_unheard(known))
        return claim

    def works(self) -> None:
        """The worker is not stuck in a step."""
        self._step = time.monotonic()

    def stop(self) -> None:
        """Renew it no more: it runs out as that of a killed worker does."""
        self._stopped.set()
        self._thread.join()  # one try, at most
        self._own.close()

    def end(self) -> None:
        """The worker has no sites any more, and goes."""
        self.stop()
        key = self._redis.prefix + "workers"
        self._redis.ask(lambda client: client.zrem(key, self.worker))

    def _claim(self, connection: Connection, wanted: int, *sites: Site) -> Claim:
        keys = "id sites free owners pauses epoch workers totals heard resting".split()
        granted, *numbers = connection.call(
            "claim", keys, self.id, self.worker, ms(self.seconds), wanted, *sites
        )
        return Claim([(site_named(raw), int(n)) for raw, n in granted], *numbers)

    def _granted_unheard(self, known: Collection[Site]) -> list[tuple[Site, int]]:
        """What a claim gave us whose answer was lost on the way."""
        key = self._redis.prefix + "owners"
        owners = self._redis.ask(lambda client: client.hgetall(key))
        return [
            (site_named(raw), int(number))
            for raw, owner in owners.items()
            for number, _, name in [owner.partition(b"|")]
            if number and name == self.worker.encode() and site_named(raw) not in known
        ]

    def _renew(self) -> None:
        while not self._stopped.wait(self.beat):
            if time.monotonic() - self._step < _LONGEST_STEP * self.seconds:
                with suppress(FrontierError):  # the worker meets it, too, and says so
                    self._claim(self._own, wanted=0)


def site_named(raw: bytes) -> Site:
    """The site whose name Redis gives as bytes."""
    return raw.decode("utf-8", "surrogatepass")


def ms(seconds: float) -> int:
    """Milliseconds."""
    return int(seconds * 1000)
