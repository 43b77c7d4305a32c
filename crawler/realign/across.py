"""Pages without a partner on their own site, in groups that may have one elsewhere.

Up to as many pages as a site of them is compared page by page, all are one group.
Beyond, pages that share rare n-grams through the lexicon come together
(`crawler.realign.matching_ngrams`), one shard after the other, with a disk between the
steps:

    FOLDER/post/N.npz, meet/N.npz, …    what task N has for each shard of the next step

A step that was complete stays when a run is killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.arrays import places_in
from crawler.aligner.profile import AlignProfile
from crawler.atomic import atomic_file
from crawler.data import LangPair, PairScore
from crawler.progress import ProgressLine, Stage
from crawler.realign.matching_ngrams import (
    NO_PAIRS,
    MatchingNgrams,
    Pages,
    Rows,
    Shards,
    group,
)
from crawler.realign.pool import Pool
from crawler.realign.request import load_lexicon
from crawler.realign.shuffle import Places
from crawler.urls import hash64

# Pages of a shard: their n-grams, 7 KB a page, are sorted in memory.
_SHARD_PAGES = 10_000
# Pages of a group: some seconds of work.
_GROUP_PAGES = 5000

ALL_SITES = "all-sites"  # the site that pages of a group are of

Groups = tuple[Pages, NDArray[np.int64]]  # pages, sorted, and the group of each


def paired(pairs: Iterable[PairScore]) -> Pages:
    """The pages of some pairs, and their copies."""
    urls = (
        url
        for pair in pairs
        for url in (pair.src_url, pair.trg_url, *pair.src_twins, *pair.trg_twins)
    )
    return np.unique(np.fromiter(map(hash64, urls), np.uint64))


def plan(sizes: tuple[int, int], profile: AlignProfile) -> MatchingNgrams | None:
    """How so many pages on either side are matched; None: they are one group."""
    if max(sizes) <= profile.max_content_pages:
        return None
    return MatchingNgrams(profile, sum(sizes), 1 + sum(sizes) // _SHARD_PAGES)


def grouped(pairs: Iterable[Rows]) -> Groups:
    """The groups that pairs of pages make."""
    return group(np.concatenate([NO_PAIRS, *pairs]), _GROUP_PAGES)


def group_of(pages: Pages, groups: Groups) -> NDArray[np.int64]:
    """The group of each page; -1 for those that are in none."""
    known, numbers = groups
    if not len(known):
        return np.full(len(pages), -1)
    places, is_known = places_in(known, pages)
    return np.where(is_known, numbers[places], -1)


class OnDisk:
    """The steps as tasks of this machine."""

    def __init__(
        self, pool: Pool, folder: Path, matching: MatchingNgrams, progress: ProgressLine
    ) -> None:
        self._pool = pool
        self._folder = folder
        self._matching = matching
        self._progress = progress

    def groups(
        self,
        places: Sequence[Places],
        files: Sequence[Path],
        langs: LangPair,
        lexicon: Path,
    ) -> Groups:
        """The groups of the pages that lie at some places, a task for each of these."""
        common = _Posting(files, langs, lexicon, self._matching)
        sources = self._run("post", _post, [(chosen, common) for chosen in places])
        shards = range(self._matching.shards)
        for step in MatchingNgrams.STEPS:
            todo = [(step, shard, sources, self._matching) for shard in shards]
            sources = self._run(step, _step, todo)
        return grouped(_rows(sources, 0))

    def _run(
        self, step: str, task: Any, words: Sequence[tuple[Any, ...]]
    ) -> list[Path]:
        folder = self._folder / step
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{number:06}.npz" for number in range(len(words))]
        todo = [(p, *w) for p, w in zip(paths, words) if not p.exists()]
        with Stage(self._progress, f"n-grams, {step}", len(paths), "shards") as stage:
            stage.skip(len(paths) - len(todo))
            for _ in self._pool.run(task, todo, stage.show):
                stage.advance(1, 1)
        return paths


@dataclass(frozen=True, slots=True)
class _Posting:
    """What the tasks of the first step have in common."""

    files: Sequence[Path]  # of records
    langs: LangPair
    lexicon: Path
    matching: MatchingNgrams


def _post(path: Path, places: Places, task: _Posting) -> None:
    lexicon = load_lexicon(task.lexicon, task.langs)
    _write(path, task.matching.post(places.read(task.files), task.langs, lexicon))


def _step(
    path: Path, step: str, shard: int, sources: Sequence[Path], matching: MatchingNgrams
) -> None:
    _write(path, matching.run(step, _rows(sources, shard)))


def _write(path: Path, shards: Shards) -> None:
    arrays: dict[str, Any] = {str(shard): rows for shard, rows in shards}
    with atomic_file(path) as file:
        np.savez(file, **arrays)


def _rows(sources: Iterable[Path], shard: int) -> Iterator[Rows]:
    for path in sources:
        with np.load(path, allow_pickle=False) as table:
            if str(shard) in table:
                yield table[str(shard)]
