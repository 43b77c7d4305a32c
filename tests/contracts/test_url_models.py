"""The contract of every UrlLanguageModel and UrlPairModel; run it on your own.

    BIFOCAL_TEST_LANGUAGE_MODEL=my.Model BIFOCAL_TEST_PAIR_MODEL=my.Other \
        pytest tests/contracts/test_url_models.py
"""

from __future__ import annotations

import os

import pytest

from crawler.config import load_object

LANGUAGE_MODELS = [
    "models.rules.UrlLanguageRules",
    "models.url_language.HashedUrlLanguageModel",
]
PAIR_MODELS = ["models.rules.UrlPairRules", "models.url_pair.HashedUrlPairModel"]
if "BIFOCAL_TEST_LANGUAGE_MODEL" in os.environ:
    LANGUAGE_MODELS.append(os.environ["BIFOCAL_TEST_LANGUAGE_MODEL"])
if "BIFOCAL_TEST_PAIR_MODEL" in os.environ:
    PAIR_MODELS.append(os.environ["BIFOCAL_TEST_PAIR_MODEL"])

URLS = [
    "https://example.org/",
    "https://example.org/is/um-okkur",
    "https://de.example.org/ueber-uns.html?x=1&y=",
    "https://xn--e1afmkfd.xn--p1ai/%D0%BE-%D0%BD%D0%B0%D1%81",
    "http://127.0.0.1/a",
    "http://[::1]/b",
    "https://example.org/%ff%00%fe//..;/&?&&=%",
    "https://example.org/" + "a/" * 900,
    "https://example.org/\ud800",
]
PAIRS = [(a, b) for a in URLS for b in URLS]


@pytest.fixture(scope="module", params=LANGUAGE_MODELS)
def language_model(request):
    return load_object(request.param)()


@pytest.fixture(scope="module", params=PAIR_MODELS)
def pair_model(request):
    return load_object(request.param)()


def test_languages_are_probabilities_with_unk(language_model):
    answers = language_model.predict(URLS)
    assert len(answers) == len(URLS)
    for answer in answers:
        assert sum(answer.values()) == pytest.approx(1, abs=1e-6)
        assert all(0 <= p <= 1 for p in answer.values())
        assert "unk" in answer


def test_a_code_is_read(language_model):
    (answer,) = language_model.predict(["https://example.org/fi/x"])
    assert answer["fi"] > 0.5


def test_pairs_are_probabilities(pair_model):
    answers = pair_model.predict(PAIRS)
    assert len(answers) == len(PAIRS)
    assert all(isinstance(p, float) and 0 <= p <= 1 for p in answers)


def test_a_page_is_not_a_translation_of_itself(pair_model):
    assert pair_model.predict([(url, url) for url in URLS]) == [0.0] * len(URLS)


def test_another_code_makes_a_pair_and_another_page_does_not(pair_model):
    yes, no = pair_model.predict(
        [
            ("https://example.org/en/about", "https://example.org/fr/about"),
            ("https://example.org/en/about", "https://example.org/fr/jobs/123"),
        ]
    )
    assert yes > 0.5 > no


def test_the_order_of_a_pair_does_not_matter(pair_model):
    forth = pair_model.predict(PAIRS)
    back = pair_model.predict([(b, a) for a, b in PAIRS])
    assert forth == pytest.approx(back, abs=1e-4)


def test_nothing_gives_nothing(language_model, pair_model):
    assert language_model.predict([]) == []
    assert pair_model.predict([]) == []


def test_answers_do_not_depend_on_what_was_asked_before(language_model, pair_model):
    for model, items in ((language_model, URLS), (pair_model, PAIRS[:20])):
        one_by_one = [model.predict([item])[0] for item in items]
        together = model.predict(items)
        for one, two in zip(one_by_one, together):
            assert one == pytest.approx(two, abs=1e-4)
