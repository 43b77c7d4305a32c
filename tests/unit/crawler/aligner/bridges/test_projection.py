from __future__ import annotations

import numpy as np
import pytest

from crawler.aligner.bridges.projection import (
    ProjectionConfig,
    project,
    translation_matrix,
)
from tests.lexicons import features, lexicon, word


def test_pages_that_share_no_word_meet_through_the_lexicon():
    links = lexicon(("horse", "hestur", 9.0), ("sea", "haf", 9.0))
    src = [features("horse", "en"), features("sea", "en")]
    trg = [features("haf", "is"), features("hestur", "is")]
    rows, columns = project(src, trg, links)
    cosines = (rows @ columns.T).toarray()
    assert (cosines > 0.5).tolist() == [[False, True], [True, False]]


def test_rows_have_unit_length():
    src = [features("horse sea 1944 horse", "en"), features("", "en")]
    rows, _ = project(src, [features("haf", "is")], lexicon(("sea", "haf", 1.0)))
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


def test_a_word_is_shared_out_among_its_translations():
    # term by term: tf*(e) = Σ p(e|f) tf(f), df* likewise
    links = lexicon(("house", "hús", 3.0), ("home", "hús", 1.0))
    src = [features(text, "en") for text in ("house dog", "home cat", "cat dog")]
    trg = [features("hús dog hús", "is"), features("cat", "is")]
    rows, columns = project(src, trg, links)
    # the link of hús with itself counts once beside the 3 and 1 that were seen
    p = {"house": 3 / 5, "home": 1 / 5, "hús": 1 / 5}
    tf = {word: 2 * share for word, share in p.items()} | {"dog": 1.0}
    df = {"house": 1 + p["house"], "home": 1 + p["home"], "hús": p["hús"], "dog": 3.0}
    length = {"mean": (sum(tf.values()) + 1) / 2, "own": sum(tf.values())}
    k = 1.2 * (0.25 + 0.75 * length["own"] / length["mean"])
    weight = {
        w: tf[w] * 2.2 / (tf[w] + k) * np.log(1 + (5 - df[w] + 0.5) / (df[w] + 0.5))
        for w in tf
    }
    norm = np.sqrt(sum(value**2 for value in weight.values()))
    expected = sorted(value / norm for value in weight.values())
    found = columns[0].toarray().ravel()
    assert sorted(found[found > 0]) == pytest.approx(expected, rel=1e-5)
    assert rows.shape[1] == columns.shape[1]


PRINTED = ProjectionConfig(f_given_e=True, unknown=False)


def test_the_printed_formula_takes_the_probability_of_the_foreign_word():
    # Ture et al. (2011), section 3.1: tf*(e) = Σ p(f|e) tf(f), of these counts
    counts = {("house", "hús"): 3.0, ("house", "heimili"): 1.0, ("home", "hús"): 6.0}
    links = lexicon(*((e, f, count) for (e, f), count in counts.items()))
    e = {text: word(text) for text, _ in counts}
    f = {text: word(text) for _, text in counts}
    vocabulary = np.sort(np.array([*e.values(), *f.values()], np.uint32))
    trg = np.sort(np.array([*f.values()], np.uint32))
    matrix = translation_matrix(trg, vocabulary, links, PRINTED).toarray()
    for (one, other), count in counts.items():
        total = sum(n for (first, _), n in counts.items() if first == one)
        row, column = (
            np.searchsorted(trg, f[other]),
            np.searchsorted(vocabulary, e[one]),
        )
        assert matrix[row, column] == pytest.approx(count / total)
    assert np.count_nonzero(matrix) == len(counts)  # no word stands for itself


def test_terms_that_come_once_and_pages_of_few_terms_can_be_left_out():
    links = lexicon(("sea", "haf", 1.0), ("horse", "hestur", 1.0))
    src = [features("sea horse cat", "en"), features("sea", "en")]
    trg = [features("haf hestur haf hestur", "is"), features("haf", "is")]
    config = ProjectionConfig(unknown=False, min_count=2, min_terms=2)
    rows, columns = project(src, trg, links, config)
    # horse and cat come once in the pages of src, so its first page has one term left
    assert np.diff(rows.indptr).tolist() == [0, 0]
    assert np.diff(columns.indptr).tolist() == [2, 0]
