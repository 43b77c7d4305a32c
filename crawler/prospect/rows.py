"""Lists and indexes of pages as one stream of rows.

In: URL lists, CDX, CDXJ and ZipNum indexes, columnar Parquet indexes of Common Crawl,
sitemaps, run directories, WARC, WAT and WET files; on disk or behind an address.
Out: rows. A row that cannot be read is counted and left out.
"""

from __future__ import annotations

import gzip
import io
import logging
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from crawler.data import Lang, Rel
from crawler.errors import WarcError
from crawler.extract.sitemap import MAX_SITEMAP_BYTES, read_sitemap
from crawler.languages import known_code
from crawler.lines import bounded_lines
from crawler.rundir import RunDir
from crawler.urls import canonicalize
from crawler.visits import read_visits
from crawler.warc.cdxj import MAX_LINE
from crawler.warc.reader import PAGE_TYPES, SUFFIXES, iter_records, url_of
from crawler.warc.remote import filesystem_of, is_remote, open_input, remote_files

logger = logging.getLogger(__name__)

_PARQUET = ".parquet"
_RECORDS = (*SUFFIXES, ".wat", ".wat.gz", ".wet", ".wet.gz")
_INDEXES = (".cdx", ".cdx.gz", ".cdxj", ".cdxj.gz")
_NUMBERED = re.compile(r"(?:^|/)cdx-\d+\.gz$")  # the parts of Common Crawl's index
_SITEMAPS = (".xml", ".xml.gz")
_LISTS = (".txt", ".txt.gz", ".tsv", ".tsv.gz", ".csv", ".csv.gz")
_NAMES = (_PARQUET, *_RECORDS, *_INDEXES, *_SITEMAPS, *_LISTS)
_HTML = ("text/html", "application/xhtml+xml")
_PAGES = (*_HTML, "-", "unk", None)
_BATCH = 16_384  # rows of a Parquet file in memory at a time


class Row(msgspec.Struct, frozen=True, gc=False):
    """One page that a source names."""

    url: str  # canonical
    languages: tuple[Lang, ...] = ()  # of its text, if the source says so
    date: str = ""  # YYYYMMDD, if the source says so
    version_of: str = ""  # the first URL of the versions that a sitemap declares


def find_sources(paths: Iterable[str]) -> list[str]:
    """The files that are meant: folders at any depth, addresses; run directories stay.

    Raises WarcError for what is not there.
    """
    found: list[str] = []
    for path in paths:
        if is_remote(path):
            found += remote_files(path, _is_source)
        elif not Path(path).is_dir():
            if not Path(path).exists():
                raise WarcError(f"{path}: no such file (give lists, indexes or WARCs)")
            found.append(path)
        elif (Path(path) / "run.json").exists():
            found.append(path)
        else:
            files = map(str, sorted(Path(path).rglob("*")))
            inside = [file for file in files if _is_source(file)]
            if not inside:
                raise WarcError(
                    f"{path}: nothing in it that can be read (expected a run directory"
                    f" or names that end in {', '.join(_NAMES)})"
                )
            found += inside
    return found


def _is_source(name: str) -> bool:
    return name.endswith(_NAMES) or bool(_NUMBERED.search(name))


def read_rows(source: str, counts: Counter[str]) -> Iterator[Row]:
    """The rows of one source, by the end of its name; all others are lists of URLs.

    What comes before damage is kept. Raises WarcError if nothing can be read.
    """
    before = counts["prospect/rows"]
    try:
        for row in _rows(source, counts):
            counts["prospect/rows"] += 1
            yield row
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if counts["prospect/rows"] == before:
            raise WarcError(
                f"{source}: cannot be read: {error} (is it whole?)"
            ) from error
        counts["prospect/damaged"] += 1
        logger.warning("%s: damaged, read as far as it goes: %s", source, error)


def _rows(source: str, counts: Counter[str]) -> Iterator[Row]:
    if not is_remote(source) and Path(source).is_dir():
        return _visited(source)
    if source.endswith(_PARQUET):
        return _columns(source, counts)
    if source.endswith(_RECORDS):
        return _recorded(source, counts)
    if source.endswith(_SITEMAPS):
        return _declared(source)
    return _lines(source, counts)


def _visited(run: str) -> Iterator[Row]:
    for visit in read_visits(RunDir(run).crawl_log):
        lang = known_code(visit.lang)
        url = canonicalize(visit.url) if visit.status == 200 and lang else None
        if url and lang:
            yield Row(url, (lang,), f"{visit.time:%Y%m%d}")


def _recorded(source: str, counts: Counter[str]) -> Iterator[Row]:
    # a WAT file has a record of metadata for each record of its WARC file
    types = PAGE_TYPES | {"metadata"}
    for record in iter_records(source, types=types, counts=counts):
        if url := url_of(record, counts):
            said = record.headers.get("warc-identified-content-language", "")
            date = f"{record.date:%Y%m%d}" if record.date else ""
            yield Row(url, _codes(said), date)


@lru_cache(1024)
def _codes(text: str) -> tuple[Lang, ...]:
    """The known languages of `eng,isl`, as Common Crawl lists them."""
    return tuple(filter(None, map(known_code, text[:100].split(","))))


def _declared(source: str) -> Iterator[Row]:
    with open_input(source) as file:
        sitemap = read_sitemap("https://localhost/", file.read(MAX_SITEMAP_BYTES))
    versions: defaultdict[str, dict[str, Lang | None]] = defaultdict(dict)
    for link in sitemap.links:
        source_page = link.source_url if link.rel is Rel.ALTERNATE else None
        versions[source_page or link.url][link.url] = link.hreflang
    for urls in versions.values():
        first = min(urls) if len(urls) > 1 else ""
        for url, lang in urls.items():
            yield Row(url, (lang,) if lang else (), version_of=first)


def _lines(source: str, counts: Counter[str]) -> Iterator[Row]:
    is_index = source.endswith(_INDEXES) or bool(_NUMBERED.search(source))
    with open_input(source) as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        lines = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
        for line in bounded_lines(lines, MAX_LINE):
            if line is None:
                counts["prospect/dropped/line"] += 1
                continue
            text = line.decode("utf-8", "replace").strip()
            if not text or text.startswith(("#", "!", "CDX ")):
                continue
            row = _indexed(text, counts) if is_index else _listed(text)
            if row:
                yield row
            elif row is None:
                counts["prospect/dropped/line"] += 1


def _listed(text: str) -> Row | None:
    """A line of a list: a URL or a host, before a tab or a comment."""
    url = text.partition("\t")[0].partition(" #")[0].strip()
    if "://" not in url and "." not in url:
        return None
    found = canonicalize(url if "://" in url else f"https://{url}")
    return Row(found) if found else None


class _Entry(msgspec.Struct, gc=False):
    """What is read of a line of an index."""

    url: str
    status: str | int = ""
    mime: str | None = "-"
    languages: str | None = None


_ENTRY = msgspec.json.Decoder(_Entry)


def _indexed(text: str, counts: Counter[str]) -> Row | Literal[False] | None:
    """A line of CDXJ, or of CDX with its usual fields; False: not a page."""
    if "{" in text:
        _, date, found = text.split(" ", 2) if text.count(" ") > 1 else ("", "", text)
        try:
            entry = _ENTRY.decode(found)
        except msgspec.MsgspecError:
            return None
    else:  # N b a m s …: key, timestamp, URL, media type, status
        fields = text.split(" ")
        if len(fields) < 5:
            return None
        date, entry = fields[1], _Entry(fields[2], fields[4], fields[3])
    if str(entry.status) != "200" or entry.mime not in _PAGES:
        counts["prospect/skipped/not_a_page"] += 1
        return False
    url = canonicalize(entry.url)
    if url is None:
        return None
    said = _codes(entry.languages) if entry.languages else ()
    date = date[:8]
    return Row(url, said, date if date.isascii() and date.isdecimal() else "")


def _columns(source: str, counts: Counter[str]) -> Iterator[Row]:
    """The rows of a Parquet file that are pages; the filters run in its reader."""
    try:
        import pyarrow.dataset as ds
    except ImportError as error:
        raise WarcError(
            f"{source}: {error} (Parquet indexes need the extra `parquet`: pip install"
            " 'bifocal-crawler[parquet]')"
        ) from error
    filesystem, path = filesystem_of(source) if is_remote(source) else (None, source)
    data = ds.dataset(path, format="parquet", filesystem=filesystem)
    names = data.schema.names
    if "url" not in names:
        raise WarcError(f"{source}: no column `url` (give an index of Common Crawl)")
    chosen = None
    if "fetch_status" in names:
        chosen = ds.field("fetch_status") == 200
    if "content_mime_detected" in names:
        is_html = ds.field("content_mime_detected").isin(_HTML)
        chosen = is_html if chosen is None else chosen & is_html
    columns = ["url", "content_languages", "fetch_time"]
    batches = data.to_batches(
        columns=[name for name in columns if name in names],
        filter=chosen,
        batch_size=_BATCH,
    )
    for batch in batches:
        nothing = [None] * len(batch)
        urls, langs, times = (
            batch.column(name).to_pylist() if name in names else nothing
            for name in columns
        )
        for raw, said, time in zip(urls, langs, times):
            url = canonicalize(raw) if isinstance(raw, str) else None
            if url is None:
                counts["prospect/dropped/line"] += 1
                continue
            date = str(time)[:10].replace("-", "") if time else ""
            yield Row(url, _codes(str(said or "")), date)
