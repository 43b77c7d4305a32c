"""example.is and example.com are one: scope, budget, handles."""

from __future__ import annotations

import pytest

from crawler.data import Link, PageFacts, ScoredUrl
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.frontier.scorers.papers import UniformScorer
from crawler.frontier.site_yield import SiteBudget, SiteYield
from crawler.frontier.stores.open import open_frontier
from crawler.frontier.stores.sqlite import SqliteFrontier
from crawler.groups import SiteGroups
from crawler.protocols import UrlScorer
from crawler.urls import site_of
from crawler.wanted import WantedPairs
from models.rules import UrlLanguageRules, UrlPairRules

LANGS = WantedPairs.parse("en,is")
HOME, THEIRS = "https://example.com/", "https://www.example.is/"


def adaptive() -> AdaptiveScorer:
    return AdaptiveScorer(LANGS.pairs[0], UrlLanguageRules(), UrlPairRules())


def frontier_of(
    scorer: UrlScorer, *, kind: str = "site", store: str = "memory:", **budget: int
) -> Frontier:
    sites = SiteYield(LANGS, SiteBudget(**budget))
    frontier = Frontier(open_frontier(store), scorer, Scope(kind), sites=sites)
    frontier.restore()
    frontier.seed([HOME])
    return frontier


def visit(frontier: Frontier, lang: str, *links: Link, url: str = HOME) -> list[str]:
    """Fetch what is next, which is this URL; what waits then."""
    lease = frontier.next()
    assert lease is not None
    assert lease.url == url
    page = PageFacts(
        url=url,
        site=site_of(url),
        lang=lang,
        links=links,
        digest=url,
    )
    frontier.fetched(lease, page)
    frontier.found(page, links)
    return [
        known.entry.url
        for site in frontier.store.sites()
        for known in frontier.store.scan(site)
        if known.state == "pending"
    ]


def version(url: str, **fields: str) -> Link:
    return Link(url, HOME, **({"hreflang": "is", "rel": "alternate"} | fields))


@pytest.mark.parametrize("scorer", [UniformScorer, adaptive])
def test_a_declared_version_on_another_domain_is_in_scope(scorer):
    frontier = frontier_of(scorer())
    assert visit(frontier, "en", version(THEIRS)) == [THEIRS]
    assert frontier.counts["frontier/joined"] == 1


def test_so_is_what_a_language_menu_leads_to():
    menu = Link(THEIRS, HOME, "Íslenska")
    assert visit(frontier_of(adaptive()), "en", menu) == [THEIRS]


@pytest.mark.parametrize(
    "link",
    [
        Link(THEIRS, HOME, "our friends"),
        version(THEIRS, hreflang="fr"),  # not a language of the crawl
        version("https://www.bank.example/"),  # another name
    ],
)
def test_any_other_link_leaves_the_scope(link):
    frontier = frontier_of(adaptive())
    assert visit(frontier, "en", link) == []
    assert frontier.counts["frontier/refused/scope"] == 1


def test_other_links_of_the_same_page_are_in_scope_too():
    frontier = frontier_of(adaptive())
    news = Link(THEIRS + "frettir", HOME)
    assert visit(frontier, "en", news, version(THEIRS)) == [news.url, THEIRS]


def test_scope_host_admits_no_other_host():
    assert visit(frontier_of(adaptive(), kind="host"), "en", version(THEIRS)) == []


def test_the_group_has_one_budget():
    frontier = frontier_of(UniformScorer(), pages=2)
    visit(frontier, "en", version(THEIRS), Link(HOME + "a", HOME))
    lease = frontier.next()
    assert lease is not None
    frontier.fetched(lease, None)
    assert frontier.next() is None
    assert frontier.sites.closed == {"example.com", "example.is"}


def test_what_two_sites_had_cost_before_they_joined_is_added_up():
    sites = SiteYield(LANGS, SiteBudget(pages=3))
    sites.fetched("example.com", "en")
    sites.fetched("example.is", "is")
    saved = sites.state()
    again = SiteYield(
        LANGS, SiteBudget(pages=3), SiteGroups.known([("example.com", "example.is")])
    )
    again.restore(saved)
    again.fetched("example.is", "is")
    assert again.closed == {"example.com", "example.is"}


def test_handles_are_looked_up_in_the_whole_group():
    crawl = adaptive()
    links = [Link(HOME + "news/7", HOME), version(THEIRS)]
    frontier = frontier_of(crawl)
    visit(frontier, "en", *links)
    here = [Link(THEIRS + "news/7", THEIRS, hreflang="is"), Link(THEIRS + "x", THEIRS)]
    page = PageFacts(
        url=THEIRS,
        site="example.is",
        lang="is",
        links=tuple(here),
        digest="t",
    )
    frontier.found(page, here)
    together = [
        crawl.current(ScoredUrl(link, 0.0)).evidence["together"] for link in here
    ]
    assert together[0] > 0.3 > together[1]


def test_a_restart_knows_the_group(tmp_path):
    store = f"sqlite:{tmp_path / 'frontier.sqlite'}"
    frontier = frontier_of(adaptive(), store=store)
    visit(frontier, "en", version(THEIRS))
    assert isinstance(frontier.store, SqliteFrontier)
    frontier.store.commit()  # and no more: the process is killed
    frontier.store.close()
    again = frontier_of(adaptive(), store=store)
    assert again.sites.groups.of("example.is") == "example.com"
    assert THEIRS + "b" in again.scope
    again.close()
