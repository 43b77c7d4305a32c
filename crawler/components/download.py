"""Scrapy's download handler for http and https, with two things it lacks.

An address that the guard refused is told from a name that does not exist, and an answer
may not have headers without end: Scrapy limits bodies, Twisted the length of one line.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers import http11
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from twisted.python.failure import Failure
from twisted.web._newclient import BODY
from twisted.web.http import PotentialDataLoss

from crawler.components.address_guard import AddressRefusedError

# Bytes of status lines and headers before a body, interim answers (1xx) included: what
# browsers take (Chromium: 256 KB).
_MAX_HEAD = 256 * 1024


class DownloadHandler(http11.HTTP11DownloadHandler):
    """Answers requests as Scrapy does, within bounds and with clear reasons."""

    def __init__(self, crawler: Crawler) -> None:
        """Put our connections into the pool that Scrapy made."""
        super().__init__(crawler)
        self._pool._factory = _Factory

    async def download_request(self, request: Request) -> Response:
        """Answer, or AddressRefusedError where the guard left no address."""
        try:
            return await super().download_request(request)
        except CannotResolveHostError as error:
            from twisted.internet import reactor

            host = urlsplit(request.url).hostname or ""
            resolver: Any = reactor.nameResolver
            address = getattr(resolver, "refused", {}).get(host)
            if address is None:
                raise
            raise AddressRefusedError(f"{host} is at {address}") from error


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
