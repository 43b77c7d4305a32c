from __future__ import annotations

import pytest

from models.wmt16_rules import Wmt16PairRules

SITE = "http://example.ca"


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("/news-e/a.html", "/news-f/a.html"),
        ("/pet_e.html", "/pet_f.html"),
        ("/en/a", "/fr/a"),
        ("/a", "/fr/a"),
        ("/en-us/a/", "/fr-ca/a/"),
        ("/ENGLISH/a.htm", "/francais/a.htm"),
        ("/x?id=1", "/x?id=1&lang=fr"),
        ("/x?Lang=1", "/x?Lang=2"),
        ("/x?l=en&p=3", "/x?l=fr&p=3"),
        ("/index-eng.php?id=1", "/index-fra.php?id=1"),
    ],
)
def test_urls_without_the_tokens_of_their_languages_are_equal(english, french):
    rules = Wmt16PairRules("en", "fr")
    assert rules.predict([(SITE + english, SITE + french)]) == [1.0]


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("/en/about", "/fr/a-propos"),
        ("/news/a", "/news/b"),
        ("/enter/a", "/a"),
        ("/is/a", "/fr/a"),  # Icelandic is not of this pair, nor of the task
        ("/a", "/a"),
    ],
)
def test_other_urls_are_not_a_pair(english, french):
    assert Wmt16PairRules("en", "fr").predict([(SITE + english, SITE + french)]) == [0]


def test_other_languages_have_the_tokens_of_their_names_and_codes():
    rules = Wmt16PairRules("en", "Icelandic")
    assert rules.is_pair(f"{SITE}/english/a", f"{SITE}/islenska/a")
    assert rules.is_pair(f"{SITE}/en/a", f"{SITE}/is-is/a")
    assert not rules.is_pair(f"{SITE}/en/a", f"{SITE}/fr/b")
