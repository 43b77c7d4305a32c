"""WARC files to records and pages: one pass, bounded memory, damage survived.

Counted on the way, in `counts`:
`warc/records`, `warc/pages`
`warc/damaged/…`   places where bytes are lost: `truncated` (the file ends inside a
                   record), `compression` (a part that cannot be unpacked), `length` (a
                   record longer or shorter than it says), `header` (no record where one
                   should start)
`warc/dropped/…`   whole records: `no_url`, `bad_url` (not http), `bad_http`,
                   `too_large`, `revisit` (of something that is not here)
`warc/repaired/…`  pages kept as well as could be: see crawler.warc.http; `date`
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from fastwarc.warc import ArchiveIterator

from crawler.data import Page
from crawler.errors import WarcError
from crawler.urls import canonicalize
from crawler.warc.http import HttpResponse, decode_body, parse_response
from crawler.warc.record import OPEN, Record, WarcLocation
from crawler.warc.scan import Damage, Found, opened, take

PAGE_TYPES = frozenset({"response", "resource", "revisit"})

_SUFFIXES = (".warc", ".warc.gz", ".warc.xz", ".warc.zst")
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
                if file.name.removesuffix(OPEN).endswith(_SUFFIXES) and file.is_file()
            ]
            if not inside:
                raise WarcError(
                    f"{path}: no WARC files in this folder"
                    f" (expected names that end in {', '.join(_SUFFIXES)})"
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
                revisits.setdefault(origin_key(record), []).append(record)
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
        for record in iter_records(file, types={"response", "resource"}, counts=again):
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
    """The page that a response or resource record holds, or None, counted."""
    url = url_of(record, counts)
    if url is None:
        return None
    if record.type == "resource":
        kind = record.headers.get("content-type", "application/octet-stream")
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


def read_record(location: WarcLocation, folder: str | Path = "") -> Record:
    """One record by its location; WarcError if there is none.

    A file that its writer has renamed since, or not yet, is found all the same.
    """
    path = Path(folder, location.file)
    if not path.exists():
        path = path.with_name(path.name + OPEN)
    try:
        with path.open("rb") as file:
            data = os.pread(file.fileno(), location.length, location.offset)
    except OSError as error:
        raise WarcError(
            f"{path}: {error.strerror} (the index is of another folder)"
        ) from error
    return parse_record(data, path, location.offset)


def parse_record(data: bytes, path: Path, offset: int) -> Record:
    """The record in the bytes that lie at an offset of a file; WarcError if none."""
    try:
        raw = next(iter(ArchiveIterator(io.BytesIO(data), parse_http=False)), None)
        found = take(raw) if raw is not None else None
    except (OSError, Damage):
        found = None
    if found is None or found.block is None:
        raise WarcError(
            f"{path}: no readable record at byte {offset}"
            " (the file has changed since it was indexed; index it again)"
        )
    return replace(_record(found, path, len(data)), offset=offset)


def read_page(location: WarcLocation, folder: str | Path = "") -> Page:
    """One page by its location; WarcError if there is none."""
    page = page_of(read_record(location, folder), Counter())
    if page is None:
        raise WarcError(
            f"{location.file}: the record at byte {location.offset} is no page"
            " (only responses and resources are)"
        )
    return page


def _record(found: Found, path: Path, length: int | None) -> Record:
    assert found.block is not None
    return Record(
        found.type, found.headers, found.block, str(path), found.offset, length
    )


def iter_records(
    path: str | Path,
    *,
    types: Collection[str] | None = None,
    counts: Counter[str] | None = None,
) -> Iterator[Record]:
    """The records of one file, damaged ones left out; WarcError if it is no WARC.

    `types`: the record types that are wanted; others are skipped unread.
    """
    counts = Counter() if counts is None else counts
    path = Path(path)
    before = counts["warc/records"]
    with opened(path) as stream:
        for found, end in stream.records(types, counts):
            counts["warc/records"] += 1
            if found.block is not None:
                length = None if end is None else end - found.offset
                yield _record(found, path, length)
            elif types is None or found.type in types:
                counts["warc/dropped/too_large"] += 1
    if counts["warc/records"] == before and path.stat().st_size:
        raise WarcError(
            f"{path}: not a WARC file, or nothing in it can be read"
            " (expected WARC/1.0 or WARC/1.1, plain or packed with gzip, xz or zstd)"
        )
