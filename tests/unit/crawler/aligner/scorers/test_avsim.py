from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.scorers.avsim import AvsimScorer
from crawler.data import CandidatePair
from tests.documents import make_document
from tests.lexicons import FEATURIZER, lexicon

LINKS = lexicon(
    ("next", "naesta", 9.0),
    ("previous", "fyrri", 9.0),
    ("page", "sida", 9.0),
    ("moves", "faerir", 9.0),
)


def page(lang: str, *blocks: str):
    return FEATURIZER.featurize(
        make_document(
            url="u",
            site="s",
            lang=lang,
            tokens=("<p", "", "</p") * len(blocks),
            chunks=blocks,
        )
    )


def avsim(src, trg, links: Lexicon = LINKS) -> float:
    pair = CandidatePair(src, trg, frozenset())
    [features] = AvsimScorer(links).score([pair])
    return 1 - features["avsim.difference"]


def test_a_sibling_is_betrayed_by_its_heading():
    src = page("en", "next page", "moves page")
    assert avsim(src, page("is", "naesta sida", "faerir sida")) == 1
    # of four words of the headings two have a translation
    assert avsim(src, page("is", "fyrri sida", "faerir sida")) == pytest.approx(3 / 4)


def test_a_word_beside_a_translation_is_not_one():
    beside = lexicon(
        ("next", "naesta", 9.0), ("next", "fyrri", 3.0), ("previous", "fyrri", 9.0)
    )
    assert avsim(page("en", "next"), page("is", "fyrri"), beside) == 0
    assert avsim(page("en", "next"), page("is", "naesta"), beside) == 1


def test_blocks_that_are_left_over_do_not_count():
    src = page("en", "next page", "moves page", "previous previous page")
    assert avsim(src, page("is", "naesta sida", "fyrri fyrri sida")) == 1


def test_blocks_are_aligned_in_reading_order():
    src = page("en", "next page", "moves page")
    assert avsim(src, page("is", "naesta sida", "faerir sida")) == 1
    # crossed, each block stands beside one of which it shares half of the words
    assert avsim(src, page("is", "faerir sida", "naesta sida")) == pytest.approx(1 / 2)


def test_pages_without_a_word_are_not_alike():
    assert avsim(page("en", "!"), page("is", "naesta sida")) == 0


ENGLISH, ICELANDIC = (
    st.lists(st.lists(st.sampled_from(words.split()), min_size=1).map(" ".join))
    for words in ("next previous page moves zoom", "naesta fyrri sida faerir zoom")
)
FORWARD = {"next": "naesta", "previous": "fyrri", "page": "sida", "moves": "faerir"}


def by_hand(src: list[str], trg: list[str]) -> set[float]:
    """The means of the best alignments; with a bead worth 2 Dice + 1, a skip nothing.

    That is what it saves: two skips cost 2, a bead 1 - 2 Dice.
    """

    def dice(i: int, j: int) -> float:
        one = [FORWARD.get(word, word) for word in src[i].split()]
        two = trg[j].split()
        found = sum(w in two for w in one) + sum(w in one for w in two)
        return found / (len(one) + len(two))

    @cache
    def best(i: int, j: int) -> tuple[float, frozenset[tuple[float, int]]]:
        """(worth, the (sum of Dice, beads) that have it) of blocks from i, j on."""
        if i == len(src) or j == len(trg):
            return 0.0, frozenset({(0.0, 0)})
        worth, ways = best(i + 1, j + 1)
        options = [
            best(i + 1, j),
            best(i, j + 1),
            (
                worth + 2 * dice(i, j) + 1,
                frozenset((s + dice(i, j), n + 1) for s, n in ways),
            ),
        ]
        most = max(worth for worth, _ in options)
        tied = [ways for worth, ways in options if worth > most - 1e-6]
        return most, frozenset().union(*tied)

    return {total / n if n else 0.0 for total, n in best(0, 0)[1]}


@given(ENGLISH.filter(lambda b: len(b) <= 5), ICELANDIC.filter(lambda b: len(b) <= 5))
def test_it_is_the_mean_of_a_best_alignment(src, trg):
    found = avsim(page("en", *src), page("is", *trg))
    assert np.isclose(found, list(by_hand(src, trg)), atol=1e-5).any()


@given(ENGLISH, ENGLISH)
def test_a_word_for_word_translation_is_alike_throughout(blocks, others):
    trg = [" ".join(FORWARD.get(w, w) for w in block.split()) for block in blocks]
    mine = avsim(page("en", *blocks), page("is", *trg))
    assert mine == pytest.approx(1 if blocks else 0)
    assert avsim(page("en", *others), page("is", *trg)) <= mine + 1e-6
