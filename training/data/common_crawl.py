"""Common Crawl's columnar index → URL rows.

Data card. Source: the Parquet files of the columnar index (cc-index/table/cc-main/warc,
one folder per crawl; the paper uses CC-MAIN-2023-06 and -14), on disk or by URL, where
duckdb can read them. `content_languages` is CLD2's on the page text, up to three codes;
the first counts, as in the paper. Pages that answered 200 with HTML only. At most
`PER_LANGUAGE` URLs of a language (the paper's 600,000) and `PER_HOST` of a host and
language, chosen by the hash of the URL: the same rows from the same files. The crawl's
terms of use apply to the URLs. English is over-reported by CLD2 (paper, section 2.3).

    python -m training.data.common_crawl OUTDIR 'FILES/*.parquet' ...
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from training.data.evidence import write_urls
from training.data.tables import BadRow, UrlRow, clean_row

PER_LANGUAGE = 600_000
PER_HOST = 1_000  # a few hosts own thin languages

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


def main(out: Path, files: list[str]) -> None:
    """Write the table."""
    counts: Counter[str] = Counter()
    written = write_urls(out / "url_lang.tsv.gz", index_rows(files, counts))
    print(f"{written} URLs written to {out}; {dict(counts)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
