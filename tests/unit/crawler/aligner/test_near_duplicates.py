from __future__ import annotations

from crawler.aligner.features import Featurizer
from crawler.aligner.near_duplicates import (
    CopiesConfig,
    join_copies,
    join_near_copies,
    trigrams,
)
from crawler.data import LangPair
from crawler.unionfind import UnionFind
from tests.documents import make_document

FEATURIZER = Featurizer(LangPair("en", "is"))


def features(words: list[str]):
    chunks = (" ".join(words),)
    return FEATURIZER.featurize(
        make_document(
            url="u",
            site="s",
            lang="en",
            tokens=("<p", "", "</p"),
            chunks=chunks,
        )
    )


def clusters_of(texts: list[list[str]], join, of=lambda page: page) -> list[int]:
    clusters = UnionFind[int]()
    pages = [features(text) for text in texts]
    join(clusters, range(len(texts)), lambda page: of(pages[page]))
    return [clusters.find(page) for page in range(len(texts))]


def join_near(clusters, pages, grams) -> None:
    join_near_copies(clusters, pages, grams, CopiesConfig().min_jaccard)


TEXT = [f"word{n}" for n in range(200)]


def test_copies_are_one_cluster_and_its_first_page_stands_for_it():
    other = [f"other{n}" for n in range(20)]
    assert clusters_of([other, TEXT, other, TEXT], join_copies) == [0, 1, 0, 1]


def test_pages_of_a_dozen_words_are_no_copies_for_having_the_same():
    menu = ["site", "menu", "with", "search"]
    assert clusters_of([menu, menu], join_copies) == [0, 1]


def test_rivals_that_differ_in_a_few_words_are_near_copies():
    near = [*TEXT[:100], "changed", *TEXT[101:]]
    half = [*TEXT[:100], *(f"other{n}" for n in range(100))]
    assert clusters_of([TEXT, near, half], join_near, trigrams) == [0, 0, 2]
