"""In CI nothing is skipped that could run."""

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


def run(file: Path, **environment: str) -> str:
    words = "-m pytest -p no:cacheprovider -p tests.conftest --noconftest".split()
    done = subprocess.run(
        [sys.executable, *words, f"--rootdir={file.parent}", "-c", "/dev/null", file],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


TESTS = """
import pytest

def test_java():
    pytest.skip("no Java")

def test_package():
    pytest.importorskip("not_installed")

def test_machine():
    pytest.skip("root may write anywhere")

def test_known():
    pytest.xfail("known")
"""


def test_a_skip_fails_in_ci_unless_the_machine_is_the_reason(tmp_path):
    file = tmp_path / "test_it.py"
    file.write_text(TESTS)
    assert "2 failed, 1 skipped, 1 xfailed" in run(file, CI="true")
    assert "3 skipped, 1 xfailed" in run(file, CI="")


def test_a_file_that_is_skipped_as_a_whole_fails_in_ci(tmp_path):
    file = tmp_path / "test_it.py"
    file.write_text("import pytest\npytest.importorskip('not_installed')\n")
    assert "1 error" in run(file, CI="true")
