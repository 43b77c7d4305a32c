"""Records on the disk, written by piece and read by group.

Each piece leaves a file of records in the order in which they came, and an index; the
indexes together, 30 bytes a record, say where the records of a group lie. Nothing is
sorted or copied: a record is read where it was written.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.atomic import atomic_file
from crawler.data import Lang, LangPair
from crawler.realign.records import PageRecord

_OPEN_FILES = 256  # a process may have 1,024


def write_records(
    path: Path, records: Iterable[PageRecord], langs: Sequence[Lang]
) -> int:
    """Write records, and an index beside them; returns their number."""
    numbers: dict[str, int] = {}
    codes = {lang: code for code, lang in enumerate((None, *langs))}
    columns = tuple(array(kind) for kind in "IBQQI")
    offset = 0
    with atomic_file(path) as file:
        for record in records:
            values = (
                numbers.setdefault(record.group, len(numbers)),
                codes[record.lang],
                record.page or 0,
                offset,
                len(record.data),
            )
            for column, value in zip(columns, values):
                column.append(value)
            offset += file.write(record.data)
    names = "\n".join(numbers).encode("utf-8", "surrogatepass")
    group, lang, pages, offsets, lengths = (np.array(column) for column in columns)
    with atomic_file(path.with_suffix(".npz")) as file:
        np.savez(
            file,
            names=np.frombuffer(names, np.uint8),
            group=group,
            lang=lang,
            page=pages,
            offset=offsets,
            length=lengths,
        )
    return len(offsets)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the records of one group lie."""

    group: str
    file: NDArray[np.uint32]
    offset: NDArray[np.uint64]
    length: NDArray[np.uint32]

    @property
    def size(self) -> int:
        """Bytes of all records together."""
        return int(self.length.sum(dtype=np.int64))

    def read(self, files: Sequence[Path]) -> Iterator[bytes]:
        """The records themselves."""
        places = zip(self.file.tolist(), self.offset.tolist(), self.length.tolist())
        for file, offset, length in places:
            yield os.pread(_opened(files[file]), length, offset)


@lru_cache(_OPEN_FILES)
def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY)


@dataclass(frozen=True, slots=True, eq=False)
class Shuffle:
    """The indexes of all files: the records of each group, by its name."""

    langs: Sequence[Lang]
    groups: Sequence[str]
    number: Mapping[str, int]  # of a group
    # of each record, by group
    group: NDArray[np.uint32]
    lang: NDArray[np.uint8]
    page: NDArray[np.uint64]
    file: NDArray[np.uint32]
    offset: NDArray[np.uint64]
    length: NDArray[np.uint32]
    ends: NDArray[np.int64]  # of each group's records, and where the first begins

    @classmethod
    def read(cls, files: Sequence[Path], langs: Sequence[Lang]) -> Shuffle:
        """Read the indexes."""
        tables = [_load(file.with_suffix(".npz")) for file in files]
        known = sorted({name for names, _ in tables for name in names})
        number = {name: n for n, name in enumerate(known)}
        group, lang, page, file_no, offset, length = [], [], [], [], [], []
        for n, (names, columns) in enumerate(tables):
            renumber = np.array([number[name] for name in names], np.uint32)
            group.append(renumber[columns["group"]])
            lang.append(columns["lang"])
            page.append(columns["page"])
            offset.append(columns["offset"])
            length.append(columns["length"])
            file_no.append(np.full(len(columns["group"]), n, np.uint32))
        groups = np.concatenate([np.empty(0, np.uint32), *group])
        order = np.argsort(groups, kind="stable")
        groups = groups[order]
        return cls(
            list(langs),
            known,
            number,
            groups,
            np.concatenate([np.empty(0, np.uint8), *lang])[order],
            np.concatenate([np.empty(0, np.uint64), *page])[order],
            np.concatenate([np.empty(0, np.uint32), *file_no])[order],
            np.concatenate([np.empty(0, np.uint64), *offset])[order],
            np.concatenate([np.empty(0, np.uint32), *length])[order],
            np.searchsorted(groups, np.arange(len(known) + 1)),
        )

    def sizes(self, langs: LangPair) -> dict[str, tuple[int, int]]:
        """The pages of src and of trg of each group that has both."""
        src, trg = (self._pages_of(code) for code in self._codes(langs))
        both = np.flatnonzero((src > 0) & (trg > 0))
        return {self.groups[n]: (int(src[n]), int(trg[n])) for n in both.tolist()}

    def _pages_of(self, code: int) -> NDArray[np.int64]:
        """The number of pages in a language, for each group; one URL is one page."""
        rows = np.flatnonzero(self.lang == code)
        group, page = self.group[rows], self.page[rows]
        order = np.lexsort((page, group))
        group, page = group[order], page[order]
        again = (group[1:] == group[:-1]) & (page[1:] == page[:-1])
        distinct = group[np.r_[True, ~again]] if len(group) else group
        return np.bincount(distinct, minlength=len(self.groups))

    def places(self, group: str, langs: LangPair) -> Places:
        """The records of a group that concern two languages."""
        n = self.number[group]
        start, end = int(self.ends[n]), int(self.ends[n + 1])
        wanted = np.isin(self.lang[start:end], [0, *self._codes(langs)])
        return self.at(group, start + np.flatnonzero(wanted))

    def at(self, group: str, rows: NDArray[np.int64]) -> Places:
        """Some rows of the index as a group."""
        return Places(group, self.file[rows], self.offset[rows], self.length[rows])

    def pages(
        self, langs: LangPair, paired: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64], tuple[int, int]]:
        """The rows of pages in two languages, the pages, and their number on each side.

        Pages that are paired are left out.
        """
        codes = self._codes(langs)
        wanted = np.isin(self.lang, codes) & ~np.isin(self.page, paired)
        rows = np.flatnonzero(wanted)
        src, trg = (int(np.count_nonzero(self.lang[rows] == c)) for c in codes)
        return rows, self.page[rows], (src, trg)

    def _codes(self, langs: LangPair) -> list[int]:
        return [self.langs.index(lang) + 1 for lang in langs]


def _load(path: Path) -> tuple[list[str], dict[str, Any]]:
    with np.load(path, allow_pickle=False) as table:
        names = table["names"].tobytes().decode("utf-8", "surrogatepass")
        columns = {
            name: table[name] for name in ("group", "lang", "page", "offset", "length")
        }
    return names.split("\n") if names else [], columns
