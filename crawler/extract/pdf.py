"""PDF to HTML: text in reading order, headings, paragraphs, links, running titles.

A PDF says where glyphs stand and how large they are, not what they are to each other.
pdfminer.six finds words by the gaps between glyphs (in many files there are no blanks),
lines, and the order of columns. Then: a wider gap than the page's usual one, another
size of type or a bullet starts a paragraph; larger type than the body's is a heading;
what stands at the edge of most pages alike, but for its digits, is a running title, and
goes into a <footer>, which is boilerplate to what reads the HTML. A word hyphenated at
the end of a line is one word again.

All in a process of its own: `crawler.extract.sandbox`.

In: bytes.  Out: HTML with <title>, <html lang>, <h1> to <h3>, <p>, <a>.
Differs from what one might wish: tables are paragraphs; scanned pages are empty.
"""

from __future__ import annotations

import io
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice, pairwise
from statistics import median
from typing import TYPE_CHECKING

from crawler.extract.sandbox import (
    MAX_SECONDS,
    ConversionError,
    run_reader,
    serve,
)

if TYPE_CHECKING:
    from pdfminer.layout import LTTextLine
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfpage import PDFPage

PDF = b"%PDF-"
MAX_PAGES = 200  # of a document; what follows is left out: a report, not an archive
MAX_HTML = 5_000_000  # characters; crawler.extract.document reads no more

_DIGITS = re.compile(r"\d+")
_BULLET = re.compile(r"\s*(?:[•◦▪‣·*–—-]|\(?\w{1,2}[.)])\s")
_SENTENCE_END = (".", "!", "?", ":", "…", "。", "”", '"', "»")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_HEADING = 1.15  # times the size of the body's type: 11 pt over 12.65
_GAP = 1.25  # times the usual distance of lines: half a line between paragraphs is 1.5
_EDGE = 2  # lines at the top and at the bottom of a page that may be running titles
_COMMON = 0.6  # share of the pages on which a running title stands; some have two


def looks_like_pdf(body: bytes) -> bool:
    """Does it begin as a PDF? Readers allow for some junk before the mark."""
    return PDF in body[:1024]


def pdf_to_html(body: bytes, seconds: int = MAX_SECONDS) -> str:
    """The text of a PDF as HTML; 70 ms a page (manuals).

    ConversionError: time, memory, encrypted, no_text, damaged.
    """
    return run_reader("crawler.extract.pdf", body, seconds)


# ------------------------------------------------------------- inside the process


@dataclass(frozen=True, slots=True)
class Line:
    """Text at one height of a page; y grows downwards, in points."""

    y: float
    size: float  # of its type
    text: str  # white space folded, ligatures as letters


def read(body: bytes) -> str:
    """What `pdf_to_html` gives, without bounds."""
    from pdfminer.pdfdocument import PDFDocument, PDFPasswordIncorrect
    from pdfminer.pdfpage import PDFPage
    from pdfminer.pdfparser import PDFParser

    try:
        document = PDFDocument(PDFParser(io.BytesIO(body)))
    except PDFPasswordIncorrect as error:
        raise ConversionError("encrypted") from error
    found = list(islice(PDFPage.create_pages(document), MAX_PAGES))
    pages = [list(lines) for lines in _lines(found)]
    if not any(pages):
        raise ConversionError("no_text")
    body_size = _usual_size(pages)
    running = _running(pages)
    parts = [_head(document)]
    for page, lines in zip(found, pages):
        main = [line for line in lines if _shape(line) not in running]
        for paragraph in _paragraphs(main):
            size = paragraph[0].size
            name = "p" if size < _HEADING * body_size else _level(size / body_size)
            parts.append(f"<{name}>{escape(_joined(paragraph))}</{name}>")
        rest = [f"<p>{escape(line.text)}</p>" for line in lines if line not in main]
        rest += [f'<a href="{escape(uri)}"></a>' for uri in _uris(page)]
        if rest:
            parts.append(f"<footer>{''.join(rest)}</footer>")
    return "\n".join(parts)[:MAX_HTML]


def _head(document: PDFDocument) -> str:
    from pdfminer.utils import decode_text

    def said(value: object) -> str:
        return escape(decode_text(value)) if isinstance(value, bytes) else ""

    titles = [about.get("Title") for about in document.info]
    title = said(titles[0] if titles else None)
    lang = said(document.catalog.get("Lang"))
    return (
        f'<!doctype html><html lang="{lang}"><meta charset="utf-8">'
        f"<title>{title}</title>"
    )


def _lines(pages: Iterable[PDFPage]) -> Iterator[Iterator[Line]]:
    """The lines of each page in reading order: column by column."""
    from pdfminer.converter import PDFPageAggregator
    from pdfminer.layout import LAParams, LTTextBox
    from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager

    resources = PDFResourceManager()
    device = PDFPageAggregator(resources, laparams=LAParams())
    interpreter = PDFPageInterpreter(resources, device)
    for page in pages:
        interpreter.process_page(page)
        layout = device.get_result()
        boxes = [box for box in layout if isinstance(box, LTTextBox)]
        yield (line for box in boxes for line in map(_line, box) if line.text)


def _line(line: LTTextLine) -> Line:
    from pdfminer.layout import LTChar

    sizes = [char.size for char in line if isinstance(char, LTChar)]
    text = _LIGATURE.sub(
        lambda found: unicodedata.normalize("NFKC", found[0]), line.get_text()
    )
    size = round(median(sizes), 1) if sizes else 0.0
    return Line(-line.y0, size, " ".join(text.split()))


def _usual_size(pages: Iterable[Sequence[Line]]) -> float:
    """The size of type that most characters have."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0]


def _shape(line: Line) -> str:
    """What a running title keeps from page to page."""
    return _DIGITS.sub("#", line.text)


def _running(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    if len(pages) < 3:
        return frozenset()
    seen: Counter[str] = Counter()
    for lines in pages:
        ordered = sorted(lines, key=lambda line: line.y)
        seen.update({_shape(li) for li in (*ordered[:_EDGE], *ordered[-_EDGE:])})
    return frozenset(s for s, times in seen.items() if times >= _COMMON * len(pages))


def _paragraphs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    steps = [b.y - a.y for a, b in pairwise(lines) if b.y > a.y and a.size == b.size]
    usual = median(steps) if steps else 0.0
    paragraph: list[Line] = []
    for line in lines:
        if paragraph and _breaks(paragraph[-1], line, usual):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _breaks(before: Line, line: Line, usual: float) -> bool:
    """Does a paragraph end between two lines?"""
    if abs(before.size - line.size) > 0.5 or _BULLET.match(line.text):
        return True
    step = line.y - before.y
    if step < 0:  # the next column: what was no sentence goes on there
        return before.text.endswith(_SENTENCE_END)
    return step > _GAP * usual


def _joined(lines: Iterable[Line]) -> str:
    text = ""
    for line in lines:
        more = line.text
        if (
            text.endswith(("-", "\u00ad"))
            and text[-2:-1].isalpha()
            and more[0].islower()
        ):
            text = text[:-1] + more
        else:
            text = f"{text} {more}" if text else more
    return text.replace("\u00ad", "")


def _level(ratio: float) -> str:
    return "h1" if ratio >= 1.6 else "h2" if ratio >= 1.3 else "h3"


def _uris(page: PDFPage) -> Iterator[str]:
    """Where the links of a page lead."""
    from pdfminer.pdftypes import resolve1
    from pdfminer.utils import decode_text

    for reference in resolve1(page.annots) or ():
        annotation = resolve1(reference)
        action = resolve1(annotation.get("A")) if isinstance(annotation, dict) else None
        uri = resolve1(action.get("URI")) if isinstance(action, dict) else None
        if isinstance(uri, bytes):
            yield decode_text(uri)


if __name__ == "__main__":
    sys.exit(serve(read))
