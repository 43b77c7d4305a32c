from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.data import LangPair, Page
from crawler.errors import LanguageError


@pytest.mark.parametrize(
    "text", ["en,is", "eng,isl", "English,Icelandic", " EN ; ice ", "en,is,", "en,,is"]
)
def test_a_pair_is_read_in_every_spelling(text):
    assert LangPair.parse(text) == LangPair("en", "is")


@pytest.mark.parametrize("text", ["", "en", "en,is,fr", "en is", ",", "en,xx"])
def test_words_that_are_not_a_language_pair_are_an_error(text):
    with pytest.raises(LanguageError) as error:
        LangPair.parse(text)
    assert error.value.exit_status == 2


def test_two_names_of_one_language_are_no_pair():
    with pytest.raises(LanguageError, match="both languages of 'en,eng' are 'en'"):
        LangPair.parse("en,eng")


def test_a_pair_knows_its_two_languages_and_no_other():
    pair = LangPair("is", "en")
    assert list(pair) == ["is", "en"]
    assert str(pair) == "is,en"
    assert LangPair.parse(str(pair)) == pair
    assert pair.other("is") == "en"
    assert None not in pair
    with pytest.raises(ValueError, match="'fr'"):
        pair.other("fr")


def test_headers_are_found_whatever_their_case_the_first_one_first():
    headers = (("Content-Type", "text/html"), ("content-type", "text/plain"))
    page = Page("https://a.is/", 200, headers, b"", datetime.now(UTC))
    assert page.header("CONTENT-TYPE") == "text/html"
    assert page.header("location") is None
