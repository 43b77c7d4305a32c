from __future__ import annotations

import numpy as np

from crawler.aligner.bridges.lexicon import Lexicon, collect
from crawler.aligner.bridges.pivot import Pivots, compose, through_pivots
from crawler.data import LangPair

EN_IS, IS_ES, EN_ES = (LangPair(*p) for p in (("en", "is"), ("is", "es"), ("en", "es")))


def lexicon(langs: LangPair, links: dict[tuple[int, int], float]) -> Lexicon:
    src, trg = (np.array(words, np.uint32) for words in zip(*links))
    return collect(langs, src, trg, np.array([*links.values()], np.float32))


def links(found: Lexicon | None) -> dict[tuple[int, int], float]:
    assert found is not None
    return dict(zip(zip(found.src.tolist(), found.trg.tolist()), found.count.tolist()))


ONE = lexicon(EN_IS, {(1, 11): 10, (2, 12): 4, (3, 13): 4})
# the word 11 is ambiguous, the word 13 unknown
TWO = lexicon(IS_ES, {(11, 21): 6, (11, 22): 2, (12, 22): 5})


def test_a_link_is_as_likely_as_both_its_halves():
    assert links(compose(ONE, TWO)) == {(1, 21): 7.5, (1, 22): 2.5, (2, 22): 4.0}


def test_lexicons_without_a_common_word_compose_into_nothing():
    other = lexicon(IS_ES, {(91, 21): 6})
    assert not len(compose(ONE, other))
    assert through_pivots(EN_ES, {EN_IS: ONE, IS_ES: other}) is None


def test_only_the_clear_translations_of_a_word_are_taken_over_a_pivot():
    assert links(through_pivots(EN_ES, {EN_IS: ONE, IS_ES: TWO})) == {
        (1, 21): 7.5,
        (2, 22): 4.0,
    }


def test_the_direction_of_the_known_lexicons_does_not_matter():
    turned = {pair: each.reversed() for pair, each in ((EN_IS, ONE), (IS_ES, TWO))}
    found = through_pivots(
        EN_ES, {LangPair(p.trg, p.src): each for p, each in turned.items()}
    )
    assert {*links(found)} == {(1, 21), (2, 22)}


def test_the_pair_with_fewest_pages_comes_last_and_starts_over_the_third_language():
    pivots = Pivots({EN_ES: 10, EN_IS: 100, IS_ES: 50})
    order = []
    for langs in pivots:
        order.append(langs)
        start = pivots.lexicon(langs)
        assert (start is not None) == (langs == EN_ES)
        pivots.learned(langs, {EN_IS: ONE, IS_ES: TWO}.get(langs))
    assert order == [EN_IS, IS_ES, EN_ES]


def test_a_pair_with_half_the_pages_of_the_others_learns_its_own():
    pivots = Pivots({EN_IS: 100, IS_ES: 100, EN_ES: 50})
    pivots.learned(EN_IS, ONE)
    pivots.learned(IS_ES, TWO)
    assert pivots.lexicon(EN_ES) is None
