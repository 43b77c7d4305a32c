from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from crawler.aligner.scorers.adaptation import ADAPTED, adapt
from crawler.aligner.scorers.combine import LogisticConfig, logistic

RIGHT = np.arange(400) % 2 == 0


def test_weights_that_are_true_of_the_site_stay():
    chance = np.random.default_rng(0)
    terms = chance.normal(-4, 3, (2000, 1))
    right = chance.random(2000) < expit(4 + terms[:, 0])
    factors, bias = adapt(np.full(2000, 4.0), terms, right)
    assert factors == pytest.approx([1.0], abs=0.2)
    assert bias == pytest.approx(0.0, abs=0.5)


def test_a_feature_that_says_nothing_here_loses_its_weight():
    terms = np.random.default_rng(0).normal(-4, 2, (400, 1))
    factors, _ = adapt(np.where(RIGHT, 2.0, -2.0), terms, RIGHT)
    assert 0 <= factors[0] < 0.1


def test_a_feature_never_comes_to_mean_its_opposite():
    terms = np.where(RIGHT, -5.0, 0.0)[:, None]
    factors, _ = adapt(np.zeros(400), terms, RIGHT)
    assert factors[0] == pytest.approx(0.0, abs=1e-6)


def test_a_few_pairs_change_little():
    terms = np.where(RIGHT, -5.0, 0.0)[:, None]
    few, _ = adapt(np.zeros(2), terms[:2], RIGHT[:2])
    many, _ = adapt(np.zeros(400), terms, RIGHT)
    assert few[0] > many[0]


def test_a_model_that_is_adapted_fits_the_site_better():
    model = logistic("lexicon", LogisticConfig())
    chance = np.random.default_rng(1)
    pairs = [
        dict.fromkeys(model.weights, 0.3)
        | {name: chance.uniform(0.3, 0.6) for name in ADAPTED}
        | {"margin.src": 0.3 * right, "margin.trg": 0.3 * right}
        for right in RIGHT
    ]
    adapted = model.adapted(pairs, RIGHT.tolist())

    def loss(of):
        p = np.array([of.probability(pair) for pair in pairs])
        return -np.log(np.where(RIGHT, p, 1 - p)).mean()

    assert loss(adapted) < loss(model)
    assert adapted.evidence == model.evidence
    assert expit(adapted.bias) < 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 300), st.floats(0.01, 30))
def test_the_optimum_is_the_one_that_scipy_finds(seed, pairs, scale):
    chance = np.random.default_rng(seed)
    terms = chance.normal(chance.normal(0, 2, 5), 1, (pairs, 5)) * scale
    logits = chance.normal(0, scale, pairs)
    right = chance.random(pairs) < 0.5
    sign = np.where(right, 1.0, -1.0)

    def loss(x):  # the posterior: spreads of 0.5 around factors of 1, of 1 around 0
        z = logits + terms @ x[:-1] + x[-1]
        prior = 2 * ((x[:-1] - 1) ** 2).sum() + x[-1] ** 2 / 2
        return np.logaddexp(0, -sign * z).sum() + prior

    factors, bias = adapt(logits, terms, right)
    assert (factors >= 0).all()
    bounds = [(0, None)] * 5 + [(None, None)]
    oracle = minimize(loss, [1.0] * 5 + [0.0], method="L-BFGS-B", bounds=bounds)
    assert loss(np.r_[factors, bias]) <= oracle.fun + 1e-6 * (1 + abs(oracle.fun))
