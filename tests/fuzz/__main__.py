"""Look for inputs that break a target: python -m tests.fuzz NAME [SECONDS] [FOLDER].

Needs atheris (pip install atheris). An input that fails is written to the current
folder as `crash-…`: put it into tests/fuzz/corpus/NAME, and it is tested for ever.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["crawler"]):
    from tests.fuzz.targets import TARGETS

_SECONDS = "60"

if __name__ == "__main__":
    name, seconds, *folders = [*sys.argv[1:], _SECONDS][:2] + sys.argv[3:]
    corpus = Path(__file__).parent / "corpus" / name
    known = [str(corpus)] if corpus.is_dir() else []
    options = [f"-max_total_time={seconds}", "-rss_limit_mb=2048", "-timeout=20"]
    atheris.Setup([sys.argv[0], *options, *folders, *known], TARGETS[name])
    atheris.Fuzz()
