"""The worked example of docs/crawling.md: the paper's formula inside `adaptive`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawler.data import LangPair, Link, PageFacts, ScoredUrl
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.frontier.scorers.papers import ProductScorer
from models.rules import UrlLanguageRules, UrlPairRules

DOCS = Path(__file__).parents[5] / "docs" / "crawling.md"
PAGE = "https://example.is/en/harbour"
PARTNER, OTHER = "https://example.is/is/harbour", "https://example.is/en/museum"
LINKS = tuple(Link(url, PAGE) for url in (PARTNER, OTHER))
FETCHED = PageFacts(
    url=PAGE, site="example.is", lang="en", links=LINKS, digest="digest"
)
MODELS = UrlLanguageRules(), UrlPairRules()


@pytest.fixture
def scored() -> dict[str, ScoredUrl]:
    """What `adaptive` says of both links once the page was fetched."""
    crawl = AdaptiveScorer(LangPair("en", "is"), *MODELS)
    crawl.fetched(Link(PAGE), FETCHED)
    crawl.score(FETCHED, LINKS)
    return {link.url: crawl.current(ScoredUrl(link, 0.0)) for link in LINKS}


def test_the_chance_to_complete_a_pair_is_the_product_of_two_probabilities(scored):
    evidence = scored[PARTNER].evidence
    p_language, p_parallel = evidence["p_trg"], 0.85  # of two URLs of one handle
    assert evidence["complete"] == pytest.approx(p_language * p_parallel)
    assert scored[PARTNER].score == pytest.approx(0.9 * 0.85)


def test_in_focused_the_same_product_is_the_score():
    for item in ProductScorer(LangPair("en", "is"), *MODELS).score(FETCHED, LINKS):
        product = item.evidence["p_language"] * item.evidence["p_parallel"]
        assert item.score == pytest.approx(product)


def test_the_documentation_has_these_numbers(scored):
    told = DOCS.read_text("utf-8")
    example = told[told.index("### The formula of the paper in it") :]
    rows = re.findall(
        r"^\| `(https://example\.is/\S+)` \| (.+) \|$", example, re.MULTILINE
    )
    assert [url for url, _ in rows] == [PARTNER, OTHER]
    for url, cells in rows:
        found = scored[url]
        expected = (
            found.evidence["p_trg"],
            found.evidence["complete"],
            found.evidence["explore"],
            found.score,
        )
        assert [float(cell) for cell in cells.split(" | ")] == [
            round(value, 3) for value in expected
        ]
