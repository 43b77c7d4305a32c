"""Rows → batches: read in windows, encoded by workers, batches of like length.

A window is some thousand rows that are read, sorted by length with a little noise, cut
into batches, shuffled and encoded at once, by a worker process if there are any. Only a
few windows are in memory, whatever the number of rows. Order and contents of the
batches follow from the seed, the epoch and the rows alone, so that a training that was
killed goes on with the very next batch, and several processes, which take their parts
of each batch, see together what one process sees.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset

from crawler.errors import UsageError

Row = TypeVar("Row")
Row_co = TypeVar("Row_co", covariant=True)
# Arrays and lists by name; their first dimension is the rows of the batch.
Batch = dict[str, Any]
Encode = Callable[[Sequence[Row]], Batch]

WINDOW = 128  # batches of a window
_NOISE = 0.1  # of a length, so that equal lengths do not always meet


class Rows(Protocol[Row_co]):
    """Rows in a fixed order, of which any range can be read."""

    def __len__(self) -> int:
        """Number of rows."""
        ...

    def read(self, start: int, stop: int) -> Sequence[Row_co]:
        """The rows of a range."""
        ...


@dataclass(frozen=True)
class ListRows(Generic[Row]):
    """Rows in memory."""

    rows: Sequence[Row]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def read(self, start: int, stop: int) -> Sequence[Row]:
        """The rows of a range."""
        return self.rows[start:stop]


class TableRows:
    """Rows of a Parquet or Arrow file as tuples of cells; a group of them in memory."""

    def __init__(
        self, path: Path, columns: Sequence[str], limit: int | None = None
    ) -> None:
        """`limit` keeps the first rows only."""
        self._path, self._columns = path, list(columns)
        self._limit = limit
        self._file: Any = None  # opened in each process
        self._group: tuple[int, Any] = (-1, None)

    @cached_property
    def _starts(self) -> list[int]:
        """The first row of each group, and how many rows there are."""
        return [0, *accumulate(self._sizes())]

    def __len__(self) -> int:
        """Number of rows; UsageError for a file that has not the columns."""
        return min(self._starts[-1], self._limit or self._starts[-1])

    def __getstate__(self) -> dict[str, Any]:
        """Without the open file."""
        return self.__dict__ | {"_file": None, "_group": (-1, None)}

    def read(self, start: int, stop: int) -> list[tuple[Any, ...]]:
        """The rows of a range."""
        found: list[tuple[Any, ...]] = []
        stop = min(stop, len(self))
        for group, (first, end) in enumerate(zip(self._starts, self._starts[1:])):
            if first < stop and start < end:
                here = max(start, first) - first
                table = self._group_of(group).slice(here, min(stop, end) - first - here)
                found += zip(*(table[name].to_pylist() for name in self._columns))
        return found

    def _group_of(self, group: int) -> Any:
        if self._group[0] != group:
            if self._path.suffix == ".parquet":
                table = self._open().read_row_group(group, columns=self._columns)
            else:
                table = self._open().get_batch(group)
            self._group = (group, table)
        return self._group[1]

    def _open(self) -> Any:
        import pyarrow.ipc
        import pyarrow.parquet

        if self._file is None and self._path.suffix == ".parquet":
            self._file = pyarrow.parquet.ParquetFile(self._path)
        elif self._file is None:
            self._file = pyarrow.ipc.open_file(pyarrow.memory_map(str(self._path)))
        return self._file

    def _sizes(self) -> list[int]:
        try:
            file = self._open()
            if self._path.suffix == ".parquet":
                names, groups = file.schema_arrow.names, file.metadata.num_row_groups
                sizes = [file.metadata.row_group(i).num_rows for i in range(groups)]
            else:
                names = file.schema.names
                sizes = [
                    file.get_batch(i).num_rows for i in range(file.num_record_batches)
                ]
        except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise UsageError(
                f"{self._path}: cannot be read ({error}; expected a Parquet or Arrow"
                " file)"
            ) from error
        if missing := set(self._columns) - set(names):
            raise UsageError(f"{self._path}: the column {min(missing)!r} is missing")
        return sizes


@dataclass(frozen=True)
class Plan:
    """The way from the rows of an epoch to the batches of a process."""

    batch_size: int  # rows of an update, of all processes together
    seed: int
    epoch: int
    rank: int = 0
    processes: int = 1
    workers: int = 0


def count_batches(rows: int, plan: Plan) -> int:
    """The number of batches of an epoch."""
    return -(-rows // plan.batch_size)


def batches(
    rows: Rows[Row],
    encode: Encode[Row],
    plan: Plan,
    *,
    length: Callable[[Row], int] | None = None,
    start: int = 0,
) -> Iterator[tuple[int, Batch]]:
    """From the batch number `start` on: the rows of all processes, and ours encoded.

    Batches are of rows of like `length`; without it, of the rows in their order. A
    batch with less rows than processes is left out.
    """
    windows = _Windows(rows, encode, plan, length)
    first = start // WINDOW
    loader: Any = DataLoader(
        windows,
        batch_size=None,
        sampler=range(first, len(windows)),
        num_workers=min(plan.workers, max(0, len(windows) - first)),
        collate_fn=_as_it_is,
        worker_init_fn=_start_worker,
        prefetch_factor=2 if plan.workers and len(windows) > first else None,
    )
    skipped = start - first * WINDOW
    for window in loader:
        yield from window[skipped:]
        skipped = 0


class _Windows(Dataset[list[tuple[int, Batch]]], Generic[Row]):
    """The windows of an epoch in the order of the epoch."""

    def __init__(
        self,
        rows: Rows[Row],
        encode: Encode[Row],
        plan: Plan,
        length: Callable[[Row], int] | None,
    ) -> None:
        self._rows, self._encode = rows, encode
        self._plan, self._length = plan, length

    @cached_property
    def _order(self) -> list[int]:
        plan = self._plan
        order = list(range(-(-len(self._rows) // (WINDOW * plan.batch_size))))
        if self._length:
            # the last, shorter one stays last: batch numbers then tell the window
            inner = order[:-1]
            random.Random(f"{plan.seed}/{plan.epoch}").shuffle(inner)
            order[:-1] = inner
        return order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, place: int) -> list[tuple[int, Batch]]:
        plan, size = self._plan, WINDOW * self._plan.batch_size
        start = self._order[place] * size
        rows = self._rows.read(start, start + size)
        order = list(range(len(rows)))
        rng = random.Random(f"{plan.seed}/{plan.epoch}/{start}")
        if self._length:
            lengths = [self._length(row) * rng.uniform(1 - _NOISE, 1) for row in rows]
            order.sort(key=lengths.__getitem__)
        cuts = [
            order[i : i + plan.batch_size]
            for i in range(0, len(order), plan.batch_size)
        ]
        if self._length:
            rng.shuffle(cuts)
        return [
            (
                len(cut),
                self._encode([rows[i] for i in cut[plan.rank :: plan.processes]]),
            )
            for cut in cuts
            if len(cut) >= plan.processes
        ]


def _as_it_is(window: list[tuple[int, Batch]]) -> list[tuple[int, Batch]]:
    return window


def _start_worker(number: int) -> None:
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
