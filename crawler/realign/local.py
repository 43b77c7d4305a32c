"""Offline, on one machine: WARC files in, pairs out.

Finished tasks lie in DIR/work (`crawler.realign.machine`) until the run is complete.
With several languages, each pair has a run directory of its own, DIR/SRC-TRG.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.atomic import atomic_file
from crawler.config import to_table
from crawler.data import LangPair
from crawler.errors import RunDirError, WarcError
from crawler.progress import ProgressLine, terminal
from crawler.realign.machine import LocalMachine
from crawler.realign.plan import align_pages
from crawler.realign.pool import Pool
from crawler.realign.request import AlignRequest, summary
from crawler.rundir import RunDir, write_json
from crawler.warc.remote import size_of

logger = logging.getLogger(__name__)

GIGABYTE = 2**30
# The part of a process's memory that the features of a group may take; the rest is for
# the interpreter, the libraries and the work of the alignment.
_STORE_SHARE = 0.1
_WAITS = (0.1,) * 10  # seconds between two tries of a lock


def align_collection(
    request: AlignRequest,
    *,
    jobs: int = 1,
    memory: int = 4 * GIGABYTE,
    resume: bool = False,
    progress: ProgressLine | None = None,
) -> dict[str, Any]:
    """Pair the pages of a collection into run directories; returns the stats of all.

    `resume`: continue an earlier run of the same request in the same directory.
    """
    # a missing input is reported before anything is written
    inputs = request.inputs(_spooled(request))
    known = request.known()
    work = request.out / "work"
    runs = [request.run(langs) for langs in known]
    all_runs = [*runs, RunDir(request.out)] if len(runs) > 1 else runs
    if any(run.run_json.exists() or run.aligner.exists() for run in all_runs):
        if not resume:
            raise RunDirError(
                f"{request.out}: already holds a run (choose another --out, or"
                " continue it with --resume)"
            )
        if not work.exists():
            return summary(runs)
    progress = progress or ProgressLine(logger, terminal())
    with _locked(work):
        try:
            _check_same(work, _identity(request, inputs, known))
            with Pool(jobs) as pool:
                share = _STORE_SHARE * memory / jobs
                machine = LocalMachine(request, work, pool, share, progress)
                stats = align_pages(request, inputs, known, machine)
        except WarcError:
            _forget_if_nothing_was_read(work, runs)
            raise
    shutil.rmtree(work)
    _stdin_file(request).unlink(missing_ok=True)
    return stats


def _forget_if_nothing_was_read(work: Path, runs: Sequence[RunDir]) -> None:
    """Leave no half of a run behind, so that the mended command may be given."""
    parts = [path for path in work.glob("*/**/*") if path.suffix != ".reading"]
    if not any(map(Path.is_file, parts)):
        shutil.rmtree(work)
        for run in runs:
            run.run_json.unlink(missing_ok=True)
            for folder in (run.warc, run.path, work.parent):
                with suppress(OSError):  # not empty, or gone
                    folder.rmdir()


def _stdin_file(request: AlignRequest) -> Path:
    return request.out / "stdin.warc"


def _spooled(request: AlignRequest) -> Iterator[str]:
    """The paths; standard input is kept in a file, which a resumed run reads again."""
    for path in request.paths:
        if path == "-":
            spool = _stdin_file(request)
            if not spool.exists():
                spool.parent.mkdir(parents=True, exist_ok=True)
                with atomic_file(spool) as file:
                    shutil.copyfileobj(sys.stdin.buffer, file)
            path = str(spool)
        yield path


def _identity(
    request: AlignRequest,
    inputs: Sequence[str],
    known: Mapping[LangPair, Lexicon | None],
) -> dict[str, Any]:
    """The properties that must be the same for a run to be resumed."""
    return {
        "inputs": [[path, _size(path)] for path in inputs],
        "langs": list(request.langs),
        "pairs": [list(pair) for pair in request.pairs],
        "across_sites": request.across_sites,
        "documents": request.documents,
        "languages": [request.languages.name, request.languages.samples],
        "align": to_table(request.profile),
        "lexicons": [lexicon and lexicon.digest for lexicon in known.values()],
    }


def _size(path: str) -> int:
    return 0 if Path(path).is_dir() else size_of(path)


def _check_same(work: Path, identity: dict[str, Any]) -> None:
    path = work / "plan.json"
    if path.exists():
        before = json.loads(path.read_text("utf-8"))
        after = json.loads(json.dumps(identity, default=str))
        for name, value in after.items():
            if before.get(name) != value:
                raise RunDirError(
                    f"{work.parent}: cannot be resumed, its {name} were different"
                    " (choose another --out)"
                )
    write_json(path, identity)


def _is_taken(lock: int) -> bool:
    """Take a lock; a process of a run that was just killed may hold it for a moment."""
    for wait in _WAITS:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(wait)
    return False


@contextmanager
def _locked(work: Path) -> Iterator[None]:
    """Keep other runs out of the folder."""
    try:
        work.mkdir(parents=True, exist_ok=True)
        lock = os.open(work, os.O_RDONLY)
    except OSError as error:
        raise RunDirError(
            f"{work}: cannot be written: {error.strerror} (choose another --out)"
        ) from error
    try:
        if not _is_taken(lock):
            raise RunDirError(
                f"{work}: another process is working here (wait until it has finished)"
            )
        yield
    finally:
        os.close(lock)
