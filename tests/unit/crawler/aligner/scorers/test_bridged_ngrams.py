from __future__ import annotations

import numpy as np
import pytest

from crawler.aligner.frequencies import Frequencies
from crawler.aligner.scorers.ngrams import BridgedNgramsConfig, BridgedNgramScorer
from crawler.config import Plugin
from crawler.data import CandidatePair, LangPair
from tests.lexicons import features, lexicon

LINKS = lexicon(
    ("the", "der", 9.0),
    ("old", "alt", 9.0),
    ("horse", "pferd", 9.0),
    ("sea", "meer", 9),
)
LANGS = LangPair("en", "is")


def scored(src: str, trg: str, **options: object) -> dict[str, float]:
    pages = features(src, "en"), features(trg, "is")
    frequencies = Frequencies(LANGS)
    for page in (*pages, features("nothing of this", "en")):
        frequencies.add(page)
    config = BridgedNgramsConfig(orders=(1, 2, 3), **options)  # type: ignore[arg-type]
    scorer = BridgedNgramScorer(LINKS, frequencies, config)
    return dict(scorer.score([CandidatePair(*pages, frozenset())])[0])


@pytest.mark.parametrize("bridge", ["word_for_word", "word_clusters"])
def test_a_translation_word_by_word_has_every_ngram(bridge):
    found = scored("old horse sea old", "alt pferd meer alt", bridge=Plugin(bridge))
    assert list(found) == ["bridged.1", "bridged.2", "bridged.3"]
    assert list(found.values()) == pytest.approx([1.0, 1.0, 1.0])


def test_the_same_words_in_another_order_share_only_single_words():
    found = scored("old horse sea", "meer pferd alt")
    assert found["bridged.1"] == pytest.approx(1.0)
    assert found["bridged.2"] == 0.0


def test_an_ngram_weighs_as_much_as_its_words():
    # of three 2-grams on either side one is shared; by hand, from the idf of the words
    src, trg = "old horse sea the", "alt pferd der meer"
    pages = features(src, "en"), features(trg, "is")
    frequencies = Frequencies(LANGS)
    for page in (*pages, features("nothing of this", "en")):
        frequencies.add(page)
    idf = [frequencies.idf(page.words).astype(float) for page in pages]
    weights = [side[:-1] + side[1:] for side in idf]
    expected = weights[0][0] * weights[1][0]
    expected /= np.sqrt((weights[0] ** 2).sum() * (weights[1] ** 2).sum())
    assert scored(src, trg)["bridged.2"] == pytest.approx(expected)


def test_a_page_shorter_than_the_order_shares_nothing():
    assert scored("horse", "pferd")["bridged.3"] == 0.0
