from __future__ import annotations

from crawler.data import Link, PageFacts
from crawler.frontier.frontier import Frontier, Lease
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.papers import UniformScorer
from crawler.frontier.site_yield import SiteBudget, SiteYield, Spent
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.urls import site_of
from crawler.wanted import WantedPairs

LANGS = WantedPairs.parse("en,is")


def crawl(budget: SiteBudget, langs_of: dict[str, list[str]]) -> list[str]:
    """Sites of 10 pages each, in these languages in turn: the sites as visited."""
    frontier = Frontier(
        MemoryFrontier(), UniformScorer(), Scope("site"), sites=SiteYield(LANGS, budget)
    )
    frontier.seed([f"https://{site}/" for site in langs_of])
    visited = []
    number = dict.fromkeys(langs_of, 0)
    while lease := frontier.next():
        langs = langs_of[lease.site]
        lang = langs[number[lease.site] % len(langs)]
        number[lease.site] += 1
        document = PageFacts(
            url=lease.url,
            site=site_of(lease.url),
            lang=lang,
            digest=lease.url,
        )
        frontier.fetched(lease, document, size=1000, seconds=0.5)
        links = [Link(f"https://{lease.site}/{n}", lease.url) for n in range(9)]
        frontier.found(document, links)
        visited.append(lease.site)
    assert not frontier.has_open
    return visited


def test_a_site_over_its_budget_is_closed_for_good():
    sites = {"a.is": ["en", "is"], "b.is": ["en", "is"]}
    assert crawl(SiteBudget(pages=4), sites).count("a.is") == 4
    assert crawl(SiteBudget(bytes=2500), sites).count("b.is") == 3
    assert crawl(SiteBudget(seconds=1.0), sites).count("b.is") == 2
    assert len(crawl(SiteBudget(), sites)) == 20


def test_a_site_of_one_language_waits_for_the_others():
    visited = crawl(SiteBudget(scout=3), {"a.is": ["en"], "b.is": ["en", "is"]})
    assert len(visited) == 20  # and is finished when they are
    last = len(visited) - 1 - visited[::-1].index("b.is")
    assert visited[:last].count("a.is") == 3


def test_a_site_that_never_shows_a_page_of_the_pair_waits_too():
    visited = crawl(SiteBudget(scout=2), {"a.is": ["de"], "b.is": ["is", "en"]})
    assert visited[-8:] == ["a.is"] * 8


def test_counts_survive():
    sites = SiteYield(LANGS, SiteBudget(pages=5, scout=2))
    for _ in range(2):
        sites.fetched("a.is", "en", 10, 0.1)
    for lang in ("en", "is", "is", "is", "is"):
        sites.fetched("b.is", lang)
    again = SiteYield(LANGS, SiteBudget(pages=5, scout=2))
    again.restore(sites.state())
    assert again.spent == sites.spent
    assert again.barred() == {"a.is", "b.is"}
    assert again.closed == {"b.is"}
    assert again.wake()
    assert again.barred() == {"b.is"}


def leased(budget: SiteBudget) -> tuple[Frontier, Lease]:
    frontier = Frontier(
        MemoryFrontier(), UniformScorer(), Scope("site"), sites=SiteYield(LANGS, budget)
    )
    frontier.seed(["https://a.is/", "https://a.is/b"])
    lease = frontier.next()
    assert lease is not None
    return frontier, lease


def test_urls_that_robots_txt_forbids_cost_a_site_nothing():
    frontier, lease = leased(SiteBudget(pages=1))
    frontier.forbidden(lease)
    assert frontier.counts["frontier/refused/robots"] == 1
    assert frontier.next() is not None


def test_a_redirect_is_an_answer_too():
    frontier, lease = leased(SiteBudget(pages=1))
    frontier.redirected(lease, "https://a.is/c")
    assert frontier.next() is None
    assert not frontier.has_open


def test_a_failed_url_is_open_again_though_nothing_else_was():
    frontier, first = leased(SiteBudget())
    second = frontier.next()
    assert second is not None
    assert frontier.next() is None  # both are on their way
    assert frontier.retry(first, max_tries=3)
    assert frontier.has_open


def test_a_site_ends_when_its_next_pair_costs_too_much():
    sites = SiteYield(LANGS, SiteBudget(stop_when=50))
    for _ in range(30):
        assert not sites.ends("a.is", 0.001)  # too early to say
        sites.fetched("a.is", "en")
    assert not sites.ends("a.is", 1 / 49)
    assert sites.ends("a.is", 1 / 51)
    assert sites.barred() == {"a.is"}


def test_broken_promises_make_the_next_pair_dearer_and_kept_ones_do_not():
    sites = SiteYield(LANGS)
    assert sites.next_pair_costs("a.is", 0.1) == 0  # it has shown too little
    sites.recall("a.is", Spent(pages=30))
    assert sites.next_pair_costs("a.is", 0.1) == 10
    for _ in range(100):
        sites.expect("a.is", 0.5)
    assert sites.next_pair_costs("a.is", 0.1) > 30
    for _ in range(22):
        sites.paired("a.is")
    assert 9 < sites.next_pair_costs("a.is", 0.1) < 11


def test_the_estimate_survives_a_restart():
    before, after = SiteYield(LANGS), SiteYield(LANGS)
    before.recall("a.is", Spent(pages=30))
    before.expect("a.is", 0.5)
    before.paired("a.is")
    after.restore(before.state())
    after.recall("a.is", Spent(pages=30))
    assert 0 < after.next_pair_costs("a.is", 0.1) == before.next_pair_costs("a.is", 0.1)
