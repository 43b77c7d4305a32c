"""Builds the tables that training reads (DATA) from what a user has.

Each input becomes a part of its own in DATA/parts, written whole or not at all: a build
that was killed goes on where it was, and an input that has not changed is not read
twice. Then all parts are merged by duckdb, which needs little memory for many rows:

    url_lang/SPLIT.parquet     each URL once, in the order of a hash, so that the first
                               million rows are a sample of all
    url_pairs/SPLIT.parquet    each pair once
    negatives.parquet
    terms.tsv.gz               also a dictionary for `bifocal align`

SPLIT is train, dev or test, by registered domain (`splits`). Every part counts its rows
and those that were left out, with the reason, in its counts.json.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

import xxhash

from crawler.data import LangPair
from crawler.errors import UsageError
from training.data.splits import DEV, TEST, TRAIN, read_splits, split_of
from training.data.tables import COLUMNS, Tables, write_table

SOURCES = {
    name: f"training.data.{name.replace('-', '_')}"
    for name in (
        *("runs", "hreflang", "sitemaps", "common-crawl", "lett", "bitext"),
        *("titles", "freedict", "localizations", "cldr", "sample"),
    )
}
WITHOUT_INPUT = ("cldr", "sample")
_URLS = "common-crawl"  # whose input need not be here


class Builder(Protocol):
    """A module of this folder that finds rows."""

    def tables(
        self, source: str, counts: Counter[str], langs: LangPair | None
    ) -> Tables:
        """The rows of one input; `langs` are those of `--langs`."""
        ...


def build(
    name: str, data: Path, inputs: Sequence[str], langs: LangPair | None = None
) -> None:
    """Make the parts of all inputs, then the tables; prints the counts."""
    builder: Builder = importlib.import_module(SOURCES[name])
    if not inputs and name not in WITHOUT_INPUT:
        purpose = (builder.__doc__ or "").partition("\n")[0]
        raise UsageError(f"{name}: nothing to read ({purpose})")
    for source in inputs if name != _URLS else ():
        if not Path(source.partition("=")[0]).exists():
            raise UsageError(f"{source}: there is no such file or folder")
    for source in inputs or [name]:
        counts = _make_part(builder, name, data, source, langs)
        shown = ", ".join(
            f"{key} {count:,}" for key, count in sorted(counts.items()) if count
        )
        print(f"{source}: {shown}", flush=True)
    for table, rows in merge(data).items():
        print(f"{data / table}: {rows:,} rows")


def _make_part(
    builder: Builder, name: str, data: Path, source: str, langs: LangPair | None
) -> Counter[str]:
    label = re.sub(r"[^\w.-]+", "-", source)[-60:].strip("-.")
    digest = xxhash.xxh64_hexdigest(repr((source, langs, *_state(source))).encode())
    part = data / "parts" / f"{name}-{label}-{digest}"
    if (part / "counts.json").exists():
        return Counter(json.loads((part / "counts.json").read_text("utf-8")))
    for older in part.parent.glob(f"{name}-{label}-{'?' * len(digest)}"):
        shutil.rmtree(older)  # the input has changed
    unfinished = data / "unfinished" / part.name
    shutil.rmtree(unfinished, ignore_errors=True)
    counts: Counter[str] = Counter()
    _write(unfinished, builder.tables(source, counts, langs), data, counts)
    (unfinished / "counts.json").write_text(json.dumps(counts), "utf-8")
    part.parent.mkdir(exist_ok=True)
    unfinished.replace(part)
    return counts


def _state(source: str) -> tuple[int, int]:
    """Size and time of the files of an input, so that changed ones are read again."""
    path = Path(source.partition("=")[0])
    files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
    stats = [file.stat() for file in files]
    return sum(s.st_size for s in stats), max((s.st_mtime_ns for s in stats), default=0)


def _write(folder: Path, found: Tables, data: Path, counts: Counter[str]) -> None:
    fixed = read_splits(data)
    urls = (
        (row.url, row.lang, row.source, split_of(row.site, fixed)) for row in found.urls
    )
    pairs = (
        (
            *(row.url_a, row.lang_a, row.url_b, row.lang_b),
            *(int(row.code_only), row.source, split_of(row.site, fixed)),
        )
        for row in found.pairs
    )
    terms = (tuple(getattr(t, c) for c in COLUMNS["terms"]) for t in found.terms)
    tables: dict[str, Iterable[tuple[object, ...]]] = {
        "url_lang": urls,
        "url_pairs": pairs,
        "negatives": found.negatives,
        "terms": terms,
    }
    for name, rows in tables.items():
        columns = COLUMNS[name] + (("split",) if name in _SPLIT else ())
        path = folder / f"{name}.tsv.gz"
        counts[f"written/{name}"] = written = write_table(path, columns, rows)
        if not written:
            path.unlink()


_SPLIT = ("url_lang", "url_pairs")
# The order of a hash makes every prefix of a table a sample of it.
_UNIQUE = {
    "url_lang": (
        "SELECT url, min(lang) AS lang, min(source) AS source FROM parts"
        " WHERE split = '{split}' GROUP BY url ORDER BY md5(url)"
    ),
    "url_pairs": (
        "SELECT url_a, min(lang_a) AS lang_a, url_b, min(lang_b) AS lang_b,"
        " min(code_only) AS code_only, min(source) AS source FROM parts"
        " WHERE split = '{split}' GROUP BY url_a, url_b"
        " ORDER BY md5(url_a || ' ' || url_b)"
    ),
    "negatives": "SELECT DISTINCT url_a, url_b FROM parts ORDER BY ALL",
    "terms": "SELECT DISTINCT * FROM parts ORDER BY ALL",
}


def merge(data: Path) -> dict[str, int]:
    """Make the tables of all parts anew; the rows of each."""
    import duckdb
    import pyarrow.parquet

    written: dict[str, int] = {}
    for name, query in _UNIQUE.items():
        parts = f"parts/*/{name}.tsv.gz"
        if not any(data.glob(parts)):
            continue
        with duckdb.connect() as database:
            rows = database.read_csv(
                str(data / parts),
                delimiter="\t",
                header=True,
                all_varchar=True,
                quotechar="",
            )
            database.register("parts", rows)
            if name in _SPLIT:
                tables = {f"{name}/{s}.parquet": s for s in (TRAIN, DEV, TEST)}
            else:
                tables = {"terms.tsv.gz" if name == "terms" else f"{name}.parquet": ""}
            for table, split in tables.items():
                path = data / table
                path.parent.mkdir(exist_ok=True)
                unique = query.format(split=split)
                if name == "terms":
                    found = database.execute(unique)
                    rows_of = iter(found.fetchone, None)
                    written[table] = write_table(path, COLUMNS[name], rows_of)
                else:
                    partial = path.with_name(f"{path.name}.partial")
                    database.sql(unique).write_parquet(
                        str(partial), row_group_size=65_536
                    )
                    written[table] = pyarrow.parquet.read_metadata(partial).num_rows
                    partial.replace(path)
    return written
