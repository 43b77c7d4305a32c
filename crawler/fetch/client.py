"""The HTTP client of a crawl: connections that are kept for a while, TLS, proxies.

No connection goes to an address that the rules do not allow, whatever name leads there:
the addresses of a name are checked, and one of them is connected to. The address of a
proxy is exempt, for connections to the proxy alone.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from time import monotonic
from urllib.parse import SplitResult, urlsplit

from crawler.fetch.connection import Connection, RawAnswer
from crawler.fetch.errors import Failure, FetchError
from crawler.fetch.guard import AddressRules, is_address
from crawler.fetch.heads import Headers
from crawler.fetch.proxy import Proxies, Proxy
from crawler.warc.exchange import Exchange

_KEEP_ALIVE = 20.0  # seconds: longer than most pauses between two pages of a site
_PORTS = {"http": 80, "https": 443}
_DNS_NAMES = 10_000  # hosts whose addresses are remembered
# Codes of OpenSSL (x509_vfy.h): not yet valid, expired; the two kinds of certificates
# that sign themselves; the name of a host, or its address, is another one.
_CERTIFICATES = {
    **dict.fromkeys((9, 10), Failure.EXPIRED),
    **dict.fromkeys((18, 19), Failure.SELF_SIGNED),
    **dict.fromkeys((62, 64), Failure.WRONG_NAME),
}
_DNS_THREADS = 32  # a dead name server costs a thread its patience: as many as sites
# Addresses of a host that are tried one after the other, each for so many seconds
# before the next: as long as a connection around the world takes when packets are lost.
_MAX_ADDRESSES, _ADDRESS_SECONDS = 4, 10.0


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The bounds of a client."""

    rules: AddressRules
    proxies: Proxies = field(default_factory=Proxies)
    seconds: float = 60.0  # for a whole answer
    max_size: int = 0  # bytes of a body; 0: no limit
    verify: bool = True  # refuse bad certificates …
    unverified: frozenset[str] = frozenset()  # … but not of these hosts, and below them
    max_idle: int = 256  # connections that wait
    dns_seconds: float = 60.0  # addresses of a host are remembered
    bind: str | None = None  # the local address of connections


@dataclass(frozen=True, slots=True)
class _Place:
    """The end of a connection that may carry several requests."""

    scheme: str
    host: str
    port: int
    proxy: Proxy | None


class HttpClient:
    """Fetches URLs; close it at the end. For use in one event loop."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        # of each place the newest last; the oldest of all first
        self._idle: OrderedDict[Connection, tuple[_Place, float]] = OrderedDict()
        self._addresses: OrderedDict[str, tuple[float, list[str]]] = OrderedDict()
        self._resolver = ThreadPoolExecutor(_DNS_THREADS, "dns")

    @cached_property
    def _tls(self) -> dict[bool, ssl.SSLContext]:
        return {verify: _tls(verify=verify) for verify in (True, False)}

    async def fetch(
        self,
        url: str,
        headers: Sequence[tuple[bytes, bytes]] = (),
        *,
        method: str = "GET",
        body: bytes = b"",
        proxy: Proxy | None = None,
        seconds: float | None = None,
        max_size: int | None = None,
        may_send: Callable[[], bool] = lambda: True,
    ) -> Exchange:
        """The answer to a request; FetchError if there is none.

        `may_send` is asked right before the request leaves, when there is a connection.
        `proxy`, `seconds` and `max_size` (bytes) stand in the place of the client's
        own.
        """
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        port = parts.port or _PORTS[parts.scheme]
        proxy = proxy or self._config.proxies.find(parts.scheme, host, port)
        place = _Place(parts.scheme, host, port, proxy)
        asked = _with_host(parts, headers, body)
        through = parts.scheme == "http" and proxy is not None
        if through and proxy is not None and proxy.authorization:
            asked = (*asked, (b"Proxy-Authorization", proxy.authorization))
        target = url.partition("#")[0] if through else _target(parts)
        data = _request(method, target, asked) + body
        most = self._config.max_size if max_size is None else max_size
        seconds = self._config.seconds if seconds is None else seconds
        try:
            async with asyncio.timeout(seconds):
                answer, peer = await self._ask(
                    place, data, most, may_send, head_only=method == "HEAD"
                )
        except TimeoutError as error:
            raise FetchError(Failure.TIMEOUT, f"{url}: {seconds:g} s") from error
        head = answer.head
        return Exchange(
            url=url,
            status=head.status,
            response_headers=head.headers,
            body=answer.body,
            fetched_at=datetime.now(UTC),
            method=method,
            request_headers=tuple(f for f in asked if f[0] != b"Proxy-Authorization"),
            reason=head.reason,
            http_version=f"HTTP/{head.version}",
            ip=None if proxy else peer,
        )

    async def _ask(
        self,
        place: _Place,
        data: bytes,
        max_size: int,
        may_send: Callable[[], bool],
        *,
        head_only: bool,
    ) -> tuple[RawAnswer, str | None]:
        """Ask over a connection that waits, or a new one if it has ended meanwhile."""
        while True:
            waiting = self._take(place)
            connection = waiting or await self._connect(place)
            peer = connection.peer
            if not may_send():
                self._keep(place, connection)
                raise FetchError(Failure.NOT_OURS)
            try:
                answer = await connection.request(data, max_size, head_only=head_only)
            except FetchError as error:
                if waiting is None or error.failure != Failure.DISCONNECTED:
                    raise
                continue
            if answer.is_reusable and connection.is_open:
                self._keep(place, connection)
            else:
                connection.abort()
            return answer, peer

    # -------------------------------------------------- connections that wait

    def _take(self, place: _Place) -> Connection | None:
        now = monotonic()
        for connection, (theirs, since) in reversed(self._idle.items()):
            if theirs == place and connection.is_open and now - since < _KEEP_ALIVE:
                del self._idle[connection]
                return connection
        return None

    def _keep(self, place: _Place, connection: Connection) -> None:
        now = monotonic()
        self._idle[connection] = place, now
        while self._idle:  # the oldest ones go, if they are old or too many
            oldest, (_, since) = next(iter(self._idle.items()))
            young = now - since < _KEEP_ALIVE and oldest.is_open
            if young and len(self._idle) <= self._config.max_idle:
                break
            del self._idle[oldest]
            oldest.abort()

    async def close(self) -> None:
        """End all connections."""
        for connection in self._idle:
            connection.abort()
        self._idle.clear()
        self._resolver.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------- new connections

    async def _connect(self, place: _Place) -> Connection:
        tls = self._tls_of(place.host) if place.scheme == "https" else None
        if place.proxy is None:
            addresses = await self._resolve(place.host, place.port)
            allowed = [a for a in addresses if self._config.rules.allow(place.host, a)]
            if not allowed:
                text = f"{place.host} is at {addresses[0]}"
                raise FetchError(Failure.PRIVATE_ADDRESS, text)
            return await self._open(allowed, place.host, place.port, tls)
        host, port = place.proxy.host, place.proxy.port
        addresses = await self._resolve(host, port)
        to_proxy = self._tls_of(host) if place.proxy.is_secure else None
        connection = await self._open(addresses, host, port, to_proxy)
        if tls is not None:
            await self._tunnel(connection, place, tls)
        return connection

    def _tls_of(self, host: str) -> ssl.SSLContext:
        names, config = host.lower().split("."), self._config
        above = {".".join(names[start:]) for start in range(len(names))}
        return self._tls[config.verify and not above & config.unverified]

    async def _resolve(self, host: str, port: int) -> list[str]:
        """The addresses of a host; FetchError if it has none."""
        if is_address(host):
            return [host]
        at, known = self._addresses.get(host, (0.0, []))
        if known and monotonic() - at < self._config.dns_seconds:
            return known
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._resolver, _getaddrinfo, host, port)
        except (OSError, UnicodeError) as error:
            raise FetchError(Failure.NO_ADDRESS, f"{host}: {error}") from error
        self._addresses[host] = monotonic(), found
        self._addresses.move_to_end(host)
        while len(self._addresses) > _DNS_NAMES:
            self._addresses.popitem(last=False)
        return found

    async def _open(
        self, addresses: Sequence[str], host: str, port: int, tls: ssl.SSLContext | None
    ) -> Connection:
        """Connect to the first address that answers."""
        loop = asyncio.get_running_loop()
        local = (self._config.bind, 0) if self._config.bind else None
        error = FetchError(Failure.NO_ADDRESS, host)
        tried = addresses[:_MAX_ADDRESSES]
        for address in tried:
            last = address == tried[-1]
            try:
                async with asyncio.timeout(None if last else _ADDRESS_SECONDS):
                    _, connection = await loop.create_connection(
                        Connection,
                        address,
                        port,
                        ssl=tls,
                        server_hostname=host if tls else None,
                        local_addr=local,
                    )
                    return connection
            except TimeoutError:
                error = FetchError(Failure.TIMEOUT, f"{address}: no connection")
            except (OSError, ValueError) as failed:
                error = _why(failed)
        raise error

    async def _tunnel(
        self, connection: Connection, place: _Place, tls: ssl.SSLContext
    ) -> None:
        """Let a proxy open a tunnel, and speak TLS through it."""
        assert place.proxy is not None
        assert connection.transport is not None
        there = f"{place.host}:{place.port}"
        fields = [(b"Host", there.encode())]
        if place.proxy.authorization:
            fields.append((b"Proxy-Authorization", place.proxy.authorization))
        data = _request("CONNECT", there, fields)
        answer = await connection.request(data, 0, head_only=True)
        if answer.head.status != 200:
            connection.abort()
            text = f"the proxy answered {answer.head.status}"
            raise FetchError(Failure.PROXY, text)
        try:
            transport = await asyncio.get_running_loop().start_tls(
                connection.transport, connection, tls, server_hostname=place.host
            )
        except OSError as error:
            raise _why(error) from error
        if transport is None:
            raise FetchError(Failure.DISCONNECTED)
        connection.connection_made(transport)


def _getaddrinfo(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(item[4][0]) for item in found))


def _tls(*, verify: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _why(error: OSError | ValueError) -> FetchError:
    """The kind of an error of the operating system, or of TLS."""
    if isinstance(error, ssl.SSLCertVerificationError):
        kind = _CERTIFICATES.get(error.verify_code, Failure.UNTRUSTED)
        return FetchError(kind, error.verify_message)
    if isinstance(error, ssl.SSLError):
        return FetchError(Failure.TLS, error.reason or str(error))
    if isinstance(error, ConnectionRefusedError):
        return FetchError(Failure.REFUSED, str(error))
    if isinstance(error, ConnectionError):
        return FetchError(Failure.DISCONNECTED, str(error))
    return FetchError(Failure.NETWORK, str(error))


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _with_host(
    parts: SplitResult, headers: Sequence[tuple[bytes, bytes]], body: bytes
) -> Headers:
    """The headers of a request, with those that every client sends."""
    names = {name.lower() for name, _ in headers}
    first: list[tuple[bytes, bytes]] = []
    if b"host" not in names:
        authority = parts.netloc.rpartition("@")[2]
        first.append((b"Host", authority.encode("ascii", "replace")))
    if body and b"content-length" not in names:
        first.append((b"Content-Length", b"%d" % len(body)))
    return (*first, *headers)


def _request(method: str, target: str, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """The head of a request; nothing in it can end a line before its time."""
    lines = [f"{method} {target} HTTP/1.1".encode("utf-8", "replace")]
    lines += [b"%b: %b" % field for field in headers]
    clean = (line.translate(None, b"\r\n\0") for line in lines)
    return b"\r\n".join((*clean, b"", b""))
