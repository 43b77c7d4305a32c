"""Which engine joins pages by their n-grams, on the disk, in bounded memory?

    python -m benchmarks.ngram_join [--pages 50000]

Made-up postings, 400 n-grams a page, most of them on one page and few on thousands; of
those on 2 to 50 pages of both languages every pair of pages, with the sum of the
weights, as `crawler.realign.matching_ngrams` asks for across sites. Each engine is a
process of its own: ours (numpy, shard by shard), duckdb and polars where they are
installed, and what sorting the rows as text takes. Writes results/ngram_join.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import machine
from crawler.aligner.profile import AlignProfile
from crawler.realign.matching_ngrams import MatchingNgrams

RESULT = Path(__file__).parent / "results" / "ngram_join.json"
NGRAMS = 400  # of a page
MEMORY = "500MB"  # what an engine may take for its data
SQL = """
CREATE TABLE kept AS SELECT gram, round(1024 * ln({pages} / count(*)) ^ 2) AS weight
  FROM '{rows}' GROUP BY gram
  HAVING count(*) <= 50 AND bool_or(is_trg) AND NOT bool_and(is_trg);
CREATE TABLE met AS SELECT a.page AS src, b.page AS trg, sum(weight) AS weight
  FROM kept JOIN '{rows}' a USING (gram) JOIN '{rows}' b USING (gram)
  WHERE NOT a.is_trg AND b.is_trg GROUP BY ALL;
"""


def postings(pages: int, folder: Path) -> None:
    """The rows in files of 5,000 pages, as our tasks and the others want them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    matching = MatchingNgrams(AlignProfile(), pages, 1 + pages // 10_000)
    dtype = [("gram", "u8"), ("page", "u8"), ("is_trg", "?")]
    for number, start in enumerate(range(0, pages, 5000)):
        chance = np.random.default_rng(number)
        rows = np.empty(5000 * NGRAMS, dtype)
        rank = chance.random(len(rows)) ** 3 * pages * NGRAMS
        rows["gram"] = rank.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        rows["page"] = np.repeat(np.arange(start + 1, start + 5001), NGRAMS)
        rows["is_trg"] = rows["page"] % 2
        rows = np.unique(rows)
        shards = matching.split(rows, rows["gram"])
        arrays: dict[str, Any] = {str(shard): found for shard, found in shards}
        np.savez(folder / f"{number:04}.npz", **arrays)
        table = pa.table({name: rows[name] for name, _ in dtype})
        pq.write_table(table, folder / f"{number:04}.parquet", compression="none")


def ours(pages: int, folder: Path) -> int:
    """Step by step, each shard by itself."""
    matching = MatchingNgrams(AlignProfile(), pages, 1 + pages // 10_000)
    sources = sorted(folder.glob("*.npz"))
    sent: defaultdict[int, list[Path]] = defaultdict(list)
    for shard in range(matching.shards):
        postings = [np.load(path, allow_pickle=False)[str(shard)] for path in sources]
        for target, rows in matching.run("meet", postings):
            path = folder / f"met-{shard}-{target}.npy"
            np.save(path, rows)
            sent[target].append(path)
    count = 0
    for target, paths in sent.items():
        weighed = matching.run(
            "weigh", (np.load(path, allow_pickle=False) for path in paths)
        )
        for number, (_, rows) in enumerate(weighed):
            count += int(np.count_nonzero((rows["src"] > 0) & (rows["trg"] > 0)))
            np.save(folder / f"weighed-{target}-{number}.npy", rows)
    return count


def duckdb(pages: int, folder: Path) -> int:
    """One query, which spills where it must."""
    import duckdb

    db = duckdb.connect(str(folder / "pairs.duckdb"))
    db.execute(f"PRAGMA threads = 1; PRAGMA memory_limit = '{MEMORY}'")
    db.execute(SQL.format(pages=pages, rows=folder / "*.parquet"))
    (count,) = db.execute("SELECT count(*) FROM met").fetchone() or (0,)
    return int(count)


def polars(pages: int, folder: Path) -> int:
    """The same query by its streaming engine, which takes the memory that it wants."""
    import polars as pl

    rows = pl.scan_parquet(folder / "*.parquet")
    trg = pl.col("is_trg")
    kept = (
        rows.group_by("gram")
        .agg(n=pl.len(), trg=trg.sum())
        .filter(pl.col("n") <= 50, pl.col("trg") > 0, pl.col("trg") < pl.col("n"))
        .select("gram", weight=(1024 * (pages / pl.col("n")).log() ** 2).round())
    )
    src = rows.filter(~trg).select("gram", src="page").join(kept, on="gram")
    both = src.join(rows.filter(trg).select("gram", trg="page"), on="gram")
    met = both.group_by("src", "trg").agg(pl.col("weight").sum())
    met.sink_parquet(folder / "met.parquet", engine="streaming")
    return int(
        pl.scan_parquet(folder / "met.parquet").select(pl.len()).collect().item()
    )


def sort(pages: int, folder: Path) -> int:
    """The rows as text, sorted by `sort`; nothing is joined."""
    command = f"sort --parallel=1 --buffer-size={MEMORY[:-1]} --output=sorted.txt"
    environment = {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder)}
    with subprocess.Popen(
        command.split(), stdin=subprocess.PIPE, cwd=folder, env=environment
    ) as process:
        assert process.stdin is not None
        for path in sorted(folder.glob("*.npz")):
            for rows in np.load(path, allow_pickle=False).values():
                lines = (f"{g:x} {p:x} {t:d}\n" for g, p, t in rows.tolist())
                process.stdin.write("".join(lines).encode())
    return pages * NGRAMS


ENGINES = {"numpy shards": ours, "duckdb": duckdb, "polars": polars, "sort": sort}


def measure(engine: str, pages: int) -> dict[str, Any]:
    """In a process of its own, so that its peak is its own."""
    with tempfile.TemporaryDirectory() as folder:
        postings(pages, Path(folder))
        words = [sys.executable, "-m", "benchmarks.ngram_join", "--pages", str(pages)]
        words += ["--engine", engine, "--folder", folder]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.engine:
        started, cpu = time.monotonic(), os.times()
        rows = ENGINES[args.engine](args.pages, args.folder)
        now = os.times()
        took = {
            "rows": rows,
            "wall s": round(time.monotonic() - started, 1),
            "cpu s": round(sum(now[:4]) - sum(cpu[:4]), 1),
            "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
        print(json.dumps(took))
        return
    table = {}
    for engine in ENGINES:
        if engine in ("duckdb", "polars") and find_spec(engine) is None:
            print(f"{engine}: not installed")
            continue
        table[engine] = measure(engine, args.pages)
        print(engine, table[engine], flush=True)
    result = {"machine": machine("numpy"), "pages": args.pages, "engines": table}
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
