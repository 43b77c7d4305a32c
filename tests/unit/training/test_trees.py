from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="extra `train` is not installed")

from sklearn.ensemble import HistGradientBoostingClassifier

from models.trees import Trees
from training.trees import TreesConfig, as_arrays, grow


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    inputs = rng.random((600, 4)).astype(np.float32).round(3)
    truth = (inputs[:, 0] > 0.4) ^ (inputs[:, 1] > 0.7)
    return inputs, truth


def test_numpy_answers_as_scikit_learn_does(rows):
    inputs, truth = rows
    fitted = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=6)
    fitted.fit(inputs, truth)
    ours = as_arrays(fitted).scores(inputs)
    np.testing.assert_allclose(ours, fitted.decision_function(inputs), atol=1e-4)


def test_trees_survive_a_file(rows, tmp_path):
    inputs, truth = rows
    config = TreesConfig(trees=10)
    weights = np.ones(len(truth))
    trees = grow(inputs, truth, weights, monotone={}, config=config, seed=1)
    np.savez(tmp_path / "trees.npz", **trees.arrays())
    with np.load(tmp_path / "trees.npz") as arrays:
        again = Trees.read(arrays)
    np.testing.assert_array_equal(again.scores(inputs), trees.scores(inputs))


def test_a_monotone_feature_never_turns(rows):
    inputs, truth = rows
    config = TreesConfig(trees=40)
    weights = np.ones(len(truth))
    trees = grow(inputs, truth, weights, monotone={1: 1}, config=config, seed=1)
    line = np.full((50, 4), 0.3, dtype=np.float32)
    line[:, 1] = np.linspace(0, 1, 50)
    assert (np.diff(trees.scores(line)) >= 0).all()


def test_nodes_that_lead_nowhere_are_refused(rows):
    inputs, truth = rows
    trees = grow(
        inputs,
        truth,
        np.ones(len(truth)),
        monotone={},
        config=TreesConfig(trees=2),
        seed=1,
    )
    arrays = trees.arrays()
    arrays["tree_left"] = arrays["tree_left"] + 1000
    with pytest.raises(ValueError, match="left lead out of"):
        Trees.read(arrays)
