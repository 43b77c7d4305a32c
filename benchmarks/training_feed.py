"""Rows from Parquet to batches: rows a second on a core, and the memory of many rows.

    python -m benchmarks.training_feed [--rows 50000000] [--fed 2000000]

A table of URLs of 80 characters is written in groups of 65,536 rows, as `bifocal
data build` writes it. Then batches are made of it in this process, by the loader alone
(read, sort by length, cut up, shuffle), with bytes and with pieces of words as tokens.
The windows of an epoch lie all over the table, so a part of the batches shows the
memory of all. `rss_mb` is the peak of the loader; of these, `rss_before_mb` are the
interpreter with its libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.machine import machine, status_mb

RESULTS = Path(__file__).parent / "results" / "training_feed.json"
GROUP = 65_536
BATCH = 140
_SLUGS = "about-the-museum/opening-hours", "um-safnid/opnunartimar", "fr/heures"


def write_rows(path: Path, rows: int) -> None:
    """A table of URLs that differ in number, site and slug."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    langs = [("en", "is", "fr")[i % 3] for i in range(GROUP)]
    schema = pa.schema([("url", pa.string()), ("lang", pa.string())])
    with ParquetWriter(path, schema) as writer:
        for first in range(0, rows, GROUP):
            size = min(GROUP, rows - first)
            urls = [
                f"https://www.site-{i % 997}.example/{_SLUGS[i % 3]}/{i:x}/".ljust(
                    60 + i % 41, "a"
                )
                for i in range(first, first + size)
            ]
            writer.write_table(pa.table([urls, langs[:size]], schema), GROUP)


def as_texts(rows: Sequence[Any]) -> dict[str, Any]:
    """No tokens: the loader alone."""
    return {"text": [row[0] for row in rows]}


def encoder(name: str) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """Rows → arrays of tokens."""
    if name == "loader alone":
        return as_texts
    from models.encoder import TextEncoder
    from models.preprocess import url_text
    from training.data.sample import tables
    from training.encoders import url_tokenizer

    texts = [url_text(row.url) for row in tables("sample", {}, None).urls]  # type: ignore[arg-type]
    encode = TextEncoder(url_tokenizer(texts, 260 if name == "bytes" else 8000), 128)
    return lambda rows: encode([row[0] for row in rows])


def feed(path: Path, name: str, fed: int) -> dict[str, Any]:
    """Read `fed` rows in batches, in this process."""
    from training.feed import Plan, TableRows, batches

    encode = encoder(name)
    before = status_mb("VmRSS")
    rows = TableRows(path, ("url", "lang"))
    began, cpu, seen = perf_counter(), process_time(), 0
    for number, _ in batches(
        rows, encode, Plan(BATCH, 1, 1), length=lambda row: len(row[0])
    ):
        seen += number
        if seen >= fed:
            break
    return {
        "tokens": name,
        "table_rows": len(rows),
        "rows": seen,
        "rows_per_s": round(seen / (perf_counter() - began)),
        "rows_per_cpu_s": round(seen / (process_time() - cpu)),
        "rss_before_mb": before,
        "rss_mb": status_mb("VmHWM"),
    }


def main() -> None:
    """Measure each way in a process of its own, and write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--fed", type=int, default=2_000_000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(feed(Path(args.one[0]), args.one[1], args.fed)))
        return
    report: dict[str, Any] = {"machine": machine("torch", "pyarrow", "tokenizers")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, args.rows)
        report["table_mb"] = round(path.stat().st_size / 1e6)
        ways = []
        for name in ("loader alone", "bytes", "pieces of words"):
            fed = args.fed if name == "loader alone" else args.fed // 10
            command = [sys.executable, "-m", "benchmarks.training_feed", "--one"]
            words = [*command, str(path), name, "--fed", str(fed)]
            one_core = os.environ | {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            done = subprocess.run(words, env=one_core, capture_output=True, check=True)
            ways.append(json.loads(done.stdout))
            print(ways[-1], flush=True)
    report["ways"] = ways
    args.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
