"""The sources of a corpus: run directories, and files of sentence pairs.

A folder that holds run directories, as `bifocal align` makes for several languages,
stands for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawler.corpus.bitext import is_bitext
from crawler.data import LangPair
from crawler.errors import RunDirError, UsageError
from crawler.rundir import RunDir
from crawler.wanted import WantedPairs
from crawler.warc.inputs import find_inputs


def sources(
    paths: Sequence[Path], wanted: LangPair | WantedPairs | None = None
) -> dict[LangPair, list[Path]]:
    """The sources of each corpus that is asked for: one for each wanted pair.

    Without `wanted` they are those of the runs. Raises RunDirError for a path that is
    not a source, UsageError if the languages of a file are not known.
    """
    if isinstance(wanted, LangPair):
        wanted = WantedPairs((wanted,))
    files = [path for path in paths if not path.is_dir()]
    for path in files:
        if not is_bitext(path):
            raise RunDirError(
                f"{path}: neither a run directory nor a file of sentence pairs (.tmx,"
                " .tsv, .jsonl, or plain text as NAME.en and NAME.is)"
            )
    found: dict[LangPair, list[Path]] = {p: [] for p in wanted.pairs} if wanted else {}
    for path in paths:
        for run in _runs_in(path) if path.is_dir() else ():
            of_run = run.langs()
            same = next((pair for pair in found if set(pair) == set(of_run)), None)
            if same or wanted is None:
                found.setdefault(same or of_run, []).append(run.path)
            elif run.path == path:
                raise RunDirError(
                    f"{path}: this run is for {of_run}, not for {wanted} (a run of"
                    " several languages has a directory for each pair)"
                )
    if files and len(found) != 1:
        raise UsageError(f"{files[0]}: give the languages of this file (--langs en,is)")
    return {pair: [*paths_of, *files] for pair, paths_of in found.items()}


def _runs_in(path: Path) -> list[RunDir]:
    inside = sorted(path.glob("*/run.json"))
    if (path / "run.json").exists() or not inside:
        return RunDir(path).by_pair()
    return [RunDir(file.parent) for file in inside]


def inputs_of(run: RunDir, about: dict[str, Any]) -> list[str]:
    """The files with the pages of a run: its own, or those that it was given."""
    if not run.pairs.exists():
        raise RunDirError(
            f"{run.pairs}: missing (make the pairs with bifocal align, from the WARC"
            " files of the run)"
        )
    paths = about.get("warcs") or [str(run.warc)]
    try:
        return find_inputs(paths)
    except Exception as error:
        raise RunDirError(
            f"{run.path}: the pages of this run are missing: {error}"
        ) from error
