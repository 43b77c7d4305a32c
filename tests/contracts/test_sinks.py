"""What every sink of sentence pairs promises, and what reads its file afterwards."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree

from crawler.data import CorpusPair, LangPair, Origin, SentencePair
from crawler.errors import RunDirError
from crawler.sinks.jsonl import jsonl_sink
from crawler.sinks.moses import moses_sink
from crawler.sinks.parquet import parquet_sink
from crawler.sinks.tmx import tmx_sink
from crawler.sinks.tsv import BITEXTOR, COLUMNS, tsv_sink

LANGS = LangPair("en", "is")
DATE = datetime(2026, 5, 1, tzinfo=UTC)
DTD = Path(__file__).resolve().parents[1] / "data" / "tmx14.dtd"
TEXTS = [
    ("Plain text.", "Venjulegur texti."),
    ('a < b & c > d "quoted" ]]>', "tab\there,\nnew line, 'single'"),
    ("control \x0b and \ufffe", "half \ud83d of a pair, 日本語 🙂"),
]
ITEMS = [
    CorpusPair(
        f"{number:016x}",
        SentencePair(
            "https://a.is/en?x=1&y=2", "https://a.is/is", src, trg, 0.75, 0.9, (1, 2)
        ),
        (
            Origin("https://a.is/en?x=1&y=2", "w/a.warc.gz", 17, "<urn:uuid:1>"),
            Origin("https://a.is/is"),
        ),
        copies=3,
    )
    for number, (src, trg) in enumerate(TEXTS)
]
SINKS = {
    "en-is.tsv.gz": tsv_sink,
    "en-is.tmx": lambda path: tmx_sink(path, LANGS, "0.1", DATE),
    "en-is.tmx.gz": lambda path: tmx_sink(path, LANGS, "0.1", DATE),
    "en-is.jsonl.gz": lambda path: jsonl_sink(path, LANGS),
    "en-is.parquet": lambda path: parquet_sink(path, LANGS),
}


def written(folder: Path, name: str) -> Path:
    with SINKS[name](folder / name) as write:
        for item in ITEMS:
            write(item)
    return folder / name


@pytest.mark.parametrize("name", SINKS)
def test_a_file_is_there_when_it_is_complete_and_not_before(name, tmp_path):
    with SINKS[name](tmp_path / name) as write:
        write(ITEMS[0])
        assert not (tmp_path / name).exists()
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", SINKS)
def test_an_error_leaves_nothing_behind(name, tmp_path):
    with suppress(KeyboardInterrupt), SINKS[name](tmp_path / name) as write:
        write(ITEMS[0])
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SINKS)
def test_equal_pairs_give_equal_bytes(name, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    first, second = (written(tmp_path / folder, name) for folder in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", SINKS)
def test_a_folder_that_is_not_there_is_one_clear_error(name, tmp_path):
    sink = SINKS[name](tmp_path / "none" / name)
    with pytest.raises(RunDirError, match="cannot be written"), sink:
        pass


def plain(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())


def test_the_tsv_has_the_columns_of_bitextor_first(tmp_path):
    text = gzip.decompress(written(tmp_path, "en-is.tsv.gz").read_bytes()).decode()
    header, *lines = text.split("\n")[:-1]
    assert header.split("\t") == list(COLUMNS)
    assert COLUMNS[: len(BITEXTOR)] == BITEXTOR
    for line, (src, trg) in zip(lines, TEXTS, strict=True):
        cells = line.split("\t")
        assert len(cells) == len(COLUMNS)
        # Bicleaner's defaults: --scol 3 --tcol 4
        assert (cells[2], cells[3]) == (plain(src), plain(trg))
        assert float(cells[4]) == 0.75


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://a.is")', "+1+1", "-2+cmd", "@SUM(A1)", "＝1+1"]
)
def test_the_tsv_holds_no_formula_if_asked(text, tmp_path):
    item = CorpusPair(
        "0" * 16,
        SentencePair(
            "https://a.is/", "https://a.is/is", text, "-3.5", 0.75, 0.9, (1, 1)
        ),
        (Origin("https://a.is/"), Origin("https://a.is/is")),
    )
    cells = {}
    for no_formulas in (False, True):
        path = tmp_path / f"{no_formulas}.tsv"
        with tsv_sink(path, no_formulas=no_formulas) as write:
            write(item)
        line = path.read_text("utf-8").splitlines()[1]
        cells[no_formulas] = line.split("\t")
    assert cells[False][2:4] == [text, "-3.5"]
    assert cells[True][2:4] == [f"'{text}", "-3.5"]
    assert [a for a, b in zip(*cells.values()) if a != b] == [text]


def test_the_jsonl_has_a_line_for_each_pair(tmp_path):
    with gzip.open(written(tmp_path, "en-is.jsonl.gz"), "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert rows[0]["translation"] == {"en": "Plain text.", "is": "Venjulegur texti."}
    assert rows[0]["src"]["offset"] == 17
    assert rows[0]["trg"]["warc"] is None


def test_the_tmx_is_valid_by_its_dtd(tmp_path):
    tree = etree.parse(str(written(tmp_path, "en-is.tmx")))
    with DTD.open("rb") as file:
        dtd = etree.DTD(file)
    assert dtd.validate(tree), dtd.error_log
    assert tree.docinfo.doctype == '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'


def test_the_translate_toolkit_opens_the_tmx(tmp_path):
    from translate.storage.tmx import tmxfile

    packed = written(tmp_path, "en-is.tmx.gz").read_bytes()
    units = tmxfile.parsestring(gzip.decompress(packed)).units
    assert [(u.source, u.target) for u in units[:2]] == TEXTS[:2]


def test_plain_texts_have_a_line_for_each_pair(tmp_path):
    folder = tmp_path / "harbour"
    folder.mkdir()
    with moses_sink(folder, LANGS) as write:
        for item in ITEMS:
            write(item)
    lines = {
        path.name: gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]
        for path in folder.iterdir()
    }
    assert lines == {
        "harbour.en-is.en.gz": [plain(src) for src, _ in TEXTS],
        "harbour.en-is.is.gz": [plain(trg) for _, trg in TEXTS],
        "harbour.en-is.ids.gz": [f"{item.id}\t0.7500" for item in ITEMS],
    }


@pytest.mark.parametrize("name", ["en-is.parquet", "en-is.jsonl.gz"])
def test_datasets_loads_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    datasets = pytest.importorskip("datasets")
    kind = "parquet" if name.endswith("parquet") else "json"
    loaded = datasets.load_dataset(
        kind,
        data_files=str(written(tmp_path, name)),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert loaded[0]["translation"] == {"en": "Plain text.", "is": "Venjulegur texti."}
    assert loaded[0]["src"]["record_id"] == "<urn:uuid:1>"
    assert loaded["copies"] == [3, 3, 3]
