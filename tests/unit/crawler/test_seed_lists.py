"""The seed lists that come with Bifocal."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.data import LangPair
from crawler.seeds import read_seeds
from crawler.urls import host_of

FOLDER = Path(__file__).resolve().parents[3] / "seeds"
LISTS = sorted(path for path in FOLDER.glob("*-*.txt"))
README = (FOLDER / "README.md").read_text("utf-8")


def test_there_is_a_list_for_each_of_these_pairs():
    asked = "ca-es de-fr en-cy en-fi en-ga en-hr en-is en-mk en-mt en-sl en-sq en-tr"
    assert {*asked.split(), "es-eu", "fr-en"} <= {path.stem for path in LISTS}


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_list_can_be_read_and_says_what_is_in_it(path):
    seeds = read_seeds(str(path))
    assert len({host_of(seed) for seed in seeds}) >= 12
    assert all(seed.startswith("https://") for seed in seeds)
    LangPair.parse(path.stem.replace("-", ","))
    lines = path.read_text("utf-8").splitlines()
    written = [line for line in lines if line and not line.startswith("#")]
    assert len(written) == len(seeds), "a seed stands twice"
    assert lines[0].startswith("# Bilingual sites")
    assert sum(line.startswith("# ") for line in lines) >= 4  # under headings
    assert f"({path.name})" in README


def test_the_readme_counts_the_hosts():
    for path in LISTS:
        row = next(line for line in README.splitlines() if f"({path.name})" in line)
        hosts = len({host_of(seed) for seed in read_seeds(str(path))})
        assert "hosts" not in row or f"| {hosts} hosts" in row, f"{path.name}: {hosts}"
