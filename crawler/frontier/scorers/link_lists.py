"""Link lists of two pages that are a pair: the k-th of one, the k-th of the other.

Not in the papers as an order of crawling; Resnik & Smith (2003) look at the structure
of two pages to judge them, here it tells which of their links to fetch next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from rapidfuzz.distance import Indel

T = TypeVar("T")
_NUMBER = re.compile(r"\d+")


def aligned(
    left: Sequence[T], right: Sequence[T], key: Callable[[T], str]
) -> list[tuple[T, T]]:
    """Links that stand in the same place of the two lists; `key` gives the URL.

    Lists of one length go together as they are; others are aligned by the shapes of
    their URLs (longest common subsequence), and gaps of one length count as aligned.

    >>> here = ["http://a.example/en/1.html", "http://a.example/en/about/"]
    >>> aligned(here, ["http://a.example/is/1.html", "http://a.example/is/um/"], str)[1]
    ('http://a.example/en/about/', 'http://a.example/is/um/')
    """
    if len(left) == len(right):
        return list(zip(left, right))
    pairs: list[tuple[T, T]] = []
    for step in Indel.opcodes(
        [shape(key(item)) for item in left], [shape(key(item)) for item in right]
    ):
        here = left[step.src_start : step.src_end]
        there = right[step.dest_start : step.dest_end]
        if len(here) == len(there):
            pairs += zip(here, there)
    return pairs


def shape(url: str) -> str:
    """What a URL and its translation share: depth, numbers, kind of page.

    >>> shape("https://a.example/frettir/2024/7-sumar.html?p=1")
    '3 page 2024 7 1'
    """
    path, _, query = url.partition("://")[2].partition("?")
    folders = path.split("/")[1:]
    kind = "page" if folders and folders[-1] else "folder"
    numbers = " ".join(_NUMBER.findall(path))
    return f"{len(folders)} {kind} {numbers} {query.count('=')}"
