"""The crawl's log: one JSON line for each fetched URL, in the order of fetching.

Reports and `bifocal explain` read it. docs/formats.md has the fields.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import Any, Protocol, Self

import msgspec

from crawler.crawl.intake import IntakeResult
from crawler.data import Lang, Site
from crawler.errors import RunDirError
from crawler.frontier.entry import Lease
from crawler.warc.exchange import Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """The result of fetching one URL."""

    url: str
    site: Site
    status: int  # 0: no answer
    fetched_at: datetime
    size: int = 0  # bytes of the body
    depth: int
    source_url: str | None
    score: float
    evidence: Mapping[str, float]
    scored_at: int  # how many URLs were done when it got its score
    lang: Lang | None = None
    confidence: float = 0.0
    kept: bool = False  # a document for the aligner
    reason: str | None = None  # why it was not kept
    links: int = 0  # links on the page
    added: int = 0  # of them new in the frontier
    pairs: int = 0  # pairs that were accepted because of this page

    @classmethod
    def of_result(
        cls, lease: Lease, exchange: Exchange, found: IntakeResult, **more: Any
    ) -> Visit:
        """The visit of a URL that was answered; `more`: the other fields."""
        return cls.of(
            lease,
            exchange.status,
            exchange.fetched_at,
            size=found.size,
            lang=found.page.lang if found.page else None,
            confidence=found.confidence,
            kept=found.reason is None,
            reason=found.reason,
            pairs=len(found.pairs),
            **more,
        )

    @classmethod
    def retried(cls, lease: Lease, exchange: Exchange) -> Visit:
        """The visit of a URL that is asked for again, since the answer said later."""
        status, when = exchange.status, exchange.fetched_at
        return cls.of(
            lease, status, when, size=len(exchange.body), reason=f"later/{status}"
        )

    @classmethod
    def of(cls, lease: Lease, status: int, fetched_at: datetime, **more: Any) -> Visit:
        """The visit of a leased URL; `more`: the other fields."""
        return cls(
            url=lease.url,
            site=lease.site,
            status=status,
            fetched_at=fetched_at,
            depth=lease.link.depth,
            source_url=lease.link.source_url,
            score=lease.score,
            evidence=lease.evidence,
            scored_at=lease.scored_at,
            **more,
        )


class Observer(Protocol):
    """A listener to the visits of a crawl: a log, a progress line."""

    def visited(self, visit: Visit) -> None:
        """Take a URL that was dealt with; FATAL_ERRORS end the run."""
        ...

    def close(self) -> None:
        """End: there are no more visits."""
        ...


_ENCODE = msgspec.json.Encoder().encode


class CrawlLog:
    """Appends to `crawl.jsonl`, a line at a time; nothing is held back."""

    def __init__(self, file: FileIO) -> None:
        self._file = file

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the log of a run; a line cut by a kill is taken off its end.

        Raises RunDirError when it cannot be written.
        """
        try:
            _cut_torn_line(path)
            return cls(path.open("ab", buffering=0))
        except OSError as error:
            raise RunDirError(
                f"{path}: cannot be written: {error.strerror} (free space and rights?)"
            ) from error

    def visited(self, visit: Visit) -> None:
        """Append a visit; raises RunDirError when there is no room for it."""
        line = {
            "url": visit.url,
            "site": visit.site,
            "status": visit.status,
            "time": visit.fetched_at.isoformat(timespec="milliseconds"),
            "size": visit.size,
            "depth": visit.depth,
            "source": visit.source_url,
            "score": round(visit.score, 6),
            "evidence": {k: round(v, 4) for k, v in visit.evidence.items()},
            "scored_at": visit.scored_at,
            "lang": visit.lang,
            "confidence": visit.confidence,
            "kept": visit.kept,
            "reason": visit.reason,
            "links": visit.links,
            "added": visit.added,
            "pairs": visit.pairs,
        }
        try:
            data = _ENCODE(line) + b"\n"
        except UnicodeEncodeError:  # half of a surrogate pair, in a URL
            data = json.dumps(line).encode() + b"\n"
        size = self._file.tell()
        try:
            written = self._file.write(data)
            if written != len(data):  # what was left of the disk
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._file.truncate(size)
            raise RunDirError(
                f"{self._file.name}: cannot be written: {error.strerror} (make room,"
                " then start again: the same command goes on where this one stopped)"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _cut_torn_line(path: Path) -> None:
    """Truncate a file after its last newline."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, 2)
        position = end
        while position > 0:
            start = max(0, position - 65_536)
            file.seek(start)
            block = file.read(position - start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            position = start
        file.truncate(0)
