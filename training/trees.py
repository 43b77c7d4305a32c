"""Boosted trees on features: grown by scikit-learn, kept as arrays.

Friedman (2001), with the histograms of LightGBM (Ke et al., 2017) that scikit-learn's
`HistGradientBoostingClassifier` uses. What ships is `models.trees.Trees`, which needs
neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from models.trees import Trees

FloatArray = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class TreesConfig:
    """Small trees, many of them: chosen by cross-validation over the train sites."""

    trees: int = 200
    learning_rate: float = 0.08
    leaves: int = 8  # of a tree
    min_rows: int = 40  # in a leaf
    l2: float = 5.0


def grow(
    inputs: FloatArray,
    truth: Sequence[bool],
    weights: FloatArray,
    *,
    monotone: Mapping[int, int],
    config: TreesConfig,
    seed: int,
) -> Trees:
    """Trees whose score is the log odds of `truth`.

    `inputs` are (rows, features). Along a column of `monotone` the score only rises (1)
    or only falls (-1), whatever the training data happen to say.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    classifier = HistGradientBoostingClassifier(
        max_iter=config.trees,
        learning_rate=config.learning_rate,
        max_leaf_nodes=config.leaves,
        min_samples_leaf=config.min_rows,
        l2_regularization=config.l2,
        monotonic_cst=[monotone.get(i, 0) for i in range(inputs.shape[1])],
        early_stopping=False,
        random_state=seed,
    )
    classifier.fit(inputs, np.array(truth), sample_weight=weights)
    return as_arrays(classifier)


def as_arrays(classifier: Any) -> Trees:
    """The trees of a fitted classifier, their nodes numbered through.

    scikit-learn has no public way to its histogram trees; that the answers agree is
    tested (`tests/unit/training/test_trees.py`).
    """
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    roots, first, depth = [], 0, 0
    for (predictor,) in classifier._predictors:
        nodes = predictor.nodes
        itself = np.arange(len(nodes)) + first
        leaf = nodes["is_leaf"].astype(bool)
        parts.append(
            (
                np.where(leaf, 0, nodes["feature_idx"]).astype(np.int32),
                np.where(leaf, 0, nodes["num_threshold"]).astype(np.float32),
                np.where(leaf, itself, nodes["left"] + first).astype(np.int32),
                np.where(leaf, itself, nodes["right"] + first).astype(np.int32),
                np.where(leaf, nodes["value"], 0).astype(np.float32),
            )
        )
        roots.append(first)
        first += len(nodes)
        depth = max(depth, int(nodes["depth"].max()))
    feature, threshold, left, right, value = map(np.concatenate, zip(*parts))
    return Trees(
        roots=np.array(roots, dtype=np.int32),
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        value=value,
        baseline=float(np.ravel(classifier._baseline_prediction)[0]),
        depth=depth,
    )
