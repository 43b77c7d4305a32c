from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.errors import WarcError
from crawler.warc.cdxj import cdxj_line, entry_of, index_path, write_cdxj
from crawler.warc.index import WarcIndex
from crawler.warc.reader import iter_records
from crawler.warc.record import layout, sha1
from tests.worlds import build_site, response_record, write_warc

SITE = build_site(concepts=12)


def write_sidecar(warc: Path) -> Path:
    lines = [
        cdxj_line(entry_of(record, record.location, Counter()))
        for record in iter_records(warc)
    ]
    write_cdxj(lines, index_path(warc))
    return index_path(warc)


@pytest.mark.parametrize("suffix", [".warc", ".warc.gz", ".warc.xz"])
def test_every_page_is_found_again_in_every_packing(tmp_path, suffix):
    index = WarcIndex.build(write_warc(tmp_path / f"a{suffix}", SITE.pages()))
    pages = list(SITE.pages())
    assert list(index) == [page.url for page in pages]
    for page in reversed(pages):
        read = index.read(page.url)
        assert (read.body, read.headers, read.fetched_at) == (
            page.body,
            page.headers,
            page.fetched_at,
        )
    index.close()


def test_the_first_answer_200_stands_for_a_url(tmp_path):
    page = SITE.page(0, "en")
    versions = [
        replace(page, status=500, body=b"1"),
        replace(page, status=404, body=b"2"),
        replace(page, body=b"3"),
        replace(page, body=b"4"),
    ]
    index = WarcIndex.build(write_warc(tmp_path / "a.warc.gz", versions))
    assert index.read(page.url).body == b"3"
    index = WarcIndex.build(write_warc(tmp_path / "a.warc.gz", versions[:2]))
    assert index.read(page.url).body == b"1"


def test_the_index_beside_a_file_is_used(tmp_path):
    warc = write_warc(tmp_path / "a.warc.gz", SITE.pages())
    counts: Counter[str] = Counter()
    scanned = WarcIndex.build(warc, counts=counts)
    assert counts["warc/records"] == len(scanned)
    write_sidecar(warc)
    counts.clear()
    index = WarcIndex.build(warc, counts=counts)
    assert counts["warc/records"] == 0
    assert set(index) == set(scanned)
    assert index.read(SITE.home).body == SITE.page(0, "en").body


@pytest.mark.parametrize("defect", ["older", "foreign", "damaged", "beyond", "empty"])
def test_an_index_that_cannot_be_trusted_is_not_used(tmp_path, defect):
    warc = write_warc(tmp_path / "a.warc.gz", SITE.pages())
    cdxj = write_sidecar(warc)
    text = cdxj.read_text()
    if defect == "older":
        os.utime(cdxj, (0, 0))
    elif defect == "foreign":
        cdxj.write_text(text.replace("a.warc.gz", "b.warc.gz"))
    elif defect == "damaged":
        cdxj.write_text(text + "garbage")
    elif defect == "beyond":
        cdxj.write_text(text.replace('"length": "', '"length": "9'))
    else:
        cdxj.write_text("")
    counts: Counter[str] = Counter()
    index = WarcIndex.build(warc, counts=counts)
    assert counts["warc/records"] == len(index) == len(list(SITE.pages()))


def test_a_revisit_leads_to_its_original(tmp_path):
    page = SITE.page(0, "en")
    again, gone = (
        layout(
            [
                ("WARC-Type", "revisit"),
                ("WARC-Target-URI", url),
                ("WARC-Date", "2024-03-02T00:00:00Z"),
                ("WARC-Payload-Digest", digest),
            ],
            b"HTTP/1.1 200 OK\r\n\r\n",
        )
        for url, digest in (
            ("https://example.org/again", sha1(page.body)),
            ("https://example.org/gone", "sha1:X"),
        )
    )
    path = tmp_path / "a.warc"
    path.write_bytes(again + gone + response_record(page))
    counts: Counter[str] = Counter()
    index = WarcIndex.build(path, counts=counts)
    assert index.read("https://example.org/again").body == page.body
    assert index.read("https://example.org/again").url == "https://example.org/again"
    assert "https://example.org/gone" not in index
    assert counts["warc/dropped/revisit"] == 1


def test_a_file_that_changed_under_the_index_is_an_error(tmp_path):
    warc = write_warc(tmp_path / "a.warc.gz", SITE.pages())
    index = WarcIndex.build(warc)
    warc.write_bytes(b"something else" * 10_000)
    with pytest.raises(WarcError, match="index it again"):
        index.read(SITE.home)


def test_an_unknown_url_is_a_key_error(tmp_path):
    index = WarcIndex.build(write_warc(tmp_path / "a.warc", SITE.pages()))
    with pytest.raises(KeyError):
        index.read("https://example.org/unknown")
