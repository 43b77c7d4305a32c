"""One connection to a server, with one request on its way at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import cast

import httptools

from crawler.fetch.errors import Failure, FetchError
from crawler.fetch.heads import Head, end_of_head, may_be_http, parse_head

# Bytes of status lines and headers before a body, interim answers (1xx) included: what
# browsers take (Chromium: 256 KB).
MAX_HEAD = 256 * 1024
# Pieces in which a body may come: each costs a call. 40 bytes each of the largest body.
_MAX_PIECES = 500_000
# Mistakes of servers that cost nobody anything: in sizes of chunks, and data that comes
# after the end.
_LENIENT = dict.fromkeys(
    (
        "lenient_chunked_length",
        "lenient_data_after_close",
        "lenient_keep_alive",
        "lenient_optional_cr_before_lf",
        "lenient_optional_crlf_after_chunk",
        "lenient_optional_lf_after_cr",
        "lenient_spaces_after_chunk_size",
        "lenient_transfer_encoding",
        "lenient_version",
    ),
    True,
)


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer: its head, and its body without transfer coding."""

    head: Head
    body: bytes
    is_reusable: bool  # the connection may carry another request


class Connection(asyncio.Protocol):
    """Sends a request and collects its answer, within bounds; FetchError if none comes.

    Anything that a server sends without being asked ends the connection.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[RawAnswer] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a request may be sent."""
        return self.transport is not None and not self.transport.is_closing()

    @property
    def peer(self) -> str | None:
        """The address of the other end."""
        peer = self.transport.get_extra_info("peername") if self.transport else None
        return cast("str", peer[0]) if peer else None

    async def request(
        self, data: bytes, max_size: int, *, head_only: bool = False
    ) -> RawAnswer:
        """Send a request; its answer. `max_size`: bytes of a body, 0 for any.

        `head_only`: the answer has no body whatever it says (to HEAD, CONNECT).
        """
        assert self.transport is not None
        assert self._waiting is None
        self._max_size = max_size
        self._head_only = head_only
        self._read = bytearray()  # of heads, before the body
        self._searched = self._heads = 0
        self._head: Head | None = None
        self._body = bytearray()
        self._pieces = self._framed = 0  # of a body; its bytes with their framing
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        try:
            return await self._waiting
        finally:
            if not self._waiting.done() or self._waiting.cancelled():
                self.abort()
            self._waiting = None

    def abort(self) -> None:
        """End the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    # -------------------------------------------------- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport of a new connection."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take what came; what was not asked for ends the connection."""
        if self._waiting is None or self._waiting.done():
            self.abort()
            return
        try:
            if self._head is None:
                self._read += data
                self._read_heads()
            else:
                self._feed(data)
        except FetchError as error:
            self._fail(error)

    def eof_received(self) -> None:
        """Nothing more will come."""
        self._end()

    def connection_lost(self, error: Exception | None) -> None:
        """Take the end of the connection, whoever ended it."""
        self._end()

    # ------------------------------------------------------------ the heads

    def _read_heads(self) -> None:
        """Read heads until the one that a body follows; FetchError if none may be."""
        while self._head is None:
            while self._read.startswith((b"\r", b"\n")):  # blank lines before an answer
                del self._read[:1]
                self._heads += 1
            if not may_be_http(self._read):
                raise FetchError(Failure.NOT_HTTP, f"{bytes(self._read[:40])!r}")
            end = end_of_head(self._read, self._searched)
            self._searched = len(self._read)
            if self._heads + (end or len(self._read)) > MAX_HEAD:
                raise FetchError(Failure.NOT_HTTP, "a head without end")
            if end is None:
                return
            head = parse_head(bytes(self._read[:end]))
            self._heads += end
            del self._read[:end]
            self._searched = 0
            if not head.is_interim:
                self._begin_body(head)

    def _begin_body(self, head: Head) -> None:
        length = head.length
        if self._head_only or (length == 0 and not head.is_chunked):
            self._head = head
            self._finish(is_reusable=head.is_persistent and not self._read)
            return
        if self._max_size and not head.is_chunked and (length or 0) > self._max_size:
            raise FetchError(Failure.TOO_LARGE, f"{length} bytes")
        framing = b""
        if head.is_chunked:
            framing = b"Transfer-Encoding: chunked\r\n"
        elif length is not None:
            framing = b"Content-Length: %d\r\n" % length
        self._head = head
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(**_LENIENT)
        self._feed(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n" + self._read)

    # ------------------------------------------------------------- the body

    def _feed(self, data: bytes | bytearray) -> None:
        self._framed += len(data)
        if self._max_size and self._framed > self._max_size + MAX_HEAD:
            raise FetchError(Failure.TOO_LARGE, f"{self._framed} bytes with chunks")
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if self._waiting is not None and self._waiting.done():
                self.abort()  # after the end of the body: no matter
            else:
                raise FetchError(Failure.INCOMPLETE, str(error)) from error

    def on_message_begin(self) -> None:
        """End the connection if another answer follows (called by the parser)."""
        if self._waiting is None or self._waiting.done():
            self.abort()

    def on_body(self, data: bytes) -> None:
        """Collect a part of the body (called by the parser)."""
        self._body += data
        self._pieces += 1
        if self._max_size and len(self._body) > self._max_size:
            text = f"more than {self._max_size} bytes"
            self._fail(FetchError(Failure.TOO_LARGE, text))
        elif self._pieces > _MAX_PIECES:
            text = f"more than {_MAX_PIECES} pieces"
            self._fail(FetchError(Failure.TOO_LARGE, text))

    def on_message_complete(self) -> None:
        """Take the body as whole (called by the parser)."""
        assert self._head is not None
        self._finish(is_reusable=self._head.is_persistent)

    def _end(self) -> None:
        """The server has ended the connection."""
        if self._waiting is None or self._waiting.done():
            return
        head = self._head
        if head is None:
            self._fail(FetchError(Failure.DISCONNECTED))
        elif head.is_chunked or head.length is not None:
            self._fail(FetchError(Failure.INCOMPLETE, f"{len(self._body)} bytes came"))
        else:
            self._finish(is_reusable=False)

    def _finish(self, *, is_reusable: bool) -> None:
        if self._waiting is not None and not self._waiting.done():
            assert self._head is not None
            body, self._body = bytes(self._body), bytearray()
            self._waiting.set_result(RawAnswer(self._head, body, is_reusable))

    def _fail(self, error: FetchError) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)
        self.abort()
