"""A random sample of a run's pairs, for a person to judge."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import TypeVar

from crawler.corpus.marks import Mark
from crawler.errors import RunDirError
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from crawler.sinks.tsv import read_sentences

_T = TypeVar("_T")


def draw(run: RunDir, *, sentences: int, pages: int, seed: int) -> list[Mark]:
    """So many sentence pairs and document pairs, or all if there are fewer.

    RunDirError for a run without the file that is to be sampled.
    """
    chance = Random(seed)
    marks = []
    for path, wanted in ((run.sentences, sentences), (run.pairs, pages)):
        if wanted > 0 and not path.exists():
            raise RunDirError(f"{path}: is missing (the run has none to draw from)")
    if sentences > 0:
        marks += [
            Mark(
                "sentence",
                row["src_url"],
                row["trg_url"],
                row["src_text"],
                row["trg_text"],
                float(row["aligner_score"]),
                sampled=True,
            )
            for row in _reservoir(read_sentences(run.sentences), sentences, chance)
        ]
    if pages > 0:
        marks += [
            Mark("page", pair.src_url, pair.trg_url, score=pair.score, sampled=True)
            for pair in _reservoir(read_pairs(run.pairs), pages, chance)
        ]
    return marks


def _reservoir(items: Iterable[_T], size: int, chance: Random) -> list[_T]:
    """Items of equal probability, in one pass (Vitter 1985, algorithm R)."""
    kept: list[_T] = []
    for number, item in enumerate(items):
        if number < size:
            kept.append(item)
        elif (place := chance.randrange(number + 1)) < size:
            kept[place] = item
    return kept
