"""From a crawl to a corpus, by the commands that a user types."""

from __future__ import annotations

import ast
import gzip
import json
import time
from pathlib import Path
from typing import Any

from crawler.sinks.growing import read_lines
from tests.commands import bifocal, crawling
from tests.webserver import Server
from tests.worlds import build_site


def test_a_crawl_leaves_sentences_and_its_run_becomes_a_corpus(tmp_path, monkeypatch):
    # tests of other checkouts write folders of the same names
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    run, out = tmp_path / "run", tmp_path / "corpus"
    crawled = bifocal("demo", "--out", run)
    assert crawled.returncode == 0, crawled.stderr
    assert str(run / "sentences.tsv.gz") in crawled.stdout
    streamed = [line.split("\t") for line in read_lines(run / "sentences.tsv.gz")][1:]
    assert len(streamed) > 500

    options = ("--out", out, "--monolingual")
    made = bifocal("corpus", run, *options, "--formats", "tsv,tmx,jsonl,parquet,moses")
    assert made.returncode == 0, made.stderr
    with gzip.open(out / "en-is.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert f"{len(rows)} sentence pairs" in made.stdout
    # the same sentences, but for blocks that only the pages without a pair repeat
    other = {row["id"] for row in rows} - {cells[10] for cells in streamed}
    assert len(other) < 0.02 * len(rows)
    assert all(row["src"]["warc"].startswith(str(run / "warc")) for row in rows)

    names: dict[str, Any] = {}
    for statement in ast.parse(reading_examples(out)).body:
        exec(ast.unparse(statement), names)
        assert len(names.pop("pairs", rows)) == len(rows)
    again, merged = tmp_path / "again", out / "corpus.en-is"
    made = bifocal(
        "corpus", merged, out / "en-is.tmx.gz", "--langs", "en,is", "--out", again
    )
    assert made.returncode == 0, made.stderr
    # both have the same pairs; a lexicon of so few sees some of them as it did not
    assert (
        0.9 * len(rows) < len(list(read_lines(again / "en-is.tsv.gz"))) <= len(rows) + 1
    )

    shown = bifocal("stats", out)
    assert shown.returncode == 0, shown.stderr
    assert f"{len(rows):,} sentence pairs" in shown.stdout


def reading_examples(corpus: Path) -> str:
    """The examples of docs/corpus.md that read a corpus."""
    text = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text("utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    return code.replace("corpora/en-is", str(corpus))


def test_a_mistake_in_a_corpus_request_is_one_line(tmp_path):
    for arguments in (
        ("corpus", tmp_path / "none", "--langs", "en,is", "--out", tmp_path / "o"),
        ("corpus", tmp_path, "--out", tmp_path / "o"),
        ("stats", tmp_path),
    ):
        done = bifocal(*arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("bifocal: error: ")
        assert done.stderr.count("\n") == 1


def test_sentences_come_while_a_polite_crawl_waits(tmp_path):
    town = build_site("town.example", concepts=12, words=80, hreflang=True)
    with Server() as server:
        server.add(town)
        settings = {"DOWNLOAD_DELAY": 0.3}
        seed = server.url("/en/")
        with crawling(seed, "en,is", tmp_path / "run", **settings) as process:
            path = tmp_path / "run" / "sentences.tsv.gz"
            while not path.exists() or len(list(read_lines(path))) < 5:
                assert process.poll() is None
                time.sleep(0.1)
