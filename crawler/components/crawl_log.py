"""Extension: one JSON line per fetched URL, in the order of fetching.

This is what reports and `bifocal explain` read. Fields: docs/formats.md.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

from crawler.components.signals import page_visited
from crawler.errors import RunDirError
from crawler.rundir import RunDir

# json.dumps makes one of these at each call
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Visit:
    """What became of one URL."""

    url: str
    site: str
    status: int  # 0: no answer
    fetched_at: datetime
    size: int  # bytes of the body
    depth: int
    source_url: str | None
    score: float
    evidence: Mapping[str, float]
    scored_at: int  # how many URLs were done when it got its score
    lang: str | None
    confidence: float
    kept: bool  # a document for the aligner
    reason: str | None  # why it was not kept
    links: int  # links on the page
    added: int  # of them new in the frontier
    pairs: int  # pairs that were accepted because of this page


class CrawlLog:
    """Appends to `crawl.jsonl`, a line at a time; nothing is held back."""

    def __init__(self, path: Path) -> None:
        """Open the log of a run; a line cut by a kill is taken off its end.

        Raises RunDirError when it cannot be written.
        """
        try:
            _cut_torn_line(path)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise RunDirError(
                f"{path}: cannot be written: {error.strerror} (free space and rights?)"
            ) from error

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Log into the run directory."""
        log = cls(RunDir(crawler.settings["RUN_DIR"]).crawl_log)
        crawler.signals.connect(log.write, signal=page_visited)
        crawler.signals.connect(log.close, signal=signals.engine_stopped)
        return log

    def write(self, visit: Visit) -> None:
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
        text = _ENCODE(line) + "\n"
        data = text.encode("utf-8", "surrogatepass")
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
