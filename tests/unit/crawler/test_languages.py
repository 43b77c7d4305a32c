from __future__ import annotations

import pytest

from crawler.errors import LanguageError
from crawler.languages import (
    all_languages,
    from_cld2,
    known_code,
    language_of,
    marker_languages,
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("is", "is"),
        ("ISL", "is"),
        ("ice", "is"),  # ISO 639-2/B
        ("Icelandic", "is"),
        ("íslenska", "is"),
        (" Islenska ", "is"),
        ("nb", "no"),
        ("nn", "nn"),
        ("iw", "he"),  # withdrawn, and what CLD2 prints
        ("pt-BR", "pt"),
        ("zh_Hant", "zh"),
        ("Maltese", "mt"),
        ("eu", "eu"),
    ],
)
def test_a_language_is_known_by_every_way_to_write_it(text, code):
    assert language_of(text).code == code


@pytest.mark.parametrize("text", ["", "xx", "klingon", "e", "en,is", "English please"])
def test_any_other_word_is_an_error_with_a_cure(text):
    with pytest.raises(LanguageError, match="give an ISO 639-1 or 639-3 code"):
        language_of(text)


def test_a_similar_name_is_suggested():
    with pytest.raises(LanguageError, match="did you mean 'icelandic'"):
        language_of("Icelandik")


def test_every_code_and_name_of_the_table_leads_back_to_its_row():
    for code, language in all_languages().items():
        assert language.code == code
        assert language_of(code) is language
        assert language_of(language.iso639_3) is language
        assert all(from_cld2(cld2) == code for cld2 in language.cld2)


@pytest.mark.parametrize("code", ["un", "xxx", "", "EN"])
def test_codes_of_the_detector_that_are_not_languages_give_none(code):
    assert from_cld2(code) is None


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("en-GB", "en"),
        ("x-default", None),
        ("", None),
        (None, None),
        ("english", None),
        ("nb-NO", "no"),
        (" is ", "is"),
        ("qq", None),
    ],
)
def test_the_tag_of_a_page(tag, code):
    assert known_code(tag) == code


@pytest.mark.parametrize(
    ("token", "languages"),
    [
        ("is", {"is"}),
        ("icelandic", {"is"}),
        ("FRANÇAIS", {"fr"}),
        ("francais", {"fr"}),
        ("pt-br", {"pt"}),
        ("es-419", {"es"}),
        ("zh_hant", {"zh"}),
        ("sr-latn-rs", {"sr"}),
        ("so-called", set()),  # no such region
        ("news", set()),
        ("", set()),
    ],
)
def test_a_marker_names_these_languages(token, languages):
    assert marker_languages(token) == languages
