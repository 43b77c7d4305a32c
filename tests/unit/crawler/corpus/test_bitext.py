from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.corpus.bitext import Row, is_bitext, read_bitext, sentence_pairs
from crawler.data import CorpusPair, LangPair, Origin, SentencePair
from crawler.errors import RunDirError
from crawler.sinks.jsonl import jsonl_sink
from crawler.sinks.moses import moses_sink
from crawler.sinks.tmx import tmx_sink
from crawler.sinks.tsv import tsv_sink
from tests.worlds import build_site

LANGS = LangPair("en", "is")
TEXTS = [("One <b> & two.", "Einn & tveir."), ("Three.", "Þrír."), ("4 a", "4 b")]
DATE = datetime(2026, 5, 1, tzinfo=UTC)


def read(path: Path, langs: LangPair = LANGS) -> tuple[list[Row], Counter[str]]:
    counts: Counter[str] = Counter()
    return list(read_bitext(path, langs, counts)), counts


def texts(path: Path, langs: LangPair = LANGS) -> list[tuple[str, str]]:
    return [(row.src, row.trg) for row in read(path, langs)[0]]


@pytest.mark.parametrize("name", ["a.tsv.gz", "a.tmx", "a.tmx.gz", "a.jsonl.gz", "m"])
def test_what_a_corpus_writes_can_be_read_again(name, tmp_path):
    path = tmp_path / name
    sink = {
        "a.tsv.gz": lambda: tsv_sink(path),
        "a.tmx": lambda: tmx_sink(path, LANGS, "0.1", DATE),
        "a.tmx.gz": lambda: tmx_sink(path, LANGS, "0.1", DATE),
        "a.jsonl.gz": lambda: jsonl_sink(path, LANGS),
        "m": lambda: moses_sink(path, LANGS),
    }[name]()
    if name == "m":
        path.mkdir()
        path = path / "m.en-is"
    with sink as write:
        for number, (src, trg) in enumerate(TEXTS):
            urls = "https://a.is/en", "https://a.is/is"
            pair = SentencePair(*urls, src, trg, 0.5, 0.9, (1, 1))
            write(CorpusPair(f"{number:016}", pair, (Origin(urls[0]), Origin(urls[1]))))
    assert is_bitext(path)
    assert texts(path) == TEXTS
    (row, *_), _ = read(path)
    if "t" in name:  # TSV and TMX have the addresses of the pages
        assert (row.src_url, row.trg_url) == ("https://a.is/en", "https://a.is/is")
    else:
        assert row.src_url == row.trg_url == f"file:{path.name}"


def test_the_languages_may_be_asked_for_the_other_way_round(tmp_path):
    (tmp_path / "a.en").write_text("One.\nTwo.\n")
    (tmp_path / "a.is").write_text("Einn.\nTveir.\n")
    turned = [("Einn.", "One."), ("Tveir.", "Two.")]
    for name in ("a", "a.en", "a.is"):
        assert texts(tmp_path / name, LangPair("is", "en")) == turned


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["One.\tEinn.", "Two.\tTveir."], [("One.", "Einn."), ("Two.", "Tveir.")]),
        (["is\ten", "Einn.\tOne."], [("One.", "Einn.")]),
        (["http://a/\thttp://b/\tOne.\tEinn.\t0.9"], [("One.", "Einn.")]),
        (["src_text\tx\ttrg_text", "One.\t-\tEinn."], [("One.", "Einn.")]),
    ],
)
def test_columns_are_found_by_their_names_or_their_places(lines, expected, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("\n".join(lines))
    assert texts(path) == expected


def test_rows_without_two_texts_are_counted(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("One.\tEinn.\nnothing\n \tTveir.\nThree.\tÞrír.\n")
    rows, counts = read(path)
    assert [row.src for row in rows] == ["One.", "Three."]
    assert counts == {"corpus/dropped/bitext": 2}
    path = tmp_path / "a.jsonl"
    lines = [{"translation": {"en": "One.", "is": "Einn."}}, {"translation": {}}, [1]]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n{")
    rows, counts = read(path)
    assert [row.trg for row in rows] == ["Einn."]
    assert counts == {"corpus/dropped/bitext": 3}


def test_a_unit_of_a_tmx_may_have_more_languages_and_markup(tmp_path):
    path = tmp_path / "a.tmx"
    unit = """<tu><tuv xml:lang="EN-US"><seg>Click <bpt i="1">&lt;b&gt;</bpt>here</seg>
    </tuv><tuv lang="fr"><seg>Ici</seg></tuv><tuv xml:lang="is"><seg>Smelltu</seg></tuv>
    </tu><tu><tuv xml:lang="en"><seg>alone</seg></tuv></tu>"""
    path.write_text(f'<tmx version="1.4"><body>{unit}</body></tmx>')
    assert texts(path) == [("Click <b>here", "Smelltu")]
    assert read(path)[1] == {"corpus/dropped/bitext": 1}
    assert texts(path, LangPair("fr", "is")) == [("Ici", "Smelltu")]


def test_an_entity_of_a_tmx_is_not_read(tmp_path):
    (tmp_path / "secret").write_text("secret")
    path = tmp_path / "a.tmx"
    path.write_text(
        f'<!DOCTYPE tmx [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><tmx><body><tu>'
        '<tuv xml:lang="en"><seg>One &x;</seg></tuv>'
        '<tuv xml:lang="is"><seg>Einn</seg></tuv></tu></body></tmx>'
    )
    assert "secret" not in str(texts(path))


@pytest.mark.parametrize(
    ("files", "name", "says"),
    [
        ({"a.tmx": b"<tmx><body><tu>"}, "a.tmx", "cannot be read"),
        ({"a.tsv.gz": gzip.compress(b"a\tb\n")[:15]}, "a.tsv.gz", "cannot be read"),
        ({"a.csv": b"a,b"}, "a.csv", "not a known file of sentence pairs"),
        ({"a.en": b"One.\n"}, "a.en", r"expected a\.en and a\.is"),
        ({"a.en": b"1\n2\n", "a.is": b"1\n"}, "a.en", "one ends after 1 lines"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_error(files, name, says, tmp_path):
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)
    with pytest.raises(RunDirError, match=says):
        read(tmp_path / name)


def test_right_pairs_have_a_better_score_than_wrong_ones(tmp_path):
    site = build_site(concepts=120)
    sides = [
        [text for concept in range(120) for text in site.sentences(concept, lang)]
        for lang in LANGS
    ]
    pairs = list(zip(*sides, strict=True))
    shuffled = random.Random(1).sample(sides[1], len(sides[1]))
    wrong = [(src, trg) for (src, right), trg in zip(pairs, shuffled) if right != trg]
    (tmp_path / "a.tsv").write_text(
        "\n".join("\t".join(pair) for pair in (*pairs, *wrong[: len(wrong) // 4]))
    )
    found = list(sentence_pairs(tmp_path / "a.tsv", LANGS, None, Counter()))
    scores = [pair.score for pair in found]
    right = sum(score > 0.95 for score in scores[: len(pairs)]) / len(pairs)
    kept = sum(score > 0.95 for score in scores[len(pairs) :])
    assert right > 0.9
    assert kept < 0.1 * (len(found) - len(pairs))
    assert [pair.places[0] for pair in found] == list(range(len(found)))
