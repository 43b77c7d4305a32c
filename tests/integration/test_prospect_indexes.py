"""Indexes behind an address, read by range; kills; and a real Spark."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawler.data import LangPair
from crawler.errors import RunDirError
from crawler.prospect.estimate import estimate, write_table
from crawler.prospect.pieces import sample_sources
from crawler.prospect.rows import find_sources, read_rows
from crawler.prospect.sample import Prospector
from crawler.prospect.spark import prospect_on_spark
from crawler.warc.cdxj import surt
from models.rules import UrlLanguageRules, UrlPairRules
from tests.commands import environment
from tests.rangeserver import ranges_of

LANGS = LangPair("en", "is")
MODELS = UrlLanguageRules(), UrlPairRules()
URLS = sorted(
    (
        f"https://site{site}.example.{suffix}/{lang}/page{n}"
        for site in range(20)
        for suffix in ("is", "com")
        for lang in ("en", "is", "de")
        for n in range(10 * (1 + site))
    ),
    key=surt,
)

# Reads the sources piece by piece, as `bifocal prospect` does, and slowly.
_READ = """
import sys, time
from collections import Counter
from pathlib import Path
from crawler.data import LangPair
from crawler.prospect import pieces
from crawler.prospect.sample import Prospector

write = pieces._Pieces.write
def slowly(self, *where):
    write(self, *where)
    time.sleep(0.2)
pieces._Pieces.write = slowly
folder, *sources = sys.argv[1:]
prospector = Prospector(LangPair("en", "is"))
pieces.sample_sources(sources, prospector, Counter(), Path(folder), rows=700)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A ZipNum file, members of gzip of 300 lines each, and a Parquet file."""
    folder = tmp_path_factory.mktemp("indexes")
    lines = [line_of(url) for url in URLS]
    lines.insert(450, "org,broken)/ 20240102030405 {not JSON\n")
    blocks = ["".join(lines[n : n + 300]) for n in range(0, len(lines), 300)]
    packed = b"".join(gzip.compress(block.encode()) for block in blocks)
    (folder / "cdx-00000.gz").write_bytes(packed)
    urls = [url.replace("example", "parquet") for url in URLS]
    columns = {
        "url": [*urls, "nonsense"],
        "fetch_status": pa.array([200] * (len(urls) + 1), pa.int16()),
        "content_languages": [None] * (len(urls) + 1),
        "warc_filename": [f"crawl-data/{n}.warc.gz" for n in range(len(urls) + 1)],
    }
    out = folder / "part.parquet"
    pq.write_table(pa.table(columns), out, row_group_size=500)
    return folder


def line_of(url):
    fields = {"url": url, "mime": "text/html", "status": "200", "filename": "w"}
    fields |= {"offset": "1", "length": "9", "languages": "isl,eng"}
    if "/is/" not in url:
        del fields["languages"]
    return f"{surt(url)} 20240102030405 {json.dumps(fields)}\n"


def table_of(sources, folder, rows=1_000_000):
    prospector, counts = Prospector(LANGS), Counter()
    sample_sources(sources, prospector, counts, folder, rows)
    found = [estimate(s, p, LANGS, *MODELS) for s, p in prospector.samples().items()]
    return written(found), counts


def written(prospects):
    file = StringIO()
    write_table(prospects, LANGS, file)
    return file.getvalue()


def test_indexes_behind_an_address_go_on_where_a_kill_stopped_them(folder, tmp_path):
    local = [str(folder / "cdx-00000.gz"), str(folder / "part.parquet")]
    whole, counts = table_of(local, tmp_path / "whole")
    assert counts["prospect/dropped/line"] == 2
    assert counts["prospect/rows"] == 2 * len(URLS)
    with ranges_of(folder) as (address, asked):
        sources = [f"{address}/{Path(path).name}" for path in local]
        pieces = tmp_path / "pieces"
        child = subprocess.Popen(
            [sys.executable, "-c", _READ, pieces, *sources], env=environment()
        )
        while child.poll() is None and len(list(pieces.glob("*.piece"))) < 3:
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        kept = {path: path.read_bytes() for path in pieces.glob("*.piece")}
        assert len(kept) >= 3
        assert table_of(sources, pieces, rows=700) == (whole, counts)
    assert kept.items() <= {p: p.read_bytes() for p in pieces.glob("*.piece")}.items()
    assert any("part.parquet bytes=" in ranged for ranged in asked)


def test_a_folder_with_a_list_and_a_part_of_an_index_is_read_whole(folder, tmp_path):
    (tmp_path / "urls.txt").write_text(
        "https://a.example/en/\n\nhttps://a.example/is/\n"
    )
    counts = Counter[str]()
    with ranges_of(tmp_path) as (address, _):
        rows = list(read_rows(f"{address}/urls.txt", counts))
    assert [row.url for row in rows] == [
        "https://a.example/en/",
        "https://a.example/is/",
    ]
    assert find_sources([str(folder)]) == [
        str(folder / name) for name in ("cdx-00000.gz", "part.parquet")
    ]


def test_pieces_of_other_languages_are_not_taken_for_ours(folder, tmp_path):
    source = [str(folder / "part.parquet")]
    table_of(source, tmp_path / "pieces")
    with pytest.raises(RunDirError, match="other sources or languages"):
        sample_sources(
            source, Prospector(LangPair("en", "de")), Counter(), tmp_path / "pieces"
        )


@pytest.mark.spark
@pytest.mark.skipif(
    not shutil.which("java") and not os.environ.get("CI"),
    reason="no Java (apt-get install openjdk-17-jre-headless)",
)
def test_spark_gives_the_table_of_one_machine(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    sources = sorted(map(str, folder.iterdir()))
    expected, counts = table_of(sources, tmp_path / "pieces")
    counted: Counter[str] = Counter()
    found = prospect_on_spark(
        sources, LANGS, MODELS, counted, master="local[2]", most_sites=1000
    )
    assert (written(found), counted) == (expected, counts)
