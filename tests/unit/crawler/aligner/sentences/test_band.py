from __future__ import annotations

import numpy as np
import pytest

from crawler.aligner.sentences.band import BandConfig, find_band
from crawler.aligner.sentences.costs.cost import Hints

EVERY = BandConfig(area=0)


def texts(count: int, gone: slice, seed: int = 0):
    """Sizes of a text and of its translation, which lacks a part; the true nodes."""
    rng = np.random.default_rng(seed)
    src = rng.gamma(2, 40, count) + 5
    trg = src * rng.normal(1, 0.15, count).clip(0.5, 1.5)
    kept = np.ones(count, bool)
    kept[gone] = False
    nodes = np.concatenate([[0], np.cumsum(kept)])
    return (src, trg[kept]), nodes, kept


def hints(nodes, kept, share: float, seed: int = 1) -> Hints:
    """Some true pairs of sentences, and as many at random."""
    rng = np.random.default_rng(seed)
    true = np.flatnonzero(kept & (rng.random(len(kept)) < share))
    wrong = rng.integers(0, len(kept), len(true)), rng.integers(0, nodes[-1], len(true))
    return Hints(
        np.concatenate([true, wrong[0]]),
        np.concatenate([nodes[true], wrong[1]]),
        np.full(2 * len(true), 3.0),
        np.arange(2 * len(true)),
    )


@pytest.mark.parametrize("gone", [slice(0, 0), slice(700, 1200), slice(0, 300)])
def test_the_true_path_lies_in_a_narrow_band_of_a_long_text(gone):
    sizes, nodes, kept = texts(4000, gone)
    band = find_band(sizes, hints(nodes, kept, 0.3), EVERY)
    assert (band.first <= nodes).all()
    assert (nodes <= band.last).all()
    assert band.area < 150 * len(nodes)


def test_without_hints_the_band_follows_the_lengths():
    sizes, nodes, _ = texts(4000, slice(0, 0))
    band = find_band(sizes, Hints.none(), EVERY)
    assert ((band.first <= nodes) & (nodes <= band.last)).mean() > 0.99


def test_the_area_grows_with_the_length_and_not_with_its_square():
    areas = []
    for count in (3000, 12000):
        sizes, nodes, kept = texts(count, slice(0, 0))
        areas.append(find_band(sizes, hints(nodes, kept, 0.3), EVERY).area)
    assert areas[1] < 6 * areas[0]


@pytest.mark.parametrize(
    ("rows", "columns"), [(0, 3), (3, 0), (1, 1), (2, 90), (90, 2)]
)
def test_a_band_of_any_two_texts_has_both_ends_and_no_gap(rows, columns):
    sizes = np.ones(rows), np.ones(columns)
    band = find_band(sizes, Hints.none(), EVERY)
    assert (len(band.first), band.first[0], band.last[-1]) == (rows + 1, 0, columns)
    assert (np.diff(band.first) >= 0).all()
    assert (band.first[1:] <= band.last[:-1]).all()


def test_a_clue_with_several_places_is_shared_until_the_band_leaves_one():
    clue = Hints(
        np.array([0, 0, 9]), np.array([1, 8, 8]), np.full(3, 2.0), np.zeros(3, int)
    )
    assert clue.shared() == pytest.approx([2 / 2**0.5, 1.0, 2 / 2**0.5])
    assert clue.take(np.array([True, False, True])).shared() == pytest.approx([2, 2])
