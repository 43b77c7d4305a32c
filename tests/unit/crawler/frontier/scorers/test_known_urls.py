from __future__ import annotations

from crawler.frontier.scorers.known_urls import folders_of


def test_folders_go_from_coarse_to_fine_and_not_deeper_than_three():
    assert folders_of("a.is/1/2/3/4/5") == ("a.is", "a.is/1", "a.is/1/2", "a.is/1/2/3")
    assert folders_of("a.is/1/x?x=/1/2") == ("a.is", "a.is/1")
