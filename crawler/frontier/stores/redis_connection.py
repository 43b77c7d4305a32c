"""Redis as the shared frontier needs it: one server, a Sentinel's master, a cluster.

    redis://[USER:PASSWORD@]HOST[:PORT]/DB?run=NAME        rediss:// with TLS
    unix:///PATH.sock?run=NAME
    redis+sentinel://[…@]HOST[:PORT],HOST…/SERVICE[/DB]?run=NAME    rediss+sentinel://
    redis+cluster://[…@]HOST[:PORT]/?run=NAME                       rediss+cluster://

All keys of a run begin with `{bifocal:NAME}:`, so a cluster keeps them on one server.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from crawler.errors import FrontierError, UsageError
from crawler.urls import without_password

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.cluster import RedisCluster
    from redis.connection import parse_url
    from redis.exceptions import (
        AuthenticationError,
        AuthorizationError,
        ClusterDownError,
        OutOfMemoryError,
        ReadOnlyError,
        RedisClusterException,
        RedisError,
        TryAgainError,
    )
    from redis.exceptions import ConnectionError as Gone
    from redis.exceptions import TimeoutError as Late
    from redis.retry import Retry
    from redis.sentinel import Sentinel
except ImportError as error:
    raise UsageError(
        "FRONTIER_URL=redis://… needs the package redis"
        " (pip install 'bifocal-crawler[redis]')"
    ) from error

T = TypeVar("T")
_read_url: Callable[[str], dict[str, Any]] = parse_url  # these have no types
_Sentinel: Any = Sentinel

_LUA = Path(__file__).parent / "lua"
# What is over when Redis is back, or has another master, or room again.
_PASSING = (
    *(Gone, Late, OutOfMemoryError, ReadOnlyError),
    *(ClusterDownError, TryAgainError, RedisClusterException),
)
_REFUSED = (AuthenticationError, AuthorizationError)
_PATIENCE = 300.0  # seconds that Redis may be gone: a restart with its data takes one
_FIRST_PATIENCE = 20.0  # before its first answer: it may start beside the workers
_ANSWER = 30.0  # seconds for an answer: a journal of 100 MB takes one
_SENTINEL_PORT = 26379
_OURS = ("run", "worker", "lease", "pause", "patience", "bloom")


class Connection:
    """A run's keys and scripts in Redis, and the patience to wait for it."""

    def __init__(
        self, name: str, options: Mapping[str, str], opener: Callable[[], Any]
    ) -> None:
        """`opener` makes a client, for which redis-py has no common type."""
        self.name = name
        self.options = options
        self.run = options["run"]
        self.prefix = f"{{bifocal:{self.run}}}:"
        self.patience = _PATIENCE
        self._open = opener
        self._client: Any = None
        self._scripts: dict[str, Callable[..., Any]] = {}
        self.interrupted = False
        self._answered = False

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read the URL; UsageError says what is wrong with it. Nobody is asked yet."""
        server, _, query = url.partition("?")
        options = dict(parse_qsl(query))
        theirs = {name: value for name, value in options.items() if name not in _OURS}
        name = without_password(server)
        if not options.get("run"):
            raise UsageError(f"{name}: of which run? (write {server}?run=NAME)")
        try:
            opener = _opener(server + "?" * bool(theirs) + urlencode(theirs))
        except (ValueError, TypeError) as error:
            raise UsageError(f"{name}: {error}") from error
        ours = {name: value for name, value in options.items() if name in _OURS}
        connection = cls(name, ours, opener)
        connection.patience = connection.seconds("patience", _PATIENCE)
        return connection

    def seconds(self, option: str, default: float) -> float:
        """An option of the query that is a time."""
        try:
            return float(self.options.get(option, default))
        except ValueError as error:
            raise UsageError(f"{self.name}: {error} (give seconds)") from error

    def call(self, name: str, keys: Sequence[str], *args: object) -> Any:
        """Run `lua/NAME.lua` with these keys of the run; see `ask`."""

        def script(client: Any) -> Any:
            if name not in self._scripts:
                text = (_LUA / f"{name}.lua").read_text("utf-8")
                self._scripts[name] = client.register_script(text)
            return self._scripts[name](
                keys=[self.prefix + key for key in keys], args=args
            )

        return self.ask(script)

    def lists(self, keys: Sequence[str]) -> list[list[bytes]]:
        """All items of these lists of the run; see `ask`."""

        def read(client: Any) -> list[list[bytes]]:
            with client.pipeline(transaction=False) as pipe:
                for key in keys:
                    pipe.lrange(self.prefix + key, 0, -1)
                found: list[list[bytes]] = pipe.execute()
                return found

        return self.ask(read)

    def ask(self, question: Callable[[Any], T]) -> T:
        """Ask, and again while Redis is gone or full; FrontierError after `patience`.

        `interrupted` then says whether it was asked more than once: an answer that was
        lost on the way may have had its effect.
        """
        patience = self.patience
        if not self._answered:
            patience = min(patience, _FIRST_PATIENCE)
        wait, end = 0.05, time.monotonic() + patience
        self.interrupted = False
        while True:
            try:
                if self._client is None:
                    self._client = self._open()
                answer = question(self._client)
                self._answered = True
                return answer
            except _REFUSED as error:
                raise FrontierError(
                    f"{self.name}: {error} (user, password?)"
                ) from error
            except _PASSING as error:
                if time.monotonic() >= end:
                    raise FrontierError(
                        f"{self.name}: {error} (is Redis running, and has it room?"
                        " The same command goes on from the last commit)"
                    ) from error
                self.interrupted = True
                time.sleep(wait)
                wait = min(2 * wait, 2.0)
            except RedisError as error:
                if str(error) == "GONE":
                    raise FrontierError(
                        f"{self.name}: the data of run {self.run} are gone (Redis came"
                        " back without them? It keeps them with --appendonly yes."
                        " The same command begins the frontier anew)"
                    ) from error
                raise FrontierError(f"{self.name}: {error}") from error

    def close(self) -> None:
        """Give the connections back."""
        if self._client is not None:
            self._client.close()


def _opener(url: str) -> Callable[[], Any]:
    """What makes a client of a URL; ValueError if there is something wrong with it."""
    ours: dict[str, Any] = {
        "socket_timeout": _ANSWER,
        "password": os.environ.get("REDISCLI_AUTH"),  # as for redis-cli
    }
    # A retry that we do not see would be a second commit.
    quiet: dict[str, Any] = {"retry": Retry(NoBackoff(), 0)}
    scheme, _, rest = url.partition("://")
    plain, _, kind = scheme.partition("+")
    if not kind:
        _read_url(url)  # before anybody is asked
        return lambda: redis.Redis.from_url(url, **ours, **quiet)
    if kind == "cluster":
        options = _read_url(f"{plain}://{rest}")
        tls = options.pop("connection_class", None) is not None
        options = {**ours, **options, **quiet, "ssl": tls}
        options.pop("db", None)  # a cluster has one
        return lambda: RedisCluster(**options)
    return _sentinel(plain, rest, ours, quiet)


def _sentinel(
    plain: str, rest: str, ours: dict[str, Any], quiet: dict[str, Any]
) -> Callable[[], Any]:
    """HOST[:PORT],HOST…/SERVICE[/DB]: the master that the Sentinels name."""
    parts = urlsplit(f"{plain}://{rest}")
    credentials, _, hosts = parts.netloc.rpartition("@")
    service, _, db = parts.path.strip("/").partition("/")
    if not service:
        raise ValueError("of which service? (write HOST:26379/SERVICE)")
    query = f"?{parts.query}" if parts.query else ""
    options = _read_url(f"{plain}://{credentials}{'@' * bool(credentials)}/{db}{query}")
    tls = options.pop("connection_class", None) is not None
    theirs = {
        name.removeprefix("sentinel_"): options.pop(name)
        for name in ("sentinel_username", "sentinel_password")
        if name in options
    }
    shared = {**ours, **options, "ssl": tls}
    for_sentinels = {
        name: value
        for name, value in shared.items()
        if name.startswith(("ssl", "socket_"))
    }
    sentinels = [
        (host, int(port or _SENTINEL_PORT))
        for host, _, port in (item.partition(":") for item in hosts.split(","))
    ]
    return lambda: _Sentinel(
        sentinels, sentinel_kwargs=for_sentinels | theirs
    ).master_for(service, **shared | quiet)
