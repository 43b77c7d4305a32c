from __future__ import annotations

import json
from collections import Counter

import pytest

from crawler.data import KnownUrl, LangPair, Link, PageFacts, PairScore, Rel, ScoredUrl
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.frontier.scorers.guesses import Rules
from crawler.frontier.scorers.known_urls import GUESSED
from crawler.frontier.stores.memory import MemoryFrontier
from models.rules import UrlLanguageRules, UrlPairRules

SITE = "a.example"


def rules(*pairs: tuple[str, str]) -> Rules:
    made = Rules()
    for src, trg in pairs:
        made.learn(SITE, f"https://a.example/{src}", f"https://a.example/{trg}")
    return made


def said(made: Rules, page: str, side: int = 0) -> list[str]:
    address = f"https://a.example/{page}"
    return [
        url.removeprefix("https://a.example/") for url in made.of(SITE, address, side)
    ]


@pytest.mark.parametrize(
    ("pairs", "page", "other"),
    [
        ([("en/1", "is/1"), ("en/2", "is/2"), ("en/3", "is/3")], "en/4", "is/4"),
        ([("1", "is/1"), ("b/2", "is/b/2"), ("3", "is/3")], "c/4", "is/c/4"),
        (
            [
                ("1.html", "1_e.html"),
                ("b/2.html", "b/2_e.html"),
                ("3.html", "3_e.html"),
            ],
            "b/c/4.html",
            "b/c/4_e.html",
        ),
        (
            [
                ("news/1?p=1", "frettir/1?p=1"),
                ("news/2", "frettir/2"),
                ("news", "frettir"),
            ],
            "news/7",
            "frettir/7",
        ),
    ],
)
def test_three_pairs_that_differ_alike_say_where_the_next_is(pairs, page, other):
    made = rules(*pairs)
    assert said(made, page)[0] == other
    assert page in said(made, other, side=1)
    assert said(rules(*pairs[:2]), page) == []


def test_pairs_that_differ_in_all_their_words_say_nothing():
    pairs = [("a-big-boat", "stor-bat"), ("old-man", "gamall-madur"), ("c", "d")]
    made = rules(*pairs, *pairs)
    assert said(made, "a-small-boat") == []


def test_a_page_that_has_not_what_differs_gets_no_address():
    made = rules(("en/1", "is/1"), ("en/2", "is/2"), ("en/3", "is/3"))
    assert said(made, "de/4") == said(made, "is/4") == []
    assert list(made.of("b.example", "https://b.example/en/4", 0)) == []


def test_a_rule_that_becomes_usable_is_told_once():
    made = Rules()
    ends = [
        (f"https://a.example/en/{n}", f"https://a.example/is/{n}") for n in range(5)
    ]
    assert [made.learn(SITE, *pair) for pair in ends] == [0, 0, 1, 0, 0]


def test_a_site_of_any_number_of_pairs_has_a_bounded_number_of_rules():
    made = rules(*[(f"w{n}", f"v{n}") for n in range(3000)])
    assert len(made.state()[SITE]) <= 1000


def test_rules_are_the_same_after_a_restart():
    made = rules(("en/1", "is/1"), ("en/2", "is/2"), ("en/3", "is/3"))
    again = Rules()
    again.restore(json.loads(json.dumps(made.state())))
    assert said(again, "en/4") == said(made, "en/4") == ["is/4"]
    assert again.state() == made.state()


# ------------------------------------------------------------------ in the scorer

HOST = "https://a.example"


def page(path: str, lang: str | None, *links: str) -> PageFacts:
    found = tuple(Link(HOST + link, HOST + path) for link in links)
    return PageFacts(url=HOST + path, site=SITE, lang=lang, links=found, digest=path)


def visit(scorer: AdaptiveScorer, facts: PageFacts) -> dict[str, ScoredUrl]:
    """Fetch a page and score its links: what rose, by path."""
    record = scorer.known.get(facts.url)
    link = record.link if record and record.link else Link(facts.url)
    risen = scorer.fetched(link, facts)
    risen += scorer.score(facts, facts.links)
    return {item.link.url.removeprefix(HOST): item for item in risen}


def guessing(*, pairs: int = 3, guess: bool = True) -> AdaptiveScorer:
    """A scorer that knows some pairs whose versions do not link to each other."""
    langs = LangPair("en", "is")
    counts: Counter[str] = Counter()
    made = AdaptiveScorer(
        langs, UrlLanguageRules(), UrlPairRules(), counts=counts, guess=guess
    )
    for n in range(pairs):
        visit(made, page(f"/news/{n}.html", "en"))
        visit(made, page(f"/frettir/{n}.html", "is"))
        made.paired(
            [PairScore(f"{HOST}/news/{n}.html", f"{HOST}/frettir/{n}.html", 0.9)]
        )
    return made


def test_a_page_without_a_partner_in_sight_gets_a_guessed_one():
    made = guessing()
    risen = visit(made, page("/news/7.html", "en", "/news/8.html"))
    guess = risen["/frettir/7.html"]
    assert guess.link.rel == Rel.GUESS
    assert guess.evidence["complete"] > 0.3
    assert guess.score > risen["/news/8.html"].score
    assert made.counts["frontier/guessed"] == 1
    assert "/frettir/7.html" not in visit(
        guessing(guess=False), page("/news/7.html", "en")
    )
    assert "/frettir/7.html" not in visit(guessing(pairs=2), page("/news/7.html", "en"))


def test_pages_that_were_fetched_before_the_rule_was_known_get_theirs():
    made = guessing(pairs=2)
    visit(made, page("/news/7.html", "en"))
    for path, lang in (("/news/5.html", "en"), ("/frettir/5.html", "is")):
        visit(made, page(path, lang))
    risen = made.paired([PairScore(f"{HOST}/news/5.html", f"{HOST}/frettir/5.html", 1)])
    assert [item.link.url for item in risen] == [f"{HOST}/frettir/7.html"]


def test_wrong_guesses_become_worth_less_and_links_beside_them_do_not():
    made = guessing()
    worth = []
    for n in range(10, 40):
        risen = visit(made, page(f"/news/{n}.html", "en"))
        if guess := risen.get(f"/frettir/{n}.html"):
            worth.append(guess.evidence["complete"])
            made.fetched(guess.link, None)  # there is no such page
    assert 5 < len(worth) < 15  # then there are no more
    assert worth == sorted(worth, reverse=True)
    assert worth[-1] < worth[0] / 3
    linked = visit(made, page("/", "en", "/frettir/real.html"))["/frettir/real.html"]
    assert linked.evidence["p_page"] == 1.0


def test_a_guess_that_a_page_links_to_is_a_link_as_any_other():
    made = guessing()
    visit(made, page("/news/7.html", "en"))
    visit(made, page("/", "is", "/frettir/7.html"))
    now = made.current(ScoredUrl(Link(f"{HOST}/frettir/7.html"), 0.0))
    assert (now.link.rel, now.link.source_url) == (None, f"{HOST}/")
    made.fetched(now.link, None)
    assert GUESSED not in made.known.records[f"{HOST}/news/7.html"].partners.values()


def test_a_guess_out_of_scope_is_not_fetched():
    frontier = Frontier(MemoryFrontier(), guessing(), Scope("path"))
    frontier.seed([f"{HOST}/news/"])
    lease = frontier.next()
    assert lease is not None
    frontier.fetched(lease, page("/news/", "en"))
    frontier.found(page("/news/", "en"), [Link(f"{HOST}/news/7.html", f"{HOST}/news/")])
    lease = frontier.next()
    assert lease is not None
    frontier.fetched(lease, page("/news/7.html", "en"))
    assert frontier.counts["frontier/refused/scope"] == 2  # of either page one
    assert frontier.next() is None


def test_few_guesses_wait_at_once_and_each_answer_makes_room_for_another():
    made = guessing()
    risen = [visit(made, page(f"/news/{n}.html", "en")) for n in range(10, 30)]
    guessed = [url for urls in risen for url in urls if url.startswith("/frettir/")]
    assert guessed == [f"/frettir/{n}.html" for n in range(10, 18)]
    risen = [visit(made, page("/frettir/10.html", "is"))]
    assert "/frettir/18.html" in risen[0]
    again = AdaptiveScorer(
        LangPair("en", "is"), UrlLanguageRules(), UrlPairRules(), guess=True
    )
    pending = [u.link for u in made.known.records.values() if u.link]
    known = [KnownUrl(link, SITE, 1.0) for link in pending]
    again.restore(made.state(), known)
    assert "/frettir/19.html" in visit(again, page("/frettir/11.html", "is"))
