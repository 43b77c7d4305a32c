"""Laws of what `adaptive` counts, and of the rules that it shares with the aligner."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import LangPair, Link
from crawler.frontier.scorers.beliefs import UNDECIDED, EvidenceSource, Rates, Shares
from crawler.frontier.scorers.expectation import AdaptiveConfig, Expectation
from crawler.frontier.scorers.known_urls import (
    ALIGNED,
    ALIKE,
    DECLARED,
    WORDS,
    KnownUrls,
)
from crawler.groups import SiteGroups
from crawler.listings import is_listing
from crawler.switchers import declared_language, declared_versions
from tests.strategies import urls

PAIR = LangPair("en", "is")
CHAINS = [("a",), ("a", "a/b"), ("a", "a/b", "a/b/c"), ("a", "a/d")]
chains = st.sampled_from(CHAINS)
trials = st.lists(st.tuples(chains, st.booleans()), max_size=30)
outcomes = st.lists(st.tuples(chains, st.integers(0, 2)), max_size=30)
probabilities = st.floats(0.0, 1.0)


def counted(rows: list[tuple[tuple[str, ...], bool]], most: float = 8.0) -> Rates:
    rates = Rates(4.0, most)
    for chain, success in rows:
        rates.add(chain, float(success))
    return rates


@given(trials, chains, probabilities)
def test_a_rate_is_a_probability_and_rises_with_a_success(rows, chain, prior):
    rate = counted(rows).rate(chain, prior)
    assert 0.0 <= rate <= 1.0 + 1e-9
    assert counted([*rows, (chain, True)]).rate(chain, prior) >= rate - 1e-9
    assert counted([*rows, (chain, False)]).rate(chain, prior) <= rate + 1e-9


@given(trials, chains, probabilities, st.randoms(use_true_random=False))
def test_a_rate_does_not_depend_on_the_order_of_its_trials(rows, chain, prior, random):
    shuffled = random.sample(rows, len(rows))
    assert counted(rows).rate(chain, prior) == counted(shuffled).rate(chain, prior)


@given(probabilities, chains)
def test_where_nothing_was_counted_the_prior_holds(prior, chain):
    assert Rates(4.0).rate(chain, prior) == prior
    assert Shares(4.0).distribution(chain, UNDECIDED) == UNDECIDED


@given(outcomes, chains, st.floats(0.5, 100.0))
def test_shares_are_a_distribution(rows, chain, most):
    shares = Shares(2.0)
    for where, outcome in rows:
        shares.add(where, outcome)
    found = shares.distribution(chain, UNDECIDED, most=most)
    assert sum(found) == pytest.approx(1.0)
    assert min(found) >= 0.0
    again = Shares(2.0)
    again.restore(json.loads(json.dumps(shares.state())))
    assert again.distribution(chain, UNDECIDED, most=most) == found


@given(st.lists(st.integers(0, 2), max_size=20))
def test_a_source_that_says_the_same_of_everything_tells_nothing_apart(found):
    source = EvidenceSource(4.0, 1 / 3)
    for outcome in found:
        for said in permutations((1.0, 0.0, 0.0)):
            source.add(outcome, said)
    for said in permutations((1.0, 0.0, 0.0)):
        assert source.likelihood(said) == pytest.approx((1 / 3,) * 3)


kinds = st.sampled_from([DECLARED, ALIKE, ALIGNED, WORDS])
numbers = st.integers(0, 11)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("suppose"), numbers, numbers, kinds),
        st.tuples(st.just("move"), numbers, numbers),
        st.tuples(st.just("forget")),
    ),
    max_size=25,
)


@given(st.lists(urls(), min_size=12, max_size=12, unique=True), steps)
def test_partners_are_mutual_and_the_weight_is_that_of_the_records(names, todo):
    known = KnownUrls(PAIR)
    for name in names:
        known.add(Link(name))
    for step in todo:
        match step:
            case ["suppose", one, two, kind] if one != two:
                first, second = (known.get(names[n]) for n in (one, two))
                if first and second and first is not second:
                    known.add_hypothesis(first, second, kind)
            case ["move", one, two] if one != two:
                known.move(names[one], Link(names[two]))
            case ["forget"]:
                known.forget()
    redirects = any(step[0] == "move" for step in todo)
    expected = Expectation(PAIR, known, AdaptiveConfig())
    for url in known.records.values():
        url = known.resolve(url)
        for other in known.partners(url):
            assert other is not url
            # a redirect joins what was supposed of two, and a URL has eight at most
            assert redirects or url in known.partners(other)
        assert 0.0 <= expected.value(url)[0] <= 1.0
    before = known.weight
    known.recount()
    assert known.weight == before


def test_redirects_in_a_circle_come_to_an_end():
    known = KnownUrls(PAIR)
    a, b, c = (f"https://a.example/{n}" for n in "abc")
    for url, target in ((c, a), (a, b), (b, c), (a, c), (c, b)):
        known.move(url, Link(target))
    assert len({known.resolve(known.records[url]).url for url in (a, b, c)}) == 1


anchors = st.one_of(
    st.text(max_size=30),
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["", "\U0001f310 ", "in ", "[", "Learn "]),
        st.sampled_from(["English", "Íslenska", "is", "EN", "Icelandic", "Dansk"]),
        st.sampled_from(["", " \u25be", " version", "]", " news"]),
    ),
)


@given(anchors, st.sampled_from([None, "en", "is", "da"]))
def test_frontier_and_aligner_agree_on_switchers(anchor, hreflang):
    link = Link("https://a.is/x", "https://a.is/", anchor, hreflang)
    followed_as = declared_language(link, PAIR)
    for lang in PAIR:
        is_version = declared_versions([link], lang, PAIR) == (link.url,)
        assert is_version == (followed_as == lang)


@given(urls())
def test_frontier_and_aligner_agree_on_listings(url):
    record = KnownUrls(PAIR).add(Link(url))
    assert record.listing == is_listing(url)


HOSTS = ["a.is", "www.a.com", "a.co.uk", "b.is", "b.com"]
declarations = st.lists(
    st.tuples(st.sampled_from(HOSTS), st.sampled_from(HOSTS)), max_size=8
)


@given(declarations, st.randoms(use_true_random=False))
def test_groups_are_the_same_whoever_hears_of_the_declarations_first(found, random):
    crawl, aligner = SiteGroups(), SiteGroups()
    for one, two in found:
        crawl.declare(f"https://{one}/x", f"https://{two}/y")
    for one, two in random.sample(found, len(found)):
        aligner.declare(f"https://{two}/y", f"https://{one}/x")
    assert crawl.groups() == aligner.groups()
    for group in crawl.groups():
        assert crawl.of(group[-1]) == aligner.of(group[0]) == group[0]
