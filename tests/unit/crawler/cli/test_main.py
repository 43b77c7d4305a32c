from __future__ import annotations

import pkgutil

import pytest

from crawler import cli


def test_every_verb_has_a_description(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    for verb in pkgutil.iter_modules(cli.__path__):
        assert f"    {verb.name}" in shown


@pytest.mark.parametrize("words", [[], ["nonsense"], ["align", "x"], ["--langs"]])
def test_an_unknown_word_is_a_usage_error(words, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(words)
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bifocal: error: ")
    assert "--help` has examples)" in line


def test_an_expected_error_is_one_line(tmp_path, capsys):
    words = ["align", "x.warc", "--langs", "en,en", "--out", str(tmp_path / "out")]
    assert cli.main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bifocal: error: both languages")


@pytest.mark.parametrize("verb", [m.name for m in pkgutil.iter_modules(cli.__path__)])
def test_every_verb_has_an_example_that_can_be_typed(verb, capsys):
    with pytest.raises(SystemExit):
        cli.main([verb, "--help"])
    shown = capsys.readouterr().out
    assert f"Example: bifocal {verb} " in shown


def test_the_three_ways_of_use_come_first(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    shown = capsys.readouterr().out
    assert "Three ways of use" in shown.partition("verbs:")[0]


@pytest.mark.parametrize(
    ("words", "cure"),
    [(["reprot"], "did you mean 'report'?"), (["seeds", "chek"], "mean 'check'?")],
)
def test_a_mistyped_verb_is_answered_by_the_nearest(words, cure, capsys):
    with pytest.raises(SystemExit):
        cli.main(words)
    assert cure in capsys.readouterr().err
