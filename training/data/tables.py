"""Tables of URLs, of pairs and of terms: builders write them, training reads them.

A folder of data (DATA) has

    url_lang     url, lang[, source]                 pages with their language
    url_pairs    url_a, lang_a, url_b, lang_b[, code_only, source]
    host_urls    url[, lang]     optional: more URLs of the sites that have pairs
    negatives    url_a, url_b    optional: pages that are not translations
    terms        lang_a, text_a, lang_b, text_b, source      optional: short texts
    splits       registered_domain, split            optional, see `splits`

each as NAME.tsv, NAME.tsv.gz or NAME.parquet, or as a folder NAME of Parquet files. TSV
is UTF-8 with a header; columns that are not named here are ignored. `lang` may be ISO
639-1, -3 or BCP 47; rows have Bifocal's code. A row that cannot be used is counted with
its reason and left out, never fatal.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crawler.atomic import atomic_text
from crawler.data import Lang, Site
from crawler.errors import UsageError
from crawler.handles import stripped_forms
from crawler.languages import known_code
from crawler.urls import MAX_URL_LENGTH, canonicalize, host_of, registered_domain

UrlPair = tuple[str, str]

COLUMNS = {
    "url_lang": ("url", "lang", "source"),
    "url_pairs": ("url_a", "lang_a", "url_b", "lang_b", "code_only", "source"),
    "host_urls": ("url", "lang"),
    "negatives": ("url_a", "url_b"),
    "terms": ("lang_a", "text_a", "lang_b", "text_b", "source"),
    "splits": ("registered_domain", "split"),
}
_OPTIONAL = ("lang", "code_only", "source")


@dataclass(frozen=True, slots=True)
class UrlRow:
    """A page's URL with its language; None where it is not known."""

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
    code_only: bool  # the URLs are equal without their language codes and names
    source: str = ""

    @property
    def host(self) -> str:
        """Host of the first URL."""
        return host_of(self.url_a)

    @property
    def site(self) -> Site:
        """Registered domain of the first URL."""
        return registered_domain(self.host)


@dataclass(frozen=True, slots=True)
class TermPair:
    """One meaning in two languages: words, names and titles that slugs are made of."""

    lang_a: Lang
    text_a: str
    lang_b: Lang
    text_b: str
    source: str


class Tables(NamedTuple):
    """The rows that a builder finds."""

    urls: Iterable[UrlRow] = ()
    pairs: Iterable[PairRow] = ()
    negatives: Iterable[UrlPair] = ()
    terms: Iterable[TermPair] = ()


class BadRow(ValueError):
    """A row that cannot be used; the message is the reason that is counted."""


# ------------------------------------------------------------------ one row


def clean_url(url: str) -> str:
    """The canonical URL, or BadRow."""
    if len(url) > MAX_URL_LENGTH:
        raise BadRow("url longer than 2000 characters")
    canonical = canonicalize(url)
    if canonical is None:
        raise BadRow("not an http url")
    return canonical


def clean_row(url: str, lang: str | None, *, source: str = "") -> UrlRow:
    """A canonical URL with its language, or BadRow."""
    return UrlRow(clean_url(url), _lang(lang) if lang else None, source)


def clean_pair(
    url_a: str,
    lang_a: str,
    url_b: str,
    lang_b: str,
    *,
    code_only: bool | None = None,
    source: str = "",
) -> PairRow:
    """A pair of canonical URLs, or BadRow; `code_only` None: as the URLs show."""
    a, b = clean_url(url_a), clean_url(url_b)
    if a == b:
        raise BadRow("one url twice")
    if code_only is None:
        code_only = not stripped_forms(a).isdisjoint(stripped_forms(b))
    return PairRow(a, _lang(lang_a), b, _lang(lang_b), code_only, source)


def _lang(text: str) -> Lang:
    code = known_code(text)
    if code is None:
        raise BadRow("unknown language")
    return code


# ------------------------------------------------------------------ reading


def find_table(folder: Path, name: str) -> Path | None:
    """The file or folder of a table, or None."""
    forms = (f"{name}.tsv.gz", f"{name}.tsv", f"{name}.parquet", name)
    return next((folder / form for form in forms if (folder / form).exists()), None)


def read_table(path: Path, name: str) -> Iterator[tuple[str, ...]]:
    """Rows of the table `name`, cells in the order of its columns, "" for None.

    UsageError if a column that it must have is missing.
    """
    if path.is_dir() or path.suffix == ".parquet":
        yield from _read_parquet(path, COLUMNS[name])
        return
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", errors="replace", newline="") as lines:
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        head = next(reader, [])
        _check(path, COLUMNS[name], head)
        places = [head.index(c) if c in head else -1 for c in COLUMNS[name]]
        for row in filter(None, reader):
            row += [""] * (len(head) - len(row) + 1)  # the last one is what is missing
            yield tuple([row[place] for place in places])


def _read_parquet(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    import pyarrow.parquet

    for file in sorted(path.glob("*.parquet")) if path.is_dir() else [path]:
        table = pyarrow.parquet.ParquetFile(file)
        there = table.schema_arrow.names
        _check(file, columns, there)
        for batch in table.iter_batches():
            cells = [
                batch.column(c).to_pylist() if c in there else [None] * len(batch)
                for c in columns
            ]
            for row in zip(*cells):
                yield tuple(["" if cell is None else str(cell) for cell in row])


def _check(path: Path, columns: Iterable[str], there: Iterable[str]) -> None:
    needed = [column for column in columns if column not in _OPTIONAL]
    missing = [column for column in needed if column not in there]
    if missing:
        raise UsageError(
            f"{path}: the column {missing[0]!r} is missing (expected a tab-separated"
            f" table or Parquet with the columns {', '.join(needed)})"
        )


def read_urls(
    path: Path, counts: Counter[str], name: str = "url_lang"
) -> Iterator[UrlRow]:
    """Rows of a URL table; `counts` gets `rows` and `bad/REASON`."""
    for url, lang, *source in read_table(path, name):
        with _counted(counts):
            yield clean_row(url, lang, source="".join(source))


def read_pairs(path: Path, counts: Counter[str]) -> Iterator[PairRow]:
    """Rows of a pair table; `counts` gets `rows` and `bad/REASON`."""
    for *pair, code_only, source in read_table(path, "url_pairs"):
        same = code_only.lower() in ("1", "true") if code_only else None
        with _counted(counts):
            yield clean_pair(*pair, code_only=same, source=source)


def read_negatives(path: Path, counts: Counter[str]) -> Iterator[UrlPair]:
    """Rows of a table of negatives; `counts` gets `rows` and `bad/REASON`."""
    for a, b in read_table(path, "negatives"):
        with _counted(counts):
            yield clean_url(a), clean_url(b)


@contextmanager
def _counted(counts: Counter[str]) -> Iterator[None]:
    counts["rows"] += 1
    try:
        yield
    except BadRow as reason:
        counts[f"bad/{reason}"] += 1


def read_terms(path: Path) -> Iterator[TermPair]:
    """Rows of a table of terms."""
    return (TermPair(*row) for row in read_table(path, "terms"))


# ------------------------------------------------------------------ writing


def write_table(
    path: Path, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]
) -> int:
    """Write a TSV table, gzipped if its name says so; returns the number of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with atomic_text(path) as out:
        out.write("\t".join(columns) + "\n")
        for row in rows:
            out.write("\t".join("" if c is None else str(c) for c in row) + "\n")
            written += 1
    return written


def write_terms(path: Path, pairs: Iterable[TermPair]) -> int:
    """Write a table of terms; returns the number of rows."""
    columns = COLUMNS["terms"]
    rows = (tuple(getattr(pair, column) for column in columns) for pair in pairs)
    return write_table(path, columns, rows)
