from __future__ import annotations

from collections import Counter

import pytest

duckdb = pytest.importorskip("duckdb", reason="extra `train` is not installed")

from training.data.common_crawl import index_rows  # noqa: E402


@pytest.fixture
def index(tmp_path):
    """A columnar index of 30 pages, with the columns that are read."""
    path = tmp_path / "part-0.parquet"
    values = ", ".join(
        f"('https://h{i % 3}.org/p{i}', 'h{i % 3}.org', '{lang}', {status}, '{mime}')"
        for i, (lang, status, mime) in enumerate(
            [("isl,eng", 200, "text/html")] * 20
            + [("eng", 404, "text/html")] * 4
            + [("fra", 200, "application/pdf")] * 3
            + [("xxx", 200, "text/html")] * 3
        )
    )
    with duckdb.connect() as database:
        database.execute(
            f"COPY (SELECT * FROM (VALUES {values}) AS t(url, url_host_name,"
            " content_languages, fetch_status, content_mime_detected))"
            f" TO '{path}' (FORMAT parquet)"
        )
    return str(tmp_path / "*.parquet")


def test_the_first_language_of_good_html_pages(index):
    counts = Counter()
    rows = list(index_rows([index], counts))
    assert len(rows) == 20
    assert {row.lang for row in rows} == {"is"}
    assert counts == {"rows": 23, "bad/unknown language": 3}


def test_languages_and_hosts_are_capped_the_same_way_every_time(index):
    rows = list(index_rows([index], Counter(), per_language=5))
    assert len(rows) == 5
    assert rows == list(index_rows([index], Counter(), per_language=5))
    by_host = Counter(r.host for r in index_rows([index], Counter(), per_host=2))
    assert set(by_host.values()) == {2}
