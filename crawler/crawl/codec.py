"""The messages between a crawl and the process of its intake, as MessagePack.

Both ends are the same version of the same program, so there is nothing to negotiate.
Decoding is typed, and nothing that is read here can do more than be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from crawler import errors
from crawler.crawl.intake import Answer, IntakeConfig, IntakeResult
from crawler.errors import BifocalError, RunError
from crawler.warc.exchange import Exchange


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message of the crawl; which of its fields is there depends on the kind."""

    kind: Literal["open", "keep", "take", "finish"]
    config: IntakeConfig | None = None  # open
    exchange: Exchange | None = None  # keep: store it, and nothing else
    answer: Answer | None = None  # take: store, read and pair it


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message of the intake: to one request, or to some `take` done together."""

    results: list[IntakeResult] = []  # of those, in their order
    failed: tuple[str, str] | None = None  # class and text of an error that ends all
    bug: str | None = None  # the traceback of an unexpected error
    counts: dict[str, int] = {}  # what was counted since the reply before
    stats: dict[str, Any] | None = None  # the end of the process: what it counted

    @property
    def error(self) -> BifocalError | None:
        """The error that ended the intake."""
        if self.failed is None:
            return None
        kind: type[BifocalError] = getattr(errors, self.failed[0], RunError)
        return kind(self.failed[1])


def told(error: BifocalError | None) -> tuple[str, str] | None:
    """An error as a reply has it."""
    return None if error is None else (type(error).__name__, str(error))


def _plain(value: object) -> object:
    """Mappings that are not dicts, and the numbers of numpy, as plain values."""
    return dict(value) if isinstance(value, Mapping) else float(value)  # type: ignore[arg-type]


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain)
_REQUEST = msgspec.msgpack.Decoder(Request)
_REPLY = msgspec.msgpack.Decoder(Reply)


def encode(message: Request | Reply) -> bytes:
    """The bytes of a message."""
    return _ENCODER.encode(message)


def request_of(data: bytes) -> Request:
    """The message of a crawl."""
    return _REQUEST.decode(data)


def reply_of(data: bytes) -> Reply:
    """The message of an intake."""
    return _REPLY.decode(data)
