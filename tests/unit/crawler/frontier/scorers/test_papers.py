from __future__ import annotations

import pytest

from crawler.data import LangPair, Link, PageFacts
from crawler.frontier.scorers.papers import UNIFORM_SCORE, ProductScorer, UniformScorer
from models.rules import UrlLanguageRules, UrlPairRules

PAIR = LangPair("en", "is")


def document(lang: str | None, url: str = "https://a.is/en/about") -> PageFacts:
    return PageFacts(
        url=url,
        site="a.is",
        lang=lang,
    )


def links(*paths: str) -> list[Link]:
    return [Link(f"https://a.is{path}") for path in paths]


@pytest.fixture
def scorer():
    return ProductScorer(PAIR, UrlLanguageRules(), UrlPairRules())


def test_breadth_first_is_a_constant():
    scored = UniformScorer().score(document("en"), links("/1", "/2"))
    assert [(s.link.url[-1], s.score) for s in scored] == [
        ("1", UNIFORM_SCORE),
        ("2", UNIFORM_SCORE),
    ]


def test_the_product_is_that_of_its_evidence(scorer):
    """García-Romero (2024), section 4: P(lang | url) times P(parallel | page, link)."""
    for scored in scorer.score(document("en"), links("/is/about", "/en/x", "/x")):
        evidence = scored.evidence
        assert scored.score == evidence["p_language"] * evidence["p_parallel"]
        assert 0.0 <= scored.score <= 1.0


def test_the_translation_of_the_page_comes_first(scorer):
    found = links("/en/news", "/is/about", "/is/news", "/about")
    scored = scorer.score(document("en"), found)
    assert [s.link for s in scored] == found
    assert max(scored, key=lambda s: s.score).link.url == "https://a.is/is/about"


def test_the_language_that_is_wanted_is_the_other_one(scorer):
    (to_icelandic,) = scorer.score(document("en"), links("/is/x"))
    (to_english,) = scorer.score(document("is"), links("/is/x"))
    assert to_icelandic.evidence["p_language"] > to_english.evidence["p_language"]


@pytest.mark.parametrize("lang", [None, "fr"])
def test_from_a_page_in_neither_language_either_will_do(scorer, lang):
    (en, is_, fr) = scorer.score(document(lang), links("/en/x", "/is/x", "/fr/x"))
    assert en.evidence["p_language"] == is_.evidence["p_language"]
    assert en.evidence["p_language"] > fr.evidence["p_language"]
    assert en.evidence["p_language"] <= 1.0


def test_no_links_no_scores(scorer):
    assert scorer.score(document("en"), []) == []
