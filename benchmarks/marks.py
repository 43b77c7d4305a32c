"""What 200 marks of a person do for a corpus.

    python -m benchmarks.marks NOISY [--out FILE]

NOISY: the folder of recorded noisy sites whose rows a person has read; the verdicts are
those of results/corpus_reading.json, by the ids of the rows. Each site is aligned anew
and becomes a corpus, without a threshold of the score; what was read of it makes up the
run that is marked. 200 of its rows are marked, drawn by chance or the doubtful ones
(`bifocal sample --doubtful`), and the scores are adapted as `bifocal corpus` does.

`held out`: the rows that were not marked, sorted by the score as it was and as it is
then: the precision of those that hold a share of the right rows. `whole run`: of all
accepted rows, without those that are marked wrong: no right row is lost, so the recall
is the same. Right counts 1, partly right 1/2. Means of 200 draws.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.machine import machine
from crawler.corpus.adapt import AdaptedScores
from crawler.corpus.marks import Mark, Verdict
from crawler.corpus.sample import doubt
from crawler.sinks.tsv import read_sentences

RESULTS = Path(__file__).parent / "results"
MARKS, DRAWS = 200, 200
RECALLS = (0.8, 0.9, 0.95)
SITES = {
    "larux75.github.io": ["fi,en"],
    "www.opengis.ch": ["de,fr", "de,it", "en,fr", "en,it", "fr,it"],
    "ecolepattaya.com": ["en,th", "fr,th"],
    "argina.digigrowth.be": ["nl,fr"],
    "breakpoverty.com": ["en,fr"],
}
WORTH = {"right": 1.0, "partly": 0.5, "wrong": 0.0}


def verdicts() -> dict[str, Verdict]:
    """What the reader said, by the id of the row."""
    told = json.loads((RESULTS / "corpus_reading.json").read_text("utf-8"))
    return {
        row["id"]: row["verdict"] for part in told["readings"] for row in part["rows"]
    }


def read_rows(warc: Path, langs: str, said: Mapping[str, Verdict]) -> Iterator[Mark]:
    """The rows of a site that a person has read."""
    with tempfile.TemporaryDirectory() as name:
        run, out = Path(name, "run"), Path(name, "corpus")
        own = ["--out", out, "--formats", "tsv", "--set", "filters.min_score=0.0"]
        for words in (
            ["align", warc, "--langs", langs, "--out", run],
            ["corpus", run, *own],
        ):
            command = [sys.executable, "-m", "bifocal", *map(str, words)]
            subprocess.run(command, check=True, capture_output=True)
        for row in read_sentences(out / f"{langs.replace(',', '-')}.tsv.gz"):
            if row["id"] in said:
                yield Mark(
                    "sentence",
                    row["src_url"],
                    row["trg_url"],
                    row["src_text"],
                    row["trg_text"],
                    float(row["aligner_score"]),
                    said[row["id"]],
                    pair_score=float(row["pair_score"]),
                )


def precision_at(recall: float, scores: list[float], worth: np.ndarray) -> float:
    """Of the best rows that hold this share of the right ones."""
    ranked = worth[np.argsort(-np.array(scores), kind="stable")]
    right = np.cumsum(ranked == 1)
    return float(ranked[: np.searchsorted(right, recall * right[-1]) + 1].mean())


def draws(rows: list[Mark], doubtful: bool) -> Iterator[tuple[list[Mark], list[Mark]]]:
    """The rows that are marked, and the rest."""
    if doubtful:
        ranked = sorted(rows, key=doubt)
        yield ranked[:MARKS], ranked[MARKS:]
        return
    chance = Random(1)
    for _ in range(DRAWS):
        mixed = chance.sample(rows, len(rows))
        yield mixed[:MARKS], mixed[MARKS:]


def worth(rows: list[Mark]) -> np.ndarray:
    return np.array([WORTH[row.verdict or "wrong"] for row in rows])


def figures(rows: list[Mark], *, doubtful: bool) -> dict[str, object]:
    held: dict[float, list[tuple[float, float]]] = {recall: [] for recall in RECALLS}
    wrong, fits = [], []
    for marked, rest in draws(rows, doubtful):
        fit = AdaptedScores.of(marked)
        fits.append((fit.stretch, fit.shift, fit.pages))
        before = [row.score for row in rest]
        after = [fit.score(row.score, row.pair_score or 0.0) for row in rest]
        for recall, found in held.items():
            found.append(
                tuple(precision_at(recall, s, worth(rest)) for s in (before, after))
            )
        wrong.append(sum(row.verdict == "wrong" for row in marked))
    total = float(worth(rows).sum())
    return {
        "held out, precision before and after": {
            str(recall): [round(fmean(side), 4) for side in zip(*found)]
            for recall, found in held.items()
        },
        "draws in which it is better, the same, worse": {
            str(recall): [
                sum(compare(b - a) for a, b in found)
                for compare in (lambda x: x > 0, lambda x: x == 0, lambda x: x < 0)
            ]
            for recall, found in held.items()
        },
        "marked wrong": round(fmean(wrong), 2),
        "whole run, precision before and after": [
            round(total / len(rows), 4),
            round(fmean(total / (len(rows) - count) for count in wrong), 4),
        ],
        "stretch, shift, weight of the pages": [round(fmean(x), 3) for x in zip(*fits)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("noisy", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS / "marks.json")
    args = parser.parse_args()
    said = verdicts()
    rows = [
        row
        for site, pairs in SITES.items()
        for langs in pairs
        for row in read_rows(args.noisy / "warcs" / f"{site}.warc.xz", langs, said)
    ]
    accepted = [row for row in rows if row.score >= 0.9]
    found = {
        "machine": machine(),
        "rows read": len(said),
        "of them accepted now": len(accepted),
        "right, partly, wrong": [
            sum(row.verdict == verdict for row in accepted) for verdict in WORTH
        ],
        "marks": MARKS,
        "drawn by chance": figures(accepted, doubtful=False),
        "the doubtful ones": figures(accepted, doubtful=True),
    }
    args.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
