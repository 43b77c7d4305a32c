from __future__ import annotations

import gzip
import io
from collections import Counter

from crawler.data import LangPair
from training.data.bitext import bitextor_urls, page_pairs, read_file, tmx_urls

LANGS = LangPair("en", "is")
ROW = "https://a.org/en/x\thttps://a.org/is/x\tHello\tHalló\t0.9\n"
TMX = """<?xml version="1.0"?><tmx version="1.4"><header/><body>
<tu><tuv xml:lang="en"><prop type="source-document">https://a.org/en/x</prop>
<seg>Hello</seg></tuv><tuv xml:lang="is">
<prop type="source-document">https://a.org/is/x</prop><seg>Halló</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>No address</seg></tuv></tu></body></tmx>"""
PAIR = ("https://a.org/en/x", "https://a.org/is/x")


def test_bitextor_rows_give_their_urls():
    counts = Counter()
    lines = ["src_url\ttrg_url\tsrc_text\ttrg_text\n", ROW, "broken\n"]
    assert list(bitextor_urls(lines, counts)) == [PAIR]
    assert counts == {"rows": 2, "bad/fewer than four columns": 1}


def test_deduplicated_rows_carry_several_urls():
    line = "https://a.org/1 https://a.org/2\thttps://a.org/3 https://a.org/4\ta\tb\n"
    assert list(bitextor_urls([line], Counter())) == [
        ("https://a.org/1", "https://a.org/3"),
        ("https://a.org/2", "https://a.org/4"),
    ]


def test_tmx_units_give_their_urls():
    counts = Counter()
    assert list(tmx_urls(io.BytesIO(TMX.encode()), LANGS, counts)) == [PAIR]
    assert counts == {"rows": 2, "bad/no url on both sides": 1}


def test_a_damaged_tmx_gives_what_came_before():
    file = io.BytesIO(TMX[:-60].encode())
    assert list(tmx_urls(file, LANGS, Counter())) == [PAIR]


def test_two_pages_need_several_sentences_to_be_a_pair():
    counts = Counter()
    urls = [PAIR] * 3 + [("https://a.org/en/x", "https://a.org/is/other")]
    (pair,) = page_pairs(urls, LANGS, counts)
    assert (pair.url_a, pair.lang_a, pair.url_b, pair.lang_b) == (
        PAIR[0],
        "en",
        PAIR[1],
        "is",
    )
    assert counts == {"dropped/too few sentences": 1}


def test_files_are_read_gzipped_or_not(tmp_path):
    (tmp_path / "x.tsv.gz").write_bytes(gzip.compress(ROW.encode()))
    (tmp_path / "x.tmx").write_text(TMX)
    for name in ("x.tsv.gz", "x.tmx"):
        assert list(read_file(tmp_path / name, LANGS, Counter())) == [PAIR]
