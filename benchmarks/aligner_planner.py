"""Does the planner of the sliding window promise what the window finds?

    python -m benchmarks.aligner_planner POOLS [POOL ...]

Pages of a pool (see benchmarks/aligner_quality.py) become vectors through the lexicon
that they teach, and these 1,000-bit signatures. For every true pair whose exact cosine
reaches the threshold the planner gives a probability that it is found; their mean
stands beside the share that is found, and the comparisons beside brute force. Writes
results/aligner_planner.json.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.aligner_quality import lexicon_of, read_pool
from crawler.aligner.bridges.projection import project
from crawler.aligner.candidates.hamming import all_pairs
from crawler.aligner.candidates.planner import recall_of, upper_bound
from crawler.aligner.candidates.signatures import (
    SignaturesConfig,
    random_projection,
    sliding_window,
)
from crawler.aligner.features import Featurizer
from crawler.data import LangPair

RESULT = Path(__file__).parent / "results" / "aligner_planner.json"
# tables and windows from much too few to nearly everything; the last is the paper's
_WINDOWS = ((10, 10), (50, 10), (100, 10), (100, 50), (300, 50), (300, 200))


def measure(folder: Path) -> dict[str, object]:
    documents, truth, _ = read_pool(folder)
    langs = LangPair.parse(folder.name.replace("-", ","))
    lexicon = lexicon_of(documents, langs)
    assert lexicon is not None
    featurizer = Featurizer(langs)
    sides = [[d for d in documents if d.lang == lang] for lang in langs]
    place = {d.url: n for side in sides for n, d in enumerate(side)}
    vectors = project(*([featurizer.featurize(d) for d in s] for s in sides), lexicon)
    config = SignaturesConfig()
    src, trg = (random_projection(v, config.bits, config.seed) for v in vectors)
    ends = np.array([(place[a], place[b]) for a, b in truth])
    cosines = np.asarray(
        vectors[0][ends[:, 0]].multiply(vectors[1][ends[:, 1]]).sum(axis=1)
    ).ravel()
    near = cosines >= config.min_cosine
    wanted = {tuple(pair) for pair in ends[near].tolist()}
    cosines = cosines[near]
    start = time.process_time()
    found = all_pairs(src, trg, config.max_distance)
    rows = [
        {
            "tables": 0,
            "window": 0,
            "promised": float(np.mean([upper_bound(c, config) for c in cosines])),
            "found": _share(wanted, found),
            "comparisons": len(src) * len(trg),
            "seconds": time.process_time() - start,
        }
    ]
    for tables, window in _WINDOWS:
        pages = len(src) + len(trg)
        start = time.process_time()
        found = sliding_window(src, trg, replace(config, tables=tables, window=window))
        promised = [recall_of(c, tables, window, pages, config) for c in cosines]
        rows.append(
            {
                "tables": tables,
                "window": window,
                "promised": float(np.mean(promised)),
                "found": _share(wanted, found),
                "comparisons": 2 * tables * window * len(src) * len(trg) // pages,
                "seconds": time.process_time() - start,
            }
        )
    return {
        "pages": [len(src), len(trg)],
        "true pairs of cosine 0.3 and more": len(wanted),
        "searches": [
            {name: round(value, 3) for name, value in row.items()} for row in rows
        ],
    }


def _share(wanted: set[tuple[int, ...]], found: np.ndarray) -> float:
    return len(wanted & {(i, j) for i, j, _ in found.tolist()}) / len(wanted)


def main(pools: Path, names: list[str]) -> None:
    table = {}
    for folder in sorted(pools.iterdir()):
        if not names or folder.name in names:
            table[folder.name] = measure(folder)
            print(folder.name, json.dumps(table[folder.name]), flush=True)
            RESULT.write_text(json.dumps(table, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
