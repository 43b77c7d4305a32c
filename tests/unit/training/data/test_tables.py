from __future__ import annotations

from collections import Counter

import pytest

from crawler.errors import UsageError
from training.data.tables import find_table, read_pairs, read_urls, write_table


def test_urls_become_canonical_and_languages_ours(tmp_path):
    path = tmp_path / "url_lang.tsv"
    path.write_text(
        "url\tlang\tsource\n"
        "HTTP://www.Example.org:80/a\tisl\tx\n"
        "https://example.org/b\tpt-BR\tx\n"
        "https://example.org/c\t\tx\n"
    )
    rows = list(read_urls(path, Counter()))
    assert [(r.url, r.lang) for r in rows] == [
        ("http://www.example.org/a", "is"),
        ("https://example.org/b", "pt"),
        ("https://example.org/c", None),
    ]
    assert {r.site for r in rows} == {"example.org"}


def test_bad_rows_are_counted_by_reason_and_never_fatal(tmp_path):
    path = tmp_path / "url_lang.tsv"
    path.write_text(
        "url\tlang\n"
        "mailto:a@b.c\ten\n"
        "https://example.org/\tklingon\n"
        "https://example.org/" + "x" * 3000 + "\ten\n"
        "https://example.org/short-row\n"
        "\n"
        "https://example.org/good\ten\n"
    )
    counts = Counter()
    rows = list(read_urls(path, counts))
    assert rows[-1].url.endswith("/good")
    assert counts["bad/not an http url"] == 1
    assert counts["bad/unknown language"] == 1
    assert counts["bad/url longer than 2000 characters"] == 1


def test_pairs_of_one_url_are_left_out_and_counted(tmp_path):
    path = tmp_path / "url_pairs.tsv"
    path.write_text(
        "url_a\tlang_a\turl_b\tlang_b\tcode_only\n"
        "https://a.org/\ten\thttps://a.org:443/#x\tfr\t1\n"
        "https://a.org/en\ten\thttps://a.org/fr\tfr\t1\n"
        "https://a.org/en\ten\thttps://a.org/fr\tfr\t\n"
    )
    counts = Counter()
    first, second = read_pairs(path, counts)
    assert first.code_only
    assert second.code_only  # as the URLs show
    assert counts == {"rows": 3, "bad/one url twice": 1}


def test_a_table_of_another_kind_is_an_error_that_names_the_column(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\n1\t2\n")
    with pytest.raises(UsageError, match="'url'"):
        list(read_urls(path, Counter()))


@pytest.mark.parametrize("name", ["a.tsv", "deep/a.tsv.gz"])
def test_what_is_written_is_read(tmp_path, name):
    rows = [("https://a.org/é", "fr", None), ("https://a.org/b", "en", "s")]
    assert write_table(tmp_path / name, ("url", "lang", "source"), rows) == 2
    assert [r.lang for r in read_urls(tmp_path / name, Counter())] == ["fr", "en"]


def test_parquet_is_read_as_tsv_is(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="extra `train`")
    pyarrow = pytest.importorskip("pyarrow")
    (tmp_path / "url_pairs").mkdir()
    pair = {"url_a": "https://a.org/en", "lang_a": "en", "lang_b": "fr"}
    rows = [pair | {"url_b": "https://a.org/fr", "code_only": True, "more": 1}]
    table = pyarrow.Table.from_pylist(rows)
    parquet.write_table(table, tmp_path / "url_pairs" / "train.parquet")
    (row,) = read_pairs(find_table(tmp_path, "url_pairs"), Counter())
    assert (row.url_b, row.lang_b, row.code_only) == ("https://a.org/fr", "fr", True)
    with pytest.raises(UsageError, match="'url'"):
        list(read_urls(tmp_path / "url_pairs", Counter()))
