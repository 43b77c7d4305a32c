from __future__ import annotations

import sys

import pytest

from crawler.extract.language import Cld2Detector
from crawler.languages import all_languages, from_cld2
from tests.strategies import REFUSED_BY_CLD2

ICELANDIC = "Veðrið er gott í dag og sólin skín á fjöllin og sjóinn."
ENGLISH = "The weather is fine today and the sun shines on the hills and the sea."
DETECTOR = Cld2Detector()


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        (ICELANDIC, "is"),
        (ENGLISH, "en"),
        ("Il-ġurnata hija sabiħa u x-xemx qed tiddi fuq il-baħar u fuq l-art.", "mt"),
        (
            "Eguraldi ona dago gaur eta eguzkiak mendiak eta itsasoa argitzen ditu.",
            "eu",
        ),
        (
            "今日は天気がよく、太陽が山と海を照らしています。散歩に行きましょう。とても楽しい。",
            "ja",
        ),
        (
            "今天天气很好，太阳照在山上和海上。我们一起去散步吧，非常愉快，大家都很高兴。",
            "zh",
        ),
        ("מזג האוויר יפה היום והשמש זורחת על ההרים ועל הים הגדול", "he"),
    ],
)
def test_the_language_of_a_sentence(text, lang):
    detection = DETECTOR.detect(text)
    assert detection.lang == lang
    assert detection.confidence > 0.8


def test_too_little_text_is_in_no_language():
    assert DETECTOR.detect("Veðrið er gott").lang is None
    assert DETECTOR.detect("").lang is None
    assert DETECTOR.detect(" \x00\x01" * 1000).lang is None


def test_no_words_are_in_no_language():
    assert DETECTOR.detect("0123456789 +-*/ " * 50).lang is None


def test_none_of_the_127_code_points_that_cld2_refuses_costs_the_page():
    assert len(set(REFUSED_BY_CLD2)) == 127
    for code in REFUSED_BY_CLD2:
        assert DETECTOR.detect(ICELANDIC[:20] + chr(code) + ICELANDIC[20:]).lang == "is"


def test_lone_surrogates_do_not_cost_the_page():
    for surrogate in ("\ud800", "\udbff", "\udc00", "\udfff"):
        assert DETECTOR.detect(ICELANDIC + surrogate + ICELANDIC).lang == "is"


@pytest.mark.slow
def test_every_code_point_that_there_is_can_be_in_a_text():
    everything = [chr(code) for code in range(sys.maxunicode + 1)]
    for start in range(0, len(everything), 10_000):
        DETECTOR.detect(ENGLISH + "".join(everything[start : start + 10_000]))
    assert DETECTOR.detect("".join(everything[:0x3000]) + ENGLISH * 1000)


def test_most_of_the_text_decides():
    assert DETECTOR.detect(ENGLISH + ICELANDIC * 5).lang == "is"
    assert DETECTOR.detect(ENGLISH * 5 + ICELANDIC).lang == "en"


def test_a_long_page_is_told_by_pieces_only_where_they_are_in_one_language():
    long = 6000 // len(ENGLISH)
    assert DETECTOR.detect(ENGLISH * 3 * long).lang == "en"
    # all three pieces have some English, and the text between them has none
    begin, between = ENGLISH * (long // 4), ICELANDIC * long
    mixed = begin + between + ENGLISH + between + begin
    assert DETECTOR.detect(mixed).lang == "is"
    assert 0.5 < DETECTOR.detect(mixed).confidence < 0.95


def test_a_hint_does_not_overrule_a_clear_text():
    assert DETECTOR.detect(ENGLISH * 3, hint="is").lang == "en"


def test_a_hint_settles_what_cld2_calls_unreliable():
    english = f"{ENGLISH} The children play at the harbour."
    spanish = (
        "El tiempo es bueno hoy y el sol brilla sobre las montañas y el mar."
        " Los niños juegan en el puerto."
    )
    french = (
        "Il fait beau aujourd'hui et le soleil brille sur les montagnes et la mer."
        " Les enfants jouent au port."
    )
    mixed = english + spanish + french
    assert not DETECTOR.detect(mixed).reliable
    for lang in ("en", "es", "fr"):
        hinted = DETECTOR.detect(mixed, hint=lang)
        assert hinted.lang == lang
        assert hinted.confidence == pytest.approx(1 / 3, abs=0.03)


def test_a_hint_of_a_language_that_is_not_there_changes_nothing():
    assert DETECTOR.detect(ENGLISH, hint="ja") == DETECTOR.detect(ENGLISH)


def test_a_long_text_is_read_as_far_as_it_helps():
    many = " ".join(f"{ENGLISH} {n}" for n in range(300))  # 20,000 characters
    assert DETECTOR.detect(many + ICELANDIC * 5000).lang == "en"


def test_every_code_of_cld2_in_the_table_means_one_language():
    for language in all_languages().values():
        for code in language.cld2:
            assert from_cld2(code) == language.code
    assert from_cld2("un") is None
