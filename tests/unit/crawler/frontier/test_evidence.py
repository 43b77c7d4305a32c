from __future__ import annotations

import pytest

from crawler.data import LangPair, Link
from crawler.frontier.evidence import declared_language, folders_of, switcher_language

PAIR = LangPair("en", "is")


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
    assert switcher_language(anchor, PAIR) == lang


def test_what_a_page_declares_is_believed_before_what_its_menu_says():
    assert declared_language(Link("https://a.is/", None, "English", "is"), PAIR) == "is"
    assert declared_language(Link("https://a.is/", None, "English"), PAIR) == "en"
    assert declared_language(Link("https://a.is/en/"), PAIR) is None


def test_folders_go_from_coarse_to_fine_and_not_deeper_than_three():
    assert folders_of("a.is/1/2/3/4/5") == ("a.is", "a.is/1", "a.is/1/2", "a.is/1/2/3")
    assert folders_of("a.is/1/x?x=/1/2") == ("a.is", "a.is/1")
