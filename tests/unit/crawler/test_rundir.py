from __future__ import annotations

import json

import pytest

from crawler.data import LangPair
from crawler.errors import RunDirError
from crawler.rundir import RunDir, write_json

PAIR = LangPair("en", "is")


@pytest.fixture
def run(tmp_path):
    return RunDir(tmp_path / "a" / "run")


def test_a_new_run_is_made_and_then_resumed(run):
    assert run.open(PAIR) is False
    assert run.warc.is_dir()
    assert run.open(PAIR) is False  # nothing was written yet
    run.write({"langs": ["en", "is"]})
    assert run.open(PAIR) is True
    assert run.open(LangPair("is", "en")) is True  # the same question


def test_another_pair_is_refused(run):
    run.open(PAIR)
    run.write({"langs": ["en", "is"]})
    with pytest.raises(RunDirError, match="is for en,is, not for en,fr"):
        run.open(LangPair("en", "fr"))


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\xff"])
def test_a_damaged_run_json_is_an_error(run, text):
    run.open(PAIR)
    run.run_json.write_bytes(text.encode("latin-1"))
    with pytest.raises(RunDirError, match=str(run.run_json)):
        run.open(PAIR)


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirError, match="choose another RUN_DIR"):
        RunDir(tmp_path / "file" / "run").open(PAIR)


def test_json_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "run.json"
    write_json(path, {"b": 1, "a": "þú \udcff"})
    assert list(json.loads(path.read_text("utf-8", "surrogateescape"))) == ["a", "b"]
    before = path.read_bytes()
    with pytest.raises(RunDirError):
        write_json(tmp_path / "nowhere" / "run.json", {})
    with pytest.raises(ValueError, match="Circular"):
        write_json(path, (circle := {}) or circle.setdefault("a", circle) or circle)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    "about",
    [
        {"langs": 5},
        {"langs": ["en"]},
        {"langs": ["en", 7]},
        {"langs": ["en", "\x1b[2J"]},
        {"langs": ["en", "is"], "seeds": "https://a.is/"},
        {"langs": ["en", "is"], "scope": "world"},
        {"langs": ["en", "is"], "align": []},
        {"langs": ["en", "is"], "warcs": [1]},
        {"langs": ["en", "is"], "settings": None},
    ],
    ids=str,
)
def test_a_run_json_with_values_of_other_types_is_an_error(run, about):
    run.open(PAIR)
    run.write(about)
    with pytest.raises(RunDirError, match="damaged") as told:
        run.read()
    assert str(told.value).isprintable()


def test_a_run_json_that_is_nested_too_deep_is_an_error(run):
    run.open(PAIR)
    run.run_json.write_text('{"a":' + "[" * 100_000)
    with pytest.raises(RunDirError, match=r"is .* a run directory"):
        run.read()


def test_strings_of_run_json_are_made_printable(run):
    run.open(PAIR)
    run.write({"langs": ["en", "is"], "settings": {"A\x1b": ["\x1b[2J"]}})
    assert run.read()["settings"] == {"A\ufffd": ["\ufffd[2J"]}
    run.stats_json.write_text('{"pairs": NaN}')
    assert run.stats() == {"pairs": None}
