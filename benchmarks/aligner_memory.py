"""What does a very large site cost the aligner in memory and time?

    python -m benchmarks.aligner_memory 20000 100000 500000

A made-up site of so many pages in two languages, half of each: pages of 150 words, two
of three with a handle in common, the rest to be found by content. What is kept of them
waits in a file, as in a crawl. Every size runs in a process of its own, whose peak is
reported: after all pages are in, and after the pairs are out. Writes
results/aligner_memory.json; rows of other sizes stay.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.machine import machine, status_mb
from crawler.aligner.aligner import Aligner
from crawler.data import Document, LangPair

RESULT = Path(__file__).parent / "results" / "aligner_memory.json"
SITE = "large.example"
LANGS = LangPair("en", "is")
_WORDS = 150
_VOCABULARY = 20_000


def documents(pages: int) -> Iterator[Document]:
    for number in range(pages // 2):
        chance = random.Random(number)
        words = [chance.randrange(_VOCABULARY) for _ in range(_WORDS)]
        for lang in LANGS:
            # names and numbers are the same in both languages, one word in ten
            text = [f"{w}" if w % 10 == 0 else f"{lang}{w}x" for w in words]
            name = f"p{number}" if number % 3 else f"{lang}-{number * 7919 % 10**6:x}"
            chunks = tuple(" ".join(text[n : n + 25]) for n in range(0, _WORDS, 25))
            yield Document(
                url=f"https://{SITE}/{lang}/{name}",
                site=SITE,
                lang=lang,
                lang_confidence=1.0,
                title="",
                tokens=("<p", "", "</p") * len(chunks),
                chunks=chunks,
                links=(),
                digest=f"{lang}{number}",
            )


def measure(pages: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "aligner.sqlite"
        with Aligner(LANGS, store=path) as aligner:
            start = time.process_time()
            for document in documents(pages):
                aligner.add(document)
            aligner.commit()
            added, peak = time.process_time(), status_mb("VmHWM")
            pairs = sum(1 for _ in aligner.pairs())
            return {
                "pages": pages,
                "pairs": pairs,
                "peak MB, pages in": peak,
                "peak MB, pairs out": status_mb("VmHWM"),
                "file MB": round(path.stat().st_size / 1e6),
                "ms/page, in": round(1000 * (added - start) / pages, 2),
                "ms/page, out": round(1000 * (time.process_time() - added) / pages, 2),
            }


def main(sizes: list[int]) -> None:
    context = multiprocessing.get_context("spawn")
    known = json.loads(RESULT.read_text("utf-8"))["sites"] if RESULT.exists() else []
    rows = {row["pages"]: row for row in known}
    for size in sizes:
        with context.Pool(1) as pool:
            rows[size] = pool.apply(measure, (size,))
        print(rows[size], flush=True)
        result = {
            "machine": machine(),
            "sites": [rows[pages] for pages in sorted(rows)],
        }
        RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [20_000, 100_000, 500_000])
