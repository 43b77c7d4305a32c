from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.candidates.nearest import Neighbours
from crawler.aligner.evidence import (
    Rivals,
    SiteTexts,
    page_gains,
    trust,
    trust_in_links,
)
from crawler.aligner.profile import EvidenceConfig
from crawler.unionfind import UnionFind
from tests.lexicons import lexicon
from tests.unit.crawler.aligner.sites import (
    aligner_of,
    documents,
    texts_of,
    urls_of,
    with_copies,
)
from tests.worlds import build_site

SITE = build_site(style="dir", concepts=12, switcher="page")
TEXTS = texts_of(aligner_of(with_copies(documents(SITE))))
SRC, TRG = TEXTS.originals()
PAIR = SRC[0], TRG[0]
MARGIN_CAP = EvidenceConfig().margin_cap
LIKELIHOOD_CAP = EvidenceConfig().likelihood_cap


def rivals_of(
    cosines: dict[tuple[int, int], float], texts: SiteTexts = TEXTS, **options
) -> Rivals:
    """The rivals where pages have these cosines."""
    near = Neighbours(dict(cosines))
    for (src, trg), cosine in sorted(cosines.items(), key=lambda item: -item[1]):
        near.ranked.setdefault(src, []).append((trg, cosine))
        near.ranked.setdefault(trg, []).append((src, cosine))
    return Rivals(texts, near, options.pop("clusters", texts.copies), **options)


def alone(texts: SiteTexts) -> SiteTexts:
    """The same texts where neither URLs nor links say anything."""
    return replace(texts, proposed={}, declared={})


def test_what_urls_and_links_propose_are_the_true_pairs():
    assert urls_of(TEXTS, TEXTS.proposed) >= SITE.gold("en", "is")
    assert urls_of(TEXTS, TEXTS.declared) == SITE.gold("en", "is")
    assert {*TEXTS.proposed.values()} == {frozenset({"handles", "links"})}


def test_pages_without_a_text_are_counted_and_in_no_pair():
    pages = documents(build_site(style="dir", concepts=5))
    short = replace(pages[0], url=f"{pages[0].url}?x", chunks=("Too short",) * 3)
    aligner = aligner_of([*pages, replace(short, digest="x")])
    counts = Counter()
    texts = texts_of(aligner, counts)
    assert counts["align/rejected/no_text"] == 1
    assert len(texts.sides[0]) == len(texts.sides[1]) == 5


def test_of_pages_with_the_same_text_one_is_compared():
    copies = TEXTS.copies.sets()
    assert copies
    compared = {*SRC, *TRG}
    for pages in copies:
        assert compared & {*pages} == {pages[0]}
        assert {TEXTS.originals_of((page, TRG[0]))[0] for page in pages} == {pages[0]}


def test_a_margin_is_the_distance_to_the_best_rival_of_each_page():
    src, trg = PAIR
    rivals = rivals_of({PAIR: 0.5, (src, TRG[1]): 0.4, (SRC[1], trg): 0.45})
    found = rivals.margins(PAIR)
    assert found["margin.src"] == pytest.approx(0.1)
    assert found["margin.trg"] == pytest.approx(0.05)
    assert found["nearest.cosine"] == 0.5


def test_a_page_whose_rivals_are_nearer_has_a_margin_below_zero():
    src, _ = PAIR
    found = rivals_of({PAIR: 0.2, (src, TRG[1]): 0.6}).margins(PAIR)
    assert found["margin.src"] == pytest.approx(-0.4)


@given(st.floats(0, 1), st.floats(0, 1))
def test_margins_end_at_their_cap(cosine, rival):
    found = rivals_of({PAIR: cosine, (PAIR[0], TRG[1]): rival}).margins(PAIR)
    assert found["margin.src"] == min(cosine - rival, MARGIN_CAP)
    assert found["margin.trg"] == min(cosine, MARGIN_CAP)  # it has no rival


def test_a_near_copy_of_the_partner_is_not_a_rival():
    clusters = UnionFind[int]()
    clusters.join(TRG[0], TRG[1])
    cosines = {PAIR: 0.5, (PAIR[0], TRG[1]): 0.5, (PAIR[0], TRG[2]): 0.4}
    found = rivals_of(cosines, clusters=clusters).margins(PAIR)
    assert found["margin.src"] == pytest.approx(0.1)


def test_a_refused_page_is_a_rival_only_where_nothing_names_the_partner():
    named = next(pair for pair in sorted(TEXTS.proposed) if {*pair} <= {*SRC, *TRG})
    other = next(page for page in TRG if page != named[1])
    cosines, refused = {named: 0.5, (named[0], other): 0.4}, {(named[0], other)}
    for texts, margin in ((TEXTS, MARGIN_CAP), (alone(TEXTS), 0.1)):
        found = rivals_of(cosines, texts, refused=refused).margins(named)
        assert found["margin.src"] == pytest.approx(margin)


def test_links_count_half_one_way_and_whole_both_ways():
    for mutual, worth in ((True, 1.0), (False, 0.5), (None, 0.0)):
        declared = {} if mutual is None else {PAIR: mutual}
        rivals = rivals_of({PAIR: 0.5}, replace(TEXTS, declared=declared))
        assert rivals.margins(PAIR)["links.declared"] == worth


@given(st.floats(0, 5), st.floats(0, 5))
def test_a_likelihood_is_the_gain_beyond_the_best_rival_within_its_cap(gain, best):
    src, trg = PAIR
    gained = {src: dict(sorted({trg: gain, TRG[1]: best}.items(), key=lambda i: -i[1]))}
    found = rivals_of({PAIR: 0.5}).likelihoods(PAIR, gained)
    assert found["likelihood.src"] == max(
        -LIKELIHOOD_CAP, min(gain - best, LIKELIHOOD_CAP)
    )
    assert found["likelihood.trg"] == 0  # nothing is known of that page


def test_only_what_stands_clearly_apart_is_known_to_be_right():
    pairs = {PAIR: 0.8, (PAIR[0], TRG[1]): 0.6, (SRC[1], TRG[1]): 0.7}
    assert rivals_of(pairs).known() == {PAIR: True, (PAIR[0], TRG[1]): False}
    pairs[PAIR[0], TRG[1]] = 0.61  # more than three quarters
    assert rivals_of(pairs).known() == {}


def test_a_page_gains_most_from_the_page_that_explains_it():
    known = lexicon(("harbour", "höfnin", 9.0), ("ferry", "ferjan", 9.0))
    near = Neighbours({(s, t): 0.1 for s in SRC for t in TRG})
    near.ranked.update({s: [(t, 0.1) for t in TRG] for s in SRC})
    near.ranked.update({t: [(s, 0.1) for s in SRC] for t in TRG})
    gained = page_gains(TEXTS, near, known, ())
    assert gained.keys() == {*SRC, *TRG}
    for others in gained.values():
        values = list(others.values())
        assert values == sorted(values, reverse=True)


def test_gains_are_asked_for_what_urls_propose_and_what_is_named_besides():
    also = PAIR[0], TRG[-1]
    near = Neighbours({}, {page: [] for page in (*SRC, *TRG)})
    gained = page_gains(TEXTS, near, lexicon(("ferry", "ferjan", 9.0)), [also])
    expected = {TEXTS.originals_of(pair) for pair in TEXTS.proposed} | {also}
    assert {(s, t) for s in SRC for t in gained.get(s, ())} == expected


def test_a_page_that_names_another_version_speaks_against_a_pair():
    rivals = rivals_of({PAIR: 0.5}, trust=2.0)
    alone_texts = alone(TEXTS)
    there = {PAIR[0]: frozenset({PAIR[1]}), PAIR[1]: frozenset({PAIR[0]})}
    elsewhere = {PAIR[0]: frozenset({TRG[1]}), PAIR[1]: frozenset()}
    for versions, nats in ((there, 0.0), ({}, 0.0), (elsewhere, 4.0)):
        found = replace(rivals, texts=replace(alone_texts, versions=versions))
        assert found.margins(PAIR)["links.elsewhere"] == nats


def test_nothing_is_elsewhere_where_a_url_or_a_link_names_the_pair():
    named = next(pair for pair in sorted(TEXTS.proposed) if {*pair} <= {*SRC, *TRG})
    texts = replace(TEXTS, versions={named[0]: frozenset()})
    assert rivals_of({named: 0.5}, texts).elsewhere(named) == 0
    assert rivals_of({named: 0.5}, replace(texts, proposed={})).elsewhere(named) == 1


def test_a_near_copy_of_the_version_that_a_page_names_is_no_other_page():
    clusters = UnionFind[int]()
    clusters.join(TRG[0], TRG[1])
    texts = replace(alone(TEXTS), versions={PAIR[0]: frozenset({TRG[1]})})
    assert rivals_of({PAIR: 0.5}, texts, clusters=clusters).elsewhere(PAIR) == 0
    assert rivals_of({PAIR: 0.5}, texts).elsewhere(PAIR) == 1


def test_the_versions_that_pages_name_are_known_or_not_here():
    versions = TEXTS.versions
    named = {(s, t) for s in SRC for t in versions.get(s, ())}
    assert urls_of(TEXTS, named) == SITE.gold("en", "is")
    english = [d for d in documents(SITE) if d.lang == "en"]
    left = texts_of(aligner_of(english)).versions
    assert left
    assert {*left.values()} == {frozenset()}


def test_a_url_that_many_pages_name_is_nobodys_own_version():
    home = build_site(style="dir", concepts=12, switcher="home")
    versions = texts_of(aligner_of(home)).versions
    assert len(versions) <= 2  # the home pages


@given(st.integers(0, 50), st.integers(0, 50))
def test_links_are_trusted_the_more_the_oftener_they_were_right(right, wrong):
    found = trust(right, right + wrong)
    assert (found > 0) == (right > wrong and right >= 3)
    assert trust(right + 1, right + wrong + 1) >= found
    assert trust(right, right + wrong + 1) <= found


def test_links_between_the_pairs_of_a_site_can_be_checked():
    near = Neighbours(dict.fromkeys(TEXTS.proposed, 0.5))
    for src, trg in TEXTS.proposed:
        near.ranked[src], near.ranked[trg] = [(trg, 0.5)], [(src, 0.5)]
    linked = {TEXTS.originals_of(pair) for pair in TEXTS.proposed}
    assert trust_in_links(TEXTS, near, linked) == trust(len(linked), len(linked))
    assert trust_in_links(TEXTS, near, set()) == 0
