from __future__ import annotations

import pytest

from crawler.data import Link
from crawler.switchers import declared_language, declared_versions

PAIR = ("en", "is")
URL = "https://town.example/is/x.html"


def link(anchor: str = "", hreflang: str | None = None) -> Link:
    return Link(URL, "https://town.example/", anchor, hreflang)


@pytest.mark.parametrize(
    ("anchor", "lang"),
    [
        ("IS", "is"),
        ("Íslenska", "is"),
        ("islenska", "is"),
        ("[English]", "en"),
        ("English (UK)", "en"),
        ("Íslenska / Icelandic", "is"),
        ("EN |", "en"),
        ("🌐 English", "en"),
        ("English version", "en"),
        ("Íslenska ▾", "is"),
        ("· English ·", "en"),
        ("Icelandic (Íslenska)", "is"),
        ("🇮🇸 Íslenska", "is"),
        ("in English", "en"),
        ("En English", "en"),
        ("Vefsíða á íslensku", None),
        ("English teachers", None),
        ("Is 2023", None),
        ("Français", None),  # of no language of the pair
        ("Is this news?", None),
        ("Learn English", None),
        ("e", None),
        ("", None),
        ("EN / IS", None),  # one of the two, but which?
        ("EN/IS", None),
        ("x" * 1000, None),
    ],
)
def test_the_anchor_of_a_switcher_is_the_name_of_a_language(anchor, lang):
    assert declared_language(link(anchor), PAIR) == lang
    for other in PAIR:  # the aligner's question has the same answer
        versions = declared_versions([link(anchor)], other, PAIR)
        assert versions == ((URL,) if other == lang else ())


def test_what_a_page_declares_is_believed_before_what_its_menu_says():
    assert declared_language(link("English", "is"), PAIR) == "is"
    assert declared_language(link("English"), PAIR) == "en"
    assert declared_language(link(), PAIR) is None
    menu, declared = link("Íslenska"), Link("https://town.example/a", hreflang="is")
    assert declared_versions([menu, declared], "is", PAIR) == (declared.url,)


@pytest.mark.parametrize(
    ("anchor", "lang"),
    [
        ("हिन्दी", "hi"),
        ("中文", "zh"),
        ("PT-BR", "pt"),
        ("zh_Hant", "zh"),
        ("Русский язык", None),
        ("auf Deutsch", "de"),
        ("på svenska", "sv"),
    ],
)
def test_switchers_of_other_languages(anchor, lang):
    assert declared_language(link(anchor), ("hi", "zh", "pt", "ru", "de", "sv")) == lang


def test_a_code_of_several_languages_means_the_one_that_is_asked_for():
    assert declared_language(link("BR"), ("en", "pt")) == "pt"
    assert declared_language(link("BR"), ("en", "br")) == "br"
    assert declared_language(link("BR"), ("pt", "br")) is None
