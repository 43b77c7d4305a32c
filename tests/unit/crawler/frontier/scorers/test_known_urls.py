from __future__ import annotations

from crawler.frontier.scorers.known_urls import folders_of


def test_folders_go_from_coarse_to_fine_and_not_deeper_than_three():
    deep = ("a.is", "a.is/b", "a.is/b/c", "a.is/b/c/d")
    assert folders_of("a.is/b/c/d/e/f") == deep
    assert folders_of("a.is/b/x?x=/1/2") == ("a.is", "a.is/b")


def test_folders_that_are_numbers_are_one_before_each_is_its_own():
    years = ("a.is", "a.is/news", "a.is/news/#", "a.is/news/2024")
    assert folders_of("a.is/news/2024/visit") == years
