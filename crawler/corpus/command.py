"""An external cleaning tool as a filter: Bicleaner, or any command.

The command gets pairs on its standard input, one a line, tab-separated: src_url,
trg_url, src_text, trg_text, as Bicleaner and Bicleaner AI read by default. For each
line it prints a line whose last column is a score from 0 to 1:

    bicleaner-ai-classify --score_only --quiet - - en-is-model
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crawler.data import CorpusPair
from crawler.errors import RunError, UsageError
from crawler.sinks.tsv import one_cell


@dataclass(frozen=True, slots=True)
class CommandConfig:
    """The command, and the score that a pair needs; no command, no filter."""

    run: str = ""  # as on a command line; no shell reads it
    min_score: float = 0.5  # Bicleaner AI's own threshold


def scores(
    pairs: Iterable[CorpusPair], config: CommandConfig, work: Path
) -> Iterator[float]:
    """The scores that the command gives, in the order of the pairs.

    `work`: a folder for two files. Raises UsageError if the command cannot be run,
    RunError if it fails or does not print one line for each pair.
    """
    asked, answers = work / "asked.tsv", work / "answers.tsv"
    count = 0
    with asked.open("wb") as file:
        for item in pairs:
            count += 1
            pair = item.pair
            cells = (pair.src_url, pair.trg_url, pair.src_text, pair.trg_text)
            line = "\t".join(map(one_cell, cells)) + "\n"
            file.write(line.encode("utf-8", "replace"))
    with asked.open("rb") as stdin, answers.open("wb") as stdout:
        try:
            status = subprocess.run(  # noqa: S603 - the user's own command, no shell
                shlex.split(config.run), stdin=stdin, stdout=stdout, check=False
            ).returncode
        except (OSError, ValueError, IndexError) as error:
            raise UsageError(f"{config.run!r} cannot be run: {error}") from error
    with answers.open("rb") as file:
        lines = sum(1 for _ in file)
    if status or lines != count:
        raise RunError(
            f"{config.run}: ended with status {status} and {lines} lines for {count}"
            " pairs (it must print one for each)"
        )
    with answers.open("rb") as file:
        for number, answer in enumerate(file, start=1):
            yield _score(answer, number, config)


def _score(line: bytes, number: int, config: CommandConfig) -> float:
    cell = line.decode("utf-8", "replace").rstrip("\n").rpartition("\t")[2]
    try:
        return float(cell)
    except ValueError:
        raise RunError(
            f"{config.run}: line {number} ends in {cell[:40]!r}, which is not a score"
        ) from None
