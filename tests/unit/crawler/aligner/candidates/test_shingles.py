from __future__ import annotations

import random
from collections import defaultdict
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.arrays import ngrams
from crawler.aligner.candidates.shingles import (
    ShinglesConfig,
    candidates,
    shingles,
)


def pages(*texts: list[int]) -> list[np.ndarray]:
    return [np.array(text, np.uint64) for text in texts]


def naive(texts, first_trg: int, order: int, most: int) -> set[tuple[int, int]]:
    """Every pair of pages in a posting, by dictionaries."""
    postings = defaultdict(set)
    for number, text in enumerate(texts):
        for start in range(len(text) - order + 1):
            postings[tuple(text[start : start + order])].add(number)
    return {
        (a, b)
        for posting in postings.values()
        if len(posting) <= most
        for a in posting
        for b in posting
        if a < first_trg <= b
    }


texts = st.lists(st.lists(st.integers(0, 3), max_size=8), min_size=1, max_size=8)


@given(texts, st.integers(0, 8), st.integers(1, 4))
def test_candidates_are_what_an_inverted_index_gives(found, first_trg, most):
    config = ShinglesConfig(matching_order=2, max_pages=most)
    pairs = candidates(pages(*found), first_trg, config)
    expected = naive(found, first_trg, 2, most)
    assert list(map(tuple, pairs.tolist())) == sorted(expected)


def test_the_score_is_the_idf_cosine_without_term_frequencies():
    # section 2.2, by hand: 4 pages; unigrams 1 in two of them, 2 in three, 3 in two
    config = ShinglesConfig(matching_order=1, scoring_order=1, min_cosine=0)
    found = shingles([0, 1], [2, 3], pages([1, 2, 2], [2, 3], [1, 2], [3, 3]), config)
    one, two, three = log(4 / 2), log(4 / 3), log(4 / 2)
    assert found.pairs[0, 2] == pytest.approx(1)
    assert found.pairs[1, 3] == pytest.approx(
        three**2 / (sqrt(two**2 + three**2) * three)
    )
    assert found.pairs[1, 2] == pytest.approx(
        two**2 / (sqrt(two**2 + three**2) * sqrt(one**2 + two**2))
    )


def test_pages_that_share_no_rare_run_of_words_are_never_compared():
    common = list(range(20))
    everyone = [[*common, 100 + n] for n in range(6)]
    assert not shingles(
        [0, 1, 2], [3, 4, 5], pages(*everyone), ShinglesConfig(max_pages=5)
    ).pairs


def test_sampling_keeps_one_of_sixteen_ngrams_on_both_sides():
    chance = random.Random(0)
    text = [chance.randrange(1 << 20) for _ in range(3000)]
    config = ShinglesConfig(sampled_bits=4)
    assert candidates(pages(text, text), 1, config).tolist() == [[0, 1]]
    whole = ShinglesConfig(sampled_bits=64)
    assert candidates(pages(text, text), 1, whole).tolist() == []


def test_lists_of_the_same_names_in_another_order_can_be_refused():
    names = list(range(50))
    shuffled = random.Random(1).sample(names, 50)
    config = ShinglesConfig(
        matching_order=1, scoring_order=1, max_disorder=0.5, min_cosine=0
    )
    texts = pages(names, names, shuffled, [900])
    found = shingles([0, 3], [1, 2], [texts[0], texts[3], texts[1], texts[2]], config)
    assert set(found.pairs) == {(0, 1)}


def test_a_page_shorter_than_an_ngram_has_none():
    assert len(ngrams(np.array([1, 2], np.uint64), 5)) == 0
