"""The files of a run with several pairs of languages, made of those of each pair.

pairs.tsv.gz of each ──▶ articles ──▶ clusters.tsv.gz
      ▲                     │
      └── implied pairs ◀───┘        all parts ──▶ one file with two columns more
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from crawler.atomic import atomic_text
from crawler.data import LangPair
from crawler.rundir import RunDir
from crawler.sinks.clusters import clusters_of, implied, write_clusters
from crawler.sinks.growing import read_lines
from crawler.sinks.pairs import read_pairs, write_pairs
from crawler.sinks.tsv import LANGUAGES
from crawler.wanted import WantedPairs

# P(pair) by the aligner at which a pair that others imply is wrong.
_WRONG = 0.02

# What the aligner of two languages says of pairs of addresses; None: nothing.
Judge = Callable[[LangPair, Sequence[tuple[str, str]]], Sequence[float | None]]


def join_articles(
    run: RunDir,
    wanted: WantedPairs,
    parts: Mapping[LangPair, RunDir],
    min_score: float,
    judge: Judge,
) -> tuple[int, Counter[LangPair]]:
    """Write the articles that final pairs make; add to the pairs what they imply.

    `parts`: the directory of each pair of languages that is complete. A pair whose
    chain of pairs scores below `min_score`, or that is wrong by `judge`, is left out.
    Returns the number of articles, and of pairs that were added.
    """
    articles = clusters_of((p, read_pairs(part.pairs)) for p, part in parts.items())
    added: Counter[LangPair] = Counter()
    for langs, part in parts.items():
        known = list(read_pairs(part.pairs))
        chains = [p for p in implied(articles, langs, known) if p.score >= min_score]
        said = judge(langs, [(p.src_url, p.trg_url) for p in chains])
        new = [p for p, v in zip(chains, said) if v is None or v > _WRONG]
        if new:
            write_pairs(part.pairs, [*known, *new])
            added[langs] = len(new)
    return write_clusters(run.clusters, tuple(wanted), articles), added


def write_joint(path: Path, parts: Mapping[LangPair, Path]) -> None:
    """Replace a file by the rows of several, whole or not at all.

    Each row has the columns of its part and those of LANGUAGES. A part that is missing
    has no rows.
    """
    heading = ""
    with atomic_text(path, level=9, errors="surrogatepass") as out:
        for langs, part in parts.items():
            lines = read_lines(part) if part.exists() else iter(())
            columns = next(lines, "")
            if columns and not heading:
                heading = columns
                out.write("\t".join((heading, *LANGUAGES)) + "\n")
            cells = "\t".join(("", *langs)) + "\n"
            out.writelines(line + cells for line in lines)


def write_joint_files(run: RunDir, wanted: WantedPairs) -> None:
    """One file for all pairs of languages: of document pairs, and of sentence pairs."""
    parts = {langs: run.of_pair(langs, wanted) for langs in wanted.pairs}
    for name in (run.pairs.name, run.sentences.name):
        files = {langs: part.path / name for langs, part in parts.items()}
        if any(file.exists() for file in files.values()):
            write_joint(run.path / name, files)
