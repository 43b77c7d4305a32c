"""ARC, the format of web archives before WARC: its records as WARC records.

A record is a line, `URL address date type length`, and so many bytes; a file is plain,
or has a gzip member for each record. A damaged record ends the file: nothing in the
format says where the next one starts.
"""

from __future__ import annotations

import gzip
import logging
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import BinaryIO, cast

from crawler.lines import bounded_lines
from crawler.warc.found import MAX_RECORD, Found
from crawler.warc.record import warc_date
from crawler.warc.remote import Location

logger = logging.getLogger(__name__)

_ABOUT = b"filedesc:"  # the first record describes the file
_GZIP = b"\x1f\x8b\x08"
_MAX_LINE = 16 * 2**10  # bytes: a URL of 2,000 characters and four short fields
_MAX_EMPTY = 16  # lines between two records
_LENGTH = re.compile(rb"\d{1,15}")
_PIECE = 2**20  # bytes that are passed over at a time


def is_arc(file: BinaryIO) -> bool:
    """Does an ARC file begin here? The file is left at its start."""
    head = file.read(512)
    file.seek(0)
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(31).decompress(head, len(_ABOUT))
        except zlib.error:
            return False
    return head.startswith(_ABOUT)


def arc_records(
    file: BinaryIO, path: Location, counts: Counter[str]
) -> Iterator[Found]:
    """The responses of an ARC file; what it says of each is given WARC's names."""
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    whole = 0  # records
    try:
        with gzip.GzipFile(fileobj=file) if packed else file as unpacked:
            for found in _records(cast(BinaryIO, unpacked)):
                whole += 1
                if found is not None:
                    yield found
    except (EOFError, OSError, ValueError, zlib.error) as error:
        counts["warc/damaged/truncated"] += 1
        logger.warning("%s: damaged after record %d: %s", path, whole, error)


def _records(file: BinaryIO) -> Iterator[Found | None]:
    """Each record, None for the one that describes the file; ValueError if damaged."""
    empty = 0
    for line in bounded_lines(file, _MAX_LINE):
        if line is None:
            raise ValueError("a line is too long")
        if not line.strip():
            empty += 1
            if empty > _MAX_EMPTY:
                raise ValueError("no record where one should start")
            continue
        empty = 0
        fields = line.split()
        if len(fields) < 5 or not _LENGTH.fullmatch(fields[-1]):
            raise ValueError("no record where one should start")
        length = int(fields[-1])
        block = file.read(min(length, MAX_RECORD))
        passed = len(block)
        while passed < length and (piece := file.read(min(_PIECE, length - passed))):
            passed += len(piece)
        if passed < length:
            raise EOFError("the file ends inside a record")
        if line.startswith(_ABOUT):
            yield None
            continue
        url, address, date, kind = (f.decode("utf-8", "replace") for f in fields[:4])
        headers = {"warc-target-uri": url, "content-type": kind} | _date(date)
        headers["warc-ip-address"] = address
        fits = length <= MAX_RECORD
        yield Found(0, "response", headers, block if fits else None, None)


def _date(text: str) -> dict[str, str]:
    with suppress(ValueError):
        date = datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return {"warc-date": warc_date(date)}
    return {}
