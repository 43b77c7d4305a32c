from __future__ import annotations

import math

import numpy as np
import pytest

from crawler.aligner.bridges.lexicon import collect
from crawler.aligner.sentences.quality import QualityModel
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from tests.unit.crawler.aligner.sentences.test_dynamic import SITE, learned

WORD_IDS = WordIds()
PAIRS = list(zip(SITE.sentences(1, "en"), SITE.sentences(1, "is")))
SHIFTED = [(src, PAIRS[k - 3][1]) for k, (src, _) in enumerate(PAIRS)]


@pytest.fixture(scope="module")
def model() -> QualityModel:
    return QualityModel(WORD_IDS, learned())


def test_translations_have_what_is_expected_and_others_less_than_a_third(model):
    right, wrong = model.lexical_ratios(PAIRS), model.lexical_ratios(SHIFTED)
    assert np.nanmin(right) > 0.5
    assert np.nanmedian(wrong) < 1 / 3
    assert np.nanmax(right) <= 1.5


def test_half_a_translation_is_found_out_on_either_side(model):
    (src, trg) = PAIRS[0]
    longer = [(src, f"{trg} {PAIRS[1][1]}"), (f"{src} {PAIRS[1][0]}", trg)]
    whole, *halves = model.lexical_ratios([(src, trg), *longer])
    assert max(halves) < 0.75 * whole


def test_a_pair_is_judged_for_itself(model):
    together = model.lexical_ratios(PAIRS)
    assert together.tolist() == [model.lexical_ratios([pair])[0] for pair in PAIRS]


def test_a_link_uses_each_word_once(model):
    src, trg = PAIRS[0]
    once, thrice = model.lexical_ratios([(src, trg), (src, f"{trg} {trg} {trg}")])
    assert once == pytest.approx(thrice)


@pytest.mark.parametrize("lexicon", [None, "learned"])
def test_scores_are_probabilities_and_tell_good_from_bad(lexicon):
    model = QualityModel(WORD_IDS, learned() if lexicon else None)
    good, bad = (
        model.scores(pairs, model.lexical_ratios(pairs)) for pairs in (PAIRS, SHIFTED)
    )
    assert ((good >= 0) & (good <= 1)).all()
    assert np.median(good) > np.median(bad)
    if lexicon:
        assert (good > 0.9).all()
        assert np.median(bad) < 0.9


def test_too_few_words_are_not_judged(model):
    assert math.isnan(model.lexical_ratios([("zzz", "qqq")])[0])
    assert model.lexical_ratios([]).tolist() == []


WORDS = (
    "harbour hafnar",
    "values gildi",
    "ferry ferja",
    "tickets miðar",
    "tours ferðir",
)


def place_model(count: float) -> QualityModel:
    """Each word was seen with its translation so often."""
    src, trg = (
        np.concatenate([WORD_IDS.encode(pair.split()[side]) for pair in WORDS])
        for side in (0, 1)
    )
    counts = np.full(len(WORDS), count, np.float32)
    return QualityModel(WORD_IDS, collect(LangPair("en", "is"), src, trg, counts))


def ratio_of(pair: tuple[str, str], count: float, *, beside_gap: bool = False):
    return place_model(count).judged([pair], 1.0, [beside_gap])[0][1]


def test_a_short_row_that_only_its_place_pairs_is_no_translation():
    assert ratio_of(("Ferry tickets", "Gildi hafnar"), 9) == 0
    assert ratio_of(("Ferry tickets", "Miðar í bátinn"), 9) is None


def test_the_name_of_the_site_pairs_no_titles():
    titles = "Ferry tickets – Harbour Ltd", "Gildi hafnar – Harbour Ltd"
    assert ratio_of(titles, 9) == 0
    assert ratio_of((titles[0], "Miðar í ferju – Harbour Ltd"), 9) is None


def test_a_link_that_one_sentence_taught_confirms_nothing():
    row = "Ferry tickets, tours, values", "Ferja, miðar, ferðir, gildi"
    assert ratio_of(row, 1.4) == 0
    assert ratio_of(row, 9) > 1


def test_beside_a_gap_less_knowledge_is_enough_to_refuse():
    row = "Ferry", "Gildi"
    assert ratio_of(row, 2) is None
    assert ratio_of(row, 2, beside_gap=True) == 0
