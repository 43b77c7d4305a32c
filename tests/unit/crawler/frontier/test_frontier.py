from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.data import KnownUrl, Link, Outcome, PageFacts, PairScore, ScoredUrl
from crawler.frontier.entry import Lease, known_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.papers import UniformScorer
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.frontier.stores.sqlite import SqliteFrontier

HOME = "https://a.is/"


def document(url: str = HOME, lang: str | None = "is") -> PageFacts:
    return PageFacts(
        url=url,
        site="a.is",
        lang=lang,
    )


def links(*urls: str, **fields) -> list[Link]:
    return [Link(url, HOME, **fields) for url in urls]


@pytest.fixture
def frontier():
    frontier = Frontier(MemoryFrontier(), UniformScorer(), Scope(), max_depth=3)
    frontier.seed([HOME])
    return frontier


def rest(frontier: Frontier) -> list[str]:
    """What would come, in order; every page is a document."""
    urls = []
    while lease := frontier.next():
        urls.append(lease.url)
        frontier.fetched(lease, document(lease.url))
    return urls


def take(frontier: Frontier, url: str) -> Lease:
    lease = frontier.next()
    assert lease is not None
    assert lease.url == url
    return lease


def test_seeds_come_first_and_links_in_the_order_in_which_they_were_found(frontier):
    frontier.found(document(), links("https://a.is/1", "https://a.is/2", HOME))
    frontier.seed(["https://a.is/seed"])
    assert rest(frontier) == [
        HOME,
        "https://a.is/seed",
        "https://a.is/1",
        "https://a.is/2",
    ]
    assert len(frontier) == 0


def test_what_is_not_to_be_crawled_is_counted_by_reason(frontier):
    frontier.found(
        document(),
        [
            *links("https://b.is/", "https://a.is/a/a/a/a"),
            *links("https://a.is/deep", depth=4),
        ],
    )
    assert len(frontier) == 1
    refused = {k: v for k, v in frontier.counts.items() if "refused" in k}
    assert refused == {
        "frontier/refused/scope": 1,
        "frontier/refused/trap/repeated": 1,
        "frontier/refused/depth": 1,
    }


def test_a_redirect_is_worth_what_the_page_was_worth(frontier):
    lease = take(frontier, HOME)
    target = frontier.redirected(lease, "https://a.is/home")
    assert target == replace(lease.link, url="https://a.is/home")
    assert take(frontier, "https://a.is/home").score == lease.score


def test_a_seed_may_lead_out_of_its_site_and_others_may_not(frontier):
    frontier.redirected(take(frontier, HOME), "https://www.b.is/")
    home = take(frontier, "https://www.b.is/")
    frontier.fetched(home, document(home.url))
    frontier.found(document(), links("https://b.is/x"))
    frontier.redirected(take(frontier, "https://b.is/x"), "https://c.is/")
    assert rest(frontier) == []
    assert frontier.counts["frontier/refused/scope"] == 1


def test_redirects_in_a_circle_come_to_an_end(frontier):
    frontier.redirected(take(frontier, HOME), "https://a.is/b")
    frontier.redirected(take(frontier, "https://a.is/b"), HOME)
    assert frontier.next() is None


def test_a_host_is_asked_by_one_scheme_only(frontier):
    lease = take(frontier, HOME)
    frontier.found(document(), links("http://a.is/early"))  # before we know
    frontier.fetched(lease, document())
    frontier.found(document(), links("http://a.is/late", "https://a.is/late"))
    assert set(rest(frontier)) == {"https://a.is/early", "https://a.is/late"}


def test_a_move_to_https_holds_for_the_whole_host():
    frontier = Frontier(MemoryFrontier(), UniformScorer(), Scope())
    frontier.seed(["http://a.is/"])
    lease = take(frontier, "http://a.is/")
    frontier.found(document(), links("http://a.is/x", "http://b.a.is/y"))
    frontier.redirected(lease, HOME)
    assert set(rest(frontier)) == {HOME, "https://a.is/x", "http://b.a.is/y"}


def test_the_form_that_a_host_redirects_to_is_asked_for_at_once_also_later(tmp_path):
    path = tmp_path / "frontier.sqlite"
    first = Frontier(SqliteFrontier.open(path), UniformScorer(), Scope())
    first.seed([HOME])
    names = [f"https://a.is/{n}" for n in range(5)]
    first.found(document(), links(*names))
    first.fetched(take(first, HOME), document())
    for name in names[:3]:
        first.redirected(take(first, name), f"{name}/")
    first.found(document(), links("https://a.is/new"))
    first.close()
    again = Frontier(SqliteFrontier.open(path), UniformScorer(), Scope())
    again.restore()
    again.found(document(), links("https://a.is/newer"))
    wanted = {f"{name}/" for name in names} | {f"{HOME}new/", f"{HOME}newer/"}
    assert set(rest(again)) == wanted
    again.close()


def test_what_failed_is_tried_again_after_its_equals(frontier):
    frontier.found(document(), links("https://a.is/1", "https://a.is/2"))
    frontier.fetched(take(frontier, HOME), document())
    assert frontier.retry(take(frontier, "https://a.is/1"), max_tries=3)
    frontier.fetched(take(frontier, "https://a.is/2"), document())
    assert frontier.retry(take(frontier, "https://a.is/1"), max_tries=3)
    last = take(frontier, "https://a.is/1")
    assert last.tries == 2
    assert not frontier.retry(last, max_tries=3)


def test_what_gave_no_answer_is_left_to_the_next_session(tmp_path):
    path = tmp_path / "frontier.sqlite"
    frontier = Frontier(SqliteFrontier.open(path), UniformScorer(), Scope())
    frontier.seed([HOME, "https://a.is/dead"])
    frontier.fetched(take(frontier, HOME), document())
    frontier.postponed(take(frontier, "https://a.is/dead"))
    assert frontier.next() is None
    assert frontier.counts["frontier/postponed"] == 1
    frontier.close()
    frontier = Frontier(SqliteFrontier.open(path), UniformScorer(), Scope())
    frontier.seed([HOME, "https://a.is/dead"])
    assert rest(frontier) == ["https://a.is/dead"]
    frontier.close()


def test_what_became_of_a_url_is_kept_with_it(frontier):
    frontier.found(document(), links(*(f"https://a.is/{n}" for n in "123")))
    frontier.fetched(take(frontier, HOME), document(lang="is"))
    frontier.fetched(take(frontier, "https://a.is/1"), document(lang=None))
    frontier.fetched(take(frontier, "https://a.is/2"), None)
    frontier.redirected(take(frontier, "https://a.is/3"), "https://a.is/4")
    known = [known_of(stored)[0] for stored in frontier.store.scan("a.is")]
    outcomes = {url.link.url[-1]: (url.outcome, url.lang) for url in known}
    assert outcomes == {
        "/": (Outcome.PAGE, "is"),
        "1": (Outcome.PAGE, None),
        "2": (Outcome.NO_PAGE, None),
        "3": (Outcome.MOVED, None),
        "4": (None, None),
    }


def test_a_restart_knows_the_scope_that_a_seed_had_led_to(tmp_path):
    path = tmp_path / "frontier.sqlite"
    frontier = Frontier(SqliteFrontier.open(path), UniformScorer(), Scope())
    frontier.seed([HOME])
    frontier.redirected(take(frontier, HOME), "https://b.is/")
    frontier.fetched(take(frontier, "https://b.is/"), document("https://b.is/"))
    frontier.close()
    frontier = Frontier(SqliteFrontier.open(path), UniformScorer(), Scope())
    frontier.restore()
    frontier.seed([HOME])
    frontier.found(document(), links("http://b.is/x"))
    assert rest(frontier) == ["https://b.is/x"]
    frontier.close()


class Falling:
    """A scorer that learns: every URL is worth what `worth` says now, 0.5 at first."""

    def __init__(self) -> None:
        self.worth: dict[str, float] = {}
        self.seen: list[KnownUrl] = []
        self.parts: list[bytes] = []
        self.state_was: list[bytes] = []

    def score(self, source, found):
        return [ScoredUrl(link, 0.5) for link in found]

    def fetched(self, link, document):
        return []

    def redirected(self, url, link):
        pass

    def paired(self, pairs):
        return [ScoredUrl(Link(pair.trg_url), 0.9) for pair in pairs]

    def joined(self, sites):
        pass

    def questions(self, url):
        return []

    def judged(self, verdicts):
        return []

    def current(self, scored):
        return replace(scored, score=self.worth.get(scored.link.url, scored.score))

    def state(self):
        return self.parts

    def restore(self, state, known):
        self.state_was, self.seen = list(state), list(known)


def test_a_url_that_is_worth_less_by_now_is_put_back():
    scorer = Falling()
    frontier = Frontier(MemoryFrontier(), scorer, Scope.of("site", [HOME]))
    frontier.found(document(), links("https://a.is/1", "https://a.is/2"))
    scorer.worth["https://a.is/1"] = 0.1
    assert rest(frontier) == ["https://a.is/2", "https://a.is/1"]
    assert frontier.counts["frontier/put_back"] == 1


def test_pairs_raise_what_they_make_likelier():
    frontier = Frontier(MemoryFrontier(), Falling(), Scope.of("site", [HOME]))
    frontier.found(document(), links("https://a.is/1", "https://a.is/2"))
    frontier.paired([PairScore(HOME, "https://a.is/2", 1.0)])
    assert rest(frontier) == ["https://a.is/2", "https://a.is/1"]


def test_what_was_learned_is_saved_between_the_pages_of_a_crawl(monkeypatch):
    monkeypatch.setattr("crawler.frontier.learned.MIN_SAVE", 4)
    scorer = Falling()
    store = MemoryFrontier()
    frontier = Frontier(store, scorer, Scope.of("site", [HOME]))
    frontier.found(document(), links(*(f"https://a.is/{n}" for n in range(40))))

    def saved() -> list[bytes]:
        again = Falling()
        Frontier(store, again, Scope()).restore()
        return again.state_was

    states = []
    for n in range(40):
        scorer.parts = [b"%d" % n, b"x", b"y"]  # each as it is when it is asked for
        frontier.fetched(take(frontier, f"https://a.is/{n}"), document())
        frontier.commit()
        states.append(saved())
    whole = [state for state in states if state]
    assert states[0] == []
    assert len({state[0] for state in whole}) > 2
    assert all(state[1:] == [b"x", b"y"] for state in whole)
    frontier.close()
    assert saved() == [b"39", b"x", b"y"]


def test_a_restart_shows_the_scorer_every_url_that_is_known(tmp_path):
    path = tmp_path / "frontier.sqlite"
    frontier = Frontier(SqliteFrontier.open(path), Falling(), Scope())
    frontier.seed([HOME])
    frontier.found(document(), links("https://a.is/1", "https://x.a.is/2"))
    frontier.fetched(take(frontier, HOME), document())
    frontier.close()
    scorer = Falling()
    frontier = Frontier(SqliteFrontier.open(path), scorer, Scope())
    frontier.restore()
    assert [(known.link.url, known.outcome) for known in scorer.seen] == [
        (HOME, Outcome.PAGE),
        ("https://a.is/1", None),
        ("https://x.a.is/2", None),
    ]
    assert scorer.seen[1].link == Link("https://a.is/1", HOME)
    frontier.close()
