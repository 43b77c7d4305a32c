from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.scorers.tsim import LinkTable
from crawler.aligner.scorers.tsim import competitive as competitive_of_pairs
from crawler.data import LangPair

LANGS = LangPair("en", "fr")


def lexicon(*links: tuple[int, int, float]) -> Lexicon:
    rows = sorted(links)
    return Lexicon(
        LANGS,
        np.array([row[0] for row in rows], np.uint32),
        np.array([row[1] for row in rows], np.uint32),
        np.array([row[2] for row in rows], np.float32),
    )


def table(*links: tuple[int, int, float]) -> LinkTable:
    return LinkTable.of(lexicon(*links))


def words(*ids: int) -> np.ndarray:
    return np.array(ids, np.uint32)


def competitive(links: LinkTable, src: np.ndarray, trg: np.ndarray) -> float:
    [found] = competitive_of_pairs(links, [src], [trg], np.zeros((1, 2), np.int64))
    return found


def test_three_links_of_five():
    # Resnik & Smith, figure 9: two-word links over all links, NULL links among them
    links = table((1, 101, 1), (2, 102, 1), (3, 103, 1))
    page, translation = words(1, 2, 3, 4), words(103, 101, 102, 109)
    assert competitive(links, page, translation) == pytest.approx(3 / 5)


def test_the_likeliest_link_goes_first_even_if_that_costs_one():
    links = table((1, 101, 9), (1, 102, 1), (2, 101, 1))
    assert competitive(links, words(1, 2), words(101, 102)) == pytest.approx(1 / 3)


def test_a_word_that_comes_twice_has_two_links():
    links = table((1, 101, 1))
    assert competitive(links, words(1, 1, 1), words(101, 101)) == pytest.approx(2 / 3)


def test_words_of_both_pages_link_to_themselves():
    assert competitive(table((1, 101, 1)), words(7, 8), words(8, 7)) == 1


def test_empty_pages_have_no_links():
    assert competitive(table((1, 101, 1)), words(), words()) == 0


small_page = st.lists(st.integers(0, 5), max_size=8)
some_links = st.sets(st.tuples(st.integers(0, 5), st.integers(10, 15)), max_size=12)


@given(small_page, small_page, some_links)
def test_greedy_linking_finds_at_least_half_of_a_best_matching(src, trg, pairs):
    trg = [10 + word for word in trg]
    allowed = np.array([[(a, b) in pairs for b in trg] for a in src], float)
    allowed = allowed.reshape(len(src), len(trg))
    linked = allowed[linear_sum_assignment(allowed, maximize=True)].sum()
    total = len(src) + len(trg)
    greedy = competitive(
        table(*((a, b, 1.0) for a, b in pairs)), words(*src), words(*trg)
    )
    least, most = (n / (total - n) if total else 0 for n in (linked / 2, linked))
    assert least - 1e-9 <= greedy <= most + 1e-9


def one_by_one(src: list[int], trg: list[int], links: list[tuple[int, int]]) -> float:
    """Competitive linking as it is told: the best link first, each word once."""
    left, linked = [list(src), list(trg)], 0
    for a, b in [*links, *((word, word) for word in sorted(set(src)))]:
        while a in left[0] and b in left[1]:
            left[0].remove(a)
            left[1].remove(b)
            linked += 1
    words = len(src) + len(trg)
    return linked / (words - linked) if words else 0.0


page = st.lists(st.integers(0, 5), max_size=8)
counts = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(1, 9)
)


@given(st.lists(st.tuples(page, page), min_size=1, max_size=3), counts)
def test_many_pairs_are_linked_as_one_after_the_other(pairs, links):
    known = lexicon(*((*words, count) for words, count in links.items()))
    best = np.argsort(-np.sqrt(known.p_src() * known.p_trg()), kind="stable")
    ranked = list(zip(known.src[best].tolist(), known.trg[best].tolist()))
    src, trg = ([words(*pair[side]) for pair in pairs] for side in (0, 1))
    ends = [(i, j) for i in range(len(pairs)) for j in range(len(pairs))]
    found = competitive_of_pairs(LinkTable.of(known), src, trg, np.array(ends))
    assert found == pytest.approx(
        [one_by_one(pairs[i][0], pairs[j][1], ranked) for i, j in ends]
    )
