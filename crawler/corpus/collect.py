"""The pages of a run's pairs, read from its WARC files.

One pass over the files, in their order; only pages that are in a pair are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

from crawler.corpus.rights import licence_of, marks_of
from crawler.corpus.texts import StoredText, TextStore
from crawler.data import LangPair, Origin, Page
from crawler.extract.bounded import PageReader
from crawler.extract.convert import as_html
from crawler.extract.document import Reading, read_page
from crawler.extract.plain import build_text_document
from crawler.warc.inputs import Piece, Revisit, read_piece
from crawler.warc.reader import PAGE_TYPES, SUFFIXES, iter_records, page_of, url_of
from crawler.warc.record import OPEN
from crawler.warc.text_columns import PlainText


def collect(
    files: Collection[str],
    wanted: Collection[str],
    langs: LangPair,
    store: TextStore,
    counts: Counter[str],
    *,
    documents: bool = False,
) -> None:
    """Put the wanted pages, by URL, into a store; `documents`: PDF and office too."""
    reader = PageReader()
    for file in files:
        for page, origin in _pages(file, wanted, counts):
            if isinstance(page, PlainText):
                document = build_text_document(page.url, page.text)
                text = StoredText(document, origin)
            else:
                read = partial(_read, page, counts, documents=documents)
                reading = reader.read(page.url, read)
                if reading.document is None:
                    continue
                document = reading.document
                marks = marks_of(page, reading.robots)
                text = StoredText(document, origin, marks, licence_of(document))
            if document.lang in langs:
                store.put(text)


def _read(page: Page, counts: Counter[str], *, documents: bool) -> Reading:
    return read_page(as_html(page, counts) if documents else page)


def _pages(
    file: str, wanted: Collection[str], counts: Counter[str]
) -> Iterator[tuple[Page | PlainText, Origin]]:
    if Path(file).name.removesuffix(OPEN).endswith(SUFFIXES):
        for record in iter_records(file, types=PAGE_TYPES, counts=counts):
            if record.type == "revisit" or url_of(record, Counter()) not in wanted:
                continue
            if page := page_of(record, counts):
                origin = Origin(page.url, file, record.offset, record.record_id)
                yield page, origin
        return
    # text columns, folders of pages, WET and lett files have no WARC records
    for item in read_piece(Piece(file), counts):
        if not isinstance(item, Revisit) and item.url in wanted:
            yield item, Origin(item.url, file)
