"""How fast are the parts of the aligner? One core.

    python -m benchmarks.aligner_speed

STRAND on pages of 300 tokens; Hamming distances of 1,024 bits against plain numpy in
the same run; matching n-grams on 10,000 to 300,000 pages, which should cost the same
for each page. Writes benchmarks/results/aligner_speed.json. (Pages a second from HTML
to pairs: aligner_quality.)
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.machine import machine
from crawler.aligner.candidates.hamming import all_pairs
from crawler.aligner.candidates.shingles import ShinglesConfig, candidates
from crawler.aligner.features import Featurizer
from crawler.aligner.scorers.strand import StrandScorer
from crawler.data import CandidatePair, Document, LangPair, PageFeatures

RESULT = Path(__file__).parent / "results" / "aligner_speed.json"
_ROUNDS = 5


def seconds(job: Callable[[], object]) -> float:
    """Processor time of a job, the median of five."""
    job()  # compiles, warms caches
    times = []
    for _ in range(_ROUNDS):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return median(times)


def page(seed: int, lang: str) -> PageFeatures:
    """A page of some 300 tokens; the same seed, nearly the same shape."""
    shape, text = random.Random(seed), random.Random(f"{seed} {lang}")
    tokens: list[str] = []
    chunks = []
    while len(tokens) < 300:
        tag = shape.choice(["p", "li", "h2", "td", "a", "b"])
        tokens += ["<" + tag, "", "</" + tag]
        chunks.append("x" * (shape.randint(1, 200) + text.randint(0, 30)))
    document = Document(
        url="u",
        site="s",
        lang=lang,
        lang_confidence=1.0,
        title="",
        tokens=tuple(tokens),
        chunks=tuple(chunks),
        links=(),
        digest=str(seed),
    )
    return Featurizer(LangPair("en", "is")).featurize(document)


def strand_speed() -> dict[str, float]:
    pairs = [
        CandidatePair(page(n, "en"), page(n + n % 2, "is"), frozenset())
        for n in range(500)
    ]
    taken = seconds(lambda: StrandScorer().score(pairs))
    return {"pairs/s": round(len(pairs) / taken)}


def hamming_speed() -> dict[str, float]:
    chance = np.random.default_rng(0)
    src, trg = (
        chance.integers(0, 1 << 63, (3000, 16), dtype=np.uint64) for _ in range(2)
    )

    def plain() -> None:
        for row in src[:300]:
            np.bitwise_count(row ^ trg).sum(axis=1)

    ours = seconds(lambda: all_pairs(src, trg, 100)) / (3000 * 3000)
    numpy = seconds(plain) / (300 * 3000)
    return {
        "ns/pair": round(ours * 1e9, 2),
        "numpy ns/pair": round(numpy * 1e9, 2),
        "times faster": round(numpy / ours, 1),
    }


def shingles_speed() -> dict[str, dict[str, float]]:
    table = {}
    for pages in (10_000, 30_000, 100_000, 300_000):
        chance = np.random.default_rng(0)
        # each src page has a translation that shares a third of its text
        src = chance.integers(0, 1 << 40, (pages // 2, 100), dtype=np.uint64)
        trg = chance.integers(0, 1 << 40, (pages // 2, 100), dtype=np.uint64)
        trg[:, :33] = src[:, :33]
        terms = [*src, *trg]
        start = time.process_time()
        # all n-grams, also where a site would be a giant and have them sampled
        found = candidates(terms, len(src), ShinglesConfig(max_words=10**9))
        taken = time.process_time() - start
        assert len(found) == len(src)
        table[str(pages)] = {
            "seconds": round(taken, 2),
            "us/page": round(taken / pages * 1e6, 1),
        }
    return table


def main() -> None:
    result = {
        "machine": machine(),
        "STRAND": strand_speed(),
        "Hamming, 1024 bits": hamming_speed(),
        "matching 5-grams of 100-word pages": shingles_speed(),
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
