from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="extra `train` is not installed")

from crawler.errors import UsageError
from training.make_weights import PACKAGES, download, main, make_terms

pytestmark = pytest.mark.models

DEMO = Path(__file__).parents[3] / "worlds/demo/demo.warc.gz"


@pytest.fixture
def worlds(tmp_path):
    folder = tmp_path / "worlds"
    for name in ("built", "truth"):
        (folder / name).mkdir(parents=True)
    shutil.copy(DEMO, folder / "built/a.org.warc.gz")
    (folder / "built/copy.test.warc.gz").touch()
    (folder / "truth/a.org.truth.tsv").write_text("url_a\tlang_a\turl_b\tlang_b\n")
    return folder


def test_terms_are_made_once_from_sites_and_packages(worlds, tmp_path, capsys):
    out = tmp_path / "out"
    (out / "debs").mkdir(parents=True)
    for package in PACKAGES.read_text().split():
        (out / f"debs/{package}_1_all.deb").write_bytes(b"damaged")
    make_terms(worlds, out)
    parts = {part: part.stat().st_mtime_ns for part in (out / "terms/parts").iterdir()}
    kinds = Counter(part.name.partition("-")[0] for part in parts)
    assert kinds.keys() == {"titles", "freedict", "localizations"}
    assert kinds["titles"] == 1  # a copy of a site gives nothing new
    assert capsys.readouterr().out.count("bad/damaged package 1") > 70
    make_terms(worlds, out)
    assert parts == {part: part.stat().st_mtime_ns for part in parts}


def test_packages_that_cannot_be_had_are_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="2 packages are not there, no-such first"):
        download(["no-such", "nor-this"], tmp_path)


def test_missing_words_are_one_clear_error(tmp_path):
    with pytest.raises(UsageError, match="give data=FOLDER"):
        main(["data=x"])
    (tmp_path / "debs").mkdir()
    for package in PACKAGES.read_text().split():
        (tmp_path / f"debs/{package}_1_all.deb").write_bytes(b"")
    with pytest.raises(UsageError, match="no built/"):
        make_terms(tmp_path / "nowhere", tmp_path)
