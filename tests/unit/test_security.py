"""SECURITY.md and docs/safety.md promise what is tested, and name the limits as set."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given

from crawler.urls import canonicalize
from settings import base
from tests.hostile.attacks import ATTACKS
from tests.strategies import rough_urls

ROOT = Path(__file__).resolve().parents[2]
SECURITY = (ROOT / "SECURITY.md").read_text("utf-8")
SAFETY = (ROOT / "docs" / "safety.md").read_text("utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = text.partition(f"\n{heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table, heading
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


PROMISES = rows(SECURITY, "## What is promised, and what shows it")
POLITE = rows(SAFETY, "## Politeness")
LIMITS = rows(SAFETY, "## Limits")


@pytest.mark.parametrize("row", [*PROMISES, *POLITE], ids=lambda row: row[0][:40])
def test_every_promise_names_its_tests(row):
    names = re.findall(r"`([\w/.]+)`", row[-1])
    assert names
    for name in names:
        assert name in ATTACKS or (ROOT / name).exists(), name


def test_every_attack_has_a_row():
    named = [row[0].strip("`") for row in rows(SAFETY, "### Each alone")]
    assert named == ["none", *ATTACKS]
    assert f"{len(ATTACKS)} hostile servers" in SECURITY


@pytest.mark.parametrize("row", LIMITS, ids=lambda row: row[1])
def test_every_limit_is_what_the_table_says(row):
    """Of settings, and of modules that nobody sets."""
    _, name, value, reason = row
    room, _, constant = name.strip("`").rpartition(".")
    found = getattr(importlib.import_module(room) if room else base, constant)
    assert float(value.replace(",", "")) == found
    assert reason


def test_nobody_can_reach_a_running_crawl():
    assert base.TELNETCONSOLE_ENABLED is False
    assert base.REMOTE_CONTROL_ENABLED is False


@given(rough_urls())
def test_no_url_of_ours_breaks_a_line(text):
    url = canonicalize(text)
    assert url is None or (url.isprintable() and len(url.splitlines()) == 1)
