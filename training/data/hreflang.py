"""hreflang and language switchers in WARC files → URL rows and pairs.

Data card. Source: any WARC files (Bifocal's own, Common Crawl's, Heritrix's). A page's
language is CLD2's, on its main text; a row needs 0.7 of the text in that language.
Pairs come from `link rel=alternate hreflang`, from `a hreflang` and from links whose
anchor is a language's own name (the switcher); both pages must be of one site, and
either declare each other or be recorded in the languages declared (`evidence`). Known
noise: templates that declare `en` everywhere (dropped where CLD2 disagrees), pages left
untranslated under another code (dropped likewise), one-sided switchers (kept only when
the other page is recorded).

    python -m training.data.hreflang OUTDIR WARC ...
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from crawler.data import Document, Lang, Page
from crawler.extract.document import build_document
from crawler.languages import marker_languages
from crawler.urls import canonicalize
from crawler.warc.reader import iter_pages
from training.data.evidence import Declared, declared_pairs, write_pairs, write_urls
from training.data.tables import PairRow, UrlRow

MIN_CONFIDENCE = 0.7  # share of the text; bilingual pages are of neither language
SOURCE = "hreflang"


def read_recordings(
    pages: Iterable[Page], counts: Counter[str]
) -> tuple[list[UrlRow], list[PairRow]]:
    """URL rows of all pages with a language, and the pairs that they declare."""
    languages: dict[str, Lang] = {}
    declarations: list[Declared] = []
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
        declarations += declared_by(url, document)
    rows = [UrlRow(url, lang, SOURCE) for url, lang in languages.items()]
    pairs = list(declared_pairs(declarations, languages, counts, source=SOURCE))
    return rows, pairs


def declared_by(url: str, document: Document) -> list[Declared]:
    """What a page says of its other versions."""
    found = []
    for link in document.links:
        lang = link.hreflang or _switcher_language(link.anchor)
        if lang:
            found.append(Declared(url, link.url, lang))
    return found


def _switcher_language(anchor: str) -> Lang | None:
    """The language that an anchor names, as `Íslenska` or `EN` do."""
    named = marker_languages(anchor.strip()) if 2 <= len(anchor) <= 25 else frozenset()
    return next(iter(named)) if len(named) == 1 else None


def main(out: Path, warcs: list[Path]) -> None:
    """Write both tables."""
    counts: Counter[str] = Counter()
    rows, pairs = read_recordings(iter_pages(warcs, counts=counts), counts)
    urls = write_urls(out / "url_lang.tsv.gz", rows)
    number = write_pairs(out / "url_pairs.tsv.gz", pairs)
    print(f"{urls} URLs and {number} pairs written to {out}; {dict(counts)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
