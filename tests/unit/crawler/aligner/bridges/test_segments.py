from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.bridges.segments import (
    align_blocks,
    batches,
    cheapest_paths,
    segments_of,
)
from crawler.aligner.features import Featurizer
from crawler.data import LangPair
from tests.documents import make_document

FEATURIZER = Featurizer(LangPair("en", "is"))
SKIP = 2.5


def features(texts: list[str], lang: str = "en", tag: str = "p"):
    tokens = ("<" + tag, "", "</" + tag) * len(texts)
    return FEATURIZER.featurize(
        make_document(
            url="u",
            site="s",
            lang=lang,
            tokens=tokens,
            chunks=tuple(texts),
        )
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


sizes = st.tuples(st.integers(0, 7), st.integers(0, 7))


@given(st.lists(sizes, min_size=1, max_size=4), st.integers(0, 10_000))
def test_no_path_is_cheaper(shapes, seed):
    chance = np.random.default_rng(seed)
    costs = [chance.uniform(-4, 8, shape) for shape in shapes]
    for cost, path in zip(costs, cheapest_paths(costs), strict=True):
        assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(path))
        price = sum(cost[cell] for cell in path)
        price += SKIP * (sum(cost.shape) - 2 * len(path))
        assert price == pytest.approx(naive(cost))


def test_each_matrix_is_in_one_batch_and_no_batch_is_large():
    shapes = [(n % 300, 300 - n % 280) for n in range(400)]
    found = list(batches(shapes))
    assert sorted(itertools.chain.from_iterable(found)) == list(range(400))
    for batch in found:
        rows, columns = (max(shapes[n][side] for n in batch) for side in (0, 1))
        assert len(batch) * rows * columns <= 1 << 17 or len(batch) == 1


def test_blocks_of_like_length_and_words_stand_side_by_side():
    src = features(["Short title", "A long paragraph about Reykjavik in 1944 " * 4])
    trg = features(
        ["Stuttur titill", "auglýsing " * 40, "Löng grein um Reykjavik 1944 " * 5], "is"
    )
    assert align_blocks([(src, trg)]) == [[(0, 0), (1, 2)]]


def test_code_teaches_no_words():
    src, trg = features(["int main"], tag="pre"), features(["void main"], "is", "pre")
    assert segments_of([(src, trg)]) == [[]]


def test_a_page_without_blocks_has_no_segments():
    assert segments_of([(features([]), features(["Orð"], "is"))]) == [[]]
