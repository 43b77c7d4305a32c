"""Look for inputs that break a reader, or cost it more than their share.

    python -m tests.fuzz [NAME ... | all] [--seconds 60] [--seeds FOLDER]

Needs atheris (pip install atheris). Each target is fuzzed for so many seconds, led by
what each input reaches, from the shapes of tests/hostile/shapes.py and what failed
before. An input that fails is written to the current folder as `crash-…`: put it into
tests/fuzz/corpus/NAME, and it is tested for ever.

Two laws hold for every input: no exception leaves a target, and none takes more than 50
times the processor time that an honest input of its size would; of a packed body the
size is that of what comes out.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import atheris

with atheris.instrument_imports(include=["crawler"]):
    from tests.fuzz.targets import TARGETS, Target
    from tests.hostile.shapes import HONEST, SHAPES

_MAX_SIZE = 200_000  # bytes of an input: more finds nothing more, and is slow
_TIMES = 50  # of the share by size
_SMALL = 1000  # bytes of an honest input that costs what any input costs
_NOISE = 0.1  # seconds: of a busy machine, of a collection of garbage
_SEEDS = 3000  # bytes of a shape that is a first input


class TooDear(Exception):
    """An input took more than 50 times its share."""


def cost_of(target: Target, data: bytes) -> tuple[float, int]:
    """Processor time of one reading, and bytes that were read, unpacked."""
    started = process_time()
    size = target(data)
    return process_time() - started, max(size or 0, len(data))


def with_laws(name: str) -> Callable[[bytes], None]:
    """A target that raises for an input that breaks a law."""
    target = TARGETS[name]
    honest = HONEST.get(name, lambda size: b"a " * (size // 2))
    target(b"")  # imports and tables
    # a smaller one may not be read at all
    small = honest(_SMALL)
    fixed, _ = min(cost_of(target, small) for _ in range(5))
    data = honest(_MAX_SIZE // 4)
    per_byte = min(cost_of(target, data) for _ in range(3))[0] / len(data)

    def run(data: bytes) -> None:
        seconds, size = cost_of(target, data)
        limit = _TIMES * (fixed + per_byte * size) + _NOISE
        if seconds > limit:
            again, _ = min(cost_of(target, data) for _ in range(3))
            if again > limit:
                raise TooDear(f"{again:.2f} s for {size} bytes ({limit:.2f} s)")

    return run


def fuzz(name: str, seconds: int, seeds: Path | None) -> None:
    """Fuzz one target in this process; ends it."""
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        for shape, make in SHAPES.get(name, {}).items():
            Path(folder, shape).write_bytes(make(_SEEDS)[: 4 * _SEEDS])
        known = Path(__file__).parent / "corpus" / name
        folders = [str(path) for path in (seeds, known) if path and path.is_dir()]
        options = [
            f"-max_total_time={seconds}",
            f"-max_len={_MAX_SIZE}",
            "-rss_limit_mb=2048",
            "-timeout=30",
            "-print_final_stats=1",
        ]
        atheris.Setup([sys.argv[0], *options, folder, *folders], with_laws(name))
        atheris.Fuzz()


def main() -> int:
    """Fuzz one target here, or several one after the other, each in a process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["all"], metavar="NAME")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seeds", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    names = list(TARGETS) if options.names == ["all"] else options.names
    if len(names) == 1:
        fuzz(names[0], options.seconds, options.seeds)
    failed = []
    for name in names:
        words = [sys.executable, "-m", "tests.fuzz", name]
        words += ["--seconds", str(options.seconds)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        runs = [x for x in done.stderr.splitlines() if "number_of_executed_units" in x]
        print(
            f"{name:16} {'ok' if not done.returncode else 'FAILED'}", *runs, flush=True
        )
        if done.returncode:
            failed.append(name)
            print(done.stderr[-3000:], flush=True)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
