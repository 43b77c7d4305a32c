from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.scorers.keywords import KeywordScorer
from crawler.aligner.scorers.tsim import LinkTable
from crawler.data import CandidatePair, LangPair

LANGS = LangPair("en", "fr")
# 1 is 101, or now and then 102; 2 is 102
LEXICON = Lexicon(
    LANGS,
    np.array([1, 1, 2], np.uint32),
    np.array([101, 102, 102], np.uint32),
    np.array([4, 1, 4], np.float32),
)
ALL_ALIKE = SimpleNamespace(idf=lambda words: np.ones(len(words), np.float32))


def shares(src, trg, frequencies=ALL_ALIKE) -> tuple[float, float]:
    ends = (SimpleNamespace(words=np.array(words, np.uint32)) for words in (src, trg))
    (features,) = KeywordScorer(LinkTable(LEXICON), frequencies).score(
        [CandidatePair(*ends, frozenset())]
    )
    return features["keywords.least"], features["keywords.most"]


def test_translated_word_for_word_is_covered_both_ways():
    assert shares([1, 2, 7], [7, 102, 101]) == (1, 1)


def test_half_of_a_page_is_covered_and_does_not_cover():
    assert shares([1, 1, 2, 9], [102]) == (pytest.approx(1.5 / 4, abs=0.1), 1)


def test_a_link_counts_by_the_best_that_its_word_has():
    # of word 1 a fifth goes to 102, of 102 a fifth comes from 1
    assert shares([1], [102])[0] == pytest.approx(
        np.sqrt(0.2 * 0.2) / np.sqrt(0.8 * 1), rel=1e-5
    )


def test_a_word_counts_as_often_as_it_comes_and_by_its_rarity():
    rare = SimpleNamespace(idf=lambda words: np.where(words == 9, 3, 1.0))
    assert shares([1, 1, 9], [101], rare)[0] == pytest.approx(2 / 5)


def test_empty_pages_cover_nothing():
    assert shares([], []) == (0, 0)
    assert shares([1], []) == (0, 0)


pages = st.lists(st.sampled_from([1, 2, 7, 101, 102]), max_size=6)


@given(pages, pages)
def test_both_are_shares_the_smaller_first(src, trg):
    least, most = shares(src, trg)
    assert 0 <= least <= most <= 1 + 1e-6
