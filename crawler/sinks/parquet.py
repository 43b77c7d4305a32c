"""Sentence pairs as Parquet, which `datasets.load_dataset` opens as it is.

Needs the extra `parquet`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crawler.atomic import atomic_file
from crawler.data import CorpusPair, LangPair
from crawler.errors import ProfileError
from crawler.sinks.jsonl import object_of

_ROWS = 20_000  # of a row group: 10 MB in memory


@contextmanager
def parquet_sink(
    path: Path, langs: LangPair
) -> Iterator[Callable[[CorpusPair], object]]:
    """A file that takes pairs; ProfileError without pyarrow."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ProfileError(
            "Parquet needs pyarrow (pip install 'bifocal-crawler[parquet]')"
        ) from error
    rows: list[dict[str, Any]] = []
    schema = _schema(pa, langs)

    def flush() -> None:
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
        rows.clear()

    def write(item: CorpusPair) -> None:
        rows.append(object_of(item, langs))
        if len(rows) >= _ROWS:
            flush()

    with (
        atomic_file(path) as file,
        parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        yield write
        flush()


def _schema(pa: Any, langs: LangPair) -> Any:  # pyarrow, which may not be installed
    text, whole = pa.string(), pa.int64()
    pair_of_numbers = pa.list_(pa.int32(), 2)
    origin = pa.struct(
        [("url", text), ("warc", text), ("offset", whole), ("record_id", text)]
    )
    return pa.schema(
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
