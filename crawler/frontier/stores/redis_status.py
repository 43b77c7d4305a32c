"""What everybody may see of a shared frontier: `bifocal status`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from crawler.frontier.stores.redis_connection import Connection


class SharedState:
    """The workers of a run, their sites, and how fast they are."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._before: tuple[float, dict[bytes, int]] | None = None

    @cached_property
    def _redis(self) -> Connection:
        connection = Connection.parse(self._url)
        connection.patience = 0.0  # a person is waiting
        return connection

    def lines(self) -> Iterator[str]:
        """The totals, then a line for each worker, the busiest first.

        Rates are those since the last time. UsageError for a wrong URL, FrontierError
        if nobody answers.
        """
        keys = ("totals", "owners", "workers", "sites")
        clock, totals, ends, open_sites, owned = self._redis.call("status", keys)
        now = clock / 1000
        total = {name: int(value) for name, value in _pairs(totals)}
        end_of = {name: float(end) / 1000 for name, end in _pairs(ends)}
        sites_of = dict.fromkeys(end_of, 0) | {n: int(k) for n, k in _pairs(owned)}
        yield (
            f"{total.get(b'done', 0):,} URLs done{self._rate(now, total, b'done')},"
            f" {total.get(b'pending', 0):,} pending, {open_sites:,} open sites"
        )
        for name, sites in sorted(sites_of.items(), key=lambda item: -item[1]):
            done = b"done/" + name
            left = end_of.get(name, 0) - now
            state = f"renewed, {left:.0f} s left"
            if left <= 0:
                state = "not heard of" + f", {sites:,} stuck leases" * bool(sites)
            yield (
                f"  {_printable(name)}: {sites:,} sites, {total.get(done, 0):,} done"
                f"{self._rate(now, total, done)}, {state}"
            )
        self._before = now, total

    def _rate(self, now: float, total: dict[bytes, int], name: bytes) -> str:
        if self._before is None or now <= self._before[0]:
            return ""
        then, before = self._before
        rate = (total.get(name, 0) - before.get(name, 0)) / (now - then)
        return f" ({rate:.1f}/s)"


def _pairs(flat: list[Any]) -> Iterator[tuple[Any, Any]]:
    """A reply that says name, value, name, value; or in pairs, as RESP3 has it."""
    if flat and isinstance(flat[0], list):
        flat = [item for pair in flat for item in pair]
    return zip(flat[::2], flat[1::2], strict=True)


def _printable(name: bytes) -> str:
    text = name.decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "?" for c in text)
