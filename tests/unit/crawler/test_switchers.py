from __future__ import annotations

import pytest

from crawler.data import Link
from crawler.switchers import (
    MAX_LISTED,
    declared_language,
    declared_versions,
    versions_of_others,
)

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


HOME = "https://town.example/"


def listing(*anchors: str) -> list[Link]:
    return [Link(f"{HOME}{n}", HOME, anchor) for n, anchor in enumerate(anchors)]


@pytest.mark.parametrize(
    ("anchors", "pairs"),
    [
        # rows of a list, with titles between them and without
        (("Budget", "English", "Íslenska", "Report", "IS", "EN"), [(1, 2), (5, 4)]),
        (("English", "Íslenska", "English", "Íslenska"), [(0, 1), (2, 3)]),
        # a third language is part of a row, and separates rows where it comes again
        (("EN", "FR", "IS", "EN", "FR", "IS"), [(0, 2), (3, 5)]),
        (("EN", "FR", "FR", "IS", "x", "EN", "IS"), []),
        # one row is the page's own menu, a row in one language names no version
        (("English", "Íslenska", "Read more"), []),
        (("English", "x", "Íslenska", "y", "English", "Íslenska"), []),
    ],
)
def test_a_list_of_documents_names_the_versions_of_each(anchors, pairs):
    found = versions_of_others(listing(*anchors), HOME, PAIR)
    assert [(v["en"], v["is"]) for v in found] == [
        (f"{HOME}{en}", f"{HOME}{is_}") for en, is_ in pairs
    ]


def test_a_menu_that_leads_to_the_page_itself_or_comes_twice_is_no_row():
    rows = listing("English", "Íslenska", "x", "English", "Íslenska")
    assert len(versions_of_others(rows, HOME, PAIR)) == 2
    assert versions_of_others(rows, rows[0].url, PAIR) == []
    assert versions_of_others([*rows[:3], *rows[:3]], HOME, PAIR) == []


def test_of_an_endless_list_the_first_rows_are_read():
    rows = listing(*["English", "Íslenska"] * 5000)
    assert len(versions_of_others(rows, HOME, PAIR)) == MAX_LISTED
