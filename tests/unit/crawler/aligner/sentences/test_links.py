from __future__ import annotations

import numpy as np
import pytest

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.links import LexiconTable
from crawler.aligner.sentences.tokens import TokenIds
from crawler.data import LangPair

WORDS = TokenIds().encode(["ferja bátur"]), TokenIds().encode(["ferry boat"])


def lexicon(*counts: float) -> Lexicon:
    """The first word translates the first one, the second the second."""
    src, trg = (side.vocabulary[side.word] for side in WORDS)
    order = np.argsort(src)
    count = np.array(counts, np.float32)
    return Lexicon(LangPair("is", "en"), src[order], trg[order], count[order])


def test_what_a_lexicon_has_seen_once_says_nothing_of_the_text_that_taught_it():
    found = LexiconTable.of(lexicon(1.0, 4.0)).between(*WORDS)
    assert found.forward.tolist() == pytest.approx([0.75])
    assert found.src.tolist() == [WORDS[0].word[1]]


def test_every_word_of_a_dictionary_counts():
    found = LexiconTable.of(lexicon(1.0, 1.0)).between(*WORDS)
    assert found.forward.tolist() == [1.0, 1.0]
