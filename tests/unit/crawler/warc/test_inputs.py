from __future__ import annotations

import base64
import gzip
import lzma
from collections import Counter
from itertools import pairwise

import pytest

from crawler.data import Page
from crawler.errors import WarcError
from crawler.warc.inputs import Piece, Revisit, find_inputs, pieces_of, read_piece
from crawler.warc.reader import iter_records
from crawler.warc.record import layout
from crawler.warc.text_columns import PlainText
from tests.worlds import build_site, write_warc

PAGES = list(build_site(concepts=12, words=60).pages())
URLS = [page.url for page in PAGES]


def read(paths, size: int = 1 << 20) -> tuple[list[str], Counter[str]]:
    counts: Counter[str] = Counter()
    pieces = pieces_of(find_inputs(paths), size)
    return [item.url for p in pieces for item in read_piece(p, counts)], counts


@pytest.mark.parametrize("size", [1, 700, 5000, 10**6])
def test_pieces_hold_every_record_once(tmp_path, size):
    path = write_warc(tmp_path / "a.warc.gz", PAGES)
    assert read([path], size)[0] == URLS
    assert sum(p.size for p in pieces_of([str(path)], size)) == path.stat().st_size


@pytest.mark.parametrize("name", ["a.warc", "a.warc.xz", "solid.warc.gz"])
def test_what_cannot_be_entered_is_read_once(tmp_path, name):
    plain = write_warc(tmp_path / "plain.warc", PAGES)
    path = tmp_path / name
    pack = {"a.warc": bytes, "a.warc.xz": lzma.compress}.get(name, gzip.compress)
    path.write_bytes(pack(plain.read_bytes()))
    found, counts = read([path], 5000)
    assert found == URLS
    assert not [name for name in counts if "damaged" in name]


@pytest.mark.parametrize("start", [0, 1, 2, 3, 7])
def test_ranges_of_a_plain_file_hold_every_record_once(tmp_path, start):
    path = write_warc(tmp_path / "a.warc", PAGES)
    offsets = [record.offset for record in iter_records(path)]
    cuts = [0, *(offset + start - 3 for offset in offsets[2::3]), None]
    found = [
        record.url
        for a, b in pairwise(cuts)
        for record in iter_records(path, start=a, end=b)
    ]
    assert found == URLS


@pytest.mark.parametrize("size", [900, 4000, 10**6])
def test_damage_is_counted_once_wherever_the_pieces_end(tmp_path, size):
    path = write_warc(tmp_path / "a.warc.gz", PAGES)
    offset = [record.offset for record in iter_records(path)][7]
    data = bytearray(path.read_bytes())
    data[offset + 300 : offset + 340] = b"\0" * 40
    path.write_bytes(data)
    found, counts = read([path], size)
    assert found == URLS[:7] + URLS[8:]
    assert counts["warc/damaged/compression"] == 1


def test_folders_patterns_and_files_are_inputs(tmp_path):
    write_warc(tmp_path / "b.warc.gz", PAGES[:3])
    write_warc(tmp_path / "a.warc", PAGES[3:])
    (tmp_path / "c.txt").write_text("no")
    assert read([tmp_path])[0] == URLS[3:] + URLS[:3]
    assert read([tmp_path / "*.warc*"])[0] == URLS[3:] + URLS[:3]
    assert read([tmp_path / "b.warc.gz"])[0] == URLS[:3]
    with pytest.raises(WarcError, match="no such file"):
        find_inputs([tmp_path / "*.arc"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(WarcError, match="neither WARC files nor pages"):
        find_inputs([tmp_path / "empty"])


def test_an_address_that_is_not_there_is_an_error():
    with pytest.raises(WarcError, match=r"memory:///?nothing\.warc"):
        pieces_of(find_inputs(["memory://nothing.warc"]))


def test_a_file_system_of_fsspec(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    path = write_warc(tmp_path / "a.warc.gz", PAGES)
    memory = fsspec.filesystem("memory")
    for name in ("x/a.warc.gz", "x/y/b.warc.gz", "x/c.txt"):
        memory.pipe_file(f"/test_inputs/{name}", path.read_bytes())
    assert read(["memory://test_inputs/x"], 5000)[0] == URLS * 2
    assert read(["memory://test_inputs/x/*.gz"])[0] == URLS
    places = tuple((r.offset, r.length) for r in list(iter_records(path))[3:5])
    piece = Piece("memory://test_inputs/x/a.warc.gz", places=places)
    assert [item.url for item in read_piece(piece, Counter())] == URLS[3:5]


def test_chosen_records_are_read_by_their_offsets(tmp_path):
    path = write_warc(tmp_path / "a.warc.gz", PAGES)
    records = list(iter_records(path))
    places = [(records[n].offset, records[n].length) for n in (5, 1)]
    counts: Counter[str] = Counter()
    piece = Piece(str(path), places=(*places, (17, 100)))
    found = [item.url for item in read_piece(piece, counts)]
    assert found == [URLS[5], URLS[1]]
    assert counts["warc/dropped/not_at_offset"] == 1


def test_revisits_are_counted_and_read_from_their_originals(tmp_path):
    path = write_warc(tmp_path / "a.warc.gz", PAGES)
    digest = next(iter_records(path)).headers["warc-payload-digest"]
    record = layout(
        [
            ("WARC-Type", "revisit"),
            ("WARC-Target-URI", "https://town.example/again"),
            ("WARC-Payload-Digest", digest),
        ],
        b"",
    )
    (tmp_path / "b.warc").write_bytes(record)
    pieces = pieces_of(find_inputs([tmp_path]))
    (revisit,) = [
        item
        for piece in pieces
        for item in read_piece(piece, Counter())
        if isinstance(item, Revisit)
    ]
    wanted = {revisit.key: [revisit.url]}
    (page,) = [p for piece in pieces for p in read_piece(piece, Counter(), wanted)]
    assert isinstance(page, Page)
    assert (page.url, page.body) == (revisit.url, PAGES[0].body)


def columns(folder, **lines: list[bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, cells in lines.items():
        data = b"".join(cell + b"\n" for cell in cells)
        (folder / f"{name}.gz").write_bytes(gzip.compress(data))


def test_columns_of_text_and_of_html(tmp_path):
    text = base64.b64encode(b"Ein Text.\nZwei.")
    columns(tmp_path / "de", url=[b"https://a.example/1", b"nix"], text=[text, text])
    html = base64.b64encode(b"<p>one")
    columns(tmp_path / "en", url=[b"https://a.example/2"], html=[html], text=[b"-"])
    counts: Counter[str] = Counter()
    pieces = pieces_of(find_inputs([tmp_path]))
    found = [item for piece in pieces for item in read_piece(piece, counts)]
    assert isinstance(found[1], Page)
    assert found[0] == PlainText("https://a.example/1", "Ein Text.\nZwei.")
    assert found[1].body == b"<p>one"
    assert counts["warc/dropped/bad_url"] == 1


def test_columns_that_are_broken_are_counted(tmp_path):
    urls = [b"https://a.example/1", b"https://a.example/2", b"https://a.example/3"]
    columns(tmp_path / "de", url=urls, plain_text=[b"!!", b"QQ=="])
    found, counts = read([tmp_path])
    assert found == ["https://a.example/2"]
    assert counts["warc/dropped/base64"] == counts["warc/damaged/length"] == 1
    (tmp_path / "de" / "url.gz").write_bytes(b"no gzip")
    with pytest.raises(WarcError, match=r"url\.gz: cannot be read"):
        read([tmp_path])


def test_lett_files(tmp_path):
    html, text = (base64.b64encode(x) for x in (b"<p>one", b"one"))
    line = b"\t".join([b"en", b"text/html", b"utf-8", b"http://a.example/", html, text])
    (tmp_path / "a.lett.gz").write_bytes(gzip.compress(line + b"\nbroken\n"))
    found, counts = read([tmp_path])
    assert found == ["http://a.example/"]
    assert counts["warc/dropped/lett"] == 1
