"""hreflang, menus, sitemaps in WARCs → pages, pairs, negatives; input: WARC files.

Data card. Source: any WARC files (Bifocal's own, Common Crawl's, Heritrix's); a folder
of them is read as a whole. A page's language is CLD2's, on its main text; a row needs
0.7 of the text in that language. Pairs come from `link rel=alternate hreflang`, from `a
hreflang`, from links whose anchor is a language's own name (a language menu) and from
recorded sitemaps; both pages must be of one site, and either declare each other or be
recorded in the languages declared (`evidence`). Known noise: templates that declare
`en` everywhere (dropped where CLD2 disagrees), pages left untranslated under another
code (dropped likewise), one-sided menus (kept only when the other page is recorded).
Negatives are the other links of a page that links its translation (García-Romero et al.
2024, section 3.1), in either language, none of them of the page's translation group or
handle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from crawler.data import Document, Lang, LangPair, Page
from crawler.extract.document import read_page
from crawler.extract.sitemap import Sitemap
from crawler.switchers import switcher_languages
from crawler.urls import canonicalize
from crawler.warc.reader import iter_pages
from training.data import sitemaps
from training.data.evidence import Declared, declared_pairs
from training.data.tables import Tables, UrlRow
from training.negatives import Closure, linked_negatives

MIN_CONFIDENCE = 0.7  # share of the text; bilingual pages are of neither language
MAX_LINKS = 100  # of a page that negatives are taken from: memory, menus come first
SOURCE = "hreflang"


def read_recordings(pages: Iterable[Page], counts: Counter[str]) -> Tables:
    """The rows of recorded pages; pages that cannot be used are counted by reason."""
    languages: dict[str, Lang] = {}
    declarations: list[Declared] = []
    links: dict[str, list[str]] = {}  # of the pages that declare something
    listed: list[Sitemap] = []
    for page in pages:
        counts["pages"] += 1
        url = canonicalize(page.url)
        reading = read_page(page)
        document = reading.document
        if reading.sitemap:
            counts["sitemaps"] += 1
            listed.append(reading.sitemap)
            continue
        if url is None or document is None:
            counts["dropped/not a document"] += 1
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
    urls = [UrlRow(url, lang, SOURCE) for url, lang in languages.items()]
    declared = sitemaps.read_sitemaps(listed, counts)
    urls += (row for row in declared.urls if row.url not in languages)
    pairs += declared.pairs
    closure = Closure.of((pair.url_a, pair.url_b) for pair in pairs)
    return Tables(
        urls,
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
    """The other versions that a page declares."""
    found = []
    for link in document.links:
        named = (
            {link.hreflang} if link.hreflang else switcher_languages(link.anchor or "")
        )
        if len(named) == 1:
            found.append(Declared(url, link.url, *named))
    return found


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The rows of a WARC file or of a folder of them; of all languages."""
    return read_recordings(iter_pages(Path(source), counts=counts), counts)
