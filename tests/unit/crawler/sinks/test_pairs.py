from __future__ import annotations

from crawler.data import PairScore
from crawler.sinks.pairs import read_pairs, write_pairs


def test_pairs_come_back_as_they_were_written(tmp_path):
    pairs = [
        PairScore("https://x/a", "https://x/b", 0.5),
        PairScore(
            "https://x/c",
            "https://x/d",
            0.75,
            {"strand.dp": 0.25},
            frozenset(["handles", "links"]),
            ("https://x/c2",),
            ("https://x/d2", "https://x/d3"),
            (("https://x/d", 0.75), ("https://x/e", 0.25)),
            (("https://x/c", 0.75),),
        ),
    ]
    path = tmp_path / "pairs.tsv.gz"
    assert write_pairs(path, pairs) == 2
    assert list(read_pairs(path)) == pairs
