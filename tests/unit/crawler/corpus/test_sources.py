from __future__ import annotations

from pathlib import Path

import pytest

from crawler.corpus.sources import inputs_of, sources
from crawler.data import LangPair
from crawler.errors import RunDirError, UsageError
from crawler.rundir import RunDir

EN_IS, IS_EN = LangPair("en", "is"), LangPair("is", "en")
EN_PL = LangPair("en", "pl")


def run(path: Path, langs: LangPair) -> Path:
    path.mkdir(parents=True)
    RunDir(path).write({"langs": list(langs)})
    return path


def test_the_languages_are_those_of_the_runs(tmp_path):
    a, b = run(tmp_path / "a", EN_IS), run(tmp_path / "b", IS_EN)
    assert sources([a, b]) == {EN_IS: [a, b]}
    assert sources([a, b], IS_EN) == {IS_EN: [a, b]}


def test_a_folder_of_runs_is_a_corpus_for_each_pair_of_languages(tmp_path):
    one = run(tmp_path / "all" / "en-is", EN_IS)
    other = run(tmp_path / "all" / "en-pl", EN_PL)
    assert sources([tmp_path / "all"]) == {EN_IS: [one], EN_PL: [other]}
    assert sources([tmp_path / "all"], EN_PL) == {EN_PL: [other]}


def test_files_go_with_the_runs_of_one_pair_of_languages(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("a\tb\n")
    one = run(tmp_path / "all" / "en-is", EN_IS)
    run(tmp_path / "all" / "en-pl", EN_PL)
    assert sources([file, one]) == {EN_IS: [one, file]}
    assert sources([file], EN_PL) == {EN_PL: [file]}
    for paths in ([file], [file, tmp_path / "all"]):
        with pytest.raises(UsageError, match="give the languages of this file"):
            sources(paths)


def test_a_path_that_is_not_a_source_is_one_clear_error(tmp_path):
    one = run(tmp_path / "en-is", EN_IS)
    with pytest.raises(RunDirError, match="is for en,is, not for en,pl"):
        sources([one], EN_PL)
    with pytest.raises(RunDirError, match="neither a run directory nor a file"):
        sources([tmp_path / "none"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunDirError, match=r"is .*empty a run directory"):
        sources([tmp_path / "empty"])
    with pytest.raises(RunDirError, match="make the pairs with bifocal align"):
        inputs_of(RunDir(one), {})
    RunDir(one).pairs.write_bytes(b"")
    with pytest.raises(RunDirError, match="the pages of this run are missing"):
        inputs_of(RunDir(one), {"warcs": [str(tmp_path / "gone.warc")]})
