from __future__ import annotations

import numpy as np
import pytest

from models.ngrams import MAX_CHARS, PADDING, hashed_ngrams, url_string


def numbers(text, **options):
    row = hashed_ngrams([text], 2**16, **options)[0]
    return row[row != PADDING].tolist()


def test_one_number_for_each_ngram_and_word():
    assert len(numbers("abc de", orders=(2, 3))) == 5 + 4 + 2


def test_equal_ngrams_have_equal_numbers_wherever_they_stand():
    assert numbers("abc", orders=(3,))[0] in numbers("xxabcyy", orders=(3,))
    assert numbers("abcabc", orders=(3,))[0] == numbers("abcabc", orders=(3,))[3]


def test_a_word_is_not_the_ngram_of_the_same_letters():
    ngram, word = numbers("abcd", orders=(4,))
    assert ngram != word


def test_a_text_does_not_depend_on_its_neighbours():
    alone = numbers("grønne-æbler/日本語")
    together = hashed_ngrams(["x", "grønne-æbler/日本語", "a" * 300], 2**16)[1]
    assert sorted(together[together != PADDING].tolist()) == sorted(alone)


def test_the_numbers_are_the_same_everywhere():
    # weights are useless on a machine that hashes differently
    assert numbers("is", orders=(2,)) == NUMBERS_OF_IS


NUMBERS_OF_IS = [51651, 11596]


@pytest.mark.parametrize("text", ["", "a", "\ud800x", "\x00", "😀" * 500])
def test_any_text_will_do(text):
    row = hashed_ngrams([text, "ab"], 2**12)
    assert row.shape[0] == 2
    assert row.dtype == np.int64
    assert 0 <= row.min() <= row.max() < 2**12


def test_no_texts_no_rows():
    assert hashed_ngrams([], 16).shape[0] == 0


def test_a_url_is_decoded_and_cut():
    assert url_string("http://www.a.org/%C3%89t%C3%A9/") == "^a.org/été$"
    assert len(url_string("http://a.org/" + "x" * 3000)) == MAX_CHARS
