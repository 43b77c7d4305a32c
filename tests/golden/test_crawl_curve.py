"""How early does the default profile find the pairs? Floors may rise.

What was measured when a floor was set stands beside it. A floor falls only with a
reason.
"""

from __future__ import annotations

import pytest

from benchmarks.crawl_curve import (
    Site,
    figures,
    hits_of,
    load_models,
    run_baselines,
    scorer_of,
    simulate,
)
from benchmarks.worlds import demo_site, load_sites
from crawler.data import LangPair

MODELS = load_models()


def area(site: Site, profile: str, langs: LangPair) -> float:
    """Share of the pairs that are complete, in the mean over the downloads."""
    scorer, gated = scorer_of(profile, langs, MODELS)
    pages = simulate(site, langs, scorer, gated=gated).pages
    pairs = site.recorded.true_pairs(langs)
    hits = hits_of(pages, pairs)
    assert len(hits) == len(pairs)  # nothing starves
    return sum(len(pages) - hit + 1 for hit in hits) / (len(pages) * len(pairs))


@pytest.mark.parametrize(
    ("langs", "floor"),
    [
        ("en,is", 0.72),  # 0.740; breadth first 0.596
        ("en,es", 0.73),  # 0.753; breadth first 0.523
        ("es,is", 0.75),  # 0.767; breadth first 0.530
    ],
)
def test_the_demo_world(langs, floor):
    pair = LangPair.parse(langs)
    areas = {
        profile: area(Site(demo_site()), profile, pair)
        for profile in ("breadth_first", "adaptive")
    }
    assert areas["adaptive"] > areas["breadth_first"]
    assert areas["adaptive"] >= floor


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "langs", "floor"),
    [
        # 0.875; breadth first 0.559. With a language model that was two points worse on
        # test it was 0.915: its 34 pairs come in another order by chance.
        # .86 until a page's language was decided on its own text; it is .8551 since
        ("irhpcwiki.hi.is", "en-is", 0.85),
        ("vuejs.org", "en-ja", 0.98),  # 0.997
        ("fullstackopen.com", "en-fi", 0.96),  # 0.984; breadth first 0.699
    ],
)
def test_a_recorded_site_against_the_oracle(shared, name, langs, floor):
    (recorded,) = load_sites(shared / "worlds", names=[name])
    baseline = run_baselines(shared / "worlds", [recorded], None)[name, langs]
    pair = LangPair.parse(langs.replace("-", ","))
    scorer, gated = scorer_of("adaptive", pair, MODELS)
    pages = simulate(Site(recorded), pair, scorer, gated=gated).pages
    found = figures(hits_of(pages, recorded.true_pairs(pair)), baseline)
    assert found["area"] >= floor
