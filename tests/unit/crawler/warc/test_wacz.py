from __future__ import annotations

import io
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from crawler.errors import WarcError
from crawler.warc.inputs import find_inputs, pieces_of, read_piece
from crawler.warc.reader import iter_records, read_record
from crawler.warc.remote import open_input, read_range, size_of
from tests.worlds import build_site, write_warc

PAGES = list(build_site(concepts=6).pages())


def pack(path: Path, warcs: list[Path], how: int = zipfile.ZIP_STORED) -> Path:
    """A WACZ file as the specification has it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("datapackage.json", '{"wacz_version": "1.1.1"}')
        archive.writestr("pages/pages.jsonl", '{"format": "json-pages-1.0"}\n')
        for warc in warcs:
            archive.write(warc, f"archive/{warc.name}", how)
    return path


@pytest.fixture
def packed(tmp_path) -> Path:
    warcs = [
        write_warc(tmp_path / "in" / "b.warc.gz", PAGES[5:]),
        write_warc(tmp_path / "in" / "a.warc.gz", PAGES[:5]),
    ]
    return pack(tmp_path / "site.wacz", warcs)


@pytest.fixture(autouse=True)
def _folder(tmp_path):
    (tmp_path / "in").mkdir()


def test_the_warc_files_of_a_wacz_are_read_where_they_lie(packed):
    inputs = find_inputs([packed])
    assert [name.rpartition("/")[2] for name in inputs] == ["a.warc.gz", "b.warc.gz"]
    assert find_inputs(inputs) == inputs
    assert find_inputs([packed.parent]) != inputs  # the folder has others beside it
    for size in (10**9, 2000):
        pages = [
            item
            for piece in pieces_of(inputs, size)
            for item in read_piece(piece, Counter())
        ]
        assert [page.url for page in pages] == [page.url for page in PAGES]
        assert [page.body for page in pages] == [page.body for page in PAGES]


def test_a_record_is_found_again_by_its_place(packed):
    (place, _) = find_inputs([packed])
    plain = (packed.parent / "in" / "a.warc.gz").read_bytes()
    assert size_of(place) == len(plain)
    assert read_range(place, 10, 20) == plain[10:30]
    assert read_range(place, len(plain) - 5, 20) == plain[-5:]
    for record in iter_records(place):
        assert record.location is not None
        found = read_record(record.location, place.rpartition("/")[0])
        assert found.block == record.block


def test_a_place_may_be_entered_anywhere(packed):
    (place, _) = find_inputs([packed])
    plain = io.BytesIO((packed.parent / "in" / "a.warc.gz").read_bytes())
    with open_input(place) as file:
        for offset, whence in ((7, 0), (3, 1), (-9, 2), (0, 0)):
            assert file.seek(offset, whence) == plain.seek(offset, whence)
            assert file.read(5) == plain.read(5)
            assert file.tell() == plain.tell()
        assert file.read() == plain.read()


def test_what_cannot_be_read_is_one_clear_error(packed, tmp_path):
    warc = packed.parent / "in" / "a.warc.gz"
    deflated = pack(tmp_path / "deflated.wacz", [warc], zipfile.ZIP_DEFLATED)
    (place,) = find_inputs([deflated])
    with pytest.raises(WarcError, match="compressed in the zip"):
        pieces_of([place])
    (tmp_path / "no.wacz").write_bytes(b"not a zip")
    with pytest.raises(WarcError, match="not a WACZ file"):
        find_inputs([tmp_path / "no.wacz"])
    with pytest.raises(WarcError, match="no WARC files in it"):
        find_inputs([pack(tmp_path / "empty.wacz", [])])
    with pytest.raises(WarcError, match=r"has no archive/gone\.warc"):
        open_input(f"{packed}!/archive/gone.warc")
    with pytest.raises(WarcError, match="No such file"):
        open_input(f"{tmp_path}/gone.wacz!/archive/a.warc")


def test_a_zip_of_too_many_files_is_refused_before_its_directory_is_read(tmp_path):
    path = pack(tmp_path / "a.wacz", [])
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\x05\x06")
    zip64 = b"PK\x06\x06" + bytes(28) + (10**7).to_bytes(8, "little") * 2
    path.write_bytes(data[:end] + zip64 + data[end:])
    with pytest.raises(WarcError, match="more than 100,000 files"):
        find_inputs([path])
