"""Scrapy's download handler for http and https, with three things it lacks.

An address that the guard refused is told from a name that does not exist. An answer may
not have headers without end: Scrapy limits bodies, Twisted the length of one line. And
the connections that wait for the next page of their site are bounded: Twisted keeps
each for 240 seconds, in which a crawl of many sites meets thousands.
"""

from __future__ import annotations

import resource
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers import http11
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, DownloadFailedError
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure
from twisted.web._newclient import BODY
from twisted.web.client import HTTPConnectionPool
from twisted.web.http import PotentialDataLoss

from crawler.components.address_guard import AddressRefusedError
from crawler.errors import UsageError

# Bytes of status lines and headers before a body, interim answers (1xx) included: what
# browsers take (Chromium: 256 KB).
_MAX_HEAD = 256 * 1024
# Connections that wait: many more than a polite crawl has sites at a time (32), and a
# quarter of the files that a process may open where nobody has set anything (1024).
_MAX_IDLE = 256
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
        """Take connections and a pool of our own."""
        super().__init__(crawler)
        from twisted.internet import reactor

        most = self._pool.maxPersistentPerHost
        self._pool = _Pool(reactor, persistent=True)
        self._pool.maxPersistentPerHost = most
        self._pool._factory = _Factory

    async def download_request(self, request: Request) -> Response:
        """Answer, or AddressRefusedError where the guard left no address.

        A status of more than three digits is no answer: DownloadFailedError.
        """
        try:
            response = await super().download_request(request)
        except CannotResolveHostError as error:
            from twisted.internet import reactor

            host = urlsplit(request.url).hostname or ""
            resolver: Any = reactor.nameResolver
            address = getattr(resolver, "refused", {}).get(host)
            if address is None:
                raise
            raise AddressRefusedError(f"{host} is at {address}") from error
        if not 100 <= response.status <= 999:  # RFC 9110, 15; each would be counted
            raise DownloadFailedError(f"status {response.status}")
        return response


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
