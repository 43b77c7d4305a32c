"""Runs of Bifocal itself → URL rows and pairs: every crawl can improve the models.

Data card. Source: run directories. Pairs are the ones that the aligner accepted with at
least `MIN_SCORE`; languages are CLD2's on the main text of pages that were kept. Both
are found by content, not by URL, so a model that is trained on them does not learn its
own mistakes. Sites of the test split must be left out by whoever trains (`splits`).

    python -m training.data.runs OUTDIR RUN_DIR ...
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from crawler.sinks.pairs import read_pairs
from training.data.evidence import write_pairs, write_urls
from training.data.tables import BadRow, PairRow, UrlRow, clean_pair, clean_url

MIN_SCORE = 0.5  # of the aligner's combined score: what it accepts
MIN_CONFIDENCE = 0.7  # share of a page's text that is in its language
SOURCE = "bifocal"


def run_pairs(run: Path, counts: Counter[str]) -> Iterator[PairRow]:
    """The accepted pairs of a run."""
    src, trg = json.loads((run / "run.json").read_text("utf-8"))["langs"]
    for pair in read_pairs(run / "pairs.tsv.gz"):
        counts["pairs"] += 1
        if pair.score < MIN_SCORE:
            counts["dropped/low score"] += 1
            continue
        try:
            yield clean_pair(pair.src_url, src, pair.trg_url, trg, source=SOURCE)
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1


def run_urls(run: Path, counts: Counter[str]) -> Iterator[UrlRow]:
    """The pages of a run whose language is sure."""
    with (run / "crawl.jsonl").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            counts["rows"] += 1
            try:
                visit = json.loads(line)
                lang, confidence = visit.get("lang"), visit.get("confidence") or 0.0
                if lang and confidence >= MIN_CONFIDENCE:
                    yield UrlRow(clean_url(visit["url"]), lang, SOURCE)
                else:
                    counts["dropped/language not sure"] += 1
            except (json.JSONDecodeError, KeyError, AttributeError):
                counts["bad/no line of a crawl log"] += 1
            except BadRow as reason:
                counts[f"bad/{reason}"] += 1


def main(out: Path, runs: list[Path]) -> None:
    """Write both tables."""
    counts: Counter[str] = Counter()
    urls = write_urls(
        out / "url_lang.tsv.gz", (row for run in runs for row in run_urls(run, counts))
    )
    pairs = write_pairs(
        out / "url_pairs.tsv.gz",
        (pair for run in runs for pair in run_pairs(run, counts)),
    )
    print(f"{urls} URLs and {pairs} pairs written to {out}; {dict(counts)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
