from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from crawler.errors import WarcError
from crawler.realign.selection import pieces_of_index, select
from crawler.warc.cdxj import parse_cdxj, surt

LANGS = ("en", "is")


def line(url: str, offset: int = 0, **fields: object) -> str:
    known = {
        "url": url,
        "mime": "text/html",
        "status": "200",
        "filename": "a.warc.gz",
        "offset": str(offset),
        "length": "100",
    }
    return f"{surt(url)} 20240301120000 {json.dumps(known | fields)}"


def selected(*lines: str) -> list[str]:
    entries = [entry for text in sorted(lines) if (entry := parse_cdxj(text))]
    assert len(entries) == len(lines)
    return sorted(entry.url for entry in select(entries, LANGS, Counter()))


def test_two_languages_of_one_handle_are_selected():
    pair = ["https://a.example/en/x", "https://a.example/is/x"]
    others = ["https://a.example/en/y", "https://b.example/is/x", "https://a.example/z"]
    assert selected(*map(line, pair + others)) == pair


def test_a_page_without_a_marker_may_be_the_other_half():
    pair = ["https://a.example/x", "https://is.a.example/x"]
    assert selected(*map(line, pair)) == pair


def test_two_addresses_in_one_language_are_not_selected():
    urls = ["https://a.example/en/x", "https://a.example/x?lang=en"]
    assert selected(*map(line, urls)) == []


def test_entries_that_are_not_pages_are_not_selected():
    good = line("https://a.example/en/x")
    for fields in ({"status": "404"}, {"mime": "application/pdf"}):
        assert selected(good, line("https://a.example/is/x", **fields)) == []


def test_languages_that_an_index_names_are_used():
    one = line("https://a.example/x?lang=en", languages="eng")
    assert selected(one, line("https://a.example/x", languages="isl,eng")) != []
    assert selected(one, line("https://a.example/x", languages="eng,isl")) == []
    assert selected(one, line("https://a.example/x", languages="deu")) == []


def test_pieces_name_records_by_file_and_offset(tmp_path):
    lines = [
        line(f"https://a.example/{lang}/{n}", offset=1000 - 10 * n - len(lang + "n"))
        for n in range(3)
        for lang in LANGS
    ]
    lines += [line("https://b.example/en/x", filename="b.warc.gz"), "broken"]
    (tmp_path / "1.cdxj").write_text("\n".join(sorted(lines[::2])) + "\n")
    half = "\n".join(sorted(lines[1::2])).encode()
    (tmp_path / "2.cdxj.gz").write_bytes(gzip.compress(half))
    counts: Counter[str] = Counter()
    indexes = [str(tmp_path / "1.cdxj"), str(tmp_path / "2.cdxj.gz")]
    (piece,) = pieces_of_index(indexes, "s3://x/", LANGS, counts)
    assert piece.path == "s3://x/a.warc.gz"
    assert piece.places == tuple(sorted((1000 - 10 * n - 3, 100) for n in range(3)))
    assert counts == {"cdx/lines": 7, "cdx/selected": 6, "cdx/bad": 1}


def test_an_index_that_cannot_be_read_is_an_error(tmp_path):
    (tmp_path / "a.cdxj.gz").write_bytes(b"\x1f\x8bno")
    for name in ("a.cdxj.gz", "none.cdxj"):
        with pytest.raises(WarcError, match=name):
            pieces_of_index([str(tmp_path / name)], "", LANGS, Counter())
