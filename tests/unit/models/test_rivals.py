from __future__ import annotations

import numpy as np
import pytest

from models.rivals import MARGIN_CAP, RivalWeights, among_rivals, rival_margins

EN, IS = "https://a.example/en/", "https://a.example/is/"


def test_the_margin_is_to_the_best_other_candidate_of_either_url():
    pairs = [(EN + "x", IS + "x"), (EN + "x", IS + "y"), (EN + "z", IS + "x")]
    odds = np.array([2.0, -1.0, 0.5])
    found = rival_margins(pairs, 1 / (1 + np.exp(-odds)))
    # x and x: y is 3 nats behind, z 1.5; x and y: x is 3 ahead; z and x: 1.5
    assert found == pytest.approx([1.5, -3.0, -1.5], abs=1e-6)


def test_two_urls_without_another_candidate_are_far_ahead():
    assert rival_margins([(EN, IS)], [0.5]) == MARGIN_CAP
    assert rival_margins([(EN, IS)], [0.0]) == 0.0  # hopeless without a rival


def test_equal_candidates_are_ahead_of_nobody():
    pairs = [(EN + "x", IS + "x"), (EN + "x", IS + "y")]
    assert rival_margins(pairs, [0.7, 0.7]).tolist() == [0.0, 0.0]


def test_a_rival_takes_from_a_pair_and_what_it_takes_depends_on_how_near_it_is():
    def p(*rivals: float) -> float:
        pairs = [(EN, IS)] + [(EN, IS + str(n)) for n in range(len(rivals))]
        return among_rivals(pairs, [0.3, *rivals])[0]

    assert p() > p(0.05) > p(0.2) > p(0.3) > p(0.9)
    assert p(0.05) > 0.5 > p(0.9)


def test_candidates_of_other_urls_change_nothing():
    pairs = [(EN + "x", IS + "x"), (EN + "x", IS + "y")]
    alone = among_rivals(pairs, [0.3, 0.2])
    more = among_rivals([*pairs, (EN + "q", IS + "q")], [0.3, 0.2, 0.99])
    assert more[:2] == alone


def test_no_pairs_have_no_probabilities():
    assert among_rivals([], []) == []


def test_weights_of_ones_own_count():
    weights = RivalWeights(margin=0.5)
    (found,) = among_rivals([(EN, IS)], [0.3], weights)
    assert found == pytest.approx(1 / (1 + np.exp(-0.5 * MARGIN_CAP)))
