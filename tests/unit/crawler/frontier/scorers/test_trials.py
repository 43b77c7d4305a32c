from __future__ import annotations

import pytest

from crawler.data import LangPair, Link, PageFacts, PairVerdict, ScoredUrl
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.urls import site_of
from models.rules import UrlLanguageRules, UrlPairRules

SITE = "https://www.example.is"
NUMBERS = range(4)


def fetch(crawl: AdaptiveScorer, path: str, lang: str | None, *links: str) -> None:
    url = SITE + path
    found = tuple(Link(SITE + link, url) for link in links)
    page = PageFacts(url=url, site=site_of(url), lang=lang, links=found, digest=path)
    crawl.fetched(Link(url), page)
    crawl.score(page, found)


def chance_of_the_next(crawl: AdaptiveScorer) -> float:
    """P(complete) of a URL whose other half was fetched."""
    scored = crawl.current(ScoredUrl(Link(f"{SITE}/is/news/next"), 0.0))
    return scored.evidence["complete"]


@pytest.fixture
def crawl() -> AdaptiveScorer:
    """Some hypotheses with both pages fetched, and one with half of them."""
    crawl = AdaptiveScorer(LangPair("en", "is"), UrlLanguageRules(), UrlPairRules())
    for n in NUMBERS:
        fetch(crawl, f"/en/news/{n}", "en", f"/is/news/{n}", "/is/news/next")
    fetch(crawl, "/en/news/next", "en")
    for n in NUMBERS:
        fetch(crawl, f"/is/news/{n}", "is")
    return crawl


def judge(crawl: AdaptiveScorer, probability: float | None) -> float:
    pairs = [(f"{SITE}/is/news/{n}", f"{SITE}/en/news/{n}") for n in NUMBERS]
    crawl.judged([PairVerdict(*urls, probability) for urls in pairs])
    return chance_of_the_next(crawl)


def test_silence_of_the_aligner_refutes_nothing(crawl):
    before = chance_of_the_next(crawl)
    assert judge(crawl, None) == before


def test_the_probability_is_credited_not_a_yes_or_no(crawl):
    before = chance_of_the_next(crawl)
    refuted = judge(crawl, 0.1)
    assert refuted < before
    doubtful = judge(crawl, 0.4)  # it has changed its mind
    assert refuted < doubtful < before
    assert judge(crawl, 0.95) > before


def test_a_final_no_is_not_revised(crawl):
    refuted = judge(crawl, 0.0)
    assert judge(crawl, 0.4) == refuted


def test_the_pages_of_a_hypothesis_are_to_be_compared_when_both_are_there(crawl):
    asked = crawl.questions(f"{SITE}/is/news/next")
    assert (f"{SITE}/is/news/next", f"{SITE}/en/news/next") in asked


def test_an_open_trial_is_asked_about_again_later(crawl):
    urls = (f"{SITE}/is/news/0", f"{SITE}/en/news/0")
    for n in range(8):
        fetch(crawl, f"/en/other/{n}", "en")
    assert urls in crawl.questions(f"{SITE}/nothing")
    assert urls not in crawl.questions(f"{SITE}/nothing")


def test_open_trials_survive_a_restart(crawl):
    other = AdaptiveScorer(LangPair("en", "is"), UrlLanguageRules(), UrlPairRules())
    other.restore(list(crawl.state()), [])
    assert other.trials.state() == crawl.trials.state()
    assert len(other.trials.state()) == len(NUMBERS)
