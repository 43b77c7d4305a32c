"""WMT16 document alignment data (.lett) → URL rows, pairs, genuine negatives.

Data card. Source: the shared task's `lett.train/*.lett.gz` (49 sites) with
`train.pairs` (1,624 pairs), English-French (data.statmt.org/wmt16). A line is one page:
lang, mime, encoding, url, base64(html), base64(text). The gold list is not complete, so
two pages of a site are negatives only when one of them is in the list with another
partner (García-Romero et al. 2024, section 3.1: the links of a gold page). The
test sites (lett.test, 203) are for evaluation only and must never be read with this.

    python -m training.data.lett OUTDIR train.pairs FILE.lett.gz ...
"""

from __future__ import annotations

import base64
import binascii
import gzip
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from crawler.data import Lang, Page
from crawler.extract.document import build_document
from crawler.languages import known_code
from training.data.evidence import write_pairs, write_urls
from training.data.tables import (
    BadRow,
    PairRow,
    UrlRow,
    clean_pair,
    clean_url,
    write_table,
)

_NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LettPage:
    """One line of a .lett file."""

    url: str
    lang: Lang
    html: bytes
    text: str


def read_lett(lines: Iterable[bytes], counts: Counter[str]) -> Iterator[LettPage]:
    """The pages of a .lett file; bad lines are counted by reason."""
    for line in lines:
        counts["rows"] += 1
        cells = line.rstrip(b"\r\n").split(b"\t")
        if len(cells) != 6:
            counts["bad/not six columns"] += 1
            continue
        lang = known_code(cells[0].decode("ascii", "replace"))
        if lang is None:
            counts["bad/unknown language"] += 1
            continue
        try:
            yield LettPage(
                clean_url(cells[3].decode("utf-8", "replace")),
                lang,
                base64.b64decode(cells[4], validate=True),
                base64.b64decode(cells[5], validate=True).decode("utf-8", "replace"),
            )
        except binascii.Error:
            counts["bad/base64"] += 1
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1


def read_gold(path: Path, counts: Counter[str]) -> list[PairRow]:
    """`train.pairs`: English TAB French."""
    pairs = []
    for line in path.read_text("utf-8").splitlines():
        a, _, b = line.partition("\t")
        try:
            pairs.append(clean_pair(a, "en", b.strip(), "fr", source="wmt16"))
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1
    return pairs


def linked_negatives(
    pages: Iterable[LettPage],
    gold: Mapping[str, str],
    languages: Mapping[str, Lang],
) -> Iterator[tuple[str, str]]:
    """Pages of the gold list with what they link, if their true partner is linked.

    `gold` holds both directions. Links to pages in neither language are left out, as in
    the paper.
    """
    for page in pages:
        partner = gold.get(page.url)
        recorded = Page(
            page.url, 200, (("Content-Type", "text/html"),), page.html, _NO_DATE
        )
        document = build_document(recorded) if partner else None
        if document is None:
            continue
        linked = {link.url for link in document.links}
        if partner in linked:
            for url in sorted(linked - {partner, page.url}):
                if languages.get(url) in ("en", "fr"):
                    yield page.url, url


def main(out: Path, gold_file: Path, files: list[Path]) -> None:
    """Write URL rows, pairs, and `negatives.tsv.gz` (url_a, url_b)."""
    counts: Counter[str] = Counter()
    pairs = read_gold(gold_file, counts)
    gold = {p.url_a: p.url_b for p in pairs} | {p.url_b: p.url_a for p in pairs}
    languages: dict[str, Lang] = {}
    kept: list[LettPage] = []
    for file in files:
        with gzip.open(file) as lines:
            for page in read_lett(lines, counts):
                languages[page.url] = page.lang
                if page.url in gold:
                    kept.append(page)
    rows = [UrlRow(url, lang, "wmt16") for url, lang in languages.items()]
    urls = write_urls(out / "url_lang.tsv.gz", rows)
    number = write_pairs(out / "url_pairs.tsv.gz", pairs)
    negatives = write_table(
        out / "negatives.tsv.gz",
        ("url_a", "url_b"),
        linked_negatives(kept, gold, languages),
    )
    print(
        f"{urls} URLs, {number} pairs and {negatives} genuine negatives written to"
        f" {out}; {dict(counts)}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
