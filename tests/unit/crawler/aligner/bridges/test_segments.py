from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.bridges.segments import align_blocks, cheapest_path, segments_of
from crawler.aligner.sketch import Sketcher
from crawler.data import Document, LangPair

SKETCHER = Sketcher(LangPair("en", "is"))
SKIP = 2.5


def sketch(texts: list[str], lang: str = "en", tag: str = "p"):
    tokens = ("<" + tag, "", "</" + tag) * len(texts)
    return SKETCHER.sketch(
        Document("u", "s", lang, 1, "", tokens, tuple(texts), (), "")
    )


def naive(cost: np.ndarray) -> float:
    rows, columns = cost.shape
    total = np.zeros((rows + 1, columns + 1))
    for i in range(rows + 1):
        for j in range(columns + 1):
            ways = [total[i - 1, j] + SKIP] if i else []
            ways += [total[i, j - 1] + SKIP] if j else []
            ways += [total[i - 1, j - 1] + cost[i - 1, j - 1]] if i and j else []
            total[i, j] = min(ways, default=0.0)
    return float(total[-1, -1])


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 10_000))
def test_no_path_is_cheaper(rows, columns, seed):
    cost = np.random.default_rng(seed).uniform(-4, 8, (rows, columns))
    path = cheapest_path(cost)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(path))
    price = sum(cost[cell] for cell in path)
    price += SKIP * (rows + columns - 2 * len(path))
    assert price == pytest.approx(naive(cost))


def test_blocks_of_like_length_and_words_stand_side_by_side():
    src = sketch(["Short title", "A long paragraph about Reykjavik in 1944 " * 4])
    trg = sketch(
        ["Stuttur titill", "auglýsing " * 40, "Löng grein um Reykjavik 1944 " * 5], "is"
    )
    assert align_blocks(src, trg) == [(0, 0), (1, 2)]


def test_code_teaches_no_words():
    src, trg = sketch(["int main"], tag="pre"), sketch(["void main"], "is", "pre")
    assert list(segments_of(src, trg)) == []


def test_a_page_without_blocks_has_no_segments():
    assert list(segments_of(sketch([]), sketch(["Orð"], "is"))) == []
