from __future__ import annotations

import pytest

from crawler.data import (
    KnownUrl,
    LangPair,
    Link,
    Outcome,
    PageFacts,
    PairScore,
    ScoredUrl,
)
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.frontier.scorers.many_pairs import MaxOverPairs, SumOverPairs
from crawler.frontier.scorers.papers import ProductScorer
from crawler.wanted import WantedPairs
from models.rules import UrlLanguageRules, UrlPairRules

WANTED = WantedPairs.parse("en,fi,sv")
RULES = UrlLanguageRules(), UrlPairRules()
SITE = "a.example"


def scorer(**weights: float) -> SumOverPairs:
    return SumOverPairs(
        WANTED,
        lambda pair: AdaptiveScorer(pair, *RULES),
        WANTED.weights(weights.get("text", "")),
        RULES[0],
    )


def page(path: str, lang: str, *links: Link) -> PageFacts:
    url = f"https://{SITE}{path}"
    return PageFacts(url=url, site=SITE, lang=lang, links=links, digest=path)


def link(path: str) -> Link:
    return Link(f"https://{SITE}{path}", f"https://{SITE}/en/")


def visit(many: SumOverPairs, of: PageFacts) -> dict[str, ScoredUrl]:
    many.fetched(Link(of.url), of)
    return {s.link.url: s for s in many.score(of, of.links)}


def now(many: SumOverPairs, path: str) -> float:
    return many.current(ScoredUrl(link(path), 0.5)).score


def test_a_page_that_completes_two_pairs_is_worth_more_than_one_that_completes_one():
    many = scorer()
    visit(many, page("/en/x", "en", link("/sv/x"), link("/fi/x"), link("/fi/y")))
    one = now(many, "/sv/x")
    assert one > now(many, "/fi/y")
    many.fetched(link("/fi/x"), page("/fi/x", "fi"))
    assert now(many, "/sv/x") > 1.2 * one


def test_an_accepted_pair_teaches_the_scorer_of_its_languages_alone():
    many = scorer()
    visit(many, page("/en/x", "en", link("/sv/x"), link("/fi/x")))
    many.fetched(link("/fi/x"), page("/fi/x", "fi"))
    before = many.current(ScoredUrl(link("/sv/x"), 0.5))
    many.paired([PairScore(f"https://{SITE}/en/x", f"https://{SITE}/fi/x", 0.9)])
    after = many.current(ScoredUrl(link("/sv/x"), 0.5))
    assert after.score > 0.9 * before.score  # the other two pairs are still to come


def test_a_url_that_came_by_a_redirect_keeps_its_score():
    assert scorer().current(ScoredUrl(link("/moved"), 0.7)).score == 0.7


def test_what_was_learned_comes_back():
    many, again = scorer(), scorer()
    visit(many, page("/en/x", "en", link("/sv/x"), link("/fi/x"), link("/en/y")))
    known = [KnownUrl(link("/sv/x"), SITE, 0.5)]
    again.restore(many.state(), known)
    assert now(again, "/sv/x") == pytest.approx(now(many, "/sv/x"))


def test_a_link_has_the_best_score_of_its_pages_pairs():
    single = {pair: ProductScorer(pair, *RULES) for pair in WANTED.pairs}
    source, links = page("/fi/x", "fi"), [link("/sv/x"), link("/en/x")]
    for found, sv, en in zip(
        MaxOverPairs(single).score(source, links),
        single[LangPair("fi", "sv")].score(source, links),
        single[LangPair("en", "fi")].score(source, links),
    ):
        assert found.score == max(sv.score, en.score)


def test_a_scorer_hears_of_a_site_when_it_shows_both_languages():
    many, seen = scorer(), []
    many.known_of = lambda sites: [
        KnownUrl(Link(page.url), SITE, 0.1, Outcome.PAGE, page.lang) for page in seen
    ]
    seen.append(page("/1", "fi", link("/2"), link("/3")))
    visit(many, seen[0])
    assert len(evidence(many, "/2")) == 1  # the first pair that it may have
    seen.append(page("/2", "sv", link("/3"), link("/4")))
    visit(many, seen[1])
    assert {*evidence(many, "/3")} == {"en-fi", "fi-sv"}
    other = PageFacts(url="https://b.example/en/", site="b.example", lang="en")
    many.fetched(Link(other.url), other)
    assert {*evidence(many, "/3")} == {"en-fi", "fi-sv"}  # that was another site


def evidence(many: SumOverPairs, path: str) -> dict[str, float]:
    return dict(many.current(ScoredUrl(link(path), 0.5)).evidence)
