from __future__ import annotations

import pytest

from models.rules import UrlLanguageRules, UrlPairRules


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://example.org/is/about?hl=fr", ("fr", "query")),
        ("https://fr.example.de/is/about", ("is", "dir")),
        ("https://fr.example.de/about", ("de", "suffix")),
        ("https://fr.example.org/about", ("fr", "host")),
        ("https://example.org/isl/about", ("is", "dir")),
        ("https://example.org/about/is", ("is", "dir")),
        ("https://example.org/about", None),
        ("https://example.org/islands", None),
    ],
)
def test_places_are_looked_at_in_the_papers_order(url, found):
    assert UrlLanguageRules().find(url) == found


def test_language_probabilities_sum_to_one():
    urls = ["https://example.org/is/", "https://example.org/", "http://1.2.3.4/x"]
    for probabilities in UrlLanguageRules().predict(urls):
        assert sum(probabilities.values()) == pytest.approx(1)
        assert "unk" in probabilities


def test_a_url_that_says_nothing_is_unknown():
    assert UrlLanguageRules().predict(["https://example.org/about"]) == [{"unk": 1.0}]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("https://example.org/en/about", "https://example.org/is/about"),
        ("https://example.org/about", "https://example.org/is/about"),
        ("https://fr.example.org/a", "https://example.org/a"),
        ("https://example.org/a?lang=fr", "https://example.org/a?lang=en"),
        ("https://example.org/english/a-eng.html", "https://example.org/a_fra.html"),
        ("https://example.org/pt-br/a", "https://example.org/en/a"),
    ],
)
def test_urls_that_differ_in_markers_are_a_pair(a, b):
    rules = UrlPairRules()
    assert rules.is_pair(a, b)
    assert rules.predict([(a, b), (b, a)])[0] >= 0.5


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("https://example.org/en/about", "https://example.org/is/news"),
        ("https://example.org/about", "https://example.org/about-them"),
        ("https://example.org/about", "https://example.org/islands/about"),
        ("https://example.org/about", "https://example.org/about"),
    ],
)
def test_other_urls_are_not(a, b):
    rules = UrlPairRules()
    assert not rules.is_pair(a, b)
    assert rules.predict([(a, b)])[0] < 0.5


def test_a_shared_handle_in_two_languages_is_the_surest_rule():
    rules = UrlPairRules()
    switched, default, loose, none = rules.predict(
        [
            ("https://a.org/en/x", "https://a.org/is/x"),
            ("https://a.org/x", "https://a.org/is/x"),
            ("https://a.org/x-en-y", "https://a.org/x-is-y"),
            ("https://a.org/x", "https://a.org/z"),
        ]
    )
    assert switched > default > loose > none


def test_order_of_a_pair_does_not_matter():
    a, b = "https://a.org/x", "https://a.org/is/x"
    forth, back = UrlPairRules().predict([(a, b), (b, a)])
    assert forth == back
