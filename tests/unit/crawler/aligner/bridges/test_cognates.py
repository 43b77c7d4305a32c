from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crawler.aligner.bridges.cognates import (
    MAX_WORDS,
    cognates,
    letter_weights,
    similarity,
)
from crawler.aligner.bridges.lexicon import Lexicon, collect
from crawler.aligner.words import WordIds
from crawler.data import LangPair

LANGS = LangPair("en", "nb")


def number(word: str) -> int:
    return int(WordIds().encode(word)[0])


def lexicon(*links: tuple[str, str]) -> Lexicon:
    ends = np.array([[number(a), number(b)] for a, b in links], np.uint32)
    ends = ends.reshape(-1, 2)
    return collect(LANGS, ends[:, 0], ends[:, 1], np.ones(len(ends), np.float32))


def linked(found: Lexicon) -> set[tuple[int, int]]:
    return set(zip(found.src.tolist(), found.trg.tolist()))


def found(src: str, trg: str, known: Lexicon) -> set[tuple[int, int]]:
    sides = (dict.fromkeys(text.split(), 1) for text in (src, trg))
    return linked(cognates(*sides, known, LANGS))


def test_what_known_pairs_say_of_letters_finds_others():
    # c stands for k: "doctor" and "direktor" differ in more than that
    known = lexicon(("practice", "praktike"), ("contract", "kontrakt"))
    src = "practice contract musical house"
    trg = "praktike kontrakt musikal direktør"
    assert (number("musical"), number("musikal")) in found(src, trg, known)
    strict = similarity("musical", "musikal", {})
    weights = letter_weights([("practice", "praktike"), ("contract", "kontrakt")])
    assert similarity("musical", "musikal", weights) > strict == pytest.approx(6 / 7)


def test_short_words_numbers_and_words_of_two_scripts_have_none():
    assert found("is 2024 parliament", "is 2024 парламент", lexicon()) == set()


def test_pairs_that_are_not_alike_teach_nothing():
    assert letter_weights([("house", "bygning")]) == {}


def test_of_very_many_words_the_most_frequent_are_compared():
    letters = "abcdefghijklmnopqrst"
    rare = {"".join(word): 1 for word in product(letters, repeat=4)}
    assert len(rare) > MAX_WORDS
    for times, is_compared in ((2, True), (1, False)):
        got = cognates({**rare, "zeppelin": times}, {"zeppelin": 1}, lexicon(), LANGS)
        end = number("zeppelin")
        assert ((end, end) in linked(got)) is is_compared


def test_similarity_is_the_same_both_ways_and_at_most_one():
    assert similarity("nasjon", "nasjon", {("a", "a"): 0.1}) == 1
    assert similarity("", "", {}) == 0
