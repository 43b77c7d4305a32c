"""The steps of an alignment on one machine, in any number of processes.

A killed run goes on after the last task that was done, and ends with the same bytes as
one left alone. Files, each with its marker (`crawler.realign.tasks`):

    WORK/extracted/N.records .npz    records of piece N, and their index
    WORK/revisits/N…                 the same, of pages that revisits stand for
    WORK/aligned/SRC-TRG/N.tsv.gz    pairs of the groups from number N on
    WORK/across/SRC-TRG/N.tsv.gz     pairs of group N across sites
    WORK/across/SRC-TRG/STEP/N.npz   rows of task N for each shard of the next step
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import LangPair, PairScore
from crawler.progress import ProgressLine, Stage
from crawler.realign.matching_ngrams import (
    ALL_SITES,
    Groups,
    MatchingNgrams,
    Pages,
    group_of,
    grouped,
    pages_in,
)
from crawler.realign.plan import Sizes
from crawler.realign.pool import Pool
from crawler.realign.request import AlignRequest, load_lexicon
from crawler.realign.shuffle import Places, Shuffle
from crawler.realign.steps import UrlPair, UrlVerdicts
from crawler.realign.tasks import (
    Alignment,
    align_groups,
    extract_piece,
    judge_places,
    lexicon_of,
    marker,
    post_ngrams,
    read_shard,
    step_ngrams,
)
from crawler.rundir import write_json
from crawler.sinks.pairs import read_pairs
from crawler.warc.inputs import Piece

# A task of alignment: some seconds, and 200 of them for a million pages.
_TASK_PAGES = 5000


class LocalMachine:
    """An executor: see `crawler.realign.plan`.

    `max_store`: bytes of a group's records that may be held in memory.
    """

    def __init__(
        self,
        request: AlignRequest,
        work: Path,
        pool: Pool,
        max_store: float,
        progress: ProgressLine,
    ) -> None:
        self.request = request
        self.work = work
        self.pool = pool
        self.max_store = max_store
        self.progress = progress
        self.files: list[Path] = []  # of records

    def extract(self, pieces: Sequence[Piece]) -> Counter[str]:
        """Read the records of all pages, those that revisits stand for last."""
        markers = self._extract("extracted", pieces, None)
        counts: Counter[str] = Counter()
        revisits: defaultdict[str, list[str]] = defaultdict(list)
        for piece in markers:
            counts.update(piece["counts"])
            for url, key in piece["revisits"]:
                revisits[key].append(url)
        if revisits:
            wanted_file = self.work / "revisits.json"
            write_json(wanted_file, revisits)
            again = self._extract("revisits", pieces, wanted_file)
            found = {url for piece in again for url in piece["found"]}
            for piece in again:
                counts.update(piece["counts"])
            wanted = {url for urls in revisits.values() for url in urls}
            counts["warc/dropped/revisit"] += len(wanted - found)
        return +counts

    def _extract(
        self, name: str, pieces: Sequence[Piece], revisits: Path | None
    ) -> list[dict[str, Any]]:
        folder = self.work / name
        folder.mkdir(exist_ok=True)
        paths = [folder / f"{n:06}.records" for n in range(len(pieces))]
        self.files += paths
        waiting = []
        with Stage(self.progress, "reading", sum(p.size for p in pieces)) as stage:
            for path, piece in zip(paths, pieces):
                if marker(path).exists():
                    stage.skip(piece.size)
                else:
                    waiting.append((path, piece, revisits, self.request))
            for size, pages in self.pool.run(extract_piece, waiting, stage.show):
                stage.advance(size, pages)
        return [json.loads(marker(path).read_text("utf-8")) for path in paths]

    @cached_property
    def shuffle(self) -> Shuffle:
        """Where the records of each group lie."""
        return Shuffle.read(self.files, self.request.langs)

    def job(self, langs: LangPair) -> _Job:
        """The groups for two languages."""
        return _Job(self, langs)


@dataclass(frozen=True, slots=True)
class _Task:
    path: Path  # of the pairs
    pages: int
    places: Callable[[], list[Places]]  # of the groups' records


class _Job:
    """The groups of sites for two languages: see `crawler.realign.plan`."""

    def __init__(self, machine: LocalMachine, langs: LangPair) -> None:
        self._machine = machine
        self._langs = langs
        self._within: list[Path] = []  # pairs of sites
        self._across: list[Path] = []
        # the unpaired pages: their rows in the shuffle, the hashes of their URLs
        self._rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._pages: Pages = np.empty(0, np.uint64)

    def sizes(self) -> Mapping[str, Sizes]:
        return self._sizes

    @cached_property
    def _sizes(self) -> dict[str, Sizes]:
        return self._machine.shuffle.sizes(self._langs)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {group: number for number, group in enumerate(sorted(self._sizes))}

    def learn(self, groups: Sequence[str], known: Lexicon | None) -> list[Lexicon]:
        paths = self._align([[group] for group in groups], known)
        return [load_lexicon(lexicon_of(path), self._langs) for path in paths]

    def align(self, groups: Collection[str], known: Lexicon | None) -> None:
        self._align([*self._runs(groups)], known)

    def _runs(self, groups: Collection[str]) -> Iterator[list[str]]:
        """Groups that follow each other by name, in runs of some pages."""
        run: list[str] = []
        pages = 0
        for group in sorted(groups):
            size = sum(self._sizes[group])
            follows = run and self._numbers[run[-1]] + 1 == self._numbers[group]
            if run and (not follows or pages + size > _TASK_PAGES):
                yield run
                run, pages = [], 0
            run.append(group)
            pages += size
        if run:
            yield run

    def _align(self, runs: Sequence[list[str]], known: Lexicon | None) -> list[Path]:
        folder = self._folder("aligned")
        tasks = [
            _Task(
                folder / f"{self._numbers[run[0]]:09}.tsv.gz",
                sum(sum(self._sizes[group]) for group in run),
                partial(self._places, run),
            )
            for run in runs
        ]
        self._within += self._run("", tasks, self._common(folder, known))
        return [task.path for task in tasks]

    def _places(self, groups: Sequence[str]) -> list[Places]:
        return [self._machine.shuffle.places(group, self._langs) for group in groups]

    def _folder(self, name: str) -> Path:
        folder = self._machine.work / name / "-".join(self._langs)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _common(
        self, folder: Path, known: Lexicon | None, site: str | None = None
    ) -> Alignment:
        machine, lexicon = self._machine, folder / "known.npz"
        if known:
            known.save(lexicon)
        return Alignment(
            machine.files,
            self._langs,
            machine.request.profile,
            lexicon if known else None,
            machine.max_store,
            site,
        )

    def _run(self, where: str, tasks: list[_Task], common: Alignment) -> list[Path]:
        """Do the unfinished tasks, largest first: a giant must not be started last."""
        tasks_left = []
        machine, name = self._machine, f"aligning {self._langs}{where}"
        with Stage(machine.progress, name, sum(task.pages for task in tasks)) as stage:
            for task in sorted(tasks, key=lambda task: -task.pages):
                if marker(task.path).exists():
                    stage.skip(task.pages)
                else:
                    tasks_left.append(task)
            todo = ((task.path, task.places(), common) for task in tasks_left)
            for pages in machine.pool.run(align_groups, todo, stage.show):
                stage.advance(pages, pages)
        return [task.path for task in tasks]

    def unpaired(self) -> Sizes:
        shuffle, paired = self._machine.shuffle, pages_in(self.pairs())
        self._rows, self._pages, sizes = shuffle.pages(self._langs, paired)
        return sizes

    def match(self, matching: MatchingNgrams, known: Lexicon) -> Groups:
        folder = self._folder("across")
        common = self._common(folder, known)
        starts = range(0, len(self._rows), _TASK_PAGES)
        places = [self._places_at(self._rows[n : n + _TASK_PAGES]) for n in starts]
        todo: list[tuple[Any, ...]] = [(p, common, matching) for p in places]
        sources = self._step(folder / "post", post_ngrams, todo)
        for step in MatchingNgrams.STEPS:
            todo = [(step, n, sources, matching) for n in range(matching.shards)]
            sources = self._step(folder / step, step_ngrams, todo)
        return grouped(read_shard(sources, 0))

    def _step(
        self, folder: Path, task: Callable[..., None], words: Sequence[tuple[Any, ...]]
    ) -> list[Path]:
        folder.mkdir(exist_ok=True)
        paths = [folder / f"{number:06}.npz" for number in range(len(words))]
        todo = [(p, *w) for p, w in zip(paths, words) if not p.exists()]
        progress, name = self._machine.progress, f"n-grams, {folder.name}"
        with Stage(progress, name, len(paths), "shards") as stage:
            stage.skip(len(paths) - len(todo))
            for _ in self._machine.pool.run(task, todo, stage.show):
                stage.advance(1, 1)
        return paths

    def align_across(self, groups: Groups | None, known: Lexicon | None) -> None:
        folder = self._folder("across")
        numbers = group_of(self._pages, groups)
        tasks = [
            _Task(
                folder / f"{number:09}.tsv.gz",
                int(np.count_nonzero(numbers == number)),
                partial(self._group, numbers == number),
            )
            for number in range(int(numbers.max()) + 1)
        ]
        common = self._common(folder, known, ALL_SITES)
        self._across += self._run(" across sites", tasks, common)

    def _group(self, members: NDArray[np.bool_]) -> list[Places]:
        return [self._places_at(self._rows[members])]

    def _places_at(self, rows: NDArray[np.int64]) -> Places:
        return self._machine.shuffle.at(ALL_SITES, rows)

    def pairs(self) -> Iterator[PairScore]:
        paths = sorted(self._within) + self._across
        return (pair for path in paths for pair in read_pairs(path))

    def verdicts(
        self, asked: Mapping[str, Sequence[UrlPair]], known: Lexicon | None
    ) -> UrlVerdicts:
        folder = self._folder("implied")
        common = self._common(folder, known)
        todo = [
            (self._machine.shuffle.places(group, self._langs), urls, folder, common)
            for group, urls in asked.items()
        ]
        found: dict[UrlPair, float | None] = {}
        name = f"implied pairs {self._langs}"
        with Stage(self._machine.progress, name, len(todo), "sites") as stage:
            for verdicts in self._machine.pool.run(judge_places, todo, stage.show):
                found |= verdicts
                stage.advance(1, 1)
        return found

    def counts(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for path in self._within + self._across:
            counts.update(json.loads(marker(path).read_text("utf-8")))
        return counts
