from __future__ import annotations

import json
import zlib
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.crawl_curve import walk
from crawler.data import LangPair, Link, PageFacts, PairScore, PairVerdict, ScoredUrl
from crawler.errors import FrontierError
from crawler.extract.document import read_page
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.frontier.stores.open import open_frontier
from crawler.replay.world import ReplayWorld, address_of
from crawler.reports.quality import read_gold
from crawler.urls import site_of
from models.rules import UrlLanguageRules, UrlPairRules

DEMO = Path(__file__).parents[5] / "worlds" / "demo"
SITE = "https://www.example.is"


def scorer() -> AdaptiveScorer:
    return AdaptiveScorer(LangPair("en", "is"), UrlLanguageRules(), UrlPairRules())


def page(path: str, lang: str | None, *links: Link) -> PageFacts:
    return PageFacts(
        url=SITE + path,
        site=site_of(SITE),
        lang=lang,
        links=links,
        digest=path,
    )


def link(path: str, source: str = "/", **fields: str) -> Link:
    return Link(SITE + path, SITE + source, **fields)


def visit(scorer: AdaptiveScorer, document: PageFacts) -> dict[str, float]:
    """Fetch a page and score its links: what rose, by path."""
    risen = scorer.fetched(Link(document.url), document)
    risen += scorer.score(document, document.links)
    return {item.link.url.removeprefix(SITE): item.score for item in risen}


def now(scorer: AdaptiveScorer, path: str) -> float:
    return scorer.current(ScoredUrl(Link(SITE + path), 0.0)).score


def test_the_missing_half_of_a_fetched_page_comes_first():
    crawl = scorer()
    risen = visit(
        crawl, page("/en/", "en", link("/en/a"), link("/is/a"), link("/is/b"))
    )
    assert risen["/is/a"] > risen["/is/b"]  # its other half is in sight
    risen = visit(crawl, page("/en/a", "en"))
    assert risen["/is/a"] > 0.6


def test_a_declared_version_is_a_half_too_whatever_its_address():
    crawl = scorer()
    versions = link("/um-okkur", hreflang="is", rel="alternate")
    risen = visit(crawl, page("/", "en", versions, link("/contact")))
    assert risen["/um-okkur"] > 2 * risen["/contact"]


def test_a_language_switcher_declares_by_its_text():
    crawl = scorer()
    risen = visit(crawl, page("/", "en", link("/x9", anchor="Íslenska"), link("/y9")))
    assert risen["/x9"] > 2 * risen["/y9"]


def test_a_pair_is_never_completed_twice():
    crawl = scorer()
    visit(crawl, page("/en/a", "en", link("/is/a"), link("/is/a?v=2")))
    visit(crawl, page("/is/a", "is"))
    crawl.paired([PairScore(SITE + "/en/a", SITE + "/is/a", 0.9)])
    visit(crawl, page("/", "en", link("/is/a/index.html")))  # the same handle again
    assert now(crawl, "/is/a/index.html") < 0.5


def test_links_in_the_same_place_of_two_pages_that_are_a_pair():
    crawl = scorer()
    english = [link(f"/{name}") for name in ("news", "fish", "weather")]
    icelandic = [link(f"/{name}") for name in ("frettir", "fiskur", "vedur")]
    visit(crawl, page("/home", "en", *english))
    visit(crawl, page("/heim", "is", *icelandic))
    crawl.paired([PairScore(SITE + "/home", SITE + "/heim", 0.9)])
    risen = visit(crawl, page("/fish", "en"))
    assert set(risen) == {"/fiskur"}


def test_a_rare_word_in_common_makes_a_translated_slug_rise():
    crawl = scorer()
    news = [link(f"/en/news/{n}") for n in ("harbour", "budget", "lindroos-visits")]
    icelandic = [link(f"/is/frettir/{n}") for n in ("lindroos-kemur", "hofnin", "ar")]
    visit(crawl, page("/", "en", *news, *icelandic))
    risen = visit(crawl, page("/en/news/lindroos-visits", "en"))
    assert set(risen) == {"/is/frettir/lindroos-kemur"}


def test_a_search_form_that_gives_errors_sinks_and_its_folder_does_not():
    crawl = scorer()
    forms = [link(f"/en/find?q={n}") for n in range(12)]
    visit(crawl, page("/", "en", *forms, link("/en/find"), link("/en/x?q=1")))
    before = now(crawl, "/en/find?q=11"), now(crawl, "/en/find")
    for n in range(10):
        crawl.fetched(forms[n], None)
    assert now(crawl, "/en/find?q=11") < before[0] / 5
    assert now(crawl, "/en/find") > before[1] / 2


def test_a_rare_word_counts_once_the_declared_version_was_a_copy():
    crawl = scorer()
    visit(crawl, page("/", "en", link("/en/lindroos-visits"), link("/is/lindroos-i")))
    copy = link("/p77", hreflang="is", rel="alternate")
    visit(crawl, page("/en/lindroos-visits", "en", copy))
    before = now(crawl, "/is/lindroos-i")
    visit(crawl, page("/p77", "en"))
    crawl.judged([PairVerdict(SITE + "/en/lindroos-visits", SITE + "/p77", 0.0)])
    assert now(crawl, "/is/lindroos-i") > 1.2 * before


def test_a_last_name_that_gives_errors_sinks_in_every_folder():
    crawl = scorer()
    feeds = [link(f"/en/{n}/feed") for n in "abcdef"]
    visit(crawl, page("/", "en", *feeds, link("/en/x/feed"), link("/en/x/more")))
    before = now(crawl, "/en/x/feed"), now(crawl, "/en/x/more")
    for feed in feeds:
        crawl.fetched(feed, None)
    assert now(crawl, "/en/x/feed") < before[0] / 2
    assert now(crawl, "/en/x/more") > before[1] / 2


def test_a_page_in_a_third_language_is_a_bridge():
    crawl = scorer()
    risen = visit(crawl, page("/da/", "da", link("/is/a"), link("/da/b")))
    assert risen["/is/a"] > risen["/da/b"] > 0


def test_memory_has_an_end_where_the_web_has_none():
    most = 100
    langs = LangPair("en", "is")
    crawl = AdaptiveScorer(langs, UrlLanguageRules(), UrlPairRules(), max_urls=most)
    for n in range(300):
        version = link(f"/is/{n}", hreflang="is", rel="alternate")
        links = (link(f"/en/{n + 1}"), version, link(f"/s{n}/x/"), link(f"/t/{n}?a=1"))
        visit(crawl, page(f"/en/{n}", "en", *links))
        if n % 3:
            visit(crawl, page(f"/is/{n}", "is", link(f"/is/{n + 1}")))
            crawl.paired([PairScore(f"{SITE}/en/{n}", f"{SITE}/is/{n}", 0.9)])
        else:
            crawl.redirected(f"{SITE}/is/{n}", link(f"/moved/{n}"))
    state = list(crawl.state())
    sizes = Counter()
    for part in state:
        tables = json.loads(zlib.decompress(part))
        sizes.update({name: len(rows) for name, rows in tables.items()})
    assert sizes.keys() > {"urls", "texts", "yields", "pages"}
    assert max(sizes.values()) < 1.3 * most  # a quarter goes at a time
    assert crawl.counts["frontier/forgotten"] > 500
    again = scorer()
    again.restore(state, ())
    for one in (crawl, again):
        visit(one, page("/en/400", "en", link("/is/400", hreflang="is")))
    assert now(again, "/is/400") == now(crawl, "/is/400") > 0.5
    assert now(crawl, "/is/0") == 0.0  # forgotten: what the frontier has stands


def test_long_urls_and_pages_of_many_links_count_as_several():
    langs = LangPair("en", "is")
    crawl = AdaptiveScorer(langs, UrlLanguageRules(), UrlPairRules(), max_urls=1000)
    long, many = "x" * 1800, [link(f"/menu/{n}") for n in range(500)]
    for n in range(30):
        visit(
            crawl, page(f"/long/{n}", "en", *(link(f"/{long}/{n}/{m}") for m in "ab"))
        )
    forgotten = crawl.counts["frontier/forgotten"]
    for n in range(300):
        visit(crawl, page(f"/many/{n}", "en", *many))
    records = crawl.known.records.values()
    assert forgotten == 0 < crawl.counts["frontier/forgotten"]
    assert sum(len(url.links) for url in records) < 1000 * 250
    before = crawl.known.weight
    crawl.known.recount()
    assert crawl.known.weight == before
    assert crawl.known.weight <= 1000


def test_a_site_whose_urls_are_forgotten_is_forgotten():
    langs = LangPair("en", "is")
    crawl = AdaptiveScorer(langs, UrlLanguageRules(), UrlPairRules(), max_urls=100)
    for n in range(500):
        url = f"https://site{n}.example/en/a"
        crawl.fetched(Link(url), replace(page("/", "en"), url=url, digest=url))
    assert len(crawl.expected.state()["sites"]) <= 100


def test_a_section_without_pairs_falls_behind():
    crawl = scorer()
    pages = [link(f"/blog/{n}") for n in range(60)]
    visit(crawl, page("/", "en", *pages, link("/guide/1")))
    before = now(crawl, "/blog/59")
    for n in range(50):
        visit(crawl, page(f"/blog/{n}", "en"))
    assert now(crawl, "/blog/59") < before / 2
    assert now(crawl, "/guide/1") > 1.5 * now(crawl, "/blog/59")


def test_errors_cost_their_section_and_say_nothing_of_its_languages():
    crawl = scorer()
    pages = [link(f"/{section}/p{n}") for section in ("old", "new") for n in range(30)]
    visit(crawl, page("/", "en", *pages))
    said = crawl.current(ScoredUrl(link("/old/p29"), 0.0)).evidence
    for n in range(20):
        crawl.fetched(link(f"/old/p{n}"), None)
    assert now(crawl, "/old/p29") < 0.95 * now(crawl, "/new/p29")
    left = crawl.current(ScoredUrl(link("/old/p29"), 0.0)).evidence
    assert left["p_page"] < said["p_page"] == 1.0
    assert (left["p_src"], left["p_trg"]) == (said["p_src"], said["p_trg"])


def test_a_page_that_shows_what_another_did_gives_no_credit():
    crawl = scorer()
    for n in (1, 2):
        shown = page(f"/v{n}/en/a", "en", link(f"/v{n}/is/a"), link(f"/v{n}/is/b"))
        visit(crawl, replace(shown, digest="the same"))
        visit(crawl, page(f"/v{n}/is/a", "is"))
        pair = PairScore(f"{SITE}/v{n}/en/a", f"{SITE}/v{n}/is/a", 0.9)
        crawl.paired([pair])
    assert crawl.counts["frontier/copies"] == 1


def test_a_marker_that_says_nothing_here_is_found_out():
    crawl = scorer()
    copies = [link(f"/{lang}/p{n}") for n in range(12) for lang in ("en", "is")]
    visit(crawl, page("/", "en", *copies))
    for n in range(10):  # every /is/ page is an untranslated copy
        visit(crawl, page(f"/en/p{n}", "en"))
        visit(crawl, page(f"/is/p{n}", "en"))
    visit(crawl, page("/en/p10", "en"))
    assert now(crawl, "/is/p10") < 0.3


def test_a_redirect_makes_two_addresses_one_page():
    crawl = scorer()
    visit(crawl, page("/en/a", "en", link("/old", hreflang="is", rel="alternate")))
    crawl.redirected(SITE + "/old", Link(SITE + "/new", SITE + "/en/a"))
    assert now(crawl, "/new") > 0.5
    visit(crawl, page("/new", "is"))
    crawl.paired([PairScore(SITE + "/en/a", SITE + "/new", 0.9)])
    assert "/old" not in visit(crawl, page("/", "en", link("/old")))


def test_the_balance_prefers_the_language_that_is_waited_for():
    crawl = scorer()
    visit(crawl, page("/", "en", link("/en/x"), link("/is/y")))
    for n in range(6):
        visit(crawl, page(f"/en/{n}", "en"))
    assert now(crawl, "/is/y") > now(crawl, "/en/x")


def test_evidence_says_why():
    crawl = scorer()
    visit(crawl, page("/en/a", "en", link("/is/a")))
    evidence = crawl.current(ScoredUrl(Link(SITE + "/is/a"), 0.0)).evidence
    assert evidence["complete"] > 0.5 > evidence["explore"]


@pytest.mark.parametrize(
    "part", [b"x", zlib.compress(b"[]"), zlib.compress(json.dumps({"a": 1}).encode())]
)
def test_a_state_of_another_version_is_one_clear_error(part):
    with pytest.raises(FrontierError, match="new RUN_DIR"):
        scorer().restore([part], ())


def order_of(
    path: Path,
    world: ReplayWorld,
    steps: int | None,
    fetched: dict[str, str],
    *,
    killed: bool = False,
) -> list[str]:
    langs = LangPair("en", "is")
    gold = read_gold(DEMO / "gold.tsv", langs)
    frontier = Frontier(open_frontier(f"sqlite:{path}"), scorer(), Scope("site"))
    frontier.restore()
    frontier.seed(["https://www.skarfey.example/en/"])
    pairs = [(address_of(src), address_of(trg)) for src, trg in gold.pairs]
    steps_taken = walk(
        frontier,
        lambda url: read_page(world.answer(url)),
        langs,
        pairs,
        gated=False,
        fetched=fetched,
    )
    order = [url for url, _ in islice(steps_taken, steps)]
    if killed:
        frontier.close(commit=False)
    else:
        frontier.close()
    return order


@pytest.mark.parametrize("cut", [20, 60, 150])
def test_a_resumed_crawl_goes_on_in_the_same_order(cut, tmp_path):
    world = ReplayWorld.open(DEMO / "demo.warc.gz")
    whole = order_of(tmp_path / "whole.sqlite", world, None, {})
    fetched: dict[str, str] = {}
    first = order_of(tmp_path / "cut.sqlite", world, cut, fetched)
    rest = order_of(tmp_path / "cut.sqlite", world, None, fetched)
    assert len(whole) > 150
    assert first + rest == whole
    world.close()


@pytest.mark.parametrize("cut", [50, 53, 57])
def test_a_kill_while_what_was_learned_is_saved(cut, tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.frontier.learned.MIN_SAVE", 20)
    monkeypatch.setattr("crawler.frontier.learned.SAVE_SHARE", 0.0)
    monkeypatch.setattr("crawler.frontier.scorers.saved_state._PART", 50)
    world = ReplayWorld.open(DEMO / "demo.warc.gz")
    path, fetched = tmp_path / "frontier.sqlite", {}
    first = order_of(path, world, cut, fetched, killed=True)
    store = open_frontier(f"sqlite:{path}")
    names = json.loads(store.load("scorer"))
    learned = scorer()
    learned.restore(map(store.load, names), ())
    assert sum(url.paired for url in learned.known.records.values()) > 10
    store.close()
    rest = order_of(path, world, None, fetched)
    assert len(first) == cut
    assert sorted(first + rest) == sorted(order_of(tmp_path / "2", world, None, {}))
    world.close()
