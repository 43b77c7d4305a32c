"""A crawl that is killed, stopped and failed by its disk has what a calm one has.

    BIFOCAL_EVENTS=20 python -m pytest -s tests/crash/test_events.py

`python -m benchmarks.crashes` does the same for hundreds, in one process and in two,
and writes what came of it.
"""

from __future__ import annotations

import os
import random
import shutil

import pytest

from tests.crash.events import Disturber, Result, build_library, build_town

EVENTS = int(os.environ.get("BIFOCAL_EVENTS", "4"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_events(tmp_path):
    seed = random.randrange(2**32)
    print("seed", seed)
    library, town = build_library(tmp_path), build_town(EVENTS)
    disturber = Disturber(tmp_path, library, town, seed, apart=True)
    disturber.calm()
    total = Result()
    while (left := EVENTS - total.events.total()) > 0:
        total.add(disturber.disturb(left))
    print(total)
    assert total.asked_again <= total.events.total()
