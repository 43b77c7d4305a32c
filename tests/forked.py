"""Commands of `bifocal`, each in a child of one process that has imported the program.

A command costs a tenth of a second so, and is a process of its own all the same.
Started as `python -m tests.forked FOLDER`: JSON lines of words in, of answers out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.commands import PATIENCE, environment


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said, standard output and standard error apart."""

    status: int
    out: str
    err: str


def run_all(commands: Iterable[Sequence[str]], folder: Path) -> list[Answer]:
    """Run commands, one after the other, in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.forked", str(folder)],
        input="\n".join(map(json.dumps, commands)),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return [Answer(*json.loads(line)) for line in done.stdout.splitlines()]


def _main() -> None:
    import crawler.components.commands.crawl
    import crawler.corpus.build
    import crawler.realign.local
    import crawler.reports.page
    import crawler.spiders.bilingual  # noqa: F401 - imported for the children

    commands = [json.loads(line) for line in sys.stdin]
    os.chdir(sys.argv[1])
    for words in commands:
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            child = os.fork()
            if not child:
                _child(words, out.fileno(), err.fileno())
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            out.seek(0)
            err.seek(0)
            print(json.dumps([status, out.read(), err.read()]), flush=True)


def _child(words: list[str], out: int, err: int) -> None:
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.argv = ["bifocal", *words]
    try:
        status = bifocal.__main__.main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    import bifocal.__main__

    _main()
