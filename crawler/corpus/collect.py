"""The pages of a run's pairs, read from its WARC files.

One pass over the files, in their order; only pages that are in a pair are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from crawler.corpus.rights import licence_of, marks_of
from crawler.corpus.texts import StoredText, TextStore
from crawler.data import LangPair, Origin, Page
from crawler.extract.bounded import PageReader
from crawler.extract.convert import as_html
from crawler.extract.detectors.open import DetectorConfig, open_detector
from crawler.extract.document import Reading, read_page
from crawler.extract.plain import build_text_document
from crawler.warc.inputs import Piece, Revisit, read_piece
from crawler.warc.reader import (
    PAGE_TYPES,
    SUFFIXES,
    WHOLE_TYPES,
    iter_records,
    origin_key,
    page_of,
    revisited_page,
    url_of,
)
from crawler.warc.record import OPEN, Record
from crawler.warc.text_columns import PlainText


def collect(
    files: Collection[str],
    wanted: Collection[str],
    langs: LangPair,
    store: TextStore,
    counts: Counter[str],
    *,
    documents: bool = False,
    languages: DetectorConfig | None = None,
) -> None:
    """Put the wanted pages, by URL, into a store; `documents`: PDF and office too."""
    reader = PageReader()
    detector = open_detector(tuple(langs), languages)
    read_one = partial(read_page, detector=detector, langs=tuple(langs))

    def read(page: Page) -> Reading:
        return read_one(as_html(page, counts) if documents else page)

    def take(page: Page | PlainText, origin: Origin) -> None:
        if isinstance(page, PlainText):
            document = build_text_document(page.url, page.text, detector)
            texts = [StoredText(document, origin)]
        else:
            reading = reader.read(page.url, partial(read, page))
            marks = marks_of(page, reading.robots)
            texts = [
                StoredText(document, origin, marks, licence_of(document))
                for document in reading.documents
            ]
        for text in texts:
            if text.document.lang in langs:
                store.put(text)

    revisits: dict[str | None, list[Record]] = {}
    for file in files:
        for page, origin in _pages(file, wanted, counts, revisits):
            take(page, origin)
    for file in files if revisits else ():
        for page, origin in _originals(file, revisits, counts):
            take(page, origin)


def _pages(
    file: str,
    wanted: Collection[str],
    counts: Counter[str],
    revisits: dict[str | None, list[Record]],
) -> Iterator[tuple[Page | PlainText, Origin]]:
    """The wanted pages of a file; those of revisit records are put into `revisits`."""
    if _is_warc(file):
        for record in iter_records(file, types=PAGE_TYPES, counts=counts):
            if url_of(record, Counter()) not in wanted:
                continue
            if record.type == "revisit":
                about = replace(record, block=b"")
                revisits.setdefault(origin_key(record), []).append(about)
            elif page := page_of(record, counts):
                yield page, Origin(page.url, file, record.offset, record.record_id)
        return
    # text columns, folders of pages, WET and lett files have no WARC records
    for item in read_piece(Piece(file), counts):
        if not isinstance(item, Revisit) and item.url in wanted:
            yield item, Origin(item.url, file)


def _originals(
    file: str, revisits: dict[str | None, list[Record]], counts: Counter[str]
) -> Iterator[tuple[Page, Origin]]:
    """The pages of revisit records whose originals are in a file."""
    if not _is_warc(file):
        return
    for record in iter_records(file, types=WHOLE_TYPES, counts=Counter()):
        key = origin_key(record)
        for revisit in revisits.pop(key, ()) if key else ():
            if page := revisited_page(revisit, record, counts):
                yield page, Origin(page.url, file, record.offset, record.record_id)


def _is_warc(file: str) -> bool:
    return Path(file).name.removesuffix(OPEN).endswith(SUFFIXES)
