from __future__ import annotations

import gzip
import resource
import subprocess
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from warcio.cli import main as warcio

from crawler.errors import WarcError
from crawler.warc.exchange import Exchange
from crawler.warc.reader import iter_pages, iter_records, read_page
from crawler.warc.recovery import recover
from crawler.warc.stored import stored_pages
from crawler.warc.writer import WarcConfig, WarcWriter

NOON = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
HTML = ((b"Content-Type", b"text/html; charset=utf-8"),)


def exchange(number: int = 0, **changes) -> Exchange:
    values = {
        "url": f"https://example.org/{number}",
        "status": 200,
        "response_headers": HTML,
        "body": b"<p>Page %d</p>" % number,
        "fetched_at": NOON + timedelta(seconds=number),
        "reason": "OK",
    }
    return Exchange(**values | changes)


@pytest.fixture
def writer(tmp_path: Path):
    """A writer with a still clock and counted ids."""
    numbers = count(1)

    def make(**config) -> WarcWriter:
        return WarcWriter(
            tmp_path / "warc",
            WarcConfig(**config),
            now=lambda: NOON,
            new_id=lambda: f"<urn:uuid:00000000-0000-4000-8000-{next(numbers):012}>",
        )

    return make


def records(path: Path) -> list[tuple[str, dict[str, str], bytes]]:
    """What warcio, the reference reader, finds in a file."""
    with path.open("rb") as file:
        return [
            (
                record.rec_type,
                dict(record.rec_headers.headers),
                record.raw_stream.read(),
            )
            for record in WarcioIterator(file, no_record_parse=True)
        ]


def only_file(folder: Path) -> Path:
    (file,) = folder.glob("*.warc.gz")
    return file


def test_a_file_has_what_an_archive_needs(writer, tmp_path):
    with writer(info={"operator": "Someone", "robots": "obey"}) as warc:
        location = warc.write_exchange(
            exchange(
                7,
                ip="192.0.2.1",
                request_headers=((b"User-Agent", b"Bifocal"), (b"Accept", b"*/*")),
            )
        )
        warc.write_metadata(
            "https://example.org/7", location.record_id, [("languages", "is 0.9")]
        )
    file = only_file(warc.folder)
    info, request, response, metadata = records(file)
    assert file.name == "bifocal-20240301120000-00001-0.warc.gz"
    assert [r[0] for r in (info, request, response, metadata)] == [
        "warcinfo",
        "request",
        "response",
        "metadata",
    ]
    assert info[1]["WARC-Filename"] == file.name
    assert b"software: Bifocal/" in info[2]
    assert b"format: WARC File Format 1.1\r\n" in info[2]
    assert info[2].endswith(b"operator: Someone\r\nrobots: obey\r\n")
    assert request[1]["WARC-Concurrent-To"] == response[1]["WARC-Record-ID"]
    assert request[2] == (
        b"GET /7 HTTP/1.1\r\nHost: example.org\r\nUser-Agent: Bifocal\r\n"
        b"Accept: */*\r\n\r\n"
    )
    assert response[1]["WARC-Target-URI"] == "https://example.org/7"
    assert response[1]["WARC-Date"] == "2024-03-01T12:00:07Z"
    assert response[1]["WARC-IP-Address"] == "192.0.2.1"
    assert response[1]["WARC-Payload-Digest"].startswith("sha1:")
    assert response[2] == (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        b"<p>Page 7</p>"
    )
    assert metadata[1]["WARC-Refers-To"] == location.record_id
    assert metadata[2] == b"languages: is 0.9\r\n"


def test_same_clock_and_ids_same_bytes(writer, tmp_path):
    with writer() as warc:
        warc.write_exchange(exchange())
    text = gzip.decompress(only_file(warc.folder).read_bytes())
    assert text.partition(b"WARC-Type: request")[2].startswith(
        b"\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000002>\r\n"
        b"WARC-Target-URI: https://example.org/0\r\nWARC-Date: 2024-03-01T12:00:00Z\r\n"
        b"WARC-Concurrent-To: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n"
        b"Content-Type: application/http; msgtype=request\r\n"
    )


def test_headers_that_storing_made_untrue_are_kept_under_another_name(writer):
    headers = (
        (b"Transfer-Encoding", b"chunked"),
        (b"content-length", b"99"),
        (b"Content-Encoding", b"gzip"),
    )
    body = gzip.compress(b"<p>Hello</p>")
    with writer() as warc:
        warc.write_exchange(exchange(response_headers=headers, body=body))
    (page,) = iter_pages(warc.folder)
    assert page.headers == (
        ("X-Crawler-Transfer-Encoding", "chunked"),
        ("X-Crawler-content-length", "99"),
        ("Content-Encoding", "gzip"),
    )
    assert page.body == b"<p>Hello</p>"


def test_a_true_content_length_stays(writer):
    headers = ((b"Content-Length", b"13"),)
    with writer() as warc:
        warc.write_exchange(exchange(response_headers=headers))
    counts: Counter[str] = Counter()
    (page,) = iter_pages(warc.folder, counts=counts)
    assert page.headers == (("Content-Length", "13"),)
    assert not [name for name in counts if "repaired" in name]


def test_http_2_is_written_as_1_1_and_said_so(writer):
    with writer() as warc:
        warc.write_exchange(exchange(http_version="h2", truncated="length"))
    response = records(only_file(warc.folder))[2]
    assert response[1]["WARC-Protocol"] == "h2"
    assert response[1]["WARC-Truncated"] == "length"
    assert response[2].startswith(b"HTTP/1.1 200 OK\r\n")


def test_nothing_that_a_server_sends_can_forge_a_header(writer):
    evil = ((b"X\r\nWARC-Type: a", b"b\r\n\r\n<p>forged</p>\0"),)
    with writer(info={"operator": "a\r\nrobots: ignore"}) as warc:
        warc.write_exchange(
            exchange(response_headers=evil, reason="OK\r\nEvil: 1", ip="1\r\nWARC-X: 2")
        )
        warc.write_metadata("https://example.org/ \r\nX: y", None, [("a\nb", "c\r\nd")])
    info, _, response, metadata = records(only_file(warc.folder))
    assert b"\nrobots:" not in info[2]
    assert "WARC-X" not in response[1]
    assert response[2].count(b"\r\n") == 3  # status, header, blank
    assert metadata[1]["WARC-Target-URI"] == "https://example.org/%20%0D%0AX:%20y"
    assert metadata[2] == b"a b: c d\r\n"


def test_files_rotate_by_size_and_stay_apart(writer):
    with writer(max_bytes=2000, prefix="is1", worker="w3") as warc:
        locations = [warc.write_exchange(exchange(n)) for n in range(10)]
    names = sorted(path.name for path in warc.folder.glob("*.warc.gz"))
    assert len(names) > 1
    assert names[0] == "is1-20240301120000-00001-w3.warc.gz"
    assert names[1] == "is1-20240301120000-00002-w3.warc.gz"
    assert {location.file for location in locations} == set(names)
    assert all(records(warc.folder / name)[0][0] == "warcinfo" for name in names)
    assert [page.url for page in iter_pages(warc.folder)] == [
        f"https://example.org/{n}" for n in range(10)
    ]


def test_a_second_run_in_the_same_second_overwrites_nothing(writer):
    for _ in range(2):
        with writer() as warc:
            warc.write_exchange(exchange())
    assert len(list(iter_pages(warc.folder))) == 2


def test_a_location_leads_back_to_the_page_while_the_file_is_open_and_after(writer):
    with writer() as warc:
        location = warc.write_exchange(exchange(1))
        warc.write_exchange(exchange(2))
        assert list(warc.folder.glob("*.warc.gz")) == []
        assert read_page(location, warc.folder).body == b"<p>Page 1</p>"
    page = read_page(location, warc.folder)
    assert page.body == b"<p>Page 1</p>"
    assert page.record_id == location.record_id
    assert list(warc.folder.glob("*.open")) == []


def test_each_record_is_a_gzip_member_of_its_own(writer):
    with writer() as warc:
        location = warc.write_exchange(exchange())
    data = only_file(warc.folder).read_bytes()
    member = data[location.offset : location.offset + location.length]
    assert gzip.decompress(member).startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")


def test_the_index_beside_the_file_is_sorted_and_complete(writer):
    with writer() as warc:
        for number in (3, 1, 2):
            warc.write_exchange(exchange(number))
    (cdxj,) = warc.folder.glob("*.cdxj")
    lines = cdxj.read_text("ascii").splitlines()
    assert [line.partition(" ")[0] for line in lines] == [
        "org,example)/1",
        "org,example)/2",
        "org,example)/3",
    ]


def test_nothing_is_created_for_nothing(writer):
    with writer() as warc:
        warc.flush()
    assert not warc.folder.exists()


def test_records_are_on_the_disk_as_soon_as_they_are_written(writer):
    with writer(fsync=True) as warc:
        warc.write_exchange(exchange())
        warc.flush()
        copy = next(warc.folder.glob("*.warc.gz.open")).read_bytes()
    assert copy == only_file(warc.folder).read_bytes()


def test_warcio_and_fastwarc_agree_on_what_was_written(writer, capsys):
    bodies = [b"", b"\0\xff" * 5000, b"WARC/1.1\r\n\r\n", b"\r\n\r\n\r\n"]
    with writer(max_bytes=9000) as warc:
        for number, body in enumerate(bodies * 3):
            location = warc.write_exchange(exchange(number, body=body))
            warc.write_metadata(f"https://example.org/{number}", location.record_id, [])
    for file in sorted(warc.folder.glob("*.warc.gz")):
        with pytest.raises(SystemExit) as status:
            warcio(["check", "-v", str(file)])
        assert status.value.code == 0
        ours = [(record.type, record.block) for record in iter_records(file)]
        assert ours == [(kind, block) for kind, _, block in records(file)]
    assert "digest pass" in capsys.readouterr().out


# ------------------------------------------------------------------- the disk


@contextmanager
def largest_file(size: int):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def noise(size: int) -> bytes:
    """What gzip cannot make smaller."""
    return b"".join(n.to_bytes(4, "big") for n in range(7, size * 700_001, 2_800_001))


def fill(warc: WarcWriter) -> tuple[int, WarcError]:
    """Write until it fails: how many exchanges went in, and the error."""
    for number in count():
        try:
            warc.write_exchange(exchange(number, body=noise(4000)))
        except WarcError as error:
            return number, error
    raise AssertionError


def test_a_file_that_cannot_grow_is_an_error_that_loses_nothing(writer):
    warc = writer()
    with largest_file(20_000):
        written, error = fill(warc)
    assert written > 1
    assert "cannot be written: File too large" in str(error)
    assert "RUN_DIR" in str(error)
    assert "\n" not in str(error)
    warc.write_exchange(exchange(999))  # there is room again
    warc.close()
    counts: Counter[str] = Counter()
    pages = list(iter_pages(warc.folder, counts=counts))
    assert [page.url for page in pages[:-1]] == [
        f"https://example.org/{n}" for n in range(written)
    ]
    assert pages[-1].url == "https://example.org/999"
    assert not [name for name in counts if "damaged" in name]


def test_a_full_disk_is_an_error_that_loses_nothing(writer, tmp_path):
    folder = tmp_path / "warc"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        (folder / "ballast").write_bytes(bytes(20_000))
        warc = writer()
        written, error = fill(warc)
        assert "No space left on device" in str(error)
        with (folder / "more").open("ab", buffering=0) as ballast, suppress(OSError):
            while True:
                ballast.write(bytes(100))
        with pytest.raises(WarcError, match="the next start of the same run") as error:
            warc.close()
        assert "\n" not in str(error.value)
        assert len(list(iter_pages(folder))) == written
        (folder / "ballast").unlink()
        (recovered,) = recover(folder)
        assert recovered.cut == 0
        assert len(list(iter_pages(folder))) == written
        assert len(next(folder.glob("*.cdxj")).read_text().splitlines()) == written
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_an_error(tmp_path, place):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WarcError, match="cannot be written") as error:
        WarcWriter(tmp_path / place).write_exchange(exchange())
    assert "RUN_DIR" in str(error.value)


def test_a_file_that_cannot_hold_its_first_record_is_taken_away_again(writer):
    warc = writer()
    with largest_file(100), pytest.raises(WarcError, match="cannot be written"):
        warc.write_exchange(exchange())
    assert list(warc.folder.iterdir()) == []
    warc.close()


LONG = b"<p>The ferry leaves at nine.</p>" * 40
REVISIT = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


def test_a_body_that_comes_again_is_stored_once_if_that_is_asked_for(writer):
    with writer(revisits=True) as warc:
        for number in range(3):
            warc.write_exchange(exchange(number, body=LONG))
        warc.write_exchange(exchange(3, body=b"<p>Short</p>"))
        warc.write_exchange(exchange(4, body=b"<p>Short</p>"))
        warc.write_exchange(exchange(5, body=LONG, status=404))
    found = [r for r in records(only_file(warc.folder)) if r[0] != "request"][1:]
    kinds = ["response", "revisit", "revisit", *["response"] * 3]
    assert [kind for kind, *_ in found] == kinds
    original, again = found[0][1], found[2][1]
    assert again["WARC-Profile"] == REVISIT
    assert again["WARC-Refers-To"] == original["WARC-Record-ID"]
    assert again["WARC-Refers-To-Target-URI"] == original["WARC-Target-URI"]
    assert again["WARC-Refers-To-Date"] == original["WARC-Date"]
    assert again["WARC-Payload-Digest"] == original["WARC-Payload-Digest"]
    assert found[2][2] == (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    )
    with pytest.raises(SystemExit) as status:
        warcio(["check", str(only_file(warc.folder))])
    assert status.value.code == 0
    pages = {page.url: page.body for page in iter_pages(warc.folder)}
    assert [pages[f"https://example.org/{n}"] for n in range(3)] == [LONG] * 3


def test_the_index_names_a_revisit_and_its_page_is_found_by_it(writer):
    with writer(revisits=True, max_bytes=1) as warc:  # each in a file of its own
        warc.write_exchange(exchange(0, body=LONG))
        warc.write_exchange(exchange(1, body=LONG))
    lines = [path.read_text() for path in sorted(warc.folder.glob("*.cdxj"))]
    assert ['"mime": "warc/revisit"' in line for line in lines] == [False, True]
    (page,) = stored_pages(warc.folder, lambda url: url.endswith("/1"), Counter())
    assert (page.url, page.body) == ("https://example.org/1", LONG)
    assert page.fetched_at == NOON + timedelta(seconds=1)


def test_without_that_every_body_is_stored(writer):
    with writer() as warc:
        for number in range(2):
            warc.write_exchange(exchange(number, body=LONG))
    assert "revisit" not in [kind for kind, *_ in records(only_file(warc.folder))]
