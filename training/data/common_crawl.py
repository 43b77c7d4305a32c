"""Common Crawl's columnar index → pages; input: Parquet files, globs, URLs.

Data card. Source: the Parquet files of the columnar index (cc-index/table/cc-main/warc,
one folder per crawl; the paper uses CC-MAIN-2023-06 and -14), on disk or by any URL
that duckdb reads (https://, s3://). One input is read as a whole: give all files as one
glob. `content_languages` is CLD2's on the page text, up to three codes; the first
counts, as in the paper. Pages that answered 200 with HTML only. At most `PER_LANGUAGE`
URLs of a language (the paper's 600,000) and `PER_HOST` of a host and language, chosen
by the hash of the URL: the same rows from the same files. The crawl's terms of use
apply to the URLs. CLD2 says English too often (paper, section 2.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from crawler.data import LangPair
from training.data.tables import BadRow, Tables, UrlRow, clean_row

PER_LANGUAGE = 600_000
PER_HOST = 1_000  # of small languages a few hosts have most pages

_QUERY = """
SELECT url, lang FROM (
    SELECT url, split_part(content_languages, ',', 1) AS lang,
           url_host_name AS host, hash(url) AS place
    FROM read_parquet(?, union_by_name = true)
    WHERE fetch_status = 200 AND content_languages IS NOT NULL
      AND content_mime_detected IN ('text/html', 'application/xhtml+xml')
    QUALIFY row_number() OVER (PARTITION BY lang, host ORDER BY place, url) <= ?
)
QUALIFY row_number() OVER (PARTITION BY lang ORDER BY place, url) <= ?
ORDER BY url, lang
"""


def index_rows(
    files: Sequence[str],
    counts: Counter[str],
    *,
    per_language: int = PER_LANGUAGE,
    per_host: int = PER_HOST,
) -> Iterator[UrlRow]:
    """Rows of Parquet files: paths, globs or URLs."""
    import duckdb

    with duckdb.connect() as database:
        answer = database.execute(_QUERY, [list(files), per_host, per_language])
        while batch := answer.fetchmany(10_000):
            for url, lang in batch:
                counts["rows"] += 1
                try:
                    yield clean_row(url, lang, source="common_crawl")
                except BadRow as reason:
                    counts[f"bad/{reason}"] += 1


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The pages of a file or glob; of all languages."""
    return Tables(index_rows([source], counts))
