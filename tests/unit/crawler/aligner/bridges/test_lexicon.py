from __future__ import annotations

import random

import numpy as np
import pytest

from crawler.aligner.bridges.lexicon import Lexicon, LexiconConfig, collect, induce
from crawler.data import LangPair
from crawler.errors import ProfileError

LANGS = LangPair("en", "is")
# The word n of src is translated by the word 1000 + n of trg.
WORDS = 40


def segments(count: int = 400, seed: int = 0):
    chance = random.Random(seed)
    for _ in range(count):
        src = [chance.randrange(WORDS) for _ in range(chance.randint(2, 8))]
        trg = [1000 + word for word in src]
        chance.shuffle(trg)
        yield np.array(src, np.uint32), np.array(trg, np.uint32)


def best(lexicon: Lexicon) -> dict[int, int]:
    found = {}
    for _p, src, trg in sorted(zip(lexicon.p_trg(), lexicon.src, lexicon.trg)):
        found[int(src)] = int(trg)
    return found


def test_words_that_come_together_translate_each_other():
    lexicon = induce(list(segments()), LANGS)
    assert best(lexicon) == {word: 1000 + word for word in range(WORDS)}


def test_a_segment_that_comes_often_counts_once():
    pairs = list(segments())
    assert induce(pairs * 3, LANGS).digest == induce(pairs, LANGS).digest


def test_segments_that_were_not_translated_teach_nothing():
    same = np.array([1, 2, 3], np.uint32)
    assert len(induce([(same, same)], LANGS)) == 0


def test_time_is_bounded_by_the_number_of_links():
    few = LexiconConfig(max_links=200)
    assert 0 < len(induce(list(segments()), LANGS, few)) < WORDS * 8


def test_two_lexicons_add_up():
    one = induce(list(segments(seed=1)), LANGS)
    two = induce(list(segments(seed=2)), LANGS)
    both = one + two
    assert both.count.sum() == pytest.approx(one.count.sum() + two.count.sum())
    assert (two + one).digest == both.digest
    assert best(both) == best(one)


def test_probabilities_sum_to_one():
    lexicon = induce(list(segments()), LANGS)
    for word, p in ((lexicon.src, lexicon.p_trg()), (lexicon.trg, lexicon.p_src())):
        for one in np.unique(word):
            assert p[word == one].sum() == pytest.approx(1)


def test_a_saved_lexicon_serves_both_directions(tmp_path):
    lexicon = induce(list(segments()), LANGS)
    path = tmp_path / "lexicon.npz"
    lexicon.save(path)
    assert Lexicon.load(path, LANGS).digest == lexicon.digest
    reverse = Lexicon.load(path, LangPair("is", "en"))
    assert {v: k for k, v in best(reverse).items()} == best(lexicon)


def test_a_file_that_is_not_a_lexicon_of_these_languages_is_refused(tmp_path):
    path = tmp_path / "lexicon.npz"
    induce(list(segments()), LANGS).save(path)
    with pytest.raises(ProfileError, match=r"languages en,is, not en,fr"):
        Lexicon.load(path, LangPair("en", "fr"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ProfileError, match=r"lexicon\.npz of an earlier run"):
        Lexicon.load(path, LANGS)
    with pytest.raises(ProfileError, match="not a lexicon"):
        Lexicon.load(tmp_path / "missing.npz", LANGS)


def test_a_table_that_somebody_changed_is_refused(tmp_path):
    path = tmp_path / "lexicon.npz"
    induce(list(segments()), LANGS).save(path)
    with np.load(path) as table:
        columns = dict(table)
    columns["count"][0] *= 2
    np.savez_compressed(path, **columns)
    with pytest.raises(ProfileError, match="its digest is"):
        Lexicon.load(path, LANGS)
    del columns["digest"]  # of a version that wrote none
    np.savez_compressed(path, **columns)
    assert Lexicon.load(path, LANGS)


def test_the_clearest_links_are_near_the_best_of_one_of_their_words():
    src, trg, count = zip((1, 11, 9), (1, 12, 3), (2, 12, 9), (3, 13, 2), (3, 14, 2))
    lexicon = collect(
        LANGS,
        np.array(src, np.uint32),
        np.array(trg, np.uint32),
        np.array(count, np.float32),
    )
    clear = lexicon.clearest(0.5)
    assert list(zip(clear.src, clear.trg)) == [(1, 11), (2, 12), (3, 13), (3, 14)]
    assert not len(Lexicon.empty(LANGS).clearest(0.5))
