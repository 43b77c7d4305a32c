"""Payloads of the frontier: what is encoded is what is decoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import (
    FrontierEntry,
    Link,
    Outcome,
    Rel,
    ScoredUrl,
    StoredUrl,
    UrlState,
)
from crawler.errors import FrontierError
from crawler.frontier.entry import Cost, encode, entry_of, known_of, lease_of

URL = "https://a.example/x"
texts = st.none() | st.text(st.characters(codec="utf-8"), min_size=1)
links = st.builds(
    Link,
    st.just(URL),
    source_url=texts,
    anchor=texts,
    hreflang=st.none() | st.sampled_from(["en", "is"]),
    rel=st.none() | st.sampled_from(Rel),
    depth=st.integers(0, 100),
    is_seed=st.booleans(),
)


@given(links, st.floats(0, 1), st.integers(0, 9), st.integers(0, 10**9))
def test_a_lease_is_the_link_that_was_pushed(link, score, tries, done):
    scored = ScoredUrl(link, score, {"p": round(score, 4)})
    payload = encode(scored, tries=tries, scored_at=done)
    entry = FrontierEntry(URL, "a.example", score, link.depth, payload)
    lease = lease_of(entry)
    assert (lease.scored, lease.tries, lease.scored_at) == (scored, tries, done)


@given(links, st.sampled_from(Outcome), st.none() | st.just("is"))
def test_what_came_of_a_url_survives_a_restart(link, outcome, lang):
    scored, cost = ScoredUrl(link, 0.5), Cost(10, 0.5)
    payload = encode(scored, scored_at=3, outcome=outcome, lang=lang, cost=cost)
    entry = FrontierEntry(URL, "a.example", 0.5, link.depth, payload)
    known, spent = known_of(StoredUrl(entry, UrlState.DONE))
    assert (known.link, known.outcome, known.lang, spent) == (link, outcome, lang, cost)


def test_a_pending_url_has_no_outcome_and_a_unified_one_says_so():
    entry = entry_of(ScoredUrl(Link(URL), 0.5), done=0)
    assert known_of(StoredUrl(entry, UrlState.PENDING))[0].outcome is None
    assert known_of(StoredUrl(entry, UrlState.DONE))[0].outcome == Outcome.OTHER_SCHEME


def test_half_of_a_surrogate_pair_costs_its_character_only():
    scored = ScoredUrl(Link(URL, anchor="a\ud800"), 0.5)
    assert lease_of(entry_of(scored, done=0)).link.anchor == "a?"


@pytest.mark.parametrize("payload", [b"[", b"{}", b"[1]", b'[null,null,null,"gone"]'])
def test_a_row_of_another_version_is_an_error(payload):
    with pytest.raises(FrontierError, match="another version"):
        lease_of(FrontierEntry(URL, "a.example", 0.5, 0, payload))
