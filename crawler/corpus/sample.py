"""The pairs of a run as marks: a random sample to judge, and the keys of them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from random import Random
from typing import TypeVar

from crawler.corpus.marks import Key, Level, Mark
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
