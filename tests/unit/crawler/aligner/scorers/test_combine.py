from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.scorers.combine import (
    Logistic,
    LogisticConfig,
    Thresholds,
    Tree,
    TreeConfig,
    cosine,
    logistic,
    thresholds,
    tree,
)
from crawler.errors import ProfileError

MODEL = Logistic(-1.0, {"a": 2.0, "b": -3.0}, {"named": 3.5}, ("a site",))
UNIT = st.floats(0, 1)


def test_the_score_is_the_logistic_function_of_the_weighted_sum():
    found = MODEL.probability({"a": 0.5, "b": 0.25, "named": 1.0, "unknown": 9.0})
    assert found == pytest.approx(1 / (1 + math.exp(-(-1 + 1 - 0.75 + 3.5))))


def test_an_absent_feature_counts_as_0():
    assert MODEL.probability({}) == MODEL.probability({"a": 0.0, "b": 0.0, "named": 0})


@given(st.dictionaries(st.sampled_from("ab"), UNIT), UNIT, UNIT)
def test_the_best_case_is_reached_by_no_completion_and_sinks_as_features_come(
    known, a, b
):
    complete = {"a": a, "b": b} | known
    best = MODEL.best_case(known)
    assert MODEL.probability(complete) <= best + 1e-12
    assert MODEL.best_case(complete) <= best + 1e-12
    assert MODEL.best_case(complete) == pytest.approx(MODEL.probability(complete))


def test_however_large_a_sum_a_score_stays_a_probability():
    large = Logistic(0.0, {"a": 1e6}, {}, ())
    assert 0 < large.probability({"a": -1.0}) < 1e-9
    assert 1 - 1e-9 < large.probability({"a": 1.0}) < 1


def test_a_tree_leads_to_the_leaf_of_its_thresholds():
    model = Tree(["a", "b", "", "", ""], [0.5, 2.0, 0, 0, 0], [1, 3, 0, 0, 0],
                 [2, 4, 0, 0, 0], [0, 0, 0.9, 0.1, 0.4], ())  # fmt: skip
    assert model.probability({"a": 0.6}) == 0.9
    assert model.probability({"a": 0.5, "b": 2.0}) == 0.1  # at most: to the left
    assert model.probability({"a": 0.0, "b": 2.1}) == 0.4
    assert model.best_case({}) == 1.0
    assert model.adapted([], []) is model


@pytest.mark.parametrize(
    ("features", "score"),
    [
        ({"strand.dp": 0.1, "strand.p": 0.01}, 0.5 + 0.5 * 0.9),  # the same shape
        ({"strand.dp": 0.1, "strand.p": 0.06}, 0.0),  # which may be chance
        ({"strand.dp": 0.2, "strand.p": 0.01}, 0.0),
        ({"tsim.score": 0.16}, 0.5 + 0.5 * 0.16),  # or the same words
        ({"tsim.score": 0.15}, 0.0),
        ({"strand.dp": 0.0, "strand.p": 0.0, "tsim.score": 1.0}, 1.0),
        ({}, 0.0),
    ],
)
def test_manual_thresholds_are_those_of_the_paper(features, score):
    assert Thresholds().probability(features) == pytest.approx(score)


def test_thresholds_of_a_profile_count():
    model = thresholds(Thresholds(max_dp=0.5))
    assert model.probability({"strand.dp": 0.4, "strand.p": 0.0}) > 0.5


@pytest.mark.parametrize("content", ["words", "lexicon"])
def test_what_ships_says_on_which_sites_it_was_fitted(content):
    for model in (logistic(content, LogisticConfig()), tree(content, TreeConfig())):
        assert len(model.fitted_on) >= 10
        assert all("-" in name.split()[-1] for name in model.fitted_on)


@pytest.mark.parametrize("content", ["words", "lexicon"])
def test_more_shared_content_never_lowers_a_shipped_score(content):
    model = logistic(content, LogisticConfig())
    for name in ("margin.src", "margin.trg", "numbers.cosine", "handles.same"):
        assert model.probability({name: 1.0}) > model.probability({})
    for name in ("strand.dp", "lengths.difference"):
        assert model.probability({name: 1.0}) < model.probability({})


def test_a_profile_adds_weights_or_takes_the_place_of_some():
    config = LogisticConfig(weights={"mine.score": 2.0, "margin.src": 0.0})
    model, shipped = logistic("words", config), logistic("words", LogisticConfig())
    assert model.weights == {**shipped.weights, **config.weights}
    assert model.probability({"margin.src": 0.2}) == model.probability({})
    # until the new feature is known it may lift a score to this
    assert model.best_case({}) > shipped.best_case({"margin.src": 0.0})


def test_weights_come_from_another_folder(tmp_path):
    table = {"bias": 1.0, "weights": {"a": 1.0}, "evidence": {}, "fitted_on": ["s a-b"]}
    (tmp_path / "logistic_words.json").write_text(json.dumps(table))
    model = logistic("words", LogisticConfig(folder=str(tmp_path)))
    assert model.weights == {"a": 1.0}


@pytest.mark.parametrize("content", ["{", '{"bias": "high"}', None])
def test_weights_that_cannot_be_read_are_one_clear_error(tmp_path, content):
    if content is not None:
        (tmp_path / "logistic_words.json").write_text(content)
    with pytest.raises(ProfileError, match=r"logistic_words.json: .*align_weights"):
        logistic("words", LogisticConfig(folder=str(tmp_path)))


@pytest.mark.parametrize(("value", "score"), [(0.4, 0.4), (-0.1, 0.0), (1.0001, 1.0)])
def test_the_cosine_of_a_search_can_be_the_score(value, score):
    model = cosine()
    features = {"nearest.cosine": value, "handles.same": 1.0, "strand.dp": 0.9}
    assert model.probability(features) == model.best_case(features) == score
    assert model.probability({"handles.same": 1.0}) == 0
