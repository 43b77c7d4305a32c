from __future__ import annotations

import gzip

from crawler import cli
from crawler.data import PairScore
from crawler.realign.docalign import HEADER, matches
from crawler.sinks.pairs import write_pairs

PAIRS = [
    PairScore("https://a.example/en/1", "https://a.example/is/1", 0.7),
    PairScore("https://a.example/en/2", "https://a.example/is/2", 0.9),
    PairScore("https://a.example/en/3", "https://b.example/is/3", 0.8),
]


def folders(tmp_path):
    for lang, lines in {
        "en": ["https://A.example/en/2", "nix", "https://a.example/en/1"],
        "is": ["https://a.example/is/1", "https://a.example/is/2"],
    }.items():
        (tmp_path / lang).mkdir()
        data = "\n".join(lines).encode()
        (tmp_path / lang / "url.gz").write_bytes(gzip.compress(data))
    return tmp_path / "en", tmp_path / "is"


def test_pairs_are_named_by_the_lines_of_their_pages_best_first(tmp_path):
    rows = list(matches(PAIRS, *folders(tmp_path)))
    assert rows == [HEADER, ("0.900000", "1", "2"), ("0.700000", "3", "1")]


def test_the_verb_prints_the_table(tmp_path, capsys):
    src, trg = folders(tmp_path)
    assert cli.main(["docalign", str(tmp_path), str(src), str(trg)]) == 1
    assert "no such file" in capsys.readouterr().err
    write_pairs(tmp_path / "pairs.tsv.gz", PAIRS)
    assert cli.main(["docalign", str(tmp_path), str(src), str(trg)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["\t".join(HEADER), "0.900000\t1\t2", "0.700000\t3\t1"]
