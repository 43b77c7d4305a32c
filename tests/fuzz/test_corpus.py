"""No target raises: not for what made one raise, not for what hypothesis thinks of."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

CORPUS = sorted(p for p in (Path(__file__).parent / "corpus").rglob("*") if p.is_file())


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_inputs_that_once_failed_pass(path):
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=50)
@given(data=st.binary(max_size=2000) | st.text(max_size=500).map(str.encode))
def test_anything(name, data):
    TARGETS[name](data)


def test_every_input_belongs_to_a_target():
    assert {path.parent.name for path in CORPUS} <= set(TARGETS)
