from __future__ import annotations

from collections import Counter

import pytest

from crawler.errors import UsageError
from training.data.tables import read_pairs, read_urls, write_table


def test_urls_become_canonical_and_languages_ours(tmp_path):
    path = tmp_path / "url_lang.tsv"
    path.write_text(
        "url\tlang\tsource\n"
        "HTTP://www.Example.org:80/a\tisl\tx\n"
        "https://example.org/b\tpt-BR\tx\n"
        "https://example.org/c\t\tx\n"
    )
    rows = list(read_urls(path))
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
    assert counts["bad/no http url"] == 1
    assert counts["bad/unknown language"] == 1
    assert counts["bad/url longer than 2000 characters"] == 1


def test_pairs_of_one_url_are_no_pairs(tmp_path):
    path = tmp_path / "url_pairs.tsv"
    path.write_text(
        "url_a\tlang_a\turl_b\tlang_b\tcode_only\n"
        "https://a.org/\ten\thttps://a.org:443/#x\tfr\t1\n"
        "https://a.org/en\ten\thttps://a.org/fr\tfr\t1\n"
        "https://a.org/en\ten\thttps://a.org/fr\tfr\t\n"
    )
    counts = Counter()
    first, second = read_pairs(path, counts)
    assert (first.code_only, second.code_only) == (True, None)
    assert counts == {"rows": 3, "bad/one url twice": 1}


def test_a_table_of_another_kind_is_an_error_that_names_the_column(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\n1\t2\n")
    with pytest.raises(UsageError, match="'url'"):
        list(read_urls(path))


@pytest.mark.parametrize("name", ["a.tsv", "deep/a.tsv.gz"])
def test_what_is_written_is_read(tmp_path, name):
    rows = [("https://a.org/é", "fr", None), ("https://a.org/b", "en", "s")]
    assert write_table(tmp_path / name, ("url", "lang", "source"), rows) == 2
    assert [r.lang for r in read_urls(tmp_path / name)] == ["fr", "en"]
