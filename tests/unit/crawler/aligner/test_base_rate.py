from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.base_rate import at_base_rate, base_rate

SCORES = st.floats(0, 1)
RATES = st.floats(0.01, 0.99)


@given(SCORES, RATES)
def test_at_the_rate_of_the_fit_a_score_stays(score, rate):
    assert at_base_rate(score, rate, rate) == pytest.approx(score)


@given(SCORES, SCORES, RATES, RATES)
def test_another_rate_leaves_the_order_and_moves_all_scores_one_way(a, b, rate, fitted):
    low, high = sorted((a, b))
    assert at_base_rate(low, rate, fitted) <= at_base_rate(high, rate, fitted) + 1e-12
    if rate >= fitted:
        assert at_base_rate(a, rate, fitted) >= a - 1e-9
    else:
        assert at_base_rate(a, rate, fitted) <= a + 1e-9


@given(st.lists(SCORES, max_size=50), st.integers(0, 60))
def test_a_base_rate_is_a_share_that_is_never_certain(scores, pages):
    assert 0 < base_rate(scores, pages, 0.5) <= 0.75


def test_where_few_candidates_are_good_the_doubtful_ones_lose():
    surely, doubtful = [0.9999] * 5, [0.8] * 30
    rate = base_rate(surely + doubtful, 200, 0.5)
    assert rate < 0.1
    assert at_base_rate(0.9999, rate, 0.5) > 0.99
    assert at_base_rate(0.8, rate, 0.5) < 0.5


def test_where_most_candidates_are_good_the_doubtful_ones_gain():
    rate = base_rate([0.99] * 90 + [0.4] * 5, 100, 0.5)
    assert at_base_rate(0.4, rate, 0.5) > 0.5
