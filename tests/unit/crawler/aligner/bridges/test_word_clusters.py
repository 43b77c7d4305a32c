from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.bridges.word_clusters import WordClusters, cluster
from crawler.aligner.bridges.word_for_word import WordForWord
from tests.lexicons import features, lexicon


def sets(edges, max_size: int, removed: float = 0.1) -> list[set[int]]:
    one, other = (np.array(ends, np.int64) for ends in zip(*edges))
    found = cluster((one, other), max_size, removed)
    return sorted((set(nodes.tolist()) for nodes in found), key=min)


def test_a_component_that_is_small_enough_stays_whole():
    assert sets([(0, 1), (2, 3), (1, 4)], 3) == [{0, 1, 4}, {2, 3}]


def test_of_a_larger_one_the_weakest_edges_go_first():
    # 0-1-2-3 as a chain whose weakest edge is the middle one
    assert sets([(1, 2), (0, 1), (2, 3)], 2) == [{0, 1}, {2, 3}]


edges = st.lists(
    st.tuples(st.integers(0, 15), st.integers(16, 30)), min_size=1, max_size=60
)


@given(edges, st.integers(2, 6))
def test_clusters_are_disjoint_and_never_too_large(edges, max_size):
    found = sets(edges, max_size)
    assert all(2 <= len(nodes) <= max_size for nodes in found)
    assert sum(map(len, found)) == len(set().union(*found)) if found else True


def test_translations_become_one_term_and_unknown_words_stay():
    links = lexicon(
        ("horse", "hestur", 5.0), ("horse", "hest", 2.0), ("sea", "haf", 3.0)
    )
    bridge = WordClusters(links)
    horse, sea, name = bridge.encode(features("horse sea Skarfey", "en"))
    assert bridge.encode(features("hest hestur haf Skarfey", "is")).tolist() == [
        horse,
        horse,
        sea,
        name,
    ]
    assert len({horse, sea, name}) == 3


def test_word_for_word_takes_the_best_translation_and_keeps_the_order():
    links = lexicon(
        ("horse", "hestur", 5.0), ("mare", "hestur", 2.0), ("sea", "haf", 3.0)
    )
    bridge = WordForWord(links)
    translated = bridge.encode(features("haf hestur Skarfey", "is")).tolist()
    assert translated == bridge.encode(features("sea horse Skarfey", "en")).tolist()
