"""WARC files to records and pages: one pass, bounded memory, damage survived.

Counted on the way, in `counts`:
`warc/records`, `warc/pages`
`warc/damaged/…`   places where bytes are lost: `truncated` (the file ends inside a
                   record), `compression` (a part that cannot be unpacked), `length` (a
                   record longer or shorter than it says), `header` (no record where one
                   should start), `given_up` (10,000 damaged places: the rest is left)
`warc/dropped/…`   whole records: `no_url`, `bad_url` (not http), `bad_http`,
                   `too_large`, `revisit` (of something that is not here),
                   `conversion` (to something else than HTML)
`warc/converted`   responses that are read as the HTML they were converted to
`warc/repaired/…`  pages kept as well as could be: see crawler.warc.http; `date`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from crawler.data import Page
from crawler.errors import WarcError
from crawler.urls import canonicalize
from crawler.warc import wacz
from crawler.warc.found import MAX_RECORD, Damage, Found
from crawler.warc.http import HttpResponse, decode_body, parse_response
from crawler.warc.record import CONVERTED_TO, OPEN, Record, WarcLocation
from crawler.warc.remote import Location, is_remote, read_range
from crawler.warc.scan import opened, record_in

# Of records that a page, or a whole one, may be had from.
WHOLE_TYPES = frozenset({"response", "resource", "conversion"})
PAGE_TYPES = WHOLE_TYPES | {"revisit"}

SUFFIXES = (".warc", ".warc.gz", ".warc.xz", ".warc.zst", ".arc", ".arc.gz")
NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)


def warc_files(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """The WARC files that are meant: folders are searched, at any depth, in order.

    Raises WarcError where there is nothing, or nothing of that kind.
    """
    files: list[Path] = []
    for path in [paths] if isinstance(paths, str | Path) else paths:
        path = Path(path)
        if path.is_dir():
            inside = [
                file
                for file in sorted(path.rglob("*"))
                if file.name.removesuffix(OPEN).endswith(SUFFIXES) and file.is_file()
            ]
            if not inside:
                raise WarcError(
                    f"{path}: no WARC files in this folder"
                    f" (expected names that end in {', '.join(SUFFIXES)})"
                )
            files += inside
        elif path.exists():
            files.append(path)
        else:
            raise WarcError(f"{path}: no such file (give WARC files or folders)")
    return files


def iter_pages(
    paths: str | Path | Iterable[str | Path], *, counts: Counter[str] | None = None
) -> Iterator[Page]:
    """Every page of a collection, in the order of the files and of the records.

    A revisit record has the body of the page that it refers to, if that is anywhere in
    the collection; such pages come last. Raises WarcError for a file that is no WARC.
    """
    counts = Counter() if counts is None else counts
    files = warc_files(paths)
    revisits: dict[str | None, list[Record]] = {}
    for file in files:
        for record in iter_records(file, types=PAGE_TYPES, counts=counts):
            if record.type == "revisit":
                about = replace(record, block=b"")
                revisits.setdefault(origin_key(record), []).append(about)
            elif page := page_of(record, counts):
                yield page
    if revisits:
        yield from _revisited(files, revisits, counts)


def origin_key(record: Record) -> str | None:
    """What a revisit and its original have in common: the digest of the payload."""
    return record.headers.get("warc-payload-digest") or None


def _revisited(
    files: Iterable[Path],
    revisits: dict[str | None, list[Record]],
    counts: Counter[str],
) -> Iterator[Page]:
    """A second pass: remembering every digest in the first would cost memory."""
    again: Counter[str] = Counter()  # what is wrong was counted the first time
    for file in files:
        for record in iter_records(file, types=WHOLE_TYPES, counts=again):
            key = origin_key(record)
            for revisit in revisits.pop(key, ()) if key else ():
                if page := revisited_page(revisit, record, counts):
                    yield page
            if not revisits:
                return
    counts["warc/dropped/revisit"] += sum(map(len, revisits.values()))


def revisited_page(
    revisit: Record, original: Record, counts: Counter[str]
) -> Page | None:
    """The page that a revisit record stands for."""
    page = page_of(original, Counter())
    url = url_of(revisit, counts)
    if page is None or url is None:
        return None
    counts["warc/pages"] += 1
    return Page(
        url,
        page.status,
        page.headers,
        page.body,
        revisit.date or NO_DATE,
        revisit.record_id,
    )


def page_of(record: Record, counts: Counter[str]) -> Page | None:
    """The page that a record holds, or None, counted.

    What was converted to HTML (`crawler.warc.writer`) is read as the HTML, once.
    """
    url = url_of(record, counts)
    if url is None:
        return None
    if CONVERTED_TO.lower() in record.headers:
        counts["warc/converted"] += 1
        return None
    if record.type in ("resource", "conversion"):
        kind = record.headers.get("content-type", "application/octet-stream")
        if record.type == "conversion" and not kind.startswith("text/html"):
            counts["warc/dropped/conversion"] += 1
            return None
        response = HttpResponse(200, (("Content-Type", kind),), record.block)
    else:
        parsed = parse_response(record.block)
        if parsed is None:
            counts["warc/dropped/bad_http"] += 1
            return None
        response = parsed
    date = record.date
    if date is None:
        counts["warc/repaired/date"] += 1
        date = NO_DATE
    counts["warc/pages"] += 1
    body = decode_body(response, counts)
    return Page(url, response.status, response.headers, body, date, record.record_id)


def url_of(record: Record, counts: Counter[str]) -> str | None:
    """The canonical URL of a record, or None, counted."""
    raw = record.url
    url = canonicalize(raw) if raw else None
    if url is None:
        counts["warc/dropped/bad_url" if raw else "warc/dropped/no_url"] += 1
    return url


def read_record(location: WarcLocation, folder: Location = "") -> Record:
    """One record by its location; WarcError if there is none.

    A file that its writer has renamed since, or not yet, is found all the same.
    """
    path = _locate(folder, location.file)
    if location.length > MAX_RECORD:
        raise WarcError(f"{path}: the record at byte {location.offset} is too large")
    try:
        data = read_range(path, location.offset, location.length)
    except OSError as error:
        raise WarcError(
            f"{path}: {error.strerror} (the index is of another folder)"
        ) from error
    return parse_record(data, path, location.offset)


def _locate(folder: Location, name: str) -> Location:
    if is_remote(name) or wacz.split(name):
        return name
    if is_remote(folder) or wacz.split(f"{folder}/"):
        return f"{str(folder).rstrip('/')}/{name}"
    path = Path(folder, name)
    return path if path.exists() else path.with_name(path.name + OPEN)


def parse_record(data: bytes, path: Location, offset: int) -> Record:
    """The record in the bytes that lie at an offset of a file; WarcError if none."""
    try:
        found = record_in(data, path)
    except Damage:
        found = None
    if found is None or found.block is None:
        raise WarcError(
            f"{path}: no readable record at byte {offset}"
            " (the file has changed since it was indexed; index it again)"
        )
    return replace(record_of(found, path), offset=offset, length=len(data))


def read_page(location: WarcLocation, folder: str | Path = "") -> Page:
    """One page by its location; WarcError if there is none."""
    page = page_of(read_record(location, folder), Counter())
    if page is None:
        raise WarcError(
            f"{location.file}: the record at byte {location.offset} is not a page"
            " (only responses and resources are)"
        )
    return page


def record_of(found: Found, path: Location) -> Record:
    """A record that was found, with the file that it is in."""
    assert found.block is not None
    length = None if found.end is None else found.end - found.offset
    return Record(
        found.type, found.headers, found.block, str(path), found.offset, length
    )


def iter_records(
    path: Location,
    *,
    types: Collection[str] | None = None,
    counts: Counter[str] | None = None,
    start: int = 0,
    end: int | None = None,
) -> Iterator[Record]:
    """The records of one file, damaged ones left out; WarcError if it is no WARC.

    `types`: the record types that are wanted; others are skipped unread. With `start`
    and `end` only those that start in this range of bytes.
    """
    counts = Counter() if counts is None else counts
    before = counts["warc/records"]
    with opened(path) as stream:
        for found in stream.records(types, counts, start, end):
            counts["warc/records"] += 1
            if found.block is not None:
                yield record_of(found, path)
            elif types is None or found.type in types:
                counts["warc/dropped/too_large"] += 1
        empty = not stream.size or start
    if counts["warc/records"] == before and not empty:
        raise WarcError(
            f"{path}: not a WARC file, or nothing in it can be read"
            " (expected WARC/1.0, WARC/1.1 or ARC, plain or packed with gzip, xz or"
            " zstd)"
        )
