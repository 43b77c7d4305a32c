"""Corpora: sentence pairs a second from aligned pages, and memory of deduplication.

    python -m benchmarks.corpus rate SOURCES --langs fr [--out FILE]
    python -m benchmarks.corpus dedupe [--rows 10000000] [--out FILE]

rate: SOURCES as in benchmarks.sentence_quality. The pages are written to a WARC file,
with the list of their pairs and the lexicon that the aligner learns from them, as a run
leaves them; then `bifocal corpus` runs over it, in this process: reading WARC and HTML,
splitting, aligning, filtering, deduplicating, writing TSV. Pairs by processor time.

dedupe: rows as `bifocal corpus` adds them, with sentences of ten made-up words, a fifth
of them copies in other case. Peak memory of the process, before and after.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import machine, status_mb
from benchmarks.sentence_quality import lexicon_of
from crawler.corpus.build import CorpusRequest, build_corpus
from crawler.corpus.dedupe import BestCopies
from crawler.data import LangPair, Origin, PairScore, SentencePair
from crawler.extract.document import build_document
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs
from tests.worlds import write_warc
from training.data.gettext_pages import page_of, read_pages


def rate(sources: Path, lang: str) -> dict[str, Any]:
    langs = LangPair("en", lang)
    pages = read_pages(sources, lang)
    sides = [
        (page_of(page.src, "en", n), page_of(page.trg, lang, n))
        for n, page in enumerate(pages)
    ]
    with tempfile.TemporaryDirectory() as folder:
        run = RunDir(Path(folder, "run"))
        run.open(langs)
        write_warc(run.warc / "docs.warc.gz", (page for both in sides for page in both))
        documents = (build_document(page) for both in sides for page in both)
        lexicon = lexicon_of(langs, (d for d in documents if d))
        if lexicon:
            lexicon.save(run.lexicon)
        write_pairs(run.pairs, (PairScore(src.url, trg.url, 1) for src, trg in sides))
        run.write({"langs": list(langs)})
        request = CorpusRequest(
            (run.path,), langs, Path(folder, "out"), formats=("tsv",)
        )
        start = time.process_time(), time.perf_counter()
        counts = build_corpus(request)["counts"]
        spent = time.process_time() - start[0], time.perf_counter() - start[1]
    beads = sum(
        count
        for name, count in counts.items()
        if name == "sentences/kept" or name.startswith("sentences/dropped")
    )
    return {
        "page_pairs": counts["corpus/page_pairs"],
        "aligned_pairs": beads,
        "corpus_pairs": counts["corpus/sentence_pairs"],
        "aligned_pairs_per_cpu_second": round(beads / spent[0]),
        "cpu_seconds": round(spent[0], 1),
        "wall_seconds": round(spent[1], 1),
    }


def made_up(rows: int) -> Iterator[SentencePair]:
    rng = random.Random(1)
    words = [
        f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}{k}" for k in range(9999)
    ]
    for number in range(rows):
        copied = random.Random(number if number % 5 else number // 10)
        src, trg = (" ".join(copied.choices(words, k=10)) for _ in "ab")
        if number % 5 == 0:
            src = src.upper()
        url = f"https://site{number % 1000}.example/page{number // 50}"
        score = rng.random()
        yield SentencePair(url, url + "/is", src, trg, score, 0.9, (1, 1))


def dedupe(rows: int, folder: Path) -> dict[str, Any]:
    before = status_mb("VmHWM")
    start = time.process_time(), time.perf_counter()
    copies = BestCopies.open(folder / "copies.sqlite")
    for number, pair in enumerate(made_up(rows)):
        record = f"<urn:uuid:{number:032x}>"
        copies.add(
            pair,
            (
                Origin(pair.src_url, "warc/a.warc.gz", number, record),
                Origin(pair.trg_url, "warc/a.warc.gz", number + 1, record),
            ),
        )
    size = (folder / "copies.sqlite").stat().st_size
    kept = sum(1 for _ in copies.best(lambda copy: None))
    copies.close()
    return {
        "rows": rows,
        "kept": kept,
        "file_mb": round(size / 1e6),
        "memory_before_mb": before,
        "memory_peak_mb": status_mb("VmHWM"),
        "cpu_seconds": round(time.process_time() - start[0]),
        "wall_seconds": round(time.perf_counter() - start[1]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    rates = kinds.add_parser("rate")
    rates.add_argument("sources", type=Path)
    rates.add_argument("--langs", nargs="+", default=["fr"])
    copies = kinds.add_parser("dedupe")
    copies.add_argument("--rows", type=int, default=10_000_000)
    copies.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    for kind in (rates, copies):
        kind.add_argument("--out", type=Path, help="JSON file to add to")
    args = parser.parse_args()
    found: dict[str, Any]
    if args.kind == "rate":
        found = {f"rate/en-{lang}": rate(args.sources, lang) for lang in args.langs}
    else:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            found = {"dedupe": dedupe(args.rows, Path(folder))}
    print(json.dumps(found, indent=1))
    if args.out:
        known = json.loads(args.out.read_text()) if args.out.exists() else {}
        known |= {"machine": machine("numpy", "scipy", "sentencex"), **found}
        args.out.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
