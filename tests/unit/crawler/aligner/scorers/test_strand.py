from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crawler.aligner.features import Featurizer
from crawler.aligner.scorers.strand import StrandScorer, align, correlations
from crawler.data import CandidatePair, LangPair
from crawler.extract.linearize import linearize
from tests.documents import make_document

FEATURIZER = Featurizer(LangPair("en", "fr"))


def page_of(html: str, lang: str = "en"):
    page = linearize(html)
    return FEATURIZER.featurize(
        make_document(
            url="http://a.org/",
            site="a.org",
            lang=lang,
            tokens=page.tokens,
            chunks=page.chunks,
        )
    )


def strand(src, trg):
    return StrandScorer().score([CandidatePair(src, trg, frozenset())])[0]


# Resnik & Smith (2003), figure 5, the two pages before alignment
ENGLISH = """<HTML><HEAD></HEAD><BODY><H1>Emergency Exit</H1><P>If seated at an exit and
</P></BODY></HTML>"""
FRENCH = """<HTML><HEAD></HEAD><BODY><H1>Sortie de Secours</H1>Si vous êtes assis à
côté d'une</BODY></HTML>"""


def test_chunk_lengths_leave_white_space_out_as_in_the_paper():
    assert page_of(FRENCH, "fr").chunk_lengths[0] == len("SortiedeSecours") == 15
    assert page_of(ENGLISH).chunk_lengths[0] == len("EmergencyExit") == 13


def test_unpaired_markup_is_the_difference():
    features = strand(page_of(ENGLISH), page_of(FRENCH, "fr"))
    # <p and </p stand alone; body, h1, two chunks and the end tags have partners
    total = len(page_of(ENGLISH).markup) + len(page_of(FRENCH, "fr").markup)
    assert features["strand.dp"] == pytest.approx(2 / total)
    assert features["strand.n"] == 2


def test_the_distance_of_a_page_from_itself_is_zero():
    page = page_of("<h1>One</h1><p>Two words</p><p>And three more</p><p>Four</p>")
    features = strand(page, page)
    assert features["strand.dp"] == 0
    assert features["strand.n"] == 0
    assert features["strand.r"] == pytest.approx(1)


def test_correlation_agrees_with_scipy():
    random = np.random.default_rng(7)
    for count in (3, 10, 200):
        x = random.integers(1, 300, count)
        y = x + random.integers(0, 200, count)
        expected = stats.pearsonr(x, y)
        r, p = correlations(x, y, np.zeros(count, int), 1)
        assert r[0] == pytest.approx(expected.statistic)
        assert p[0] == pytest.approx(expected.pvalue, abs=1e-12)


def test_lengths_that_do_not_vary_say_nothing():
    for x, y in (([5] * 10, [5] * 10), ([1, 3], [2, 4])):
        r, p = correlations(x, y, np.zeros(len(x), int), 1)
        assert (r[0], p[0]) == (0.0, 1.0)


def longest_common_subsequence(a: bytes, b: bytes) -> int:
    """The textbook's table, as the oracle."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


MARKUP = st.lists(st.sampled_from(["p", "b", "li"]), max_size=25)


@given(st.lists(st.tuples(MARKUP, MARKUP), min_size=1, max_size=4))
def test_tokens_without_partner_are_those_outside_a_longest_common_subsequence(pages):
    pairs = [
        CandidatePair(
            *(page_of("x".join(f"<{tag}>" for tag in p)) for p in pair), set()
        )
        for pair in pages
    ]
    for pair, dp in zip(pairs, align(pairs).dp, strict=True):
        a, b = pair.src.markup, pair.trg.markup
        common = longest_common_subsequence(a, b)
        assert dp == pytest.approx(1 - 2 * common / (len(a) + len(b)))


@given(st.lists(st.tuples(MARKUP, MARKUP), min_size=2, max_size=5))
def test_many_pairs_at_once_are_as_one_by_one(pages):
    pairs = [
        CandidatePair(
            *(page_of("x".join(f"<{tag}>" for tag in p)) for p in pair), set()
        )
        for pair in pages
    ]
    at_once = StrandScorer().score(pairs)
    for pair, features in zip(pairs, at_once, strict=True):
        assert strand(pair.src, pair.trg) == pytest.approx(features)


def test_features_do_not_depend_on_which_page_comes_first():
    pages = page_of(ENGLISH), page_of(FRENCH, "fr")
    assert strand(*pages) == pytest.approx(strand(*reversed(pages)))
