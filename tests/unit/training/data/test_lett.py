from __future__ import annotations

import base64
import gzip
import io
from collections import Counter

import pytest

from crawler.errors import UsageError
from training.data.lett import gold_negatives, read_gold, read_lett, tables
from training.data.tables import clean_pair


def line(lang, url, html, text="text"):
    def code(data):
        return base64.b64encode(data.encode()).decode()

    return "\t".join(
        (lang, "text/html", "charset=utf-8", url, code(html), code(text))
    ).encode()


HTML = """<p>Harbour</p><a href="/fr/port">Français</a><a href="/en/other">Other</a>
<a href="/de/hafen">Deutsch</a>"""
LINES = [
    line("en", "http://a.org/en/harbour", HTML),
    line("fr", "http://a.org/fr/port", "<p>Le port</p>"),
    line("en", "http://a.org/en/other", "<p>Other</p>"),
    line("de", "http://a.org/de/hafen", "<p>Hafen</p>"),
]


def file_of(*lines):
    return io.BytesIO(b"\n".join(lines))


def test_pages_are_read_and_bad_lines_counted():
    counts = Counter()
    bad = [b"a\tb", LINES[0].replace(b"http", b"x-no"), LINES[0][:-3] + b"!\tx"]
    bad.append(b"\t".join([*LINES[0].split(b"\t")[:4], b"***", b"eA=="]))
    pages = list(read_lett(file_of(*LINES, *bad), counts))
    assert [p.lang for p in pages] == ["en", "fr", "en", "de"]
    assert pages[0].text == "text"
    assert counts["rows"] == 8
    assert counts["bad/not six columns"] == 2
    assert counts["bad/no http url"] == 1
    assert counts["bad/base64"] == 1


def test_links_of_a_gold_page_are_negatives_when_its_partner_is_linked():
    pages = list(read_lett(file_of(*LINES), Counter()))
    languages = {p.url: p.lang for p in pages}
    gold = [clean_pair("http://a.org/en/harbour", "en", "http://a.org/fr/port", "fr")]
    assert list(gold_negatives(pages, gold, languages)) == [
        ("http://a.org/en/harbour", "http://a.org/en/other")
    ]


def test_the_gold_list_is_english_first(tmp_path):
    (tmp_path / "train.pairs").write_text(
        "http://a.org/en/x\thttp://a.org/fr/x\nbroken\n"
    )
    counts = Counter()
    (pair,) = read_gold(tmp_path / "train.pairs", counts)
    assert (pair.lang_a, pair.lang_b) == ("en", "fr")
    assert counts == {"bad/not an http url": 1}


def test_a_folder_gives_pages_pairs_and_negatives(tmp_path):
    (tmp_path / "train.pairs").write_text(
        "http://a.org/en/harbour\thttp://a.org/fr/port\n"
    )
    (tmp_path / "a.lett.gz").write_bytes(gzip.compress(b"\n".join(LINES)))
    found = tables(str(tmp_path), Counter(), None)
    assert {row.lang for row in found.urls} == {"de", "en", "fr"}
    assert len(list(found.pairs)) == len(list(found.negatives)) == 1
    with pytest.raises(UsageError, match="expected"):
        tables(str(tmp_path / "nowhere"), Counter(), None)
