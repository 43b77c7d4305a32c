from __future__ import annotations

from crawler.aligner.sentences.tokens import TokenIds
from crawler.aligner.words import WordIds


def words(*texts: str):
    tokens = TokenIds().encode(texts)
    return [
        set(tokens.vocabulary[tokens.word[start:end]].tolist())
        for start, end in zip(tokens.starts, tokens.starts[1:])
    ]


def test_words_have_the_ids_that_they_have_in_a_lexicon():
    text = "Three huts at 2.5 km; 山小屋"
    known = set(WordIds().encode(text).tolist())
    assert known < words(text)[0]


def test_marks_are_words_and_the_same_in_all_scripts():
    question, statement, japanese = words("Is it open?", "It is open.", "開いている？")
    assert question - statement == question & japanese
    assert len(question & japanese) == 1


def test_quotation_marks_of_all_languages_are_one():
    german, french = words("„Ja“", "« Oui »")
    assert len(german & french) == 1


def test_words_that_begin_alike_share_a_prefix_whatever_their_accents():
    tokens = TokenIds().encode(["président", "präsident", "presse", "prix"])
    prefixes = [int(tokens.prefixes[place]) for place in tokens.word]
    assert prefixes[0] == prefixes[2] != prefixes[1]
    assert prefixes[3] == 0


def test_a_text_without_words_has_no_tokens():
    tokens = TokenIds().encode(["", " ", "word"])
    assert tokens.counts.tolist() == [0, 0, 1]
    assert len(TokenIds().encode([])) == 0
