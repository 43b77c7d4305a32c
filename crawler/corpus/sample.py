"""The pairs of a run as marks: a random sample to judge, and the keys of them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import nsmallest
from itertools import product
from pathlib import Path
from random import Random
from typing import TypeVar

from crawler.corpus.marks import Key, Level, Mark
from crawler.errors import RunDirError
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from crawler.sinks.tsv import read_sentences

_T = TypeVar("_T")


def draw(
    run: RunDir, *, sentences: int, pages: int, seed: int, doubtful: bool = False
) -> list[Mark]:
    """So many sentence pairs and document pairs, or all if there are fewer.

    `doubtful`: those of the lowest scores, not by chance. RunDirError for a run without
    the file that is to be drawn from.
    """
    chance = Random(seed)
    marks: list[Mark] = []
    for path, wanted, made in (
        (run.sentences, sentences, _of_sentences),
        (run.pairs, pages, _of_pages),
    ):
        if wanted > 0 and not path.exists():
            raise RunDirError(f"{path}: is missing (the run has none to draw from)")
        if wanted > 0 and doubtful:
            marks += nsmallest(wanted, made(path), key=doubt)
        elif wanted > 0:
            drawn = _reservoir(made(path), wanted, chance)
            marks += [replace(mark, sampled=True) for mark in drawn]
    return marks


def doubt(mark: Mark) -> float:
    """Low where the row or its pages have a low score."""
    return mark.score * (1.0 if mark.pair_score is None else mark.pair_score)


def _of_sentences(path: Path) -> Iterator[Mark]:
    for row in read_sentences(path):
        yield Mark(
            "sentence",
            row["src_url"],
            row["trg_url"],
            row["src_text"],
            row["trg_text"],
            float(row["aligner_score"]),
            pair_score=float(row["pair_score"]),
        )


def _of_pages(path: Path) -> Iterator[Mark]:
    for pair in read_pairs(path):
        yield Mark("page", pair.src_url, pair.trg_url, score=pair.score)


def keys_of(run: RunDir, level: Level) -> Iterator[Key]:
    """The keys of all pairs of a run, under every address of their pages."""
    if level == "page" and run.pairs.exists():
        for pair in read_pairs(run.pairs):
            src, trg = (pair.src_url, *pair.src_twins), (pair.trg_url, *pair.trg_twins)
            yield from (Mark("page", *urls).key for urls in product(src, trg))
    elif level == "sentence" and run.sentences.exists():
        for row in read_sentences(run.sentences):
            yield Mark("sentence", "", "", row["src_text"], row["trg_text"]).key


def _reservoir(items: Iterable[_T], size: int, chance: Random) -> list[_T]:
    """Items of equal probability, in one pass (Vitter 1985, algorithm R)."""
    kept: list[_T] = []
    for number, item in enumerate(items):
        if number < size:
            kept.append(item)
        elif (place := chance.randrange(number + 1)) < size:
            kept[place] = item
    return kept
