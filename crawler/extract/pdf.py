"""PDF to HTML: text in reading order, headings, paragraphs, links, running titles.

A PDF says where glyphs stand and how large they are, not what they are to each other.
So: fragments of one height are a line; a wider gap than the page's usual one, another
size of type or a bullet starts a paragraph; larger type than the body's is a heading;
what stands at the edge of most pages alike, but for its digits, is a running title, and
goes into a <footer>, which is boilerplate to what reads the HTML. A word hyphenated at
the end of a line is one word again.

pypdf does the reading, in a process of its own with bounds on memory, time, pages and
what comes out: a PDF is a program somebody else wrote.

In: bytes.  Out: HTML with <title>, <html lang>, <h1> to <h3>, <p>, <a>.
Differs from what one might wish: tables are paragraphs; scanned pages are empty.
"""

from __future__ import annotations

import io
import re
import resource
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from crawler.errors import BifocalError

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

PDF = b"%PDF-"
MAX_PAGES = 200  # of a document; what follows is left out: a report, not an archive
MAX_SECONDS = 20  # of processor time: 200 pages of text take 10
MAX_MEMORY = 1 << 30  # bytes of address space
MAX_HTML = 5_000_000  # characters; crawler.extract.document reads no more

_DIGITS = re.compile(r"\d+")
_BULLET = re.compile(r"\s*(?:[•◦▪‣·*–—-]|\(?\w{1,2}[.)])\s")
_SENTENCE_END = (".", "!", "?", ":", "…", "。", "”", '"', "»")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_HEADING = 1.15  # times the size of the body's type: 11 pt over 12.65
_GAP = 1.25  # times the usual distance of lines: half a line between paragraphs is 1.5
_EDGE = 2  # lines at the top and at the bottom of a page that may be running titles
_COMMON = 0.6  # share of the pages on which a running title stands; some have two


class PdfError(BifocalError):
    """A PDF that cannot be read; its text is one word, to count by."""


def looks_like_pdf(body: bytes) -> bool:
    """Does it begin as a PDF? Readers allow for some junk before the mark."""
    return PDF in body[:1024]


def pdf_to_html(body: bytes, seconds: int = MAX_SECONDS) -> str:
    """The text of a PDF as HTML. PdfError: time, memory, encrypted, no_text, damaged.

    Takes 0.2 s for its process and some 50 ms a page; see the bounds above.
    """
    words = [sys.executable, "-m", "crawler.extract.pdf", str(seconds)]
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            words, input=body, capture_output=True, timeout=3 * seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise PdfError("time") from error
    if done.returncode < 0:  # the signal of a bound: SIGXCPU, then SIGKILL
        raise PdfError("time")
    if done.returncode:
        raise PdfError(done.stderr.decode("ascii", "replace").split()[-1])
    return done.stdout.decode("utf-8")


# ------------------------------------------------------------- inside the process


@dataclass(slots=True)
class Line:
    """Text at one height of a page; y grows downwards, in points."""

    y: float
    size: float
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its text, white space folded, ligatures as letters."""
        text = _LIGATURE.sub(
            lambda found: unicodedata.normalize("NFKC", found[0]), "".join(self.parts)
        )
        return " ".join(text.split())


def read(body: bytes) -> str:
    """What `pdf_to_html` gives, without bounds."""
    from pypdf import PasswordType, PdfReader

    reader = PdfReader(io.BytesIO(body))
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise PdfError("encrypted")
    pages = [list(_lines(page)) for page in reader.pages[:MAX_PAGES]]
    if not any(line.text for lines in pages for line in lines):
        raise PdfError("no_text")
    body_size = _usual_size(pages)
    running = _running(pages)
    parts = [_head(reader)]
    for page, lines in zip(reader.pages, pages):
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


def _head(reader: PdfReader) -> str:
    about = reader.metadata
    title = str((about and about.title) or "")
    lang = str(reader.root_object.get("/Lang", ""))
    return (
        f'<!doctype html><html lang="{escape(lang)}">'
        f'<meta charset="utf-8"><title>{escape(title)}</title>'
    )


def _lines(page: PageObject) -> Iterator[Line]:
    """The lines of a page in the order in which they are drawn."""
    found: list[Line] = []
    fresh = True

    def visit(text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        nonlocal fresh
        if text.endswith("\n"):
            fresh = True
        if not text.strip():
            if found and text and not fresh:
                found[-1].parts.append(" ")
            return
        scale = (tm[0] ** 2 + tm[1] ** 2) ** 0.5 * (cm[0] ** 2 + cm[1] ** 2) ** 0.5
        y = -(tm[4] * cm[1] + tm[5] * cm[3] + cm[5])
        if fresh:
            found.append(Line(y, round(size * scale, 1)))
        found[-1].parts.append(text)
        fresh = text.endswith("\n")

    page.extract_text(visitor_text=visit)
    return (line for line in found if line.text)


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


def _uris(page: PageObject) -> Iterator[str]:
    """Where the links of a page lead."""
    for annotation in page.get("/Annots") or ():
        action = annotation.get_object().get("/A")
        uri = action.get_object().get("/URI") if action else None
        if uri:
            yield str(uri)


def main() -> int:
    """Standard input to standard output; on stderr, why not. Argument: seconds."""
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    try:
        sys.stdout.buffer.write(
            read(sys.stdin.buffer.read()).encode("utf-8", "replace")
        )
    except PdfError as error:
        print(error, file=sys.stderr)
    except MemoryError:
        print("memory", file=sys.stderr)
    except Exception:  # whatever a damaged file does to the library
        print("damaged", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
