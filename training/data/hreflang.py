"""hreflang and language switchers in WARC files → URL rows, pairs, genuine negatives.

Data card. Source: any WARC files (Bifocal's own, Common Crawl's, Heritrix's). A page's
language is CLD2's, on its main text; a row needs 0.7 of the text in that language.
Pairs come from `link rel=alternate hreflang`, from `a hreflang` and from links whose
anchor is a language's own name (the switcher); both pages must be of one site, and
either declare each other or be recorded in the languages declared (`evidence`). Known
noise: templates that declare `en` everywhere (dropped where CLD2 disagrees), pages left
untranslated under another code (dropped likewise), one-sided switchers (kept only when
the other page is recorded). Negatives are the other links of a page that links its
translation (García-Romero et al. 2024, section 3.1), in either language, none of them
of the page's translation group or handle.

    python -m training.data.hreflang OUTDIR WARC ...
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from crawler.data import Document, Lang, Page
from crawler.extract.document import build_document
from crawler.switchers import switcher_languages
from crawler.urls import canonicalize
from crawler.warc.reader import iter_pages
from training.data.evidence import (
    Declared,
    declared_pairs,
    write_negatives,
    write_pairs,
    write_urls,
)
from training.data.tables import PairRow, UrlRow
from training.negatives import Closure, UrlPair, linked_negatives

MIN_CONFIDENCE = 0.7  # share of the text; bilingual pages are of neither language
MAX_LINKS = 100  # of a page that negatives are taken from: memory, menus come first
SOURCE = "hreflang"


class Recordings(NamedTuple):
    """What the pages of WARC files say."""

    urls: list[UrlRow]  # of all pages with a language
    pairs: list[PairRow]  # that they declare
    negatives: list[UrlPair]


def read_recordings(pages: Iterable[Page], counts: Counter[str]) -> Recordings:
    """Read the pages once; what cannot be used is counted by reason."""
    languages: dict[str, Lang] = {}
    declarations: list[Declared] = []
    links: dict[str, list[str]] = {}  # of the pages that declare something
    for page in pages:
        counts["pages"] += 1
        url = canonicalize(page.url)
        document = build_document(page) if url else None
        if url is None or document is None:
            counts["dropped/no document"] += 1
            continue
        if document.lang and document.lang_confidence >= MIN_CONFIDENCE:
            languages[url] = document.lang
        else:
            counts["dropped/language not sure"] += 1
        if found := declared_by(url, document):
            declarations += found
            links[url] = [link.url for link in document.links][:MAX_LINKS]
            links[url] += (declared.other for declared in found)
    pairs = list(declared_pairs(declarations, languages, counts, source=SOURCE))
    closure = Closure((pair.url_a, pair.url_b) for pair in pairs)
    return Recordings(
        [UrlRow(url, lang, SOURCE) for url, lang in languages.items()],
        pairs,
        [
            negative
            for row in pairs
            for pair in ((row.url_a, row.url_b), (row.url_b, row.url_a))
            for negative in linked_negatives(
                pair, links.get(pair[0], ()), languages, closure
            )
        ],
    )


def declared_by(url: str, document: Document) -> list[Declared]:
    """What a page says of its other versions."""
    found = []
    for link in document.links:
        named = {link.hreflang} if link.hreflang else switcher_languages(link.anchor)
        if len(named) == 1:
            found.append(Declared(url, link.url, *named))
    return found


def main(out: Path, warcs: list[Path]) -> None:
    """Write the three tables."""
    counts: Counter[str] = Counter()
    found = read_recordings(iter_pages(warcs, counts=counts), counts)
    urls = write_urls(out / "url_lang.tsv.gz", found.urls)
    pairs = write_pairs(out / "url_pairs.tsv.gz", found.pairs)
    negatives = write_negatives(out / "negatives.tsv.gz", found.negatives)
    print(
        f"{urls} URLs, {pairs} pairs and {negatives} genuine negatives written to"
        f" {out}; {dict(counts)}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
