from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.aligner.bridges.lexicon import Lexicon, induce
from crawler.aligner.sentences.band import BandConfig
from crawler.aligner.sentences.costs.cost import windows
from crawler.aligner.sentences.costs.embedding import EmbeddingCost
from crawler.aligner.sentences.costs.length import LengthCost
from crawler.aligner.sentences.costs.lexicon import LexiconCost
from crawler.aligner.sentences.costs.markup import MarkupCost
from crawler.aligner.sentences.dynamic import WHOLE_TEXTS, PathConfig, align
from crawler.aligner.sentences.split import Side
from crawler.aligner.sentences.tokens import TokenIds
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from tests.worlds import build_site

SITE = build_site(concepts=4, words=400)
LANGS = LangPair("en", "is")
COSTS = [LengthCost(), LexiconCost(TokenIds()), MarkupCost()]


def learned() -> Lexicon:
    """What other pages of the same site teach."""
    site = build_site(concepts=40, words=400, seed=1)
    word_ids = WordIds()
    pairs = [
        both
        for concept in range(40)
        for both in zip(site.sentences(concept, "en"), site.sentences(concept, "is"))
    ]
    encoded = [(word_ids.encode(src), word_ids.encode(trg)) for src, trg in pairs]
    return induce(encoded, LANGS)


def side(lang: str, *blocks: str) -> Side:
    return Side.of(lang, [("p", block) for block in blocks])


def pairs_of(beads, src: Side, trg: Side):
    return [
        (src.join(b.src, b.size[0]), trg.join(b.trg, b.size[1]))
        for b in beads
        if b.is_pair
    ]


def sides(concept: int = 1) -> tuple[list[str], list[str]]:
    return SITE.sentences(concept, "en"), SITE.sentences(concept, "is")


# ------------------------------------------------------------------- laws

TEXTS = st.lists(
    st.lists(st.sampled_from("one two three 4 5 hús bær.".split()), min_size=1).map(
        " ".join
    ),
    max_size=12,
)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_every_sentence_is_in_one_bead_and_no_bead_leaves_its_block(ours, theirs):
    src, trg = side("en", *ours), side("is", *theirs)
    beads = align(src, trg, COSTS)
    for axis, page in enumerate((src, trg)):
        used = [bead.pair[axis] for bead in beads]
        assert sorted(itertools.chain(*used)) == list(range(len(page)))
        assert all(page.blocks[run[0]] == page.blocks[run[-1]] for run in used if run)
    assert beads == align(src, trg, COSTS)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_texts_without_markup_are_aligned_in_their_order(ours, theirs):
    src, trg = (Side.of_sentences(*one) for one in (("en", ours), ("is", theirs)))
    beads = align(src, trg, COSTS, WHOLE_TEXTS)
    nodes = [(b.src + b.size[0], b.trg + b.size[1]) for b in beads]
    assert [(b.src, b.trg) for b in beads] == [(0, 0), *nodes][: len(beads)]


@settings(deadline=None)
@given(TEXTS, TEXTS, st.data())
def test_no_bead_crosses_a_wall_between_two_texts(ours, theirs, data):
    wall = tuple(data.draw(st.integers(0, len(text))) for text in (ours, theirs))
    src, trg = Side.of_sentences("en", ours), Side.of_sentences("is", theirs)
    beads = align(src, trg, COSTS, WHOLE_TEXTS, [wall])
    for bead in beads:
        before = [run[-1] < end for run, end in zip(bead.pair, wall) if run]
        after = [run[0] >= end for run, end in zip(bead.pair, wall) if run]
        assert all(before) or all(after)


# ------------------------------------------------------------------- behaviour


def test_sentences_of_a_page_find_each_other_without_a_lexicon():
    ours, theirs = sides()
    src, trg = side("en", *ours), side("is", *theirs)
    assert pairs_of(align(src, trg, COSTS), src, trg) == list(zip(ours, theirs))


def test_one_sentence_for_two_is_one_bead():
    src = side("en", "The shop opens at 9. It closes at 17 on all days of the week.")
    trg = side("is", "Búðin er opin frá kl. 9 til 17 alla daga vikunnar, allan ársins.")
    (bead,) = align(src, trg, COSTS)
    assert bead.size == (2, 1)


def test_what_is_missing_on_one_side_is_left_over():
    ours, theirs = sides()
    src, trg = side("en", *ours), side("is", *theirs[:4], *theirs[9:])
    beads = align(src, trg, COSTS)
    assert pairs_of(beads, src, trg) == [
        *zip(ours[:4], theirs[:4]),
        *zip(ours[9:], theirs[9:]),
    ]
    assert [b.src for b in beads if b.size == (1, 0)] == [4, 5, 6, 7, 8]


def test_blocks_in_another_order_are_found_where_they_stand():
    ours, theirs = sides()
    moved = [*theirs[8:11], *theirs[:8], *theirs[11:]]
    src, trg = side("en", *ours), side("is", *moved)
    costs = [LengthCost(), LexiconCost(TokenIds(), learned()), MarkupCost()]
    found = pairs_of(align(src, trg, costs), src, trg)
    assert set(found) == set(zip(ours, theirs))


def test_a_lexicon_of_other_words_does_no_harm():
    ours, theirs = sides()
    src, trg = side("en", *ours), side("is", *theirs)
    good = learned()
    wrong = Lexicon(LANGS, good.src, np.roll(good.trg, 7), good.count)
    costs = [LengthCost(), LexiconCost(TokenIds(), wrong), MarkupCost()]
    assert pairs_of(align(src, trg, costs), src, trg) == list(zip(ours, theirs))


@pytest.mark.parametrize("gone", [slice(0, 0), slice(60, 100)])
def test_a_long_text_is_searched_in_a_band_and_gives_the_same_beads(gone):
    texts = [
        build_site(concepts=12, words=400, seed=2).sentences(concept, lang)
        for lang in ("en", "is")
        for concept in range(12)
    ]
    ours = [text for page in texts[:12] for text in page]
    theirs = [text for page in texts[12:] for text in page]
    del theirs[gone]
    src, trg = Side.of_sentences("en", ours), Side.of_sentences("is", theirs)
    whole, cut = (
        align(src, trg, COSTS, PathConfig(band=BandConfig(area=area)))
        for area in (10**9, 0)
    )
    assert cut == whole


def test_sentence_vectors_can_be_had_from_any_callable():
    meaning = {"red": 0, "rautt": 0, "books": 1, "bækur": 1, "milk": 2, "mjólk": 2}

    def encode(texts):
        return np.eye(3)[[meaning[text] for text in texts]] + 0.01

    src, trg = side("en", "red", "books", "milk"), side("is", "rautt", "mjólk")
    costs = [LengthCost(), MarkupCost(), EmbeddingCost(encode)]
    assert pairs_of(align(src, trg, costs), src, trg) == [
        ("red", "rautt"),
        ("milk", "mjólk"),
    ]


@given(st.integers(1, 4), st.integers(1, 6))
def test_windows_are_sums_of_neighbours(size, count):
    values = np.arange(float(count * 2)).reshape(count, 2)
    expected = [values[k : k + size].sum(axis=0) for k in range(count - size + 1)]
    assert windows(values, size).tolist() == [list(row) for row in expected]
    assert windows(values.T, size, axis=1).T.tolist() == [list(r) for r in expected]
