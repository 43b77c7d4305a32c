"""From a crawl to a corpus, by the commands that a user types."""

from __future__ import annotations

import gzip
import json
import time

from crawler.sinks.growing import read_lines
from tests.commands import bifocal, crawling
from tests.webserver import Server
from tests.worlds import build_site


def test_a_crawl_leaves_sentences_and_its_run_becomes_a_corpus(tmp_path):
    run, out = tmp_path / "run", tmp_path / "corpus"
    crawled = bifocal("demo", "--out", run)
    assert crawled.returncode == 0, crawled.stderr
    assert str(run / "sentences.tsv.gz") in crawled.stdout
    streamed = [line.split("\t") for line in read_lines(run / "sentences.tsv.gz")][1:]
    assert len(streamed) > 500

    options = ("--langs", "en,is", "--out", out, "--monolingual")
    made = bifocal("corpus", run, *options, "--formats", "tsv,tmx,jsonl,parquet")
    assert made.returncode == 0, made.stderr
    with gzip.open(out / "en-is.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert f"{len(rows)} sentence pairs" in made.stdout
    # the same sentences, but for blocks that only the pages without a pair repeat
    other = {row["id"] for row in rows} - {cells[10] for cells in streamed}
    assert len(other) < 0.02 * len(rows)
    assert all(row["src"]["warc"].startswith(str(run / "warc")) for row in rows)

    shown = bifocal("stats", out)
    assert shown.returncode == 0, shown.stderr
    assert f"{len(rows):,} sentence pairs" in shown.stdout


def test_a_mistake_in_a_corpus_request_is_one_line(tmp_path):
    for arguments in (
        ("corpus", tmp_path / "none", "--langs", "en,is", "--out", tmp_path / "o"),
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
