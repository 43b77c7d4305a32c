"""Open the frontier that a URL names (setting FRONTIER_URL)."""

from __future__ import annotations

from crawler.errors import UsageError
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.frontier.stores.sqlite import SqliteFrontier
from crawler.protocols import FrontierStore


def open_frontier(url: str) -> FrontierStore:
    """The FrontierStore that a URL names: `memory:`, `sqlite:PATH` or `redis://…`.

    UsageError for a URL of another kind, FrontierError if the file cannot be opened.

    >>> len(open_frontier("memory:"))
    0
    """
    scheme, colon, path = url.partition(":")
    if (scheme, colon, path) == ("memory", ":", ""):
        return MemoryFrontier()
    if scheme == "sqlite" and path:
        return SqliteFrontier.open(path)
    if is_shared(url):
        from crawler.frontier.stores.redis import RedisFrontier  # an extra

        return RedisFrontier.open(url)
    raise UsageError(
        f"{url!r} is not a valid frontier (write memory:, sqlite:PATH or redis://HOST/0?run=NAME)"
    )


def is_shared(url: str) -> bool:
    """Does a URL name a frontier that several workers have?

    >>> is_shared("rediss+cluster://HOST/0"), is_shared("sqlite:redis")
    (True, False)
    """
    scheme = url.partition(":")[0].partition("+")[0]
    return scheme in ("redis", "rediss", "unix")
