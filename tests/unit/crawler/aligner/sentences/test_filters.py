from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.aligner.sentences.filters import (
    FilterConfig,
    SentenceFilters,
    copied_share,
    is_damaged,
)
from crawler.data import LangPair, SentencePair
from crawler.extract.language import Cld2Detector

GOOD = SentencePair(
    "https://a.is/en",
    "https://a.is/is",
    "The weather is fine today and the sun shines on the mountains of the island.",
    "Veðrið er gott í dag og sólin skín á fjöllin á eyjunni allan daginn.",
    0.9,
    0.9,
    (1, 1),
    lexical_ratio=0.8,
)


def filters(config: FilterConfig | None = None) -> SentenceFilters:
    return SentenceFilters(LangPair("en", "is"), Cld2Detector(), config)


BAD = {
    "no_letters": {"src_text": "2024-03-01", "trg_text": "1.3.2024"},
    "few_letters": {
        "src_text": "ab 12 334 556 677 890",
        "trg_text": "ab 12 334 556 77",
    },
    "too_long": {"src_text": "word " * 300},
    "encoding": {"trg_text": "VeÃ°riÃ° er gott Ã­ dag og sÃ³lin skÃ­n Ã¡ fjÃ¶llin."},
    "length": {"trg_text": "Veðrið er gott."},
    "identical": {"trg_text": GOOD.src_text.upper() + "!"},
    "untranslated": {"trg_text": GOOD.src_text.replace("today", "dag")},
    "address": {"src_text": "www.example.is", "trg_text": "Reykjavík"},
    "list": {
        "src_text": "Home > About us > Contact",
        "trg_text": "Heim > Um okkur > Samband",
    },
    "numbers": {"src_text": "28 Dec", "trg_text": "25 feb"},
    "names": {
        "src_text": "Karen Ames",
        "trg_text": "Gunnar Bjarnason",
        "lexical_ratio": None,
    },
    "near_identical": {
        "src_text": "Photo credit: Karen Ames, Gunnar Bjarnason, Olaf Press Agency",
        "trg_text": "Photo credits: Karen Ames, Gunnar Bjarnason, Olaf Press Agency",
    },
    "lexical": {"lexical_ratio": 0.2},
    "score": {"score": 0.05},
    "language": {
        "lexical_ratio": 0.4,
        "trg_text": "Das Wetter ist heute schön und die Sonne scheint auf alle Berge"
        " der Insel herunter.",
    },
}


def test_a_good_pair_passes_and_is_counted():
    judge = filters()
    assert list(judge.kept([GOOD])) == [GOOD]
    assert judge.counts == {"sentences/kept": 1}


@pytest.mark.parametrize("reason", BAD)
def test_each_filter_has_a_reason_and_a_counter(reason):
    judge = filters()
    assert list(judge.kept([replace(GOOD, **BAD[reason])])) == []
    assert judge.counts == {f"sentences/dropped/{reason}": 1}


OFF = FilterConfig(
    min_letters=0,
    max_characters=0,
    max_length_ratio=0,
    min_letter_share=0,
    min_lexical_ratio=0,
    identical=False,
    address=False,
    list=False,
    numbers=False,
    names=False,
    max_similarity=0,
    max_copied=0,
    encoding=False,
    language=0,
    language_other=0,
    min_score=0,
)


@pytest.mark.parametrize("reason", BAD)
def test_each_filter_can_be_switched_off(reason):
    assert filters(OFF).reason_against(replace(GOOD, **BAD[reason])) is None


def test_what_has_no_partner_is_counted_and_not_kept():
    judge = filters()
    assert list(judge.kept([replace(GOOD, trg_text="", bead=(3, 0))])) == []
    assert judge.counts == {"sentences/unpaired": 3}


def test_short_text_is_not_judged_by_its_language():
    pair = replace(GOOD, src_text="Berlin, 12 May", trg_text="Berlín, 12. maí")
    assert filters().reason_against(pair) is None


@pytest.mark.parametrize(
    "text", ["dÃ©jÃ vu", "donâ€™t", "Ð\u009fÑ€Ð¸Ð²ÐµÑ‚", "a\ufffdb", "a\x07b", "\ue000"]
)
def test_damaged_text_is_recognised(text):
    assert is_damaged(text)


@pytest.mark.parametrize(
    "text", ["déjà vu", "São Paulo, Ålesund", "Привет", "你好", "Ãé"]
)
def test_other_scripts_are_not_damage(text):
    assert not is_damaged(text)


def test_numbers_and_names_alone_are_not_a_copied_text():
    assert copied_share("In 1999 Apache 2.0", "Árið 1999, Apache 2.0") == 0.0


@pytest.mark.parametrize(
    ("src", "trg", "lang"),
    [
        ("Style Guide beta", "Style Guide", "ko"),
        ("← Routing Unit Testing →", "← Routing and Testing →", "ru"),
        ("スタイルガイド", "スタイルガイド翻訳プロジェクト", "ja"),
    ],
)
def test_a_side_in_the_letters_of_another_language_is_refused(src, trg, lang):
    pair = replace(GOOD, src_text=src, trg_text=trg, score=0.99)
    langs = LangPair("en", lang)
    assert SentenceFilters(langs, Cld2Detector()).reason_against(pair) == "letters"
    off = SentenceFilters(langs, Cld2Detector(), FilterConfig(letters=False))
    assert off.reason_against(pair) != "letters"


def test_names_and_code_in_latin_letters_are_no_reason():
    pair = replace(GOOD, src_text="Restart Nginx now.", trg_text="Nginx 를 다시 시작")
    filters = SentenceFilters(LangPair("en", "ko"), Cld2Detector())
    assert filters.reason_against(pair) != "letters"
