"""What was fetched, as WARC files: rotating, one gzip member per record, indexed.

Each file opens with a warcinfo record; each exchange is a request and a response
record, and what was found out later about a page is a metadata record that refers to
its response. A page that had to be converted to be read (PDF, JavaScript) lies before
them as a conversion record, and its response names that. A page whose body was stored
before can be a revisit record, which names the response that has it.

A file has the suffix `.open` until it is complete and its index (`x.cdxj`) lies beside
it. Every record goes to the operating system whole, at once: a killed process costs at
most the record in hand, which `crawler.warc.recovery` cuts off at the next start.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Self

from crawler.errors import WarcError
from crawler.warc.cdxj import REVISIT, IndexEntry
from crawler.warc.exchange import (
    HTML,
    Exchange,
    mime_of,
    request_head,
    response_head,
)
from crawler.warc.openfile import OpenFile
from crawler.warc.record import (
    CONVERTED_TO,
    WarcLocation,
    compress,
    layout,
    one_line,
    sha1,
    uri,
    warc_date,
)

_FORMAT = (
    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
)


@dataclass(frozen=True, slots=True)
class WarcConfig:
    """How WARC files are written."""

    prefix: str = "bifocal"
    worker: str = "0"  # sets the files of workers in one folder apart
    # 1 GB, as Heritrix and Common Crawl do (WARC guidelines, ISO 28500 annex C)
    max_bytes: int = 1_000_000_000
    # 9 is 1 % smaller and takes 1.7 times as long (17 KB pages)
    level: int = 6
    # True: `flush` waits for the disk, so that records survive a power failure too
    fsync: bool = False
    revisits: bool = False  # bodies that come again are not stored again
    # more fields of the warcinfo record: operator, robots, http-header-user-agent, …
    info: Mapping[str, str] = field(default_factory=dict)


# WARC 1.1, section 6.7.2
_SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_REMEMBERED = 100_000  # digests of stored bodies: 40 MB
# A smaller body takes less room than the fields that say where the same one lies.
_WORTHWHILE = 512


def _new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def _now() -> datetime:
    return datetime.now(UTC)


class WarcWriter:
    """A folder of WARC files that grows; see the module's docstring.

    Nothing is created before the first record. `now` and `new_id` make runs repeatable.
    """

    def __init__(
        self,
        folder: str | Path,
        config: WarcConfig = WarcConfig(),
        *,
        now: Callable[[], datetime] = _now,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        """Write into a folder, which is made if it is not there."""
        self.folder = Path(folder)
        self.config = config
        self._now = now
        self._new_id = new_id
        self._serial = 0
        # digest of a body → what a revisit says of the response that has it
        self._stored: dict[str, list[tuple[str, str]]] = {}
        self._file: OpenFile | None = None

    def write_exchange(self, exchange: Exchange) -> WarcLocation:
        """Store a request and its response; returns where the page lies.

        What the answer was converted to goes before the response, as a conversion
        record, and is what readers read. Raises WarcError when it cannot be written;
        all before it stays readable.
        """
        response_id, request_id = self._new_id(), self._new_id()
        date = warc_date(exchange.fetched_at)
        shared = [("WARC-Target-URI", uri(exchange.url)), ("WARC-Date", date)]
        if exchange.ip:
            shared.append(("WARC-IP-Address", exchange.ip))
        if not exchange.http_version.startswith("HTTP/1."):
            shared.append(("WARC-Protocol", exchange.http_version.lower()))
        request = [
            ("WARC-Type", "request"),
            ("WARC-Record-ID", request_id),
            *shared,
            ("WARC-Concurrent-To", response_id),
            ("Content-Type", "application/http; msgtype=request"),
        ]
        digest = sha1(exchange.body)
        may_repeat = self.config.revisits and _may_repeat(exchange)
        original = self._stored.get(digest) if may_repeat else None
        response = [
            ("WARC-Type", "response" if original is None else "revisit"),
            ("WARC-Record-ID", response_id),
            *(original or ()),
            *shared,
            ("WARC-Payload-Digest", digest),
            ("Content-Type", "application/http; msgtype=response"),
        ]
        if exchange.truncated:
            response.append(("WARC-Truncated", exchange.truncated))
        file = self._room()
        page = None
        if exchange.converted is not None:
            page = self._convert(file, exchange, exchange.converted, response_id)
            response.append((CONVERTED_TO, page.record_id or ""))
        packed_request = self._pack(request, request_head(exchange))
        body = exchange.body if original is None else b""
        packed = self._pack(response, response_head(exchange) + body)
        location = WarcLocation(
            file.name, file.size + len(packed_request), len(packed), response_id
        )
        entry = IndexEntry(
            exchange.url,
            exchange.fetched_at,
            exchange.status,
            mime_of(exchange.response_headers) if original is None else REVISIT,
            digest,
            location,
        )
        file.append(packed_request + packed, entry)
        if may_repeat and original is None:
            if len(self._stored) == _REMEMBERED:
                del self._stored[next(iter(self._stored))]
            self._stored[digest] = [
                ("WARC-Profile", _SAME_PAYLOAD),
                ("WARC-Refers-To", response_id),
                ("WARC-Refers-To-Target-URI", uri(exchange.url)),
                ("WARC-Refers-To-Date", date),
            ]
        return page or location

    def _convert(
        self, file: OpenFile, exchange: Exchange, html: bytes, response_id: str
    ) -> WarcLocation:
        record_id, digest = self._new_id(), sha1(html)
        headers = [
            ("WARC-Type", "conversion"),
            ("WARC-Record-ID", record_id),
            ("WARC-Target-URI", uri(exchange.url)),
            ("WARC-Date", warc_date(exchange.fetched_at)),
            ("WARC-Refers-To", response_id),
            ("WARC-Payload-Digest", digest),
            ("Content-Type", HTML),
        ]
        packed = self._pack(headers, html)
        location = WarcLocation(file.name, file.size, len(packed), record_id)
        date, mime = exchange.fetched_at, HTML.partition(";")[0]
        file.append(packed, IndexEntry(exchange.url, date, 200, mime, digest, location))
        return location

    def write_metadata(
        self, url: str, refers_to: str | None, fields: Iterable[tuple[str, str]]
    ) -> WarcLocation:
        """Store what was found out about a page: `name: value` lines.

        `refers_to`: the record id of its response, as `write_exchange` returned it.
        """
        record_id = self._new_id()
        headers = [
            ("WARC-Type", "metadata"),
            ("WARC-Record-ID", record_id),
            ("WARC-Target-URI", uri(url)),
            ("WARC-Date", warc_date(self._now())),
            ("Content-Type", "application/warc-fields"),
        ]
        if refers_to:
            headers.insert(3, ("WARC-Refers-To", refers_to))
        packed = self._pack(headers, _fields(fields))
        file = self._file = self._file or self._create()  # stays with its response
        location = WarcLocation(file.name, file.size, len(packed), record_id)
        file.append(packed)
        return location

    def flush(self) -> None:
        """Records are with the operating system already; with `fsync`, on the disk."""
        if self._file is not None and self.config.fsync:
            self._file.sync()

    def close(self) -> None:
        """Complete the last file: its index, then its name."""
        if self._file is not None:
            file, self._file = self._file, None
            file.finish(sync=self.config.fsync)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _pack(self, headers: Iterable[tuple[str, str]], block: bytes) -> bytes:
        return compress(layout(headers, block), self.config.level)

    def _room(self) -> OpenFile:
        """The file that the next record goes to."""
        if self._file is not None and self._file.size >= self.config.max_bytes:
            self.close()
        if self._file is None:
            self._file = self._create()
        return self._file

    def _create(self) -> OpenFile:
        started = self._now()
        stamp = started.astimezone(UTC).strftime("%Y%m%d%H%M%S")
        while True:
            self._serial += 1
            config = self.config
            name = f"{config.prefix}-{stamp}-{self._serial:05}-{config.worker}.warc.gz"
            try:
                file = OpenFile.create(self.folder / name)
            except FileExistsError:  # an earlier run within the same second
                continue
            break
        info = {
            "software": f"Bifocal/{version('bifocal-crawler')}",
            "format": "WARC File Format 1.1",
            "conformsTo": _FORMAT,
            **config.info,
        }
        headers = [
            ("WARC-Type", "warcinfo"),
            ("WARC-Record-ID", self._new_id()),
            ("WARC-Filename", name),
            ("WARC-Date", warc_date(started)),
            ("Content-Type", "application/warc-fields"),
        ]
        try:
            file.append(self._pack(headers, _fields(info.items())))
        except WarcError:
            file.discard()
            raise
        return file


def _may_repeat(exchange: Exchange) -> bool:
    """Whether the body of a page is worth storing once only: whole, and not tiny."""
    whole = exchange.status == 200 and not exchange.truncated
    plain = exchange.converted is None
    return whole and plain and len(exchange.body) >= _WORTHWHILE


def _fields(fields: Iterable[tuple[str, str]]) -> bytes:
    """The lines of an application/warc-fields block."""
    lines = [f"{one_line(name)}: {one_line(value)}\r\n" for name, value in fields]
    return "".join(lines).encode("utf-8", "replace")
