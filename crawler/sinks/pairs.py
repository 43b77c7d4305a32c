"""Accepted document pairs as tab-separated text, gzipped.

While a crawl runs, pairs are appended as they are found, each at once readable
(`zcat pairs.tsv.gz`, which may complain of the open end); at its end the file is
replaced, whole, by the final pairs. Columns: docs/formats.md.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from crawler.data import PairScore
from crawler.errors import RunDirError

COLUMNS = (
    "src_url",
    "trg_url",
    "score",
    "found_by",
    "src_twins",
    "trg_twins",
    "features",
)


class PairSink:
    """Appends pairs to a file; what an earlier session left in it is kept."""

    def __init__(self, path: Path) -> None:
        """Open the file; a member torn by a kill is dropped, its whole rows are not."""
        self.path = path
        earlier = list(read_pairs(path)) if path.exists() else []
        self._file = _open(path)
        self._gzip = gzip.GzipFile(fileobj=self._file, mode="wb", mtime=0, filename="")
        self._put("\t".join(COLUMNS))
        for pair in earlier:
            self.write(pair)

    def write(self, item: PairScore) -> None:
        """Append a pair and make it readable now."""
        self._put(_row(item))
        self._gzip.flush(zlib.Z_SYNC_FLUSH)
        self._file.flush()

    def close(self) -> None:
        """End the file properly."""
        self._gzip.close()
        self._file.close()

    def _put(self, line: str) -> None:
        self._gzip.write(line.encode("utf-8", "surrogatepass") + b"\n")


def write_pairs(path: Path, pairs: Iterable[PairScore]) -> int:
    """Replace a file by these pairs, whole or not at all; returns how many."""
    partial = path.with_name(path.name + ".partial")
    count = 0
    try:
        with _open(partial) as file:
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as out:
                out.write("\t".join(COLUMNS).encode() + b"\n")
                for pair in pairs:
                    out.write(_row(pair).encode("utf-8", "surrogatepass") + b"\n")
                    count += 1
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):  # what there is of it takes room that others need
            partial.unlink(missing_ok=True)
        raise RunDirError(
            f"{path}: cannot be written: {error.strerror} (make room; the same command"
            " writes it again)"
        ) from error
    return count


def read_pairs(path: Path) -> Iterator[PairScore]:
    """The pairs of a file; it may still be growing, or end in the middle of a row."""
    for line in _lines(path):
        cells = line.split("\t")
        if len(cells) != len(COLUMNS) or cells[0] == COLUMNS[0]:
            continue
        src, trg, score, found_by, src_twins, trg_twins, features = cells
        yield PairScore(
            src,
            trg,
            float(score),
            json.loads(features),
            frozenset(found_by.split(",")) if found_by else frozenset(),
            tuple(src_twins.split()),
            tuple(trg_twins.split()),
        )


def _lines(path: Path) -> Iterator[str]:
    rest = b""
    with gzip.open(path, "rb") as file:
        while True:
            try:
                block = file.read1(65_536)
            except (EOFError, zlib.error, gzip.BadGzipFile):
                return  # the open end of a running crawl, or a kill's
            if not block:
                return
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                yield line.decode("utf-8", "surrogatepass")


def _row(pair: PairScore) -> str:
    features = {name: round(value, 4) for name, value in pair.features.items()}
    return "\t".join(
        (
            pair.src_url,
            pair.trg_url,
            f"{pair.score:.6f}",
            ",".join(sorted(pair.found_by)),
            " ".join(pair.src_twins),
            " ".join(pair.trg_twins),
            json.dumps(features, sort_keys=True, separators=(",", ":")),
        )
    )


def _open(path: Path) -> IO[bytes]:
    try:
        return path.open("wb")
    except OSError as error:
        raise RunDirError(f"{path}: cannot be written: {error.strerror}") from error
