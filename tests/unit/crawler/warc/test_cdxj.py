from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.warc.cdxj import (
    IndexEntry,
    cdxj_line,
    entry_of,
    index_path,
    parse_cdxj,
    read_cdxj,
    surt,
    write_cdxj,
)
from crawler.warc.reader import iter_records
from crawler.warc.record import WarcLocation
from tests.worlds import build_site, write_warc

ENTRY = IndexEntry(
    "https://example.org/is/?a=1",
    datetime(2024, 3, 1, 12, 0, 7, tzinfo=UTC),
    200,
    "text/html",
    "sha1:ABC",
    WarcLocation("a.warc.gz", 1000, 200),
)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://www.example.org", "org,example)/"),
        ("https://www2.example.org/A/B/", "org,example)/a/b"),
        ("https://is.example.org:8080/a?C=2&b=1", "org,example,is:8080)/a?b=1&c=2"),
        ("http://127.0.0.1:81/a//b", "1,0,0,127:81)/a/b"),
        ("http://[::1]/a", "[::1])/a"),
    ],
)
def test_keys_are_those_of_the_wayback_machine(url, key):
    assert surt(url) == key


def test_a_line_is_key_timestamp_and_json():
    key, timestamp, fields = cdxj_line(ENTRY).split(" ", 2)
    assert key == "org,example)/is?a=1"
    assert timestamp == "20240301120007"
    assert json.loads(fields) == {
        "url": "https://example.org/is/?a=1",
        "mime": "text/html",
        "status": "200",
        "digest": "sha1:ABC",
        "length": "200",
        "offset": "1000",
        "filename": "a.warc.gz",
    }


def test_a_line_gives_its_entry_back():
    assert parse_cdxj(cdxj_line(ENTRY)) == ENTRY


@pytest.mark.parametrize(
    "line",
    [
        "",
        "org,example)/ 20240301120007",
        "org,example)/ 20240301120007 {",
        "org,example)/ 20240301120007 []",
        "org,example)/ 20240301120007 {}",
        cdxj_line(ENTRY).replace("20240301120007", "2024"),
        cdxj_line(ENTRY).replace('"1000"', '"-1"'),
        cdxj_line(ENTRY).replace('"200"', '"many"'),
        cdxj_line(ENTRY).replace("https:", "ftp:"),
    ],
)
def test_other_lines_are_no_entries(line):
    assert parse_cdxj(line) is None


def test_a_file_is_sorted_and_read_back(tmp_path):
    path = tmp_path / "a.cdxj"
    write_cdxj(["b", cdxj_line(ENTRY), "a"], path)
    assert path.read_text() == f"a\nb\n{cdxj_line(ENTRY)}\n"
    assert list(read_cdxj(path)) == [None, None, ENTRY]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 25])
def test_what_is_too_much_for_memory_is_sorted_in_runs(tmp_path, monkeypatch, count):
    monkeypatch.setattr("crawler.warc.cdxj._RUN", 10)
    lines = [f"{n * 7919 % 1000:03} {n}" for n in range(count)]
    write_cdxj(iter(lines), tmp_path / "a.cdxj")
    assert (tmp_path / "a.cdxj").read_text().split("\n")[:-1] == sorted(lines)
    assert [path.name for path in tmp_path.iterdir()] == ["a.cdxj"]


def test_the_index_lies_beside_the_file():
    assert index_path(Path("x/a-1.warc.gz")) == Path("x/a-1.cdxj")
    assert index_path(Path("x/a-1.warc.gz.open")) == Path("x/a-1.cdxj")


def test_an_entry_says_what_a_record_holds(tmp_path):
    site = build_site(concepts=1)
    path = write_warc(tmp_path / "a.warc.gz", site.pages())
    record = next(iter_records(path))
    entry = entry_of(record, record.location, Counter())
    assert (entry.url, entry.status, entry.mime) == (site.home, 200, "text/html")
    assert entry.digest.startswith("sha1:")
    assert entry.location.length == record.length
