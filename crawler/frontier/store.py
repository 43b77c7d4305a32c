"""Open the frontier that a URL names (setting FRONTIER_URL)."""

from __future__ import annotations

from crawler.errors import UsageError
from crawler.frontier.memory import MemoryFrontier
from crawler.frontier.sqlite import SqliteFrontier
from crawler.protocols import FrontierStore


def open_frontier(url: str) -> FrontierStore:
    """The FrontierStore that a URL names: `memory:`, `sqlite:PATH` or `redis://…`.

    UsageError for a URL of another kind, FrontierError if the file cannot be had.

    >>> len(open_frontier("memory:"))
    0
    """
    scheme, colon, path = url.partition(":")
    if (scheme, colon, path) == ("memory", ":", ""):
        return MemoryFrontier()
    if scheme == "sqlite" and path:
        return SqliteFrontier(path)
    if scheme.partition("+")[0] in ("redis", "rediss", "unix"):
        from crawler.frontier.redis import RedisFrontier  # an extra

        return RedisFrontier(url)
    raise UsageError(
        f"{url!r} names no frontier (write memory:, sqlite:PATH or redis://HOST/0?run=NAME)"
    )
