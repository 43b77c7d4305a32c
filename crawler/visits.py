"""The log of a crawl, one line of JSON for each fetched URL, as typed values.

Fields: docs/formats.md, section crawl.jsonl. A run directory may come from anybody, so
a line counts only if it has the fields with values of their types; its strings are
made printable.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated

import msgspec

from crawler.data import NO_EVIDENCE
from crawler.errors import RunDirError
from crawler.lines import bounded_lines, printable_values

logger = logging.getLogger(__name__)

# A line has a URL or two of at most 2,000 characters each and some fifteen numbers.
_MAX_LINE = 65_536  # bytes
_MIN_LINE = len('{"url":"","site":"","status":0,"time":""}')
# What may become an unprintable character: escapes, and raw bytes.
_SUSPICIOUS = re.compile(
    rb"\\[ubfnrt]|[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2[\x80\x81]"
)

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Time = Annotated[datetime, msgspec.Meta(tz=True)]


class Visit(msgspec.Struct, frozen=True):
    """What became of one URL."""

    url: str
    site: str
    status: Count  # 0: no answer
    time: Time
    size: Count = 0  # bytes of the body
    depth: Count = 0
    source: str | None = None  # the page that it was found on
    score: float = 0.0
    evidence: Mapping[str, float] = NO_EVIDENCE
    scored_at: Count = 0  # how many URLs were done when it got its score
    lang: str | None = None
    confidence: float = 0.0
    kept: bool = False  # a document for the aligner
    reason: str | None = None  # why it was not kept
    links: Count = 0  # links on the page
    added: Count = 0  # of them new in the frontier
    pairs: Count = 0  # pairs that were accepted because of this page


_decode = msgspec.json.Decoder(Visit).decode


def visits_of(file: IO[bytes]) -> Iterator[Visit | None]:
    """The visits from where a file stands; None stands for a line that is not one.

    A last line without its end is being written: it is left out. The file stands behind
    a line when its visit is given.
    """
    for line in bounded_lines(file, _MAX_LINE, parallel=False):
        if line is None:
            yield None
        elif not line.endswith(b"\n"):
            return
        else:
            yield _visit(line)


def _visit(line: bytes) -> Visit | None:
    if len(line) < _MIN_LINE:
        return None
    try:
        if _SUSPICIOUS.search(line):
            return msgspec.convert(printable_values(msgspec.json.decode(line)), Visit)
        return _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def read_visits(path: Path) -> Iterator[Visit]:
    """The visits of a crawl.jsonl, in order; it may still be growing.

    Lines that are not visits are left out with a warning. Raises RunDirError for a file
    that cannot be read, and for one that holds nothing but such lines.
    """
    good = bad = 0
    try:
        with path.open("rb") as file:
            for visit in visits_of(file):
                if visit is None:
                    bad += 1
                else:
                    good += 1
                    yield visit
    except OSError as error:
        raise RunDirError(
            f"{path}: cannot be read: {error.strerror}"
            f" (is {path.parent} the run directory of a crawl?)"
        ) from error
    if bad and not good:
        raise RunDirError(f"{path}: not the log of a crawl (give another RUN_DIR)")
    if bad:
        logger.warning("%s: %d lines left out that are not visits", path, bad)
