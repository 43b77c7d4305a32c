from __future__ import annotations

import pytest

from crawler.data import LangPair
from crawler.errors import LanguageError, RunDirError
from crawler.rundir import RunDir
from crawler.wanted import WantedPairs


def names(wanted: WantedPairs) -> list[str]:
    return ["-".join(pair) for pair in wanted.pairs]


def test_two_languages_are_one_pair():
    wanted = WantedPairs.parse("English,is")
    assert wanted.only
    assert str(wanted.only) == str(wanted) == "en,is"


@pytest.mark.parametrize(
    ("langs", "pairs", "expected"),
    [
        ("en,fi,sv", "", ["en-fi", "en-sv", "fi-sv"]),
        ("en:de,fr", "", ["en-de", "en-fr"]),
        ("", "en-fi, swe-Finnish", ["en-fi", "sv-fi"]),
        ("en:fi,sv;sv:fi", "", ["en-fi", "en-sv", "sv-fi"]),
    ],
)
def test_what_a_user_writes_is_read_and_written_again(langs, pairs, expected):
    wanted = WantedPairs.parse(langs, pairs)
    assert names(wanted) == expected
    assert wanted.only is None
    assert WantedPairs.parse(str(wanted)) == wanted


@pytest.mark.parametrize(
    ("langs", "pairs", "message"),
    [
        ("en,fi,*", "", "with one language at most"),
        ("en:en", "", "two different ones"),
        ("en,fi,en", "", "names a language twice"),
        ("en:fi,fi", "", "names a pair twice"),
        ("", "en-fi,fi-en", "names a pair twice"),
        ("", "en", "is not a pair of languages"),
        ("en:", "", "write langs=en:de,fr,it"),
        ("en,fi", "en-sv", "leave one out"),
        ("", "", "expected two languages"),
    ],
)
def test_a_mistake_is_told_with_its_cure(langs, pairs, message):
    with pytest.raises(LanguageError, match=r"\(.*\)$") as error:
        WantedPairs.parse(langs, pairs)
    assert message in str(error.value)


def test_a_pair_is_among_languages_only_if_it_is_wanted():
    wanted = WantedPairs.parse("en:de,fr")
    assert wanted.among({"en", "fr"})
    assert not wanted.among({"de", "fr"})
    assert wanted.partners("en") == ["de", "fr"]
    assert wanted.partners("de") == ["en"]
    assert wanted.partners("it") == wanted.partners(None) == []


def test_a_weight_must_be_of_a_wanted_pair():
    wanted = WantedPairs.parse("en:de,fr")
    assert [*wanted.weights("de-en=2.5").values()] == [2.5, 1.0]
    for mistake in ("de-fr=2", "en-de=-1", "en-de", "en-de=nan"):
        with pytest.raises(LanguageError):
            wanted.weights(mistake)


def test_a_run_keeps_the_order_and_the_sides_of_its_pairs(tmp_path):
    run = RunDir(tmp_path)
    first = WantedPairs.parse("en:fi,sv")
    run.open(first)
    run.describe(first, {})
    assert run.as_before(WantedPairs.parse("", "sv-en,fi-en")) == first
    other = WantedPairs.parse("en,fi")
    assert run.as_before(other) == other


def test_a_run_that_names_no_languages_is_one_clear_error(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(RunDirError, match="names no languages"):
        RunDir(tmp_path).wanted()


@pytest.mark.parametrize("langs", ["en,*", "en:*", "*,en", "English, any"])
def test_a_star_is_every_language_that_a_site_may_have(langs):
    assert str(WantedPairs.parse(langs, any_of="fi,en,sv")) == "en:fi,sv"
    assert len(WantedPairs.parse(langs).pairs) > 100


def test_any_is_every_pair_of_the_languages_that_are_allowed():
    assert str(WantedPairs.parse("any", any_of="fi,en,sv")) == "fi,en,sv"
    everything = WantedPairs.parse("any")
    assert everything.partners("is").count("en") == 1
    assert everything.of({"en", "is", "xx"}) == [LangPair("en", "is")]
