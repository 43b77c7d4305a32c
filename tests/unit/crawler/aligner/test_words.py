from __future__ import annotations

import numpy as np

from crawler.aligner.words import BREAK_ID, WordIds, dense_characters, words_of


def test_numbers_keep_their_points_and_lose_the_full_stop():
    assert words_of("version 2.4.1, page 3.") == ["version", "2.4.1", "page", "3"]


def test_unsegmented_scripts_are_cut_by_script_and_ngram():
    assert words_of("日本語のページ3枚") == ["日本", "本語", "の", "ページ", "3", "枚"]
    assert words_of("ภาษาไทย") == ["ภาษา", "าษาไ", "ษาไท", "าไทย"]


def test_a_number_has_an_odd_id_and_a_word_an_even_one():
    ids = WordIds().encode("Room 42 is 7.5 m wide")
    assert (ids & 1).tolist() == [0, 1, 0, 1, 0, 0]


def test_case_and_punctuation_do_not_change_an_id():
    ids = WordIds()
    assert np.array_equal(ids.encode("(Hello, World!)"), ids.encode("hello world"))


def test_a_break_keeps_its_place():
    assert WordIds().encode("one \n two").tolist()[1] == BREAK_ID


def test_ids_are_the_same_when_the_memory_was_emptied_between():
    ids = WordIds()
    before = ids.encode("the same words")
    ids._packed.clear()
    ids._ids.clear()
    assert np.array_equal(before, ids.encode("the same words"))


def test_only_scripts_that_say_much_in_little_count_as_dense():
    assert dense_characters("Ísland, Россия, Ελλάδα") == 0
    assert dense_characters("東京 서울 abc") == 4


def test_forms_of_a_word_have_one_id_and_names_with_numbers_their_own():
    ids = WordIds()
    assert len(set(ids.encode("viivain viivaimet viivaimien").tolist())) == 1
    assert len(set(ids.encode("filter12 filter13 filter").tolist())) == 3
