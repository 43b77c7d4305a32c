"""CDXJ: a sorted text file that says which URL lies where in a WARC file.

One line per page, `key timestamp {json}`: the format of pywb and the Wayback Machine.
The key is the URL with its host reversed and its spelling ironed out (SURT), so that a
prefix search finds a host; the JSON has the URL itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import merge
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile

from crawler.atomic import atomic_text
from crawler.data import Lang
from crawler.languages import known_code
from crawler.lines import bounded_lines
from crawler.urls import canonicalize
from crawler.warc.found import MAX_RECORD
from crawler.warc.http import parse_response
from crawler.warc.reader import NO_DATE, origin_key, url_of
from crawler.warc.record import Record, WarcLocation, uri

# Lines that are sorted at a time, 20 MB. A WARC file of 1 GB has some 200,000 pages.
_RUN = 50_000
REVISIT = "warc/revisit"  # pywb's media type of what lies somewhere else
MAX_LINE = 2**16  # bytes: two URLs of 2,000 characters, escaped, and some fields
_MAX_OFFSET = 2**62  # that a system takes
_SLASHES = re.compile("/{2,}")
_WWW = re.compile(r"www\d*\.")


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One page of a collection, without its body."""

    url: str  # canonical
    date: datetime
    status: int
    mime: str  # `-` if the server did not say
    digest: str | None  # of the payload, as the record labels it
    location: WarcLocation
    languages: tuple[Lang, ...] = ()  # of its text, if the index says so


def surt(url: str) -> str:
    """The sort key of a canonical URL.

    >>> surt("https://www.Example.org/Is/?b=2&a=1"), surt("http://example.org:8080")
    ('org,example)/is?a=1&b=2', 'org,example:8080)/')
    """
    rest = url.lower().partition("://")[2]
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    host, colon, port = authority.partition(":")
    if authority.startswith("["):
        host, colon, port = authority, "", ""
    else:
        host = ",".join(reversed(_WWW.sub("", host, count=1).split(".")))
    path = _SLASHES.sub("/", path).rstrip("/")
    query = "&".join(sorted(query.split("&")))
    return f"{host}{colon}{port})/{path}{'?' if query else ''}{query}"


def cdxj_line(entry: IndexEntry) -> str:
    """One line of a CDXJ file, without its end; ASCII only."""
    fields = {
        "url": entry.url,
        "mime": entry.mime,
        "status": str(entry.status),
        "digest": entry.digest,
        "length": str(entry.location.length),
        "offset": str(entry.location.offset),
        "filename": entry.location.file,
    }
    known = {name: value for name, value in fields.items() if value is not None}
    timestamp = entry.date.strftime("%Y%m%d%H%M%S")
    key = surt(uri(entry.url)).encode("ascii", "backslashreplace").decode()
    return f"{key} {timestamp} {json.dumps(known)}"


def parse_cdxj(line: str) -> IndexEntry | None:
    """The entry of a line; None for a line that is not one of ours in form."""
    try:
        _, timestamp, text = line.split(" ", 2)
        fields = json.loads(text)
        url = canonicalize(fields["url"])
        date = datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        location = WarcLocation(
            str(fields["filename"]), int(fields["offset"]), int(fields["length"])
        )
        status = int(fields["status"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    name = PurePosixPath(location.file)
    if (
        url is None
        or not 0 <= location.offset <= _MAX_OFFSET
        or not 0 < location.length <= MAX_RECORD
        or ".." in name.parts
        or "\0" in location.file
    ):
        return None
    mime, digest = fields.get("mime"), fields.get("digest")
    # Common Crawl: `eng,isl`, the most frequent first
    codes = str(fields.get("languages", "")).split(",")
    return IndexEntry(
        url,
        date,
        status,
        str(mime or "-"),
        digest and str(digest),
        location,
        tuple(filter(None, map(known_code, codes))),
    )


def write_cdxj(lines: Iterable[str], path: Path) -> None:
    """Sort lines into a CDXJ file, which is there complete or not at all.

    What does not fit in memory is sorted in runs, and these are merged. RunDirError or
    OSError if it cannot be written.
    """
    rest = iter(lines)
    with ExitStack() as stack:
        runs: list[Iterable[str]] = []
        while run := sorted(f"{line}\n" for line in islice(rest, _RUN)):
            runs.append(run)
            if len(run) == _RUN:
                runs[-1] = file = stack.enter_context(
                    TemporaryFile("w+", encoding="ascii", dir=path.parent)
                )
                file.writelines(run)
                file.seek(0)
        with atomic_text(path, errors="strict") as whole:
            whole.writelines(merge(*runs))


def read_cdxj(path: Path) -> Iterator[IndexEntry | None]:
    """The entries of a CDXJ file; None for each line that has another form."""
    with path.open("rb") as file:
        for line in bounded_lines(file, MAX_LINE, parallel=False):
            yield parse_cdxj(line.decode("utf-8", "replace")) if line else None


def index_path(warc: Path) -> Path:
    """Where the index of a WARC file lies: `x.warc.gz` has `x.cdxj` beside it."""
    return warc.with_name(warc.name.partition(".warc")[0] + ".cdxj")


def entry_of(
    record: Record, location: WarcLocation, counts: Counter[str]
) -> IndexEntry | None:
    """What an index says of a record; None, counted, if it holds no page."""
    url = url_of(record, counts)
    if url is None:
        return None
    if record.type in ("resource", "conversion"):
        status, mime = 200, record.headers.get("content-type", "")
        if record.type == "conversion" and not mime.startswith("text/html"):
            return None
    else:
        response = parse_response(record.block)
        if response is None:
            counts["warc/dropped/bad_http"] += 1
            return None
        status, mime = response.status, response.header("content-type")
        mime = REVISIT if record.type == "revisit" else mime
    return IndexEntry(
        url,
        record.date or NO_DATE,
        status,
        mime.partition(";")[0].strip().lower() or "-",
        origin_key(record),
        location,
    )


def sidecar(warc: Path) -> list[IndexEntry] | None:
    """The entries of the CDXJ file beside a WARC file, if they can be trusted."""
    cdxj = index_path(warc)
    try:
        about = warc.stat()
        if cdxj.stat().st_mtime < about.st_mtime:
            return None
        entries = list(read_cdxj(cdxj))
    except OSError:
        return None
    trusted = [
        entry
        for entry in entries
        if entry is not None
        and entry.location.file == warc.name
        and entry.location.offset + entry.location.length <= about.st_size
        and entry.mime != "warc/revisit"
    ]
    trusted.sort(key=lambda entry: entry.location.offset)
    return trusted if len(trusted) == len(entries) else None
