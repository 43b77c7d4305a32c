from __future__ import annotations

import numpy as np

from crawler.aligner.bridges.projection import project, translation_matrix
from tests.lexicons import lexicon, sketch, word


def test_pages_that_share_no_word_meet_through_the_lexicon():
    links = lexicon(("horse", "hestur", 9.0), ("sea", "haf", 9.0))
    src = [sketch("horse", "en"), sketch("sea", "en")]
    trg = [sketch("haf", "is"), sketch("hestur", "is")]
    rows, columns = project(src, trg, links)
    cosines = (rows @ columns.T).toarray()
    assert (cosines > 0.5).tolist() == [[False, True], [True, False]]


def test_rows_have_unit_length():
    src = [sketch("horse sea 1944 horse", "en"), sketch("", "en")]
    rows, _ = project(src, [sketch("haf", "is")], lexicon(("sea", "haf", 1.0)))
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    np.testing.assert_allclose(lengths, [1, 0], atol=1e-6)


def test_a_word_stands_for_itself_until_the_lexicon_knows_better():
    words = np.sort(np.array([word("sea"), word("haf"), word("1944")], np.uint32))
    trg = np.sort(np.array([word("haf"), word("1944")], np.uint32))
    matrix = translation_matrix(trg, words, lexicon(("sea", "haf", 3.0))).toarray()
    at = {int(w): n for n, w in enumerate(words)}
    haf, year = (matrix[list(trg).index(word(text))] for text in ("haf", "1944"))
    assert haf[at[word("sea")]] == 0.75
    assert haf[at[word("haf")]] == 0.25
    assert year[at[word("1944")]] == 1
