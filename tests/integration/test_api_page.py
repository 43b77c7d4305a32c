"""The examples of docs/api.md, typed after `make demo`."""

from __future__ import annotations

import doctest

import pytest

from tests.commands import ROOT, bifocal

pytestmark = pytest.mark.slow


def test_what_the_page_shows_comes_out(tmp_path, monkeypatch):
    done = bifocal("demo", "--out", tmp_path / "runs" / "demo")
    assert done.returncode == 0, done.stderr
    for name in ("worlds", "seeds"):  # of the checkout, where a reader is
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    page = str(ROOT / "docs" / "api.md")
    failed, tried = doctest.testfile(page, module_relative=False, encoding="utf-8")
    assert tried > 30
    assert not failed, "see what doctest printed"
