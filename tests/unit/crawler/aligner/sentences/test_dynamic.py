from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.aligner.bridges.lexicon import Lexicon, induce
from crawler.aligner.sentences.anchors import AnchorsConfig
from crawler.aligner.sentences.costs.cost import windows
from crawler.aligner.sentences.costs.embedding import EmbeddingCost
from crawler.aligner.sentences.costs.length import LengthCost
from crawler.aligner.sentences.costs.lexicon import LexiconCost
from crawler.aligner.sentences.costs.markup import MarkupCost
from crawler.aligner.sentences.dynamic import (
    PRIORS,
    DynamicConfig,
    align,
    gale_church,
    path,
)
from crawler.aligner.sentences.split import Side
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from tests.worlds import build_site

SITE = build_site(concepts=4, words=400)
LANGS = LangPair("en", "is")
LEXICON_COSTS = [LengthCost(), LexiconCost(WordIds()), MarkupCost()]


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
    beads = align(src, trg, LEXICON_COSTS)
    for axis, page in enumerate((src, trg)):
        used = [
            range((b.src, b.trg)[axis], (b.src, b.trg)[axis] + b.size[axis])
            for b in beads
        ]
        assert sorted(itertools.chain(*used)) == list(range(len(page)))
        assert all(page.blocks[run[0]] == page.blocks[run[-1]] for run in used if run)
    assert beads == align(src, trg, LEXICON_COSTS)


@given(TEXTS, TEXTS)
def test_the_path_of_gale_and_church_is_monotone(ours, theirs):
    beads = gale_church(side("en", *ours), side("is", *theirs), LengthCost())
    ends = [(b.src + b.size[0], b.trg + b.size[1]) for b in beads]
    assert [(b.src, b.trg) for b in beads] == [(0, 0), *ends][: len(beads)]


def test_the_path_is_the_cheapest_there_is():
    rng = random.Random(3)
    for _ in range(20):
        words = [
            ["x" * rng.randrange(1, 30) for _ in range(rng.randrange(5))] for _ in "ab"
        ]
        src, trg = side("en", *words[0]), side("is", *words[1])
        costs = [LengthCost().prepare(src, trg)]
        found = sum(bead.cost for bead in path(src, trg, costs, PRIORS, skip=2.0))
        assert found == pytest.approx(_brute_force(src, trg, costs[0]))


def _brute_force(src, trg, cost, i=0, j=0):
    if (i, j) == (len(src), len(trg)):
        return 0.0
    ways = []
    for (a, b), prior in PRIORS.items():
        if i + a <= len(src) and j + b <= len(trg):
            here = 2.0 if not (a and b) else cost.matrix(a, b)[i, j] - np.log(prior)
            ways.append(here + _brute_force(src, trg, cost, i + a, j + b))
    return min(ways)


# ------------------------------------------------------------------- behaviour


def test_sentences_of_a_page_find_each_other_without_a_lexicon():
    ours, theirs = sides()
    src, trg = side("en", *ours), side("is", *theirs)
    assert pairs_of(align(src, trg, LEXICON_COSTS), src, trg) == list(zip(ours, theirs))


def test_one_sentence_for_two_is_one_bead():
    src = side("en", "The shop opens at 9. It closes at 17 on all days of the week.")
    trg = side("is", "Búðin er opin frá kl. 9 til 17 alla daga vikunnar, allan ársins.")
    (bead,) = align(src, trg, LEXICON_COSTS)
    assert bead.size == (2, 1)


def test_what_is_missing_on_one_side_is_left_over():
    ours, theirs = sides()
    src, trg = side("en", *ours), side("is", *theirs[:4], *theirs[9:])
    beads = align(src, trg, LEXICON_COSTS)
    assert pairs_of(beads, src, trg) == [
        *zip(ours[:4], theirs[:4]),
        *zip(ours[9:], theirs[9:]),
    ]
    assert [b.src for b in beads if b.size == (1, 0)] == [4, 5, 6, 7, 8]


def test_blocks_in_another_order_are_found_where_they_stand():
    ours, theirs = sides()
    moved = [*theirs[8:11], *theirs[:8], *theirs[11:]]
    src, trg = side("en", *ours), side("is", *moved)
    costs = [LengthCost(), LexiconCost(WordIds(), learned()), MarkupCost()]
    found = pairs_of(align(src, trg, costs), src, trg)
    assert set(found) == set(zip(ours, theirs))


def test_a_long_page_is_cut_at_anchors_and_gives_the_same_beads():
    texts = [sides(concept) for concept in range(4)]
    ours = [text for page, _ in texts for text in page]
    theirs = [text for _, page in texts for text in page]
    src, trg = side("en", *ours), side("is", *theirs)
    whole = align(
        src, trg, LEXICON_COSTS, DynamicConfig(pieces=AnchorsConfig(piece=1000))
    )
    cut = align(src, trg, LEXICON_COSTS, DynamicConfig(pieces=AnchorsConfig(piece=20)))
    assert [(b.src, b.trg, b.size) for b in cut] == [
        (b.src, b.trg, b.size) for b in whole
    ]


def test_a_page_beyond_the_limit_is_aligned_as_far_as_it_goes():
    src = side("en", *["a sentence"] * 30)
    trg = side("is", *["setning hér"] * 30)
    beads = align(
        src, trg, LEXICON_COSTS, DynamicConfig(pieces=AnchorsConfig(max_sentences=10))
    )
    assert max(b.src for b in beads) == 9


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
