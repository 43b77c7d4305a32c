from __future__ import annotations

import gzip
import io
import tarfile
from collections import Counter

import pytest

from training.data.freedict import read_package, translations
from training.data.tables import read_terms, write_terms

ENTRIES = {
    "abandon": "abandon /əˈbændən/ <v>\n1. aufgeben, verlassen (etw.)\n see: {leave}\n",
    "year": "year /jɪə/\nJahr [n]\n",
    "00databaseinfo": "00databaseinfo\nFreeDict\n",
}
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def base64_number(value):
    digits = ""
    while True:
        digits = DIGITS[value % 64] + digits
        value //= 64
        if not value:
            return digits


def package(folder, name="dict-freedict-eng-deu_1_all.deb"):
    text, index = b"", []
    for head, entry in ENTRIES.items():
        body = entry.encode()
        index.append(f"{head}\t{base64_number(len(text))}\t{base64_number(len(body))}")
        text += body
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:xz") as tar:
        for suffix, data in (
            ("dict.dz", gzip.compress(text)),
            ("index", "\n".join(index).encode()),
        ):
            info = tarfile.TarInfo(f"./usr/share/dictd/freedict-eng-deu.{suffix}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    deb = b"!<arch>\n"
    for member, data in (
        ("debian-binary", b"2.0\n"),
        ("data.tar.xz", inner.getvalue()),
    ):
        deb += f"{member:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode()
        deb += data + b"\n" * (len(data) % 2)
    (folder / name).write_bytes(deb)
    return folder / name


def test_a_package_gives_its_word_pairs(tmp_path):
    pairs = list(read_package(package(tmp_path), Counter()))
    assert [(p.lang_a, p.text_a, p.lang_b, p.text_b) for p in pairs] == [
        ("en", "abandon", "de", "aufgeben"),
        ("en", "abandon", "de", "verlassen"),
        ("en", "year", "de", "Jahr"),
    ]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("x /x/\n1. muñeca\n2. nudo, lazo\n", ["muñeca", "nudo", "lazo"]),
        ("x\nsee: {y}\n", []),
        ("x\na phrase of five whole words, short\n", ["short"]),
        ("x\nx, y\n", ["y"]),
        ("x\n", []),
    ],
)
def test_entries_are_read_as_people_write_them(entry, expected):
    assert translations("x", entry) == expected


@pytest.mark.parametrize("cut", [0, 5, 80, 300])
def test_a_damaged_package_is_counted(tmp_path, cut):
    path = package(tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    counts = Counter()
    assert list(read_package(path, counts)) == []
    assert sum(counts.values()) == 1


def test_another_package_is_counted(tmp_path):
    counts = Counter()
    assert list(read_package(package(tmp_path, "bash_5.deb"), counts)) == []
    assert counts == {"bad/not a dict-freedict package": 1}


def test_terms_are_read_as_written(tmp_path):
    pairs = list(read_package(package(tmp_path), Counter()))
    write_terms(tmp_path / "t.tsv.gz", pairs)
    assert list(read_terms(tmp_path / "t.tsv.gz")) == pairs
