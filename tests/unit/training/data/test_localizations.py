from __future__ import annotations

import io
import json
import struct
import tarfile
from collections import Counter

from training.data.localizations import package_terms, tables


def catalogue(messages):
    """A .mo file as msgfmt writes it."""
    texts = [text.encode() for side in zip(*messages.items()) for text in side]
    number, at = len(messages), 28
    start = at + 16 * number
    tables, body = b"", b""
    for text in texts:
        tables += struct.pack("<II", len(text), start + len(body))
        body += text + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, number, at, at + 8 * number, 0, start)
    return head + tables + body


def package(folder, files, name="site-l10n_1_all.deb"):
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:xz") as tar:
        for path, data in files.items():
            info = tarfile.TarInfo(f"./usr/share/{path}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    data = inner.getvalue()
    head = f"{'data.tar.xz':<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n"
    (folder / name).write_bytes(b"!<arch>\n" + head.encode() + data)
    return folder / name


GERMAN = {
    "": "Content-Type: text/plain; charset=UTF-8\n",
    "&About us…": "Ü&ber uns…",
    "menu\4News": "Neuigkeiten",
    "%d pages\0%d page": "%d Seiten",
    "OK": "OK",
}


def test_both_kinds_of_messages(tmp_path):
    files = {
        "locale/de/LC_MESSAGES/site.mo": catalogue(GERMAN),
        "locale/xx-nonsense/LC_MESSAGES/site.mo": catalogue(GERMAN),
        "wiki/i18n/en.json": json.dumps({"a": "Contact", "b": "{{MARKUP}}"}).encode(),
        "wiki/i18n/is.json": json.dumps({"a": "Hafa samband", "b": "x"}).encode(),
    }
    counts = Counter()
    terms = list(package_terms(package(tmp_path, files), counts))
    assert [(t.text_a, t.lang_b, t.text_b, t.source) for t in terms] == [
        ("About us", "de", "Über uns", "l10n/site-l10n"),
        ("News", "de", "Neuigkeiten", "l10n/site-l10n"),
        ("Contact", "is", "Hafa samband", "l10n/site-l10n"),
    ]
    assert counts["dropped/markup"] == 2
    assert counts["dropped/equal"] >= 1
    assert counts["bad/unknown language"] == 1


def test_damage_is_counted(tmp_path):
    files = {"locale/de/LC_MESSAGES/a.mo": b"no catalogue", "i18n/en.json": b"[1]"}
    counts = Counter()
    assert not list(package_terms(package(tmp_path, files), counts))
    broken = tmp_path / "broken_1_all.deb"
    broken.write_bytes(b"!<arch>\n" + b"x" * 100)
    assert not list(package_terms(broken, counts))
    assert (counts["bad/not a catalogue"], counts["bad/damaged package"]) == (2, 1)


def test_each_pair_comes_once(tmp_path):
    files = {
        f"locale/de/LC_MESSAGES/{name}.mo": catalogue({"News": "Neuigkeiten"})
        for name in "ab"
    }
    found = tables(str(package(tmp_path, files)), Counter(), None)
    assert [term.text_b for term in found.terms] == ["Neuigkeiten"]
