"""The two tables that every data builder writes and every training script reads.

Tab-separated, UTF-8, with a header; `.gz` is understood. Columns that are not named
here are ignored, so that a builder may add evidence.

    url_lang.tsv   url, lang[, source]
    url_pairs.tsv  url_a, lang_a, url_b, lang_b[, code_only, source]
    host_urls.tsv  url[, lang]      all known URLs of the sites that have pairs
    negatives.tsv  url_a, url_b     genuine negatives; optional

`lang` is what people write (ISO 639-1 or -3, BCP 47); our code comes out. A row that
cannot be used is counted with its reason and left out, never fatal.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crawler.data import Lang, Site
from crawler.errors import UsageError
from crawler.languages import known_code
from crawler.urls import MAX_URL_LENGTH, canonicalize, host_of, registered_domain


@dataclass(frozen=True, slots=True)
class UrlRow:
    """A page's URL with its language; None where nobody knows it."""

    url: str
    lang: Lang | None
    source: str = ""

    @property
    def host(self) -> str:
        """Host name."""
        return host_of(self.url)

    @property
    def site(self) -> Site:
        """Registered domain."""
        return registered_domain(self.host)


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two URLs whose pages are translations of each other."""

    url_a: str
    lang_a: Lang
    url_b: str
    lang_b: Lang
    code_only: bool | None = None  # equal once language codes and names go
    source: str = ""

    @property
    def host(self) -> str:
        """Host of the first URL."""
        return host_of(self.url_a)

    @property
    def site(self) -> Site:
        """Registered domain of the first URL."""
        return registered_domain(self.host)


class BadRow(ValueError):
    """A row that cannot be used; the message is the reason that gets counted."""


def read_urls(path: Path, counts: Counter[str] | None = None) -> Iterator[UrlRow]:
    """Rows of a URL table; `counts` gets `rows` and `bad/REASON`."""
    counts = Counter() if counts is None else counts
    for row in read_rows(path, ("url",)):
        counts["rows"] += 1
        try:
            lang = _lang(row["lang"]) if row.get("lang") else None
            yield UrlRow(clean_url(row["url"]), lang, row.get("source") or "")
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1


def read_pairs(path: Path, counts: Counter[str] | None = None) -> Iterator[PairRow]:
    """Rows of a pair table; `counts` gets `rows` and `bad/REASON`."""
    counts = Counter() if counts is None else counts
    for row in read_rows(path, ("url_a", "lang_a", "url_b", "lang_b")):
        counts["rows"] += 1
        try:
            yield clean_pair(
                row["url_a"],
                row["lang_a"],
                row["url_b"],
                row["lang_b"],
                code_only=row["code_only"] == "1" if row.get("code_only") else None,
                source=row.get("source") or "",
            )
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1


def read_negatives(
    path: Path, counts: Counter[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Rows of a table of negatives; `counts` gets `rows` and `bad/REASON`."""
    counts = Counter() if counts is None else counts
    for row in read_rows(path, ("url_a", "url_b")):
        counts["rows"] += 1
        try:
            yield clean_url(row["url_a"]), clean_url(row["url_b"])
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1


def clean_url(url: str) -> str:
    """The canonical URL, or BadRow."""
    if len(url) > MAX_URL_LENGTH:
        raise BadRow("url longer than 2000 characters")
    canonical = canonicalize(url)
    if canonical is None:
        raise BadRow("no http url")
    return canonical


def clean_row(url: str, lang: str, *, source: str = "") -> UrlRow:
    """A canonical URL with its language, or BadRow."""
    return UrlRow(clean_url(url), _lang(lang), source)


def clean_pair(
    url_a: str,
    lang_a: str,
    url_b: str,
    lang_b: str,
    *,
    code_only: bool | None = None,
    source: str = "",
) -> PairRow:
    """A pair of canonical URLs in two languages, or BadRow."""
    a, b = clean_url(url_a), clean_url(url_b)
    if a == b:
        raise BadRow("one url twice")
    return PairRow(a, _lang(lang_a), b, _lang(lang_b), code_only, source)


def _lang(text: str) -> Lang:
    code = known_code(text)
    if code is None:
        raise BadRow("unknown language")
    return code


def read_rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Rows of a table as they stand; UsageError when a column is missing."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", errors="replace", newline="") as lines:
        reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise UsageError(
                f"{path}: no column {missing[0]!r} (expected a tab-separated table"
                f" with the columns {', '.join(columns)})"
            )
        for row in reader:
            if any(row[name] is None for name in columns):
                row = {name: row[name] or "" for name in columns}
            yield row


def write_table(
    path: Path, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]
) -> int:
    """Write a table, gzipped when the name says so; how many rows it got."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with _create(path) as out:
        out.write("\t".join(columns) + "\n")
        for row in rows:
            out.write("\t".join("" if c is None else str(c) for c in row) + "\n")
            written += 1
    return written


def _create(path: Path):  # type: ignore[no-untyped-def]  # a text stream of two kinds
    if path.suffix == ".gz":
        return gzip.open(path, "wt", encoding="utf-8", newline="")
    return path.open("w", encoding="utf-8", newline="")
