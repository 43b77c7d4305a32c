from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from crawler.aligner.scorers.isotonic import SiteDifferences, evidence


def known(right: list[float], wrong: list[float]) -> SiteDifferences:
    pairs = [{"strand.dp": dp, "lengths.difference": 0.1} for dp in (*right, *wrong)]
    return SiteDifferences.of(pairs, [True] * len(right) + [False] * len(wrong))


def markup(site: SiteDifferences, dp: float) -> float:
    return site.features({"strand.dp": dp, "lengths.difference": 0.1})[
        "isotonic.markup"
    ]


def test_a_small_difference_is_much_where_right_pairs_have_none():
    site = known([0.0] * 100, [0.05, 0.1, 0.3, 0.5] * 25)
    assert markup(site, 0.0) > 3
    assert markup(site, 0.05) < -3
    assert markup(site, 0.9) < -3


def test_the_same_difference_is_nothing_where_right_pairs_have_it_too():
    same = [0.05, 0.1, 0.3, 0.5] * 25
    site = known(same, same)
    assert all(abs(markup(site, dp)) < 0.1 for dp in (0.0, 0.05, 0.3, 0.9))


def test_few_known_pairs_say_nothing():
    assert markup(known([0.0] * 19, [0.5] * 100), 0.5) == 0
    assert markup(SiteDifferences(), 0.5) == 0


def test_a_feature_that_does_not_tell_pairs_apart_is_not_evidence():
    site = known([0.0] * 50, [0.5] * 50)
    features = site.features({"strand.dp": 0.0, "lengths.difference": 0.1})
    assert features["isotonic.length"] == pytest.approx(0, abs=0.1)


def test_numbers_that_differ_are_much_where_right_pairs_share_them():
    pairs = [{"numbers.cosine": n} for n in [1.0] * 50 + [0.6, 0.2] * 25]
    site = SiteDifferences.of(
        [
            {"strand.dp": 0.0, "strand.p": 0.0, "lengths.difference": 0.0} | p
            for p in pairs
        ],
        [True] * 50 + [False] * 50,
    )
    nats = [
        site.features({"numbers.cosine": n})["isotonic.numbers"]
        for n in (1.0, 0.6, 0.0)
    ]
    assert nats[0] > 3
    assert nats[1] == nats[2] < -3


values = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1)


@given(values)
def test_evidence_falls_and_is_finite(answers):
    bounds, nats = evidence(
        np.array([v for v, _ in answers], float), np.array([r for _, r in answers])
    )
    assert np.isfinite(nats).all()
    assert (np.diff(bounds) > 0).all()
    assert bounds[-1] == max(v for v, _ in answers)


@given(values.filter(lambda a: len({r for _, r in a}) == 2))
def test_shares_of_right_ones_never_rise(answers):
    x = np.array([v for v, _ in answers], float)
    right = np.array([r for _, r in answers])
    bounds, _ = evidence(x, right)
    place = np.searchsorted(bounds, x)
    shares = [right[place == n].mean() for n in range(len(bounds))]
    assert all(a > b for a, b in pairwise(shares))


def test_an_unknown_difference_is_the_best_that_it_can_be():
    site = known([0.0, 0.1] * 50, [0.3, 0.5] * 50)
    unknown = site.features({"lengths.difference": 0.1})
    assert unknown["isotonic.markup"] == max(markup(site, dp / 10) for dp in range(10))
    # no pair was compared block by block
    assert unknown["isotonic.blocks"] == 0


def test_blocks_are_evidence_where_they_were_compared():
    pairs = [
        {"strand.dp": 0.0, "lengths.difference": 0.1, "avsim.difference": difference}
        for difference in [0.2] * 50 + [0.7] * 50
    ]
    site = SiteDifferences.of(pairs, [True] * 50 + [False] * 50)
    assert site.features(pairs[0])["isotonic.blocks"] > 3
    assert site.features(pairs[-1])["isotonic.blocks"] < -3


@given(values)
def test_ranges_are_those_of_scipy(answers):
    x = np.array([v for v, _ in answers], float)
    right = np.array([r for _, r in answers])
    bounds, _ = evidence(x, right)
    places, number = np.unique(x, return_inverse=True)
    seen = np.bincount(number).astype(float)
    shares = np.bincount(number, right) / seen
    oracle = isotonic_regression(shares, weights=seen, increasing=False)
    steps = np.flatnonzero(np.diff(oracle.x) < -1e-9)
    assert bounds.tolist() == places[[*steps, -1]].tolist()
