from __future__ import annotations

import base64
import gzip
import logging

import pytest

from crawler import cli
from crawler.data import PairScore
from crawler.errors import WarcError
from crawler.realign.docalign import HEADER, bleualign_input, matches
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


def column(path, texts):
    cells = (base64.b64encode(text.encode()) for text in texts)
    path.write_bytes(gzip.compress(b"\n".join(cells) + b"\n"))
    return path


def test_bleualign_gets_both_texts_and_the_translation_of_the_first(tmp_path, caplog):
    src, trg = folders(tmp_path)
    translated = tmp_path / "en.to.is.gz"
    with pytest.raises(WarcError, match="has no texts"):
        list(bleualign_input(PAIRS, src, trg, translated))
    column(src / "plain_text.gz", ["not", "this", "one"])
    column(src / "sentences.gz", ["One.\nTwo.\n", "nix", "Three.\nFour."])
    column(trg / "text.gz", ["Þrír.", "Einn.\nTveir.\n"])
    column(translated, ["1.\n2.\n", "", "3."])
    with caplog.at_level(logging.WARNING):
        (row,) = bleualign_input(PAIRS, src, trg, translated)
    assert "line 3 does not have a translation" in caplog.text
    assert row[:2] == ("https://a.example/en/2", "https://a.example/is/2")
    texts = [base64.b64decode(cell).decode() for cell in row[2:]]
    assert texts == ["One.\nTwo.\n", "Einn.\nTveir.\n", "1.\n2.\n"]


def test_the_verb_prints_the_input_of_bleualign(tmp_path, capsys):
    src, trg = folders(tmp_path)
    column(src / "text.gz", ["a", "b", "c"])
    column(trg / "text.gz", ["d", "e"])
    translated = column(tmp_path / "en.to.is.gz", ["f", "g", "h"])
    write_pairs(tmp_path / "pairs.tsv.gz", PAIRS)
    words = ["docalign", str(tmp_path), str(src), str(trg)]
    assert cli.main([*words, "--translated", str(translated)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [len(line.split("\t")) for line in lines] == [5, 5]
