from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from crawler.aligner.scorers.strand import correlation, strand
from crawler.aligner.sketch import Sketcher
from crawler.data import Document, LangPair
from crawler.extract.linearize import linearize

SKETCHER = Sketcher(LangPair("en", "fr"))


def sketch(html: str, lang: str = "en"):
    page = linearize(html)
    return SKETCHER.sketch(
        Document(
            "http://a.org/", "a.org", lang, 1, "", page.tokens, page.chunks, (), ""
        )
    )


# Resnik & Smith (2003), figure 5, the two pages before alignment
ENGLISH = """<HTML><HEAD></HEAD><BODY><H1>Emergency Exit</H1><P>If seated at an exit and
</P></BODY></HTML>"""
FRENCH = """<HTML><HEAD></HEAD><BODY><H1>Sortie de Secours</H1>Si vous êtes assis à
côté d'une</BODY></HTML>"""


def test_chunk_lengths_leave_white_space_out_as_in_the_paper():
    assert sketch(FRENCH, "fr").chunk_lengths[0] == len("SortiedeSecours") == 15
    assert sketch(ENGLISH).chunk_lengths[0] == len("EmergencyExit") == 13


def test_unpaired_markup_is_the_difference():
    features = strand(sketch(ENGLISH), sketch(FRENCH, "fr"))
    # <p and </p stand alone; body, h1, two chunks and the end tags have partners
    total = len(sketch(ENGLISH).markup) + len(sketch(FRENCH, "fr").markup)
    assert features["strand.dp"] == pytest.approx(2 / total)
    assert features["strand.n"] == 2


def test_a_page_is_no_distance_from_itself():
    page = sketch("<h1>One</h1><p>Two words</p><p>And three more</p><p>Four</p>")
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
        r, p = correlation(x, y)
        assert r == pytest.approx(expected.statistic)
        assert p == pytest.approx(expected.pvalue, abs=1e-12)


def test_lengths_that_do_not_vary_say_nothing():
    assert correlation([5] * 10, [5] * 10) == (0.0, 1.0)
    assert correlation([1, 3], [2, 4]) == (0.0, 1.0)
