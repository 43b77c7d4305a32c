"""Scrapy's download handler for http and https, with three things it lacks.

An address that the guard refused is told from a name that does not exist. An answer may
not have headers without end: Scrapy limits bodies, Twisted the length of one line. And
the connections that wait for the next page of their site are bounded: Twisted keeps
each for 240 seconds, in which a crawl of many sites meets thousands.

Connections, agents and their TLS are Scrapy's. What stands between them and a response
is ours, and a quarter cheaper (docs/performance.md): no agent or endpoint is made for
each request, and nobody is told of each head and each piece of a body.
"""

from __future__ import annotations

import logging
import resource
from functools import lru_cache
from itertools import islice
from time import monotonic
from typing import Any
from urllib.parse import urldefrag, urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers import http11
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Headers, Response
from scrapy.settings import BaseSettings
from scrapy.utils._download_handlers import (
    get_maxsize_msg,
    make_response,
    normalize_bind_address,
    wrap_twisted_exceptions,
)
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web._newclient import BODY
from twisted.web.client import (
    URI,
    Agent,
    HTTPConnectionPool,
    ResponseDone,
    _StandardEndpointFactory,
)
from twisted.web.http import PotentialDataLoss
from twisted.web.http_headers import Headers as TxHeaders
from twisted.web.iweb import UNKNOWN_LENGTH

from crawler.components.address_guard import AddressRefusedError
from crawler.errors import UsageError

logger = logging.getLogger(__name__)

# Bytes of status lines and headers before a body, interim answers (1xx) included: what
# browsers take (Chromium: 256 KB).
_MAX_HEAD = 256 * 1024
# Connections that wait: many more than a polite crawl has sites at a time (32), and a
# quarter of the files that a process may open where nobody has set anything (1024).
_MAX_IDLE = 256
# Endpoints that are kept: those of the sites that a polite crawl asks at a time. One of
# TLS holds the machine's certificates from its first connection on, 0.9 MB.
_MAX_ENDPOINTS = 32
# Files beside connections: 25 of a running crawl, code that is loaded late, what the
# final pairing opens.
_OTHER_FILES = 100


def check_open_files(settings: BaseSettings) -> None:
    """UsageError if a crawl with these settings would run out of file handles."""
    needed = settings.getint("CONCURRENT_REQUESTS") + _OTHER_FILES
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if needed > allowed:
        raise UsageError(
            f"this process may open {allowed} files, and CONCURRENT_REQUESTS="
            f"{settings['CONCURRENT_REQUESTS']} needs {needed} (allow more, ulimit -n"
            " 1024, or ask for fewer pages at a time)"
        )


class DownloadHandler(http11.HTTP11DownloadHandler):
    """Answers requests as Scrapy does, within bounds and with clear reasons."""

    def __init__(self, crawler: Crawler) -> None:
        """Take connections and a pool of our own.

        Settings: DOWNLOAD_TIMEOUT, DOWNLOAD_MAXSIZE, DOWNLOAD_FAIL_ON_DATALOSS and
        DOWNLOAD_BIND_ADDRESS, beside those of TLS.
        """
        super().__init__(crawler)
        from twisted.internet import reactor

        self._reactor: Any = reactor
        most = self._pool.maxPersistentPerHost
        self._pool = _Pool(reactor, persistent=True)
        self._pool.maxPersistentPerHost = most
        self._pool._factory = _Factory
        self._timeout = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._agent_for = lru_cache(_MAX_IDLE)(self._make_agent)

    async def download_request(self, request: Request) -> Response:
        """Answer, or AddressRefusedError where the guard left no address.

        A status of more than three digits is no answer: DownloadFailedError.
        """
        try:
            with wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(self._ask(request))
        except CannotResolveHostError as error:
            host = urlsplit(request.url).hostname or ""
            resolver: Any = self._reactor.nameResolver
            address = getattr(resolver, "refused", {}).get(host)
            if address is None:
                raise
            raise AddressRefusedError(f"{host} is at {address}") from error
        if not 100 <= response.status <= 999:  # RFC 9110, 15; each would be counted
            raise DownloadFailedError(f"status {response.status}")
        return response

    def _ask(self, request: Request) -> Deferred[Response]:
        """Send a request; its answer is whole in time, or there is none."""
        url = urldefrag(request.url)[0]
        timeout = request.meta.get("download_timeout", self._timeout)
        headers = TxHeaders(request.headers)
        proxy = request.meta.get("proxy")
        tunnel = bool(proxy) and url.startswith("https:")
        credentials = None
        if tunnel:  # for the proxy alone
            credentials = request.headers.get("Proxy-Authorization")
            headers.removeHeader(b"Proxy-Authorization")
        agent = self._agent_for(proxy, tunnel, credentials, timeout)
        body: Any = None
        if request.body:
            body = http11._RequestBodyProducer(request.body)
        started = monotonic()
        answer: Deferred[Any] = agent.request(
            request.method.encode(), url.encode("ascii"), headers, body
        )
        timer = self._reactor.callLater(timeout, answer.cancel)

        def begun(head: Any) -> Deferred[Response] | Response:
            request.meta["download_latency"] = monotonic() - started
            if head.length == 0:  # nothing would be delivered
                return _response(url, head, b"")
            most = request.meta.get("download_maxsize", self._default_maxsize)
            body = _Body(head, request, most, self._fail_on_dataloss)
            if not body.whole.called:
                head.deliverBody(body)
            return body.whole.addCallback(lambda whole: _response(url, head, whole))

        def ended(result: Any) -> Any:
            if timer.active():
                timer.cancel()
                return result
            raise DownloadTimeoutError(f"{url} took longer than {timeout} seconds")

        return answer.addCallback(begun).addBoth(ended)

    def _make_agent(
        self,
        proxy: str | None,
        tunnel: bool,
        credentials: bytes | None,
        timeout: float,
    ) -> Agent:
        address = normalize_bind_address(self._bind_address)
        shared: dict[str, Any] = {
            "reactor": self._reactor,
            "contextFactory": self._contextFactory,
            "connectTimeout": timeout,
            "bindAddress": address,
            "pool": self._pool,
        }
        agent: Agent
        if proxy is None:
            agent = http11._BindAddressAgent(**shared)
        elif tunnel:
            at = urlsplit(proxy)
            conf = at.hostname or "", at.port or 80, credentials
            agent = http11._TunnelingAgent(proxyConf=conf, **shared)
        else:
            agent = http11._ScrapyProxyAgent(proxyURI=proxy.encode("ascii"), **shared)
        agent._endpointFactory = _Endpoints(
            self._reactor, self._contextFactory, timeout, address
        )
        return agent


def _response(url: str, head: Any, body: bytes) -> Response:
    """Scrapy's response; `head` is Twisted's, with what Scrapy's protocol adds."""
    headers = Headers()
    if head.length != UNKNOWN_LENGTH:  # Twisted keeps it apart
        headers[b"Content-Length"] = b"%d" % head.length
    headers.update(head.headers.getAllRawHeaders())
    name, major, minor = head.version
    return make_response(
        url=url,
        status=head.code,
        headers=headers,
        body=body,
        ip_address=getattr(head, "_scrapy_ip_address", None),
        protocol=f"{name.decode()}/{major}.{minor}",
    )


class _Body(Protocol):
    """Collects a body; `whole` is it, or why there is none."""

    def __init__(
        self,
        head: Any,
        request: Request,
        most: int,
        fail_on_loss: bool,
    ) -> None:
        self.whole: Deferred[bytes] = Deferred(self._abort)
        self._head, self._request, self._most = head, request, most
        self._fail_on_loss = fail_on_loss
        self._parts: list[bytes] = []
        self._size = 0
        if head.length != UNKNOWN_LENGTH:
            self._check(head.length, expected=True)

    def _check(self, size: int, *, expected: bool) -> None:
        if 0 < self._most < size:
            logger.warning(
                get_maxsize_msg(size, self._most, self._request, expected=expected)
            )
            self._parts.clear()
            self.whole.cancel()

    def _abort(self, _: object) -> None:
        self._head._transport._producer.abortConnection()

    def dataReceived(self, data: bytes) -> None:
        if not self.whole.called:  # after the end, what was on its way still comes
            self._parts.append(data)
            self._size += len(data)
            self._check(self._size, expected=False)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self.whole.called:
            return
        ended = reason.type in (ResponseDone, PotentialDataLoss)
        if ended or not self._fail_on_loss:
            self.whole.callback(b"".join(self._parts))
        else:
            error = ResponseDataLossError()
            error.__cause__ = reason.value
            self.whole.errback(Failure(error))  # type: ignore[no-untyped-call]


class _Endpoints(_StandardEndpointFactory):
    """Makes the endpoint of an address once: Twisted checks its name anew each time."""

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)  # type: ignore[no-untyped-call]
        self._known = lru_cache(_MAX_ENDPOINTS)(self._make)

    def endpointForURI(self, uri: URI) -> Any:
        return self._known(uri.scheme, uri.host, uri.port)

    def _make(self, scheme: bytes, host: bytes, port: int) -> Any:
        rest = (b"", b"", b"", b"")  # of the URL: no matter
        uri = URI(scheme, host, host, port, *rest)  # type: ignore[no-untyped-call]
        return super().endpointForURI(uri)


class _Pool(HTTPConnectionPool):
    """Keeps so many connections; of more, the oldest are closed."""

    def __init__(self, reactor: Any, *, persistent: bool) -> None:
        super().__init__(reactor, persistent)  # type: ignore[no-untyped-call]
        allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._max_idle = min(_MAX_IDLE, allowed // 4)

    def _putConnection(self, key: Any, connection: Any) -> None:
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]
        oldest = self._timeouts.values()  # as they began to wait
        for closing in islice(oldest, max(0, len(oldest) - self._max_idle)):
            closing.reset(0)


class _Protocol(http11._LenientHTTP11ClientProtocol):
    """One connection; it is closed when the head of an answer does not end."""

    _head = 0

    def request(self, request: Any) -> Any:
        self._head = 0
        return super().request(request)

    def dataReceived(self, data: bytes) -> None:
        parser = self._parser
        if parser is not None and parser.state != BODY:
            self._head += len(data)
            if self._head > _MAX_HEAD:
                endless = Failure(PotentialDataLoss())  # type: ignore[no-untyped-call]
                self._giveUp(endless)  # type: ignore[no-untyped-call]
                return
        super().dataReceived(data)  # type: ignore[no-untyped-call]


class _Factory(http11._LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: object) -> _Protocol:
        return _Protocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
