"""Laws of scope, robots rules, the site gate, languages, profiles and links."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from crawler.data import FrontierEntry, LangPair, Link, Rel, ScoredUrl
from crawler.errors import LanguageError, SeedError
from crawler.frontier.entry import lease_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.gate import SiteGate
from crawler.frontier.robots import rules_of
from crawler.frontier.scope import KINDS, Scope, trap
from crawler.frontier.scorers.known_urls import folders_of
from crawler.frontier.scorers.papers import UniformScorer
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.handles import handle_of
from crawler.languages import (
    all_languages,
    fold,
    known_code,
    language_of,
    marker_languages,
)
from crawler.seeds import parse_seeds
from crawler.switchers import declared_language, declared_versions
from crawler.urls import canonicalize, site_of
from tests.strategies import robots_txt, rough_urls, urls

LANGS = st.sampled_from(sorted(all_languages()))
ANY_TEXT = st.text(st.characters(exclude_categories=()))


# ------------------------------------------------------------ scope


@given(st.sampled_from(KINDS), st.lists(urls(), min_size=1), urls(), urls())
def test_another_seed_takes_nothing_out_of_a_scope(kind, seeds, more, url):
    scope = Scope.of(kind, seeds)
    inside = url in scope
    scope.extend(more)
    assert (url in scope) >= inside
    assert more in scope
    assert all(seed in scope for seed in seeds)


@given(st.lists(urls(), min_size=1), urls())
def test_path_is_narrower_than_host_and_host_than_site(seeds, url):
    path, host, site = (
        url in Scope.of(kind, seeds) for kind in ("path", "host", "site")
    )
    assert path <= host <= site


@given(rough_urls())
def test_every_url_is_a_trap_or_none(text):
    url = canonicalize(text)
    if url is not None:
        assert trap(url) in (None, "trap/segments", "trap/parameters", "trap/repeated")


# ------------------------------------------------------------ robots.txt


@given(robots_txt(), rough_urls(), st.integers(200, 599))
def test_no_robots_txt_breaks_the_crawl(body, text, status):
    rules = rules_of(status, body)
    url = canonicalize(text) or "https://a.is/"
    assert rules.allows(url, "bifocal/0.1") in (True, False)
    assert 0.0 <= rules.crawl_delay("bifocal/0.1") < float("inf")
    assert all(canonicalize(sitemap) == sitemap for sitemap in rules.sitemaps)


# ------------------------------------------------------------ the site gate

_STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.floats(0, 5), st.floats(0, 3)), max_size=30
)


@given(_STEPS, st.integers(1, 3))
def test_the_gate_never_lets_too_many_in_nor_too_early(steps, per_site):
    gate = SiteGate(per_site)
    now = 0.0
    flying: Counter[str] = Counter()
    opens: dict[str, float] = {}
    for site, passes, pause in steps:
        now += passes
        busy = gate.busy(now)
        if site in busy:
            assert flying[site] >= per_site or opens.get(site, 0.0) > now
            if flying[site]:
                flying[site] -= 1
                gate.finish(site, now, pause)
                opens[site] = max(opens.get(site, 0.0), now + pause)
        else:
            assert flying[site] < per_site
            assert opens.get(site, 0.0) <= now
            flying[site] += 1
            gate.start(site)
        assert gate.in_flight == flying.total()
        gate.busy(now)  # sites that are open again wait for nobody
        waiting = [opens[s] - now for s in opens if opens[s] > now]
        wait = gate.wait(now)
        assert (wait is None) == (not waiting)
        assert wait is None or wait <= min(waiting) + 1e-9


# ------------------------------------------------------------ languages


@given(LANGS, LANGS)
def test_a_pair_survives_being_written(src, trg):
    if src == trg:
        return
    pair = LangPair(src, trg)
    assert LangPair.parse(str(pair)) == pair
    assert pair.other(pair.other(src)) == src


@given(ANY_TEXT)
def test_a_word_is_a_language_or_an_error_of_one_line(text):
    try:
        code = language_of(text).code
    except LanguageError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017 - either is right
    else:
        assert code in all_languages()
        assert language_of(code).code == code


@given(ANY_TEXT)
def test_markers_do_not_depend_on_case_and_accents(text):
    found = marker_languages(text)
    assert found == marker_languages(fold(text))
    assert found <= set(all_languages())
    assert fold(fold(text)) == fold(text)


@given(LANGS, st.sampled_from(["", "-GB", "_hant", "-419"]))
def test_a_tag_is_the_language_of_its_first_part(code, region):
    assert known_code(code + region) == code
    assert known_code((code + region).upper()) == code


@given(ANY_TEXT, LANGS, LANGS)
def test_frontier_and_aligner_agree_on_what_a_switcher_is(anchor, src, trg):
    assume(src != trg)
    link = Link("https://a.is/x", "https://a.is/", anchor)
    declared = declared_language(link, (src, trg))
    assert declared in (None, src, trg)
    for lang in (src, trg):
        found = declared_versions([link], lang, (src, trg))
        assert found == ((link.url,) if lang == declared else ())


# ------------------------------------------------------------ handles, folders


@given(urls())
def test_the_handle_of_a_handle_is_itself(url):
    assume("/index.html/" not in url)  # a page of that name, in a folder of that name
    text = handle_of(url).text
    assert handle_of(f"https://{text}").text == text


@given(urls())
def test_each_folder_lies_in_the_one_before(url):
    folders = folders_of(handle_of(url).text)
    named = [folder for folder in folders if not folder.endswith("/#")]
    assert len(named) <= 4
    for outer, inner in pairwise(named):
        assert inner.startswith(f"{outer}/")


# ------------------------------------------------------------ seeds, links


@given(st.lists(st.one_of(rough_urls(), urls())))
def test_seeds_are_canonical_and_each_there_once(lines):
    try:
        seeds = parse_seeds(lines, "list")
    except SeedError:
        return
    assert seeds
    assert len(seeds) == len(set(seeds))
    assert [canonicalize(seed) for seed in seeds] == seeds
    assert parse_seeds(seeds, "list") == seeds


@given(
    urls(),
    st.builds(
        Link,
        urls(),
        st.none() | urls(),
        st.none() | st.text(st.characters(codec="utf-8")),
        st.none() | LANGS,
        st.sampled_from([None, *Rel]),
        st.integers(0, 90),
        st.booleans(),
    ),
    st.floats(0, 1),
    st.dictionaries(st.sampled_from(["p_language", "handle"]), st.floats(0, 1)),
)
def test_a_link_comes_out_of_the_frontier_as_it_went_in(seed, link, score, evidence):
    frontier = Frontier(MemoryFrontier(), UniformScorer(), Scope.of("site", [link.url]))
    frontier.push([ScoredUrl(link, score, evidence)])
    lease = frontier.next()
    assert lease is not None
    assert (lease.link, lease.score, lease.tries) == (link, score, 0)
    assert lease.site == site_of(link.url)
    assert lease.evidence == {k: round(v, 4) for k, v in evidence.items()}
    again = FrontierEntry(lease.url, lease.site, score, link.depth, b"")
    assert lease_of(again).link.url == link.url  # a payload may be missing
