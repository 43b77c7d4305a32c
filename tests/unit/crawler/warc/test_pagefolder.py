from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from crawler.errors import WarcError
from crawler.warc import inputs
from crawler.warc.inputs import find_inputs, pieces_of, read_piece

HTML = b"<!doctype html><p>text"


def written(folder: Path, **files: bytes) -> Path:
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return folder


def urls(folder: Path, counts: Counter[str] | None = None) -> list[str]:
    counts = Counter() if counts is None else counts
    return [
        item.url
        for piece in pieces_of(find_inputs([folder]))
        for item in read_piece(piece, counts)
    ]


@pytest.mark.parametrize(
    ("folder", "name", "url"),
    [
        ("mirror", "www.a.is/en/b.html", "http://www.a.is/en/b.html"),
        ("www.a.is", "en/b.html", "http://www.a.is/en/b.html"),
        ("www.a.is/en", "b.html", "http://www.a.is/en/b.html"),
        ("m", "127.0.0.1:8000/b.html", "http://127.0.0.1:8000/b.html"),
        ("m", "www.a.is/b.php?id=3&l=is", "http://www.a.is/b.php?id=3&l=is"),
        ("m", "www.a.is/á b.html", "http://www.a.is/%C3%A1%20b.html"),
        ("www.a.is", "v1.beta/b.html", "http://www.a.is/v1.beta/b.html"),
        ("My Site", "is/um.html", "http://my-site.invalid/is/um.html"),
        ("site.backup", "is/um.html", "http://site-backup.invalid/is/um.html"),
        ("þ", "um.html", "http://folder.invalid/um.html"),
    ],
)
def test_the_path_of_a_file_gives_its_url(folder, name, url, tmp_path):
    written(tmp_path / folder, **{name: HTML})
    assert urls(tmp_path / folder) == [url]


def test_the_comment_of_httrack_gives_the_url(tmp_path):
    comment = (
        b"<html>\n<!-- Mirrored from www.a.is/b.php?id=3 by HTTrack Website Copier/3.x"
        b" [XR&CO'2014], Sat, 01 Jan 2022 00:00:00 GMT -->"
    )
    written(tmp_path, **{"www.a.is/b4a1c.html": comment, "hts-cache/x.html": HTML})
    assert urls(tmp_path) == ["http://www.a.is/b.php?id=3"]


def test_files_that_are_not_pages_are_left_out(tmp_path):
    written(tmp_path / "m", **{"a.html": HTML, "b.png": b"x", "c.css": b"x"})
    written(tmp_path, **{"outside.html": HTML})
    (tmp_path / "m" / "link.html").symlink_to(tmp_path / "outside.html")
    assert urls(tmp_path / "m") == ["http://m.invalid/a.html"]


def test_a_file_over_the_bound_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.warc.pagefolder.MAX_RECORD", 10)
    counts: Counter[str] = Counter()
    assert urls(written(tmp_path, **{"a.html": HTML}), counts) == []
    assert counts["warc/dropped/too_large"] == 1


def test_a_large_folder_is_several_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "_FOLDER_FILES", 3)
    names = [f"{number}.html" for number in range(8)]
    written(tmp_path / "m", **dict.fromkeys(names, HTML))
    pieces = pieces_of([str(tmp_path / "m")])
    assert [piece.size for piece in pieces] == [3 * len(HTML)] * 2 + [2 * len(HTML)]
    assert urls(tmp_path / "m") == [f"http://m.invalid/{name}" for name in names]


def test_a_folder_without_pages_is_an_error(tmp_path):
    written(tmp_path, **{"a.png": b"x"})
    with pytest.raises(WarcError, match="neither WARC files nor pages"):
        find_inputs([tmp_path])
