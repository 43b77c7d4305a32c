"""Damaged files, each named after its defect: what is lost, and what is not."""

from __future__ import annotations

import gzip
import io
import lzma
from collections import Counter
from pathlib import Path

import pytest
from fastwarc.stream_io import ZstdWriter

from crawler.errors import WarcError
from crawler.warc.reader import iter_records
from crawler.warc.record import layout
from tests.worlds import build_site, response_record

PAGES = list(build_site(concepts=3, words=400).pages())
RECORDS = [response_record(page) for page in PAGES]
URLS = [page.url for page in PAGES]
MEMBERS = [gzip.compress(record) for record in RECORDS]


def read(path: Path, data: bytes) -> tuple[list[int], dict[str, int]]:
    """Which of the records come out of a file, and what was counted as damage."""
    path.write_bytes(data)
    counts: Counter[str] = Counter()
    found = []
    for record in iter_records(path, counts=counts):
        number = URLS.index(record.url)
        assert record.block in RECORDS[number]
        found.append(number)
    prefix = "warc/damaged/"
    damage = {k.removeprefix(prefix): v for k, v in counts.items() if prefix in k}
    return found, damage


def with_length(record: bytes, length: int) -> bytes:
    head, blank, rest = record.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if b"Content-Length" not in line]
    return b"\r\n".join([*lines, b"Content-Length: %d" % length]) + blank + rest


ALL = [0, 1, 2, 3, 4, 5]
WITHOUT_2 = [0, 1, 3, 4, 5]


def zstd(*parts: bytes) -> bytes:
    """One frame for each part."""
    file = io.BytesIO()
    writer = ZstdWriter(file)
    for part in parts:
        writer.write(part)
        writer.finish()
    writer.flush()
    return file.getvalue()


@pytest.mark.parametrize(
    "packing", ["plain", "gzip", "solid", "xz", "zst", "zst solid"]
)
def test_a_whole_file_has_no_damage(tmp_path, packing):
    data = {
        "plain": b"".join(RECORDS),
        "gzip": b"".join(MEMBERS),
        "solid": gzip.compress(b"".join(RECORDS)),
        "xz": lzma.compress(b"".join(RECORDS)),
        "zst": zstd(*RECORDS),
        "zst solid": zstd(b"".join(RECORDS)),
    }
    assert read(tmp_path / "whole.warc", data[packing]) == (ALL, {})


def test_locations_are_exact_where_there_is_random_access(tmp_path):
    for data, sizes in ((RECORDS, map(len, RECORDS)), (MEMBERS, map(len, MEMBERS))):
        path = tmp_path / "whole.warc"
        path.write_bytes(b"".join(data))
        offset = 0
        for record, size in zip(iter_records(path), sizes, strict=True):
            assert (record.offset, record.length) == (offset, size)
            offset += size


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstd])
def test_a_solid_file_has_no_locations(tmp_path, pack):
    path = tmp_path / "solid.warc.gz"
    path.write_bytes(pack(b"".join(RECORDS)))
    assert {record.location for record in iter_records(path)} == {None}


@pytest.mark.parametrize("cut", [1, 5, 100, 1500, len(MEMBERS[5]) - 12])
def test_truncated_gzip(tmp_path, cut):
    data = b"".join(MEMBERS)[:-cut]
    assert read(tmp_path / "truncated.warc.gz", data) == (ALL[:5], {"truncated": 1})


@pytest.mark.parametrize("cut", [5, 100, 1500, len(RECORDS[5]) - 100])
def test_truncated_plain(tmp_path, cut):
    data = b"".join(RECORDS)[:-cut]
    assert read(tmp_path / "truncated.warc", data) == (ALL[:5], {"truncated": 1})


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_a_last_record_without_its_closing_line_ends_is_whole(tmp_path, cut):
    data = b"".join(RECORDS)[:-cut]
    assert read(tmp_path / "no-end.warc", data) == (ALL, {})


def test_truncated_xz(tmp_path):
    data = lzma.compress(b"".join(RECORDS))
    found, damage = read(tmp_path / "truncated.warc.xz", data[: len(data) // 2])
    assert found == ALL[: len(found)]
    assert damage == {"truncated": 1}


@pytest.mark.parametrize("place", [0, 12, 300, -6, -2])
def test_a_broken_gzip_member_costs_itself_only(tmp_path, place):
    broken = bytearray(MEMBERS[2])
    broken[place] ^= 0xFF
    data = b"".join([*MEMBERS[:2], bytes(broken), *MEMBERS[3:]])
    found, damage = read(tmp_path / "broken-member.warc.gz", data)
    assert found == WITHOUT_2
    assert damage == {"compression": 1}


def test_a_broken_first_member_and_a_broken_last_one(tmp_path):
    first, last = bytearray(MEMBERS[0]), bytearray(MEMBERS[5])
    first[200] ^= 0xFF
    last[-1] ^= 0xFF
    data = b"".join([bytes(first), *MEMBERS[1:5], bytes(last)])
    found, damage = read(tmp_path / "broken-ends.warc.gz", data)
    assert found == [1, 2, 3, 4]
    assert sum(damage.values()) == 2


def test_a_hole_of_zeros_in_a_gzip_file(tmp_path):
    data = b"".join([*MEMBERS[:3], bytes(3_000_000), *MEMBERS[3:]])
    found, damage = read(tmp_path / "hole.warc.gz", data)
    assert found == ALL
    assert sum(damage.values()) == 1


def test_garbage_between_plain_records(tmp_path):
    garbage = b"No record\r\nat all\r\n\r\n"
    data = b"".join([*RECORDS[:2], garbage, *RECORDS[2:]])
    assert read(tmp_path / "garbage.warc", data) == (ALL, {"header": 1})


@pytest.mark.parametrize("length", [10, 100_000, 10**17])
@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_a_wrong_record_length_costs_one_record(tmp_path, length, pack):
    wrong = with_length(RECORDS[2], length)
    data = b"".join(pack(r) for r in [*RECORDS[:2], wrong, *RECORDS[3:]])
    found, damage = read(tmp_path / "wrong-length.warc", data)
    assert found == WITHOUT_2
    assert sum(damage.values()) == 1


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_a_record_a_little_longer_than_it_says_is_dropped(tmp_path, pack):
    right = len(PAGES[2].body) + RECORDS[2].count(b"\r\n")
    wrong = with_length(RECORDS[2], right)
    data = b"".join(pack(r) for r in [*RECORDS[:2], wrong, *RECORDS[3:]])
    found, damage = read(tmp_path / "long-record.warc", data)
    assert found == WITHOUT_2
    assert damage == {"length": 1}


def test_a_record_without_length(tmp_path):
    wrong = RECORDS[2].replace(b"Content-Length", b"Content-Lenght")
    data = b"".join([*RECORDS[:2], wrong, *RECORDS[3:]])
    found, damage = read(tmp_path / "no-length.warc", data)
    assert found == WITHOUT_2
    assert damage == {"length": 1}


def test_a_record_too_large_for_memory_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.warc.scan.MAX_RECORD", 10_000)
    large = layout([("WARC-Type", "response")], bytes(50_000))
    path = tmp_path / "too-large.warc"
    path.write_bytes(b"".join([*RECORDS[:2], large, *RECORDS[2:]]))
    counts: Counter[str] = Counter()
    assert [r.url for r in iter_records(path, counts=counts)] == URLS
    assert counts["warc/dropped/too_large"] == 1


def test_only_wanted_types_are_read(tmp_path):
    other = layout([("WARC-Type", "metadata")], b"a: b")
    path = tmp_path / "mixed.warc"
    path.write_bytes(b"".join([other, RECORDS[0], other, RECORDS[1], other]))
    found = list(iter_records(path, types={"response"}))
    assert [record.url for record in found] == URLS[:2]
    assert [record.offset for record in found] == [
        len(other),
        2 * len(other) + len(RECORDS[0]),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"<html>" * 1000,
        b"\0" * 100,
        gzip.compress(b"<html>" * 1000, mtime=0),
        lzma.compress(b"<html>" * 1000),
        RECORDS[0][:200],
        b"\x1f\x8b\x08",
        b"\xfd7zXZ\x00",
        b"\x28\xb5\x2f\xfd",
    ],
)
def test_a_file_that_is_not_a_warc_file_is_an_error(tmp_path, data):
    path = tmp_path / "no.warc"
    path.write_bytes(data)
    with pytest.raises(WarcError, match="not a WARC file") as error:
        list(iter_records(path))
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_an_empty_file_has_no_records(tmp_path):
    assert read(tmp_path / "empty.warc.gz", b"") == ([], {})


def test_a_folder_or_a_missing_file_is_an_error(tmp_path):
    for path in (tmp_path, tmp_path / "missing.warc"):
        with pytest.raises(WarcError, match="give a WARC file"):
            list(iter_records(path))
