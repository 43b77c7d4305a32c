"""What a collection is made of, and the pieces in which it is read.

A piece is the work of one process for some seconds: a range of a WARC file, all of a
file that cannot be entered, or chosen records of one (from a CDX index).

In: paths, patterns, addresses.  Out: pieces; of each its pages and texts.
"""

from __future__ import annotations

import glob
import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crawler.data import Page
from crawler.errors import WarcError
from crawler.warc import wacz
from crawler.warc.lett import read_lett
from crawler.warc.pagefolder import page_files, read_pages
from crawler.warc.reader import (
    PAGE_TYPES,
    SUFFIXES,
    iter_records,
    origin_key,
    page_of,
    read_record,
    url_of,
)
from crawler.warc.record import OPEN, Record, WarcLocation
from crawler.warc.remote import is_remote, open_input, remote_files, size_of
from crawler.warc.text_columns import (
    URLS,
    PlainText,
    is_text_columns,
    read_text_columns,
)

# 10,000 pages of 3 KB, some 20 seconds: short enough to lose to a kill, long enough to
# make a process's start nothing.
PIECE_SIZE = 32 * 2**20
PIECE_PLACES = 10_000  # records chosen from an index

_GZIP = b"\x1f\x8b"
_LETT = (".lett", ".lett.gz")
_WET = (".wet", ".wet.gz")
_NAMES = (*SUFFIXES, *_WET, *_LETT, wacz.SUFFIX)
_FOLDER_FILES = 2000  # of a folder of pages, for one piece

Revisits = Mapping[str, Sequence[str]]  # digest of a payload → URLs that have it too


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a collection that is read in one go."""

    path: str  # a file, a folder of text columns or pages, or an address
    start: int = 0  # bytes; of a folder of pages, files
    end: int | None = None  # None: to the end
    places: tuple[tuple[int, int], ...] | None = None  # (offset, length): only these
    size: int = 0  # bytes to read, about


@dataclass(frozen=True, slots=True)
class Revisit:
    """A page that was recorded as being the same as another one, somewhere else."""

    url: str
    key: str  # digest of the payload


def find_inputs(paths: Iterable[str | Path]) -> list[str]:
    """The files that are meant: folders at any depth, patterns, addresses; in order.

    Raises WarcError where there is nothing, or nothing of a kind that can be read.
    """
    found: list[str] = []
    for path in map(str, paths):
        if is_remote(path):
            found += remote_files(path, lambda name: name.endswith(_NAMES))
        elif Path(path).is_dir():
            found += _inside(Path(path))
        elif Path(path).exists() or wacz.split(path):
            found.append(path)
        elif matches := sorted(glob.glob(path, recursive=True)):  # noqa: PTH207 - absolute
            found += find_inputs(matches)
        else:
            raise WarcError(f"{path}: no such file (give WARC files or folders)")
    return [place for path in found for place in _unpacked(path)]


def _unpacked(path: str) -> list[str]:
    if not path.endswith(wacz.SUFFIX):
        return [path]
    with open_input(path) as file:
        return wacz.warcs_in(path, file)


def _inside(folder: Path) -> list[str]:
    """The archives in a folder; the folder itself if it has pages and no archives."""
    if is_text_columns(folder):
        return [str(folder)]
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    found = [str(f) for f in files if f.name.removesuffix(OPEN).endswith(_NAMES)]
    found += [
        str(file.parent)
        for file in files
        if file.name == URLS and is_text_columns(file.parent)
    ]
    if not found and not page_files(folder):
        raise WarcError(
            f"{folder}: neither WARC files nor pages in this folder (expected names"
            f" that end in {', '.join(_NAMES)}, .html, or folders of warc2text)"
        )
    return found or [str(folder)]


def pieces_of(inputs: Iterable[str], size: int = PIECE_SIZE) -> list[Piece]:
    """The pieces of some inputs: of WARC files that can be entered several each."""
    pieces = []
    for path in inputs:
        if not is_remote(path) and Path(path).is_dir():
            pieces += _folder_pieces(Path(path))
            continue
        total = size_of(path)
        if total <= size or path.endswith(_LETT) or not _is_gzip(path):
            pieces.append(Piece(path, size=total))
            continue
        pieces += [
            Piece(
                path,
                start,
                start + size if start + size < total else None,
                size=min(size, total - start),
            )
            for start in range(0, total, size)
        ]
    return pieces


def _folder_pieces(folder: Path) -> list[Piece]:
    if is_text_columns(folder):
        total = sum(file.stat().st_size for file in folder.iterdir())
        return [Piece(str(folder), size=total)]
    sizes = [file.stat().st_size for file in page_files(folder)]
    return [
        Piece(str(folder), n, n + _FOLDER_FILES, size=sum(sizes[n : n + _FOLDER_FILES]))
        for n in range(0, len(sizes), _FOLDER_FILES)
    ]


def _is_gzip(path: str) -> bool:
    with open_input(path) as file:
        return file.read(2) == _GZIP


def read_piece(
    piece: Piece, counts: Counter[str], revisits: Revisits | None = None
) -> Iterator[Page | PlainText | Revisit]:
    """The pages of a piece, and the revisits of pages that lie somewhere else.

    With `revisits` instead the pages that they stand for, if their originals are here.
    """
    path = Path(piece.path)
    if not is_remote(piece.path) and path.is_dir():
        if revisits is None and is_text_columns(path):
            yield from read_text_columns(path, counts)
        elif revisits is None:
            yield from read_pages(path, counts, piece.start, piece.end)
    elif piece.path.endswith(_LETT):
        if revisits is None:
            yield from _lett(path, counts)
    elif revisits is None:
        for record in _records(piece, counts):
            if item := _item(record, counts):
                yield item
    else:
        for record in _records(piece, Counter()):
            for url in revisits.get(origin_key(record) or "", ()):
                if page := page_of(record, Counter()):
                    counts["warc/pages"] += 1
                    yield replace(page, url=url)


def _records(piece: Piece, counts: Counter[str]) -> Iterator[Record]:
    if piece.places is None:
        yield from iter_records(
            piece.path,
            types=PAGE_TYPES,
            counts=counts,
            start=piece.start,
            end=piece.end,
        )
        return
    for offset, length in piece.places:
        counts["warc/records"] += 1
        try:
            yield read_record(WarcLocation(piece.path, offset, length))
        except WarcError:
            counts["warc/dropped/not_at_offset"] += 1


def _item(record: Record, counts: Counter[str]) -> Page | PlainText | Revisit | None:
    if record.type == "revisit":
        url, key = url_of(record, counts), origin_key(record)
        if url and key is None:
            counts["warc/dropped/revisit"] += 1
        return Revisit(url, key) if url and key else None
    kind = record.headers.get("content-type", "")
    if record.type == "conversion" and not kind.startswith("text/html"):
        url = url_of(record, counts)
        if url is None:
            return None
        counts["warc/pages"] += 1
        return PlainText(url, record.block.decode("utf-8", "replace"))
    return page_of(record, counts) if record.type in PAGE_TYPES else None


def _lett(path: Path, counts: Counter[str]) -> Iterator[Page]:
    bad: Counter[str] = Counter()
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            for page in read_lett(lines, bad):
                counts["warc/pages"] += 1
                yield page.page
    except (OSError, EOFError, zlib.error) as error:
        raise WarcError(f"{path}: cannot be read: {error} (is it whole?)") from error
    counts["warc/records"] += bad["rows"]
    counts["warc/dropped/lett"] += bad.total() - bad["rows"]
