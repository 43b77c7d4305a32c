from __future__ import annotations

import math

import numpy as np
import pytest

from crawler.aligner.scorers.likelihood import gains
from tests.lexicons import features, lexicon


def test_the_gain_is_that_of_the_papers_formula():
    # Xu & Weischedel (2000), section 3, by hand: α p(f) + (1 - α) Σ p(f|e) p(e|D)
    links = lexicon(("house", "hús", 3.0), ("home", "hús", 1.0))
    src = [features("house house dog home", "en")]
    trg = [features("hús dog hestur", "is"), features("hestur", "is")]
    (_, gained), *_ = gains(src, trg, [(0, 0)], links)
    # the link of a word with itself counts once beside those that were seen
    p = {"hús": 2 / 4 * 3 / 4 + 1 / 4 * 1 / 2, "dog": 1 / 4, "hestur": 0.0}
    # pages of the trg side: hús once, dog once, hestur twice, half a word more of each
    # of the five words that there are
    general = {"hús": 1.5 / 6.5, "dog": 1.5 / 6.5, "hestur": 2.5 / 6.5}
    nats = [math.log((0.3 * general[f] + 0.7 * p[f]) / (0.3 * general[f])) for f in p]
    assert gained == pytest.approx(sum(nats) / 3, rel=1e-5)


def test_half_a_page_gains_what_its_whole_does():
    links = lexicon(("horse", "hestur", 9.0), ("sea", "haf", 9.0), ("sun", "sól", 9.0))
    src = [features("horse sea sun", "en"), features("horse", "en")]
    trg = [features("hestur haf sól", "is"), features("hestur", "is")]
    found = gains(src, trg, [(0, 0), (0, 1), (1, 0)], links)
    assert found[1, 1] > 0.5  # of the half
    assert found[0].min() > found[2, 1]  # a page of which only a third is explained


def test_each_pair_is_by_itself():
    links = lexicon(("horse", "hestur", 9.0), ("sea", "haf", 9.0))
    chance = np.random.default_rng(0)
    sides = [
        [features(" ".join(chance.choice(words, 4)), lang) for _ in range(600)]
        for words, lang in ((["horse", "sea", "cat"], "en"), (["hestur", "haf"], "is"))
    ]
    pairs = [(int(i), int(j)) for i, j in chance.integers(0, 600, (2000, 2))]
    found = gains(sides[0], sides[1], pairs, links)
    few = gains(sides[0], sides[1], pairs[::-7], links)
    np.testing.assert_allclose(found[::-7], few, rtol=1e-6)
    swapped = gains(sides[1], sides[0], [(j, i) for i, j in pairs], links.reversed())
    np.testing.assert_allclose(found, swapped[:, ::-1], rtol=1e-5)


def test_no_pairs_gain_nothing():
    assert gains([], [], [], lexicon(("sea", "haf", 1.0))).shape == (0, 2)
