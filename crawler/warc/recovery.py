"""What a killed writer left behind: torn tails cut off, files given their names.

A writer hands records to the system one by one, so what a kill can tear is the end of
a file. All complete records stay, the index is made anew, and the file loses its
`.open`. A file whose writer is alive is locked, and is let alone.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from crawler.errors import WarcError
from crawler.warc.cdxj import cdxj_line, entry_of
from crawler.warc.openfile import complete, notes_path
from crawler.warc.reader import WHOLE_TYPES, iter_records
from crawler.warc.record import OPEN

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recovered:
    """A file that was completed, or taken away for having no record in it."""

    file: Path
    records: int
    cut: int  # bytes

    def __str__(self) -> str:
        if not self.records:
            return f"{self.file}: removed, it had no complete record"
        return f"{self.file}: completed, {self.records} records, {self.cut} bytes cut"


def recover(folder: str | Path) -> list[Recovered]:
    """Complete every file of a folder that a killed writer left open.

    Says what it did in the log and in what it returns. Raises WarcError where a file
    can be neither read nor completed.
    """
    return [
        recovered
        for path in sorted(Path(folder).glob("*.warc.gz" + OPEN))
        if (recovered := _recover(path))
    ]


def _recover(path: Path) -> Recovered | None:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError as error:
        raise WarcError(
            f"{path}: {error.strerror} (a killed run left it open; give it back to"
            " its owner, or move it away)"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        logger.info("%s: let alone, another process writes it", path)
        os.close(descriptor)
        return None
    try:
        recovered = _complete(path, descriptor)
    finally:
        os.close(descriptor)
    logger.warning("%s", recovered)
    return recovered


def _complete(path: Path, descriptor: int) -> Recovered:
    size = os.fstat(descriptor).st_size
    lines: list[str] = []
    records = end = 0
    try:
        for record in iter_records(path):
            if record.location is None:
                continue
            records += 1
            end = record.location.offset + record.location.length
            if record.type in WHOLE_TYPES:
                entry = entry_of(record, record.location, Counter())
                if entry:
                    lines.append(cdxj_line(entry))
    except WarcError:
        records = 0
    if not records:
        path.unlink()
        notes_path(path).unlink(missing_ok=True)
        return Recovered(path, 0, size)
    os.ftruncate(descriptor, end)
    return Recovered(complete(path, lines), records, size - end)
