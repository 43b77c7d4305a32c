"""Runs of Bifocal itself → pages and pairs; input: run directories.

Data card. Source: run directories. Pairs are the ones that the aligner accepted with at
least `MIN_SCORE`; languages are CLD2's on the main text of pages that were kept. Both
are found by content, not by URL, so a model that is trained on them does not learn its
own mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crawler.data import LangPair
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from crawler.visits import read_visits
from training.data.tables import BadRow, PairRow, Tables, UrlRow, clean_pair, clean_url

MIN_SCORE = 0.5  # of the aligner's combined score: what it accepts
MIN_CONFIDENCE = 0.7  # share of a page's text that is in its language
SOURCE = "bifocal"


def run_pairs(run: RunDir, counts: Counter[str]) -> Iterator[PairRow]:
    """The accepted pairs of a run, of each of its pairs of languages.

    A run that goes on has none yet.
    """
    for part in run.by_pair():
        src, trg = part.langs()
        for pair in read_pairs(part.pairs) if part.pairs.exists() else ():
            counts["pairs"] += 1
            if pair.score < MIN_SCORE:
                counts["dropped/low score"] += 1
                continue
            try:
                yield clean_pair(pair.src_url, src, pair.trg_url, trg, source=SOURCE)
            except BadRow as reason:
                counts[f"bad/{reason}"] += 1


def run_urls(run: RunDir, counts: Counter[str]) -> Iterator[UrlRow]:
    """The pages of a run whose language is sure."""
    for visit in read_visits(run.crawl_log):
        counts["rows"] += 1
        if not visit.lang or visit.confidence < MIN_CONFIDENCE:
            counts["dropped/language not sure"] += 1
            continue
        try:
            yield UrlRow(clean_url(visit.url), visit.lang, SOURCE)
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The rows of one run, in the languages that it crawled for."""
    run = RunDir(source)
    return Tables(run_urls(run, counts), run_pairs(run, counts))
