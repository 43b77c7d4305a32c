"""What a killed writer left behind: torn tails cut off, files given their names.

A writer hands records to the system one by one, so what a kill can tear is the end of a
file. All complete records stay, the index is made anew, and the file loses its `.open`.
Bytes that cannot be read are never thrown away: they are put beside it, under a name
that ends in `.damaged`. A file whose writer is alive is locked, and is left alone.
"""

from __future__ import annotations

import fcntl
import logging
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crawler.atomic import atomic_file
from crawler.errors import RunDirError, WarcError
from crawler.warc.cdxj import cdxj_line, entry_of
from crawler.warc.openfile import complete, notes_path
from crawler.warc.reader import WHOLE_TYPES, record_of
from crawler.warc.record import OPEN
from crawler.warc.scan import opened

logger = logging.getLogger(__name__)

DAMAGED = ".damaged"  # ends the name of what could not be read
_PIECE = 2**20  # bytes that are looked at, or copied, at a time


@dataclass(frozen=True, slots=True)
class Recovered:
    """A file that was completed, or put aside for having no record that can be read."""

    file: Path
    records: int
    cut: int  # bytes behind the last record
    aside: Path | None = None  # where those bytes are now; None: they held nothing

    def __str__(self) -> str:
        kept = f" (they are in {self.aside})" if self.aside else ""
        if not self.records:
            return f"{self.file}: no complete record, {self.cut} bytes put aside{kept}"
        return (
            f"{self.file}: completed, {self.records} records, {self.cut} bytes cut"
            f"{kept}"
        )


def recover(folder: str | Path) -> list[Recovered]:
    """Complete every file of a folder that a killed writer left open.

    Says what it did in the log and in what it returns. Raises WarcError where a file
    can be neither read nor completed, or the disk fails; nothing is lost then.
    """
    found = [
        recovered
        for path in sorted(Path(folder).glob("*.warc.gz" + OPEN))
        if (recovered := _recover(path))
    ]
    for notes in Path(folder).glob("*.cdxj" + OPEN):
        # a kill came between the last two steps: file and index have their names
        name = notes.name.removesuffix(".cdxj" + OPEN)
        done = (notes.with_name(name + ".warc.gz"), notes.with_name(name + ".cdxj"))
        if all(path.exists() for path in done):
            notes.unlink(missing_ok=True)
    return found


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
        logger.info("%s: left alone, another process writes it", path)
        os.close(descriptor)
        return None
    try:
        recovered = _complete(path, descriptor)
    except OSError as error:
        raise WarcError(
            f"{path}: cannot be completed: {error.strerror or error} (mend the disk,"
            " then start again; nothing was taken away)"
        ) from error
    finally:
        os.close(descriptor)
    logger.warning("%s", recovered)
    return recovered


def _complete(path: Path, descriptor: int) -> Recovered:
    size = os.fstat(descriptor).st_size
    lines: list[str] = []
    records = end = 0
    with opened(path) as stream:
        for found in stream.records(None, Counter()):
            if found.block is None:  # too large to be read, and whole all the same
                end = _member_end(descriptor, found.offset, size) or end
                continue
            assert found.end is not None
            records += 1
            end = found.end
            if found.type in WHOLE_TYPES:
                record = record_of(found, path)
                assert record.location is not None
                if entry := entry_of(record, record.location, Counter()):
                    lines.append(cdxj_line(entry))
    behind = (part for _, part in _parts(descriptor, end, size))
    holds_something = any(part.strip(b"\0") for part in behind)
    aside = _free_name(path.with_suffix("")) if holds_something else None
    if not records:
        if aside:
            path.rename(aside)
        else:
            path.unlink()
        notes_path(path).unlink(missing_ok=True)
        return Recovered(path, 0, size, aside)
    if aside:
        _copy(descriptor, end, size, aside)
    os.ftruncate(descriptor, end)
    return Recovered(complete(path, lines), records, size - end, aside)


def _member_end(descriptor: int, start: int, size: int) -> int | None:
    """Where the gzip member ends that starts there; None if it is torn."""
    decoder = zlib.decompressobj(31)
    for place, part in _parts(descriptor, start, size):
        rest = part
        try:
            while rest and not decoder.eof:
                decoder.decompress(rest, _PIECE)
                rest = decoder.unconsumed_tail
        except zlib.error:
            return None
        if decoder.eof:
            return place + len(part) - len(decoder.unused_data)
    return None


def _parts(descriptor: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    while start < end and (part := os.pread(descriptor, _PIECE, start)):
        yield start, part
        start += len(part)


def _copy(descriptor: int, start: int, end: int, target: Path) -> None:
    try:
        with atomic_file(target) as file:
            for _, part in _parts(descriptor, start, end):
                file.write(part)
    except RunDirError as error:
        raise WarcError(str(error)) from error


def _free_name(path: Path) -> Path:
    """`x.warc.gz.damaged`, or with a number if there is one."""
    name = path.with_name(path.name + DAMAGED)
    number = 1
    while name.exists():
        number += 1
        name = path.with_name(f"{path.name}.{number}{DAMAGED}")
    return name
