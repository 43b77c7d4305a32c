from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.preprocess import pair_text, url_text


@pytest.mark.parametrize(
    ("url", "text"),
    [
        # the two vectors that were run through the authors' code
        (
            "https://es.wikipedia.org/wiki/Halo_3#Matchmaking",
            "es . wikipedia . org / wiki / Halo _ 3 # Matchmaking",
        ),
        ("http://a.com/x%20y/?l=en-US/", "a . com / x   y /? l = en - US"),
        ("example.org/A", "example . org / A"),
        ("http://example.org///", "example . org"),
        ("https://a.is/fr%C3%A9ttir", "a . is / fréttir"),
        ("https://a.is/%FF", "a . is /\\ xff"),
    ],
)
def test_text_is_what_the_released_models_were_trained_on(url, text):
    assert url_text(url) == text


def test_case_is_kept():
    assert "README" in url_text("https://a.org/README")


def test_a_pair_has_one_separator():
    assert pair_text("http://a.com/en/", "http://a.com/fr/") == (
        "a . com / en</s>a . com / fr"
    )


def test_a_separator_inside_a_url_does_not_become_one():
    assert pair_text("http://a.com/</s>", "http://a.com/").count("</s>") == 1


@given(st.text(max_size=3000))
def test_any_string_has_a_text(url):
    assert isinstance(url_text(url), str)
