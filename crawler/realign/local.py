"""Offline, on one machine: WARC files in, pairs out.

Pieces of the input are extracted in any order by any number of processes, then runs of
groups of sites are aligned. Each task leaves its result and, last, a marker; a killed
run goes on after the last marker and ends with the same bytes as one left alone.

    DIR/work/extracted/N.records .npz .json   records of piece N, their index, counters
    DIR/work/revisits/N…                      the same, of pages that revisits stand for
    DIR/work/aligned/SRC-TRG/N.tsv.gz .json   pairs of a run of groups, counters
    DIR/work/across/SRC-TRG/…                 the same across sites: `realign.across`

`work` is gone when the run is complete. Of several languages each pair has a run
directory of its own, DIR/SRC-TRG.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.aligner.seed_groups import merge_lexicons, seed_groups
from crawler.atomic import atomic_file
from crawler.config import to_table
from crawler.data import Lang, LangPair, PairScore, Site
from crawler.errors import RunDirError
from crawler.progress import ProgressLine, Stage, terminal
from crawler.realign.across import ALL_SITES, OnDisk, group_of, paired, plan
from crawler.realign.pool import Pool
from crawler.realign.request import Request, load_lexicon, summary
from crawler.realign.shuffle import Places, Shuffle, write_records
from crawler.realign.steps import (
    Extraction,
    Extractor,
    align_group,
    extract,
    pairs_of,
)
from crawler.rundir import RunDir, write_json
from crawler.sinks.pairs import read_pairs, write_pairs
from crawler.warc.inputs import Piece, Revisits
from crawler.warc.remote import size_of

logger = logging.getLogger(__name__)

# A task of alignment: some seconds, and 200 of them for a million pages.
_TASK_PAGES = 5000
# Of a process's share of the memory the features of a group may take so much; the rest
# is for the interpreter, the libraries and what alignment makes of them.
_STORE_SHARE = 0.1
GIGABYTE = 2**30
_PAGES = ("align/pages", "align/dropped/duplicate", "align/across")


def align_collection(
    request: Request,
    *,
    jobs: int = 1,
    memory: int = 4 * GIGABYTE,
    resume: bool = False,
    progress: ProgressLine | None = None,
) -> dict[str, Any]:
    """Pair the pages of a collection into run directories; returns the stats of all.

    `resume`: go on with what an earlier run of the same request left in the directory.
    """
    pairs = pairs_of(request.langs)
    runs = {langs: request.run(langs) for langs in pairs}
    # what is not there is said before anything is written
    inputs = request.inputs(_spooled(request))
    known = {langs: request.known(langs) for langs in pairs}
    plan = _plan(request, inputs, known)
    work = request.out / "work"
    if any(run.run_json.exists() or run.aligner.exists() for run in runs.values()):
        if not resume:
            raise RunDirError(
                f"{request.out}: holds a run already (choose another --out); to go on"
                " with it: --resume"
            )
        if not work.exists():
            return summary(runs.values())
    with _locked(work):
        _check_plan(work, plan)
        for langs, run in runs.items():
            run.open(langs)
            run.write(request.about(langs, inputs, known[langs]))
        engine = _Engine(
            request, work, memory // jobs, progress or ProgressLine(logger, terminal())
        )
        counts: Counter[str] = Counter()
        with Pool(jobs) as pool:
            counts += engine.extract(pool, request.pieces(inputs, counts))
            for langs in pairs:
                engine.align(pool, langs, runs[langs], known[langs], counts)
    shutil.rmtree(work)
    _stdin_file(request).unlink(missing_ok=True)
    return summary(runs.values())


def _stdin_file(request: Request) -> Path:
    return request.out / "stdin.warc"


def _spooled(request: Request) -> Iterator[str]:
    """The paths; standard input is put into a file, which a resumed run finds again."""
    for path in request.paths:
        if path == "-":
            spool = _stdin_file(request)
            if not spool.exists():
                spool.parent.mkdir(parents=True, exist_ok=True)
                with atomic_file(spool) as file:
                    shutil.copyfileobj(sys.stdin.buffer, file)
            path = str(spool)
        yield path


def _plan(
    request: Request, inputs: Sequence[str], known: dict[LangPair, Lexicon | None]
) -> dict[str, Any]:
    """What must be the same for a run to go on."""
    return {
        "inputs": [[path, _size(path)] for path in inputs],
        "langs": list(request.langs),
        "across_sites": request.across_sites,
        "align": to_table(request.profile),
        "lexicons": [lexicon and lexicon.digest for lexicon in known.values()],
    }


def _size(path: str) -> int:
    return 0 if Path(path).is_dir() else size_of(path)


def _check_plan(work: Path, plan: dict[str, Any]) -> None:
    path = work / "plan.json"
    if path.exists():
        before = json.loads(path.read_text("utf-8"))
        after = json.loads(json.dumps(plan, default=str))
        for name, value in after.items():
            if before.get(name) != value:
                raise RunDirError(
                    f"{work.parent}: cannot be resumed, its {name} are others than now"
                    " (choose another --out)"
                )
    write_json(path, plan)


@contextmanager
def _locked(work: Path) -> Iterator[None]:
    """The folder for one run alone."""
    try:
        work.mkdir(parents=True, exist_ok=True)
        lock = os.open(work, os.O_RDONLY)
    except OSError as error:
        raise RunDirError(
            f"{work}: cannot be written: {error.strerror} (choose another --out)"
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise RunDirError(
            f"{work}: another process is at work here (let it finish)"
        ) from error
    finally:
        os.close(lock)


class _Engine:
    """The stages of a run, each of them tasks with markers."""

    def __init__(
        self, request: Request, work: Path, share: int, progress: ProgressLine
    ) -> None:
        self._request = request
        self._work = work
        self._share = share
        self._progress = progress
        self._files: list[Path] = []

    # ------------------------------------------------------------ pieces → records

    def extract(self, pool: Pool, pieces: Sequence[Piece]) -> Counter[str]:
        """Records of all pieces, revisits last; what was counted."""
        markers = self._extract(pool, "extracted", [(p, None) for p in pieces])
        counts: Counter[str] = Counter()
        revisits: defaultdict[str, list[str]] = defaultdict(list)
        for marker in markers:
            counts.update(marker["counts"])
            for url, key in marker["revisits"]:
                revisits[key].append(url)
        if revisits:
            wanted_file = self._work / "revisits.json"
            write_json(wanted_file, revisits)
            again = self._extract(pool, "revisits", [(p, wanted_file) for p in pieces])
            found = {url for marker in again for url in marker["found"]}
            for marker in again:
                counts.update(marker["counts"])
            wanted = {url for urls in revisits.values() for url in urls}
            counts["warc/dropped/revisit"] += len(wanted - found)
        return +counts

    def _extract(
        self, pool: Pool, name: str, tasks: Sequence[tuple[Piece, Path | None]]
    ) -> list[dict[str, Any]]:
        folder = self._work / name
        folder.mkdir(exist_ok=True)
        paths = [folder / f"{n:06}.records" for n in range(len(tasks))]
        self._files += paths
        waiting = []
        with Stage(self._progress, "reading", sum(p.size for p, _ in tasks)) as stage:
            for path, (piece, revisits) in zip(paths, tasks):
                if _marker(path).exists():
                    stage.skip(piece.size)
                else:
                    waiting.append((path, piece, revisits, self._request))
            for size, pages in pool.run(_extract_piece, waiting, stage.show):
                stage.advance(size, pages)
        return [json.loads(_marker(path).read_text("utf-8")) for path in paths]

    # ------------------------------------------------------------ records → pairs

    @cached_property
    def _shuffle(self) -> Shuffle:
        return Shuffle(self._files, self._request.langs)

    def align(
        self,
        pool: Pool,
        langs: LangPair,
        run: RunDir,
        known: Lexicon | None,
        counts: Counter[str],
    ) -> None:
        """The pairs of two languages, into their run directory."""
        shuffle = self._shuffle
        sizes = shuffle.sizes(langs)
        first = seed_groups(sizes, self._request.profile)
        folder = self._work / "aligned" / "-".join(langs)
        folder.mkdir(parents=True, exist_ok=True)
        tasks = [
            (folder / f"{n:06}.tsv.gz", groups)
            for n, groups in enumerate(_runs_of_groups(sizes, set(first)))
        ]
        lessons = [path for path, groups in tasks if groups[0] in first]

        def align(
            chosen: Iterable[tuple[Path, list[str]]], lexicon: Path | None
        ) -> None:
            todo = [
                (
                    path,
                    sum(sum(sizes[group]) for group in groups),
                    partial(_places, shuffle, groups, langs),
                )
                for path, groups in chosen
            ]
            self._align(pool, todo, self._task(langs, lexicon), stage)

        with Stage(
            self._progress, f"aligning {langs}", sum(map(sum, sizes.values()))
        ) as stage:
            lexicon = self._work / f"{'-'.join(langs)}.npz"
            if known:
                known.save(lexicon)
                align(tasks, lexicon)
            else:
                align([task for task in tasks if task[0] in lessons], None)
            learned = merge_lexicons(
                known, (load_lexicon(_lesson(p), langs) for p in lessons)
            )
            if not known:
                if learned:
                    learned.save(lexicon)
                others = [task for task in tasks if task[0] not in lessons]
                align(others, lexicon if learned else None)
        paths = [path for path, _ in tasks]
        if self._request.across_sites:
            paths += self._align_across(pool, langs, paths, learned)
        counts = counts.copy()
        for path in paths:
            counts.update(json.loads(_marker(path).read_text("utf-8")))
        if learned:
            learned.save(run.lexicon)
        pairs = write_pairs(run.pairs, _pairs_in(paths))
        run.write_stats({**+counts, "pages": counts["pages"], "pairs": pairs})

    def _align_across(
        self,
        pool: Pool,
        langs: LangPair,
        within: Sequence[Path],
        lexicon: Lexicon | None,
    ) -> list[Path]:
        """Align the pages that have no partner yet, whatever their sites."""
        folder = self._work / "across" / "-".join(langs)
        folder.mkdir(parents=True, exist_ok=True)
        known = folder / "lexicon.npz"
        if lexicon:
            lexicon.save(known)
        shuffle = self._shuffle
        rows, pages, sizes = shuffle.pages(langs, paired(_pairs_in(within)))
        matching = plan(sizes, self._request.profile)
        if not min(sizes):
            return []
        if matching is None or lexicon is None:
            groups = np.zeros(len(rows), np.int64)
        else:
            chunks = [
                shuffle.at(ALL_SITES, rows[start : start + _TASK_PAGES])
                for start in range(0, len(rows), _TASK_PAGES)
            ]
            steps = OnDisk(pool, folder, matching, self._progress)
            groups = group_of(pages, steps.groups(chunks, self._files, langs, known))
        tasks = [
            (
                folder / f"{number:06}.tsv.gz",
                int(np.count_nonzero(groups == number)),
                partial(_places_at, shuffle, rows[groups == number]),
            )
            for number in range(int(groups.max()) + 1)
        ]
        task = self._task(langs, known if lexicon else None, ALL_SITES)
        name = f"aligning {langs} across sites"
        with Stage(self._progress, name, len(rows)) as stage:
            self._align(pool, tasks, task, stage)
        return [path for path, *_ in tasks]

    def _task(
        self, langs: LangPair, lexicon: Path | None, site: Site | None = None
    ) -> _Alignment:
        profile, share = self._request.profile, _STORE_SHARE * self._share
        return _Alignment(langs, profile, lexicon, self._files, share, site)

    def _align(
        self,
        pool: Pool,
        tasks: Iterable[tuple[Path, int, Callable[[], list[Places]]]],
        common: _Alignment,
        stage: Stage,
    ) -> None:
        """Do the tasks (their file, how many pages, where these are) that are left."""
        waiting = []
        for path, pages, places in tasks:
            if _marker(path).exists():
                stage.skip(pages)
            else:
                waiting.append((pages, path, places))
        # the largest first: a giant must not be what is left at the end
        waiting.sort(key=lambda task: -task[0])
        todo = ((path, places(), common) for _, path, places in waiting)
        for pages in pool.run(_align_groups, todo, stage.show):
            stage.advance(pages, pages)


def _runs_of_groups(
    sizes: dict[str, tuple[int, int]], alone: set[str]
) -> Iterator[list[str]]:
    """Groups in the order of their names, in runs of some pages; seed groups alone."""
    gathered: list[str] = []
    pages = 0
    for group in sorted(sizes):
        if gathered and (group in alone or pages + sum(sizes[group]) > _TASK_PAGES):
            yield gathered
            gathered, pages = [], 0
        gathered.append(group)
        pages += sum(sizes[group])
        if group in alone:
            yield gathered
            gathered, pages = [], 0
    if gathered:
        yield gathered


def _places(shuffle: Shuffle, groups: list[str], langs: LangPair) -> list[Places]:
    return [shuffle.places(group, langs) for group in groups]


def _places_at(shuffle: Shuffle, rows: NDArray[np.int64]) -> list[Places]:
    return [shuffle.at(ALL_SITES, rows)]


def _pairs_in(paths: Iterable[Path]) -> Iterator[PairScore]:
    return (pair for path in paths for pair in read_pairs(path))


def _marker(path: Path) -> Path:
    return path.parent / f"{path.name.partition('.')[0]}.json"


def _lesson(path: Path) -> Path:
    return path.parent / f"{path.name.partition('.')[0]}.npz"


# ---------------------------------------------------------------- tasks


@lru_cache(1)
def _extractor(langs: tuple[Lang, ...]) -> Extractor:
    return Extractor(langs)  # it remembers words


@lru_cache(1)
def _revisits(path: Path, _version: int) -> Revisits:
    revisits: Revisits = json.loads(path.read_text("utf-8"))
    return revisits


def _extract_piece(
    path: Path, piece: Piece, revisits: Path | None, request: Request
) -> tuple[int, int]:
    """Write the records of a piece; its bytes and pages."""
    extraction = Extraction()
    extractor = _extractor(request.langs)
    wanted = _revisits(revisits, revisits.stat().st_mtime_ns) if revisits else None
    records = extract(piece, extractor, extraction, wanted)
    write_records(path, records, request.langs)
    write_json(
        _marker(path),
        {
            "counts": extraction.counts,
            "revisits": [(r.url, r.key) for r in extraction.revisits],
            "found": sorted(extraction.found),
        },
    )
    return piece.size, extraction.counts["warc/pages"]


@dataclass(frozen=True, slots=True)
class _Alignment:
    """What the tasks of two languages have in common."""

    langs: LangPair
    profile: AlignProfile
    lexicon: Path | None
    files: Sequence[Path]  # of records
    max_store: float  # bytes of a group's records that may be held in memory
    site: Site | None  # that the pages of all sites are taken to be of


def _align_groups(path: Path, groups: Sequence[Places], task: _Alignment) -> int:
    """Write the pairs of some groups; how many pages they have."""
    langs, profile, lexicon = task.langs, task.profile, task.lexicon
    known = load_lexicon(lexicon, langs) if lexicon else None
    counts: Counter[str] = Counter()

    def pairs() -> Iterator[PairScore]:
        for places in groups:
            spill = path.parent if places.size > task.max_store else None
            records = places.read(task.files)
            result = align_group(
                records, langs, profile, known, spill=spill, site=task.site
            )
            counts.update(result.counts)
            if len(groups) == 1:  # it may be a teacher
                result.learned.save(_lesson(path))
            yield from result.pairs

    write_pairs(path, pairs())
    write_json(_marker(path), counts)
    return sum(counts[name] for name in _PAGES)
