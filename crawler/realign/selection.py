"""Choose the records of an archive that are worth reading, by its index alone.

Smith et al. (2013) mined Common Crawl so: only pages are read whose URL, but for its
language marker, is that of another page in another language. A line of the index is 300
bytes and a page 30 KB, so an archive is looked through at a hundredth of its size.

In: CDXJ files of Common Crawl, pywb or `bifocal index`, plain or gzip, sorted by SURT,
so that the pages of a site come together.  Out: pieces that name records.
Differs from the paper: if the index names the languages of a page, they are used.
See also: `crawler.handles` (language markers of URLs).
"""

from __future__ import annotations

import gzip
import heapq
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import groupby

from crawler.data import Lang
from crawler.errors import WarcError
from crawler.handles import handle_of
from crawler.lines import bounded_lines
from crawler.urls import site_of
from crawler.warc.cdxj import MAX_LINE, IndexEntry, parse_cdxj
from crawler.warc.inputs import PIECE_PLACES, Piece
from crawler.warc.remote import open_input

_HTML = frozenset({"text/html", "application/xhtml+xml", "-", "unk"})
_GZIP = b"\x1f\x8b"


def select(
    entries: Iterable[IndexEntry], langs: Collection[Lang], counts: Counter[str]
) -> Iterator[IndexEntry]:
    """The entries whose page may have its translation among them, site by site.

    Counted: `cdx/lines`, `cdx/selected`.
    """
    for _, group in groupby(entries, lambda entry: site_of(entry.url)):
        handles: defaultdict[str, list[tuple[frozenset[Lang], IndexEntry]]]
        handles = defaultdict(list)
        for entry in group:
            counts["cdx/lines"] += 1
            if entry.status == 200 and entry.mime in _HTML:
                handle = handle_of(entry.url, langs)
                said = frozenset(entry.languages[:1]) or handle.languages
                if not entry.languages or said & set(langs):
                    handles[handle.text].append((said & set(langs), entry))
        for versions in handles.values():
            if len({said for said, _ in versions}) > 1:
                counts["cdx/selected"] += len(versions)
                yield from (entry for _, entry in versions)


def pieces_of_index(
    indexes: Sequence[str], base: str, langs: Collection[Lang], counts: Counter[str]
) -> list[Piece]:
    """Pieces of the records that are worth reading; file names are under `base`."""
    places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    lines = heapq.merge(*map(_lines, indexes))
    for entry in select(_entries(lines, counts), langs, counts):
        location = entry.location
        places[location.file].append((location.offset, location.length))
    return [
        Piece(
            f"{base.rstrip('/')}/{name}",
            places=tuple(chosen),
            size=sum(length for _, length in chosen),
        )
        for name, found in sorted(places.items())
        for chosen in _cut(sorted(set(found)))
    ]


def _cut(places: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    for start in range(0, len(places), PIECE_PLACES):
        yield places[start : start + PIECE_PLACES]


def _entries(lines: Iterable[str], counts: Counter[str]) -> Iterator[IndexEntry]:
    for line in lines:
        entry = parse_cdxj(line)
        if entry is None:
            counts["cdx/bad"] += 1
        else:
            yield entry


def _lines(index: str) -> Iterator[str]:
    try:
        with open_input(index) as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) if packed else nullcontext(raw) as file:
                for line in bounded_lines(file, MAX_LINE):
                    yield (line or b"").decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error) as error:
        raise WarcError(f"{index}: cannot be read: {error} (is it CDXJ?)") from error
