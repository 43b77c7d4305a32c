"""The tests choose by themselves what runs where there is no recorded data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def collected(**environment: str) -> subprocess.CompletedProcess[str]:
    words = "-m pytest -p no:cacheprovider --collect-only tests/golden".split()
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_ci_without_recorded_data_runs_the_floors_on_our_own_sites_alone():
    done = collected(CI="true", BIFOCAL_SHARED="")
    assert done.returncode == 0, done.stdout
    assert "recorded data: none" in done.stdout
    assert "test_the_pairs_of_a_whole_crawl_are_right_and_complete" in done.stdout
    assert "test_recorded_site" not in done.stdout


def test_a_folder_of_recorded_data_that_is_not_there_is_a_mistake():
    done = collected(BIFOCAL_SHARED="/nowhere")
    assert done.returncode != 0
    assert "BIFOCAL_SHARED=/nowhere is not a folder" in done.stdout + done.stderr
