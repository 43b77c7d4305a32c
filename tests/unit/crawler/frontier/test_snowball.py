"""Sites that good sites link to become seeds, the most promising first."""

from crawler.data import Link, PageFacts, PairScore
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.papers import UniformScorer
from crawler.frontier.site_yield import SiteBudget, SiteYield
from crawler.frontier.snowball import Snowball
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.frontier.stores.sqlite import SqliteFrontier
from crawler.urls import site_of
from crawler.wanted import WantedPairs

HOME = "https://a.is/"
LANGS = WantedPairs.parse("en,is")


def open_frontier(store=None, most=10):
    frontier = Frontier(
        MemoryFrontier() if store is None else store,
        UniformScorer(),
        Scope(),
        sites=SiteYield(LANGS, SiteBudget(trial=3)),
        snowball=Snowball(tuple(LANGS), most),
    )
    frontier.restore()
    frontier.seed([HOME])
    return frontier


def page(url, lang="is"):
    return PageFacts(url=url, site=site_of(url), lang=lang)


def visit(frontier, *links, lang="is", pair=False):
    """Fetch the next URL, a page with these links; its URL, or None."""
    lease = frontier.next()
    if lease is None:
        return None
    frontier.fetched(lease, page(lease.url, lang))
    found = [
        link if isinstance(link, Link) else Link(link, lease.url) for link in links
    ]
    frontier.found(page(lease.url, lang), found)
    if pair:
        frontier.paired([PairScore(lease.url, f"{lease.url}en", 1.0)])
    return lease.url


def rest(frontier):
    return list(iter(lambda: visit(frontier), None))


def test_it_is_off_by_default_and_then_no_site_is_taken():
    frontier = open_frontier(most=0)
    visit(frontier, "https://b.is/", pair=True)
    assert rest(frontier) == []


def test_sites_named_in_both_languages_come_before_those_that_more_links_name():
    frontier = open_frontier()
    both = [Link(f"https://both.is/{lang}/", HOME, hreflang=lang) for lang in LANGS]
    many = [f"https://many.is/{n}" for n in range(4)]
    visit(frontier, *many, *both, "https://facebook.com/x", pair=True)
    assert [site_of(url) for url in rest(frontier)] == ["both.is"] * 2 + ["many.is"] * 2
    assert frontier.counts["frontier/snowball"] == 2


def test_what_a_site_without_a_pair_or_a_page_of_another_language_names_is_left_alone():
    frontier = open_frontier()
    visit(frontier, "https://b.is/", "https://a.is/de/")
    visit(frontier, "https://c.is/", lang="de", pair=False)
    assert rest(frontier) == []


def test_a_site_that_gives_no_pair_on_trial_is_closed_and_one_that_does_is_good():
    frontier = open_frontier()
    visit(frontier, "https://b.is/", pair=True)
    more = [f"https://b.is/{n}" for n in range(9)]
    visit(frontier, *more, "https://c.is/")
    assert len(rest(frontier)) == 2  # of the nine, and nothing of what it names
    frontier = open_frontier()
    visit(frontier, "https://b.is/", pair=True)
    visit(frontier, *more, "https://c.is/", pair=True)
    assert len(rest(frontier)) == 10


def test_a_pair_that_comes_after_the_last_page_of_a_trial_opens_the_site_again():
    frontier = open_frontier()
    visit(frontier, "https://b.is/", pair=True)
    visit(frontier, *[f"https://b.is/{n}" for n in range(9)])
    assert len(rest(frontier)) == 2
    frontier.paired([PairScore("https://b.is/", "https://b.is/1", 1.0)])
    assert len(rest(frontier)) == 7


def test_a_restart_knows_the_candidates_and_who_is_on_trial(tmp_path):
    path = tmp_path / "frontier.sqlite"
    first = open_frontier(SqliteFrontier.open(path), most=2)
    visit(first, "https://b.is/", "https://c.is/", pair=True)
    visit(first, *[f"https://b.is/{n}" for n in range(9)])
    first.close()
    again = open_frontier(SqliteFrontier.open(path), most=2)
    found = rest(again)
    assert [site_of(url) for url in found] == ["b.is"] * 2 + ["c.is"]
    again.close()
