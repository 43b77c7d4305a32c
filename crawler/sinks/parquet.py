"""Sentence pairs as Parquet, which `datasets.load_dataset` opens as it is.

Needs the extra `parquet`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from crawler.data import CorpusPair, LangPair
from crawler.errors import ProfileError, RunDirError
from crawler.sinks.jsonl import object_of

_ROWS = 20_000  # of a row group: 10 MB in memory


class ParquetSink:
    """Writes row groups into `NAME.partial`, which `close` renames."""

    def __init__(self, path: Path, langs: LangPair) -> None:
        """Open the file; ProfileError without pyarrow."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            raise ProfileError(
                "Parquet needs pyarrow (pip install -e '.[parquet]')"
            ) from error
        self._path = path
        self._partial = path.with_name(path.name + ".partial")
        self._langs = langs
        self._rows: list[dict[str, Any]] = []
        text, whole = pa.string(), pa.int64()
        pair_of_numbers = pa.list_(pa.int32(), 2)
        origin = pa.struct(
            [("url", text), ("warc", text), ("offset", whole), ("record_id", text)]
        )
        self._schema = pa.schema(
            [
                ("id", text),
                ("translation", pa.struct([(lang, text) for lang in langs])),
                ("score", pa.float32()),
                ("pair_score", pa.float32()),
                ("bead", pair_of_numbers),
                ("blocks", pair_of_numbers),
                ("places", pair_of_numbers),
                ("copies", pa.int32()),
                ("src", origin),
                ("trg", origin),
            ]
        )
        self._table = pa.Table
        try:
            self._writer = parquet.ParquetWriter(
                self._partial, self._schema, compression="zstd"
            )
        except OSError as error:
            raise RunDirError(f"{path}: cannot be written: {error}") from error

    def write(self, item: CorpusPair) -> None:
        """Take a pair; every so many make a row group."""
        self._rows.append(object_of(item, self._langs))
        if len(self._rows) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        try:
            table = self._table.from_pylist(self._rows, schema=self._schema)
            self._writer.write_table(table)
        except OSError as error:
            self.discard()
            raise RunDirError(
                f"{self._path}: cannot be written: {error} (make room; the same command"
                " writes it again)"
            ) from error
        self._rows = []

    def close(self) -> None:
        """Put the file in its place."""
        self._flush()
        self._writer.close()
        with self._partial.open("rb+") as file:
            os.fsync(file.fileno())
        self._partial.replace(self._path)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._writer.close()
        self._partial.unlink(missing_ok=True)
