from __future__ import annotations

from collections import Counter

from training.data.tables import clean_pair
from training.data.titles import outline_of, pair_terms

ROW = clean_pair("https://a.org/en", "en", "https://a.org/fr", "fr")


def terms(a, b, counts=None):
    found = pair_terms(ROW, a, b, "a.org", Counter() if counts is None else counts)
    return [(t.text_a, t.text_b) for t in found]


def test_headings_are_paired_one_by_one():
    a = (("title", "Help"), ("h2", "Red wine"))
    b = (("title", "Aide"), ("h2", "Vin rouge"))
    assert terms(a, b) == [("Help", "Aide"), ("Red wine", "Vin rouge")]


def test_other_outlines_give_their_titles_only():
    counts = Counter()
    a = (("title", "Help"), ("h2", "Red wine"))
    assert terms(a, (("title", "Aide"),), counts) == [("Help", "Aide")]
    assert counts == {"dropped/other outline": 1}


def test_what_was_not_translated_is_dropped_and_counted():
    counts = Counter()
    a = (("title", "GIMP"), ("h1", "1 2"), ("h2", " ".join("abcdefghij")))
    assert terms(a, a, counts) == []
    assert counts == {"dropped/equal": 3}
    b = (("title", "gimp"), ("h1", "3 4"), ("h2", " ".join("klmnopqrst")))
    assert terms(a, b, counts := Counter()) == []
    assert counts == {"dropped/equal": 1, "dropped/no letters": 1, "dropped/long": 1}


def test_headings_lose_their_numbers():
    tokens = ("<h2", "", "<b", "", "</b", "</h2", "<p", "", "</p")
    assert outline_of(tokens, ("2.1. Red", "wine", "x")) == (("h2", "Red wine"),)
