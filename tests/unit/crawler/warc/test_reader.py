from __future__ import annotations

import gzip
import lzma
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.errors import WarcError
from crawler.warc.reader import iter_pages, read_page, read_record, warc_files
from crawler.warc.record import WarcLocation, layout, sha1
from tests.worlds import build_site, write_warc

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def record(kind: str = "response", block: bytes = OK + b"<p>", **headers: str) -> bytes:
    """A record; `target_uri="…"` becomes the header WARC-Target-URI."""
    values = {
        "target_uri": "https://example.org/",
        "date": "2024-03-01T12:00:00Z",
        "record_id": "<urn:uuid:1>",
    } | headers
    named = [
        (f"WARC-{name.replace('_', '-')}", value) for name, value in values.items()
    ]
    return layout([("WARC-Type", kind), *named], block)


def pages(path: Path, *records: bytes):
    """The pages of a file of these records, and what was counted."""
    path.write_bytes(b"".join(map(gzip.compress, records)))
    counts: Counter[str] = Counter()
    found = list(iter_pages(path, counts=counts))
    return found, {k: v for k, v in counts.items() if k not in SEEN}


SEEN = {"warc/records", "warc/pages"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "test.warc.gz"


def test_a_response_becomes_a_page(file):
    found, counts = pages(file, record(target_uri="HTTPS://Example.org:443/a#top"))
    (page,) = found
    assert page.url == "https://example.org/a"
    assert page.status == 200
    assert page.headers == (("Content-Type", "text/html"),)
    assert page.body == b"<p>"
    assert page.fetched_at == datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
    assert page.record_id == "<urn:uuid:1>"
    assert counts == {}


def test_every_status_is_a_page_and_other_records_are_not(file):
    missing = b"HTTP/1.1 404 Not Found\r\n\r\n"
    found, counts = pages(
        file,
        record("warcinfo", b"a: b"),
        record("request", b"GET / HTTP/1.1\r\n\r\n"),
        record(block=missing),
        record("metadata", b"a: b"),
    )
    assert [page.status for page in found] == [404]
    assert counts == {}


def test_a_resource_record_is_a_page(file):
    block = "<p>Halló".encode()
    data = layout(
        [
            ("WARC-Type", "resource"),
            ("WARC-Target-URI", "https://example.org/"),
            ("Content-Type", "text/html"),
        ],
        block,
    )
    (page,), _ = pages(file, data)
    assert (page.status, page.header("content-type")) == (200, "text/html")
    assert page.body == block


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (record(target_uri=""), "dropped/no_url"),
        (record(target_uri="dns:example.org"), "dropped/bad_url"),
        (record(target_uri="urn:x"), "dropped/bad_url"),
        (record(target_uri="https://"), "dropped/bad_url"),
        (record(block=b"<html>no head</html>"), "dropped/bad_http"),
        (record(block=b""), "dropped/bad_http"),
        (record(date="yesterday"), "repaired/date"),
    ],
)
def test_every_drop_and_repair_has_a_reason(file, data, reason):
    found, counts = pages(file, data, record(target_uri="https://example.org/next"))
    assert counts == {f"warc/{reason}": 1}
    assert found[-1].url == "https://example.org/next"
    assert len(found) == (2 if "repaired" in reason else 1)


def test_wget_puts_angle_brackets_around_uris(file):
    (page,), _ = pages(file, record(target_uri="<https://example.org/a>"))
    assert page.url == "https://example.org/a"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-03-01T12:00:00.5Z", datetime(2024, 3, 1, 12, 0, 0, 500_000, UTC)),
        ("2024-03-01T12:00:00+02:00", datetime(2024, 3, 1, 10, 0, tzinfo=UTC)),
        ("2024-03-01", datetime(2024, 3, 1, tzinfo=UTC)),
    ],
)
def test_dates_of_every_precision_are_utc(file, text, date):
    (page,), _ = pages(file, record(date=text))
    assert page.fetched_at == date


def test_headers_give_their_bytes_back(file):
    location = "/það".encode()
    block = b"HTTP/1.1 301 Moved\r\nLocation: " + location + b"\r\n\r\n"
    (page,), _ = pages(file, record(block=block))
    assert page.header("location").encode("latin-1") == location


# ------------------------------------------------------------------- revisits


def revisit(digest: str, url: str) -> bytes:
    return record("revisit", OK, target_uri=url, payload_digest=digest)


def test_a_revisit_has_the_body_of_its_original_wherever_that_is(tmp_path):
    digest = sha1(b"<p>")
    first = revisit(digest, "https://example.org/again")
    (tmp_path / "1.warc").write_bytes(first + record(block=OK + b"<p>other</p>"))
    (tmp_path / "2.warc").write_bytes(record(payload_digest=digest))
    counts: Counter[str] = Counter()
    found = list(iter_pages(tmp_path, counts=counts))
    assert [(page.url, page.body) for page in found] == [
        ("https://example.org/", b"<p>other</p>"),
        ("https://example.org/", b"<p>"),
        ("https://example.org/again", b"<p>"),
    ]
    assert counts["warc/pages"] == 3
    assert counts["warc/dropped/revisit"] == 0


@pytest.mark.parametrize("digest", ["sha1:X", ""])
def test_a_revisit_without_original_is_counted(file, digest):
    found, counts = pages(file, record(), revisit(digest, "https://example.org/2"))
    assert len(found) == 1
    assert counts == {"warc/dropped/revisit": 1}


# ------------------------------------------------------------------- files


def test_a_folder_is_read_at_any_depth_in_order(tmp_path):
    site = build_site(concepts=4)
    files = ["b.warc", "a/z.warc.gz", "a/y.warc.xz", "c.warc.gz.open"]
    (tmp_path / "a").mkdir()
    for number, name in enumerate(files):
        target = tmp_path / name
        warc = write_warc(
            tmp_path / ("x." + name.removesuffix(".open").partition(".")[2]),
            [site.page(number, "en")],
        )
        warc.rename(target)
    (tmp_path / "notes.txt").write_text("no WARC")
    (tmp_path / "a.warc").mkdir()  # a folder, whatever its name
    in_order = ["a/y.warc.xz", "a/z.warc.gz", "b.warc", "c.warc.gz.open"]
    assert warc_files(tmp_path) == [tmp_path / name for name in in_order]
    assert [page.url for page in iter_pages(tmp_path)] == [
        site.url(number, "en") for number in (2, 1, 0, 3)
    ]


def test_files_are_known_by_their_first_bytes_not_their_names(tmp_path):
    site = build_site(concepts=2)
    for pack in (bytes, gzip.compress, lzma.compress):
        plain = write_warc(tmp_path / "a.warc", site.pages()).read_bytes()
        (tmp_path / "download").write_bytes(pack(plain))
        assert list(iter_pages(tmp_path / "download")) == list(
            iter_pages(tmp_path / "a.warc")
        )


def test_nothing_to_read_is_an_error(tmp_path):
    with pytest.raises(WarcError, match="no WARC files in this folder"):
        list(iter_pages(tmp_path))
    with pytest.raises(WarcError, match="no such file"):
        list(iter_pages([tmp_path / "missing.warc.gz"]))


def test_equal_bytes_in_four_packings(tmp_path):
    site = build_site(concepts=5)
    names = ["a.warc", "a.warc.gz", "a.warc.xz"]
    read = [list(iter_pages(write_warc(tmp_path / n, site.pages()))) for n in names]
    assert read[0] == read[1] == read[2]
    assert [(p.url, p.body) for p in read[0]] == [(p.url, p.body) for p in site.pages()]


# ------------------------------------------------------------------- one record


def test_a_stale_location_is_an_error(tmp_path):
    path = tmp_path / "a.warc"
    path.write_bytes(record() + record("metadata", b"a: b"))
    size = len(record())
    good = WarcLocation("a.warc", 0, size)
    assert read_record(good, tmp_path).type == "response"
    for offset, length in ((3, size), (0, size // 2), (10**9, size), (0, 3)):
        with pytest.raises(WarcError, match="no readable record at byte"):
            read_record(WarcLocation("a.warc", offset, length), tmp_path)
    with pytest.raises(WarcError, match="is not a page"):
        read_page(WarcLocation("a.warc", size, 1000), tmp_path)
    with pytest.raises(WarcError, match="the index is of another folder"):
        read_page(WarcLocation("gone.warc", 0, size), tmp_path)
