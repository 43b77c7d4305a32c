"""Text documents of office programs to HTML: DOCX with mammoth, ODT with lxml.

Both are zip files of XML. Headings, paragraphs, lists, tables and links are kept;
pictures, notes and changes that were deleted are not. Runs in a process of its own:
`crawler.extract.sandbox`.

In: bytes.  Out: HTML with <title>, <h1> to <h6>, <p>, <li>, <td>, <a>.
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator
from html import escape
from typing import Any

from lxml import etree

from crawler.extract.sandbox import (
    MAX_SECONDS,
    ConversionError,
    run_reader,
    serve,
)

_ZIP = b"PK\x03\x04"
# A zip of OpenDocument begins with its type, uncompressed.
_ODT = b"mimetypeapplication/vnd.oasis.opendocument.text"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_MAX_UNPACKED = 200 * 2**20  # bytes of all files in the zip together, pictures too
_MAX_HTML = 5_000_000  # characters; crawler.extract.document reads no more


def looks_like_office(body: bytes, content_type: str | None, url: str) -> bool:
    """True for an ODT by its first bytes, for a DOCX by its type or its name."""
    if not body.startswith(_ZIP):
        return False
    kind = (content_type or "").partition(";")[0].strip().lower()
    path = url.partition("?")[0].lower()
    return body[30:77] == _ODT or kind == _DOCX or path.endswith(".docx")


def office_to_html(body: bytes, seconds: int = MAX_SECONDS) -> str:
    """The text of an office file as HTML.

    ConversionError: time, memory, damaged, too_large, no_text, unknown.
    """
    return run_reader("crawler.extract.office", body, seconds)


# ------------------------------------------------------------- inside the process


def read(body: bytes) -> str:
    """The HTML of `office_to_html`, without bounds on time and memory."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        if sum(info.file_size for info in archive.infolist()) > _MAX_UNPACKED:
            raise ConversionError("too_large")
        names = set(archive.namelist())
        if "word/document.xml" in names:
            html = _docx(body)
        elif "content.xml" in names:
            html = "".join(_odt(etree.fromstring(archive.read("content.xml"), _xml())))
        else:
            raise ConversionError("unknown")
        title = _title(archive, names)
    if not html:
        raise ConversionError("no_text")
    head = '<!doctype html><meta charset="utf-8">'
    return f"{head}<title>{escape(title)}</title>{html}"[:_MAX_HTML]


def _docx(body: bytes) -> str:
    from mammoth import convert_to_html, images

    no_pictures = images.img_element(lambda _: {"src": ""})
    return str(convert_to_html(io.BytesIO(body), convert_image=no_pictures).value)


def _xml() -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)


def _title(archive: zipfile.ZipFile, names: set[str]) -> str:
    for name in ("docProps/core.xml", "meta.xml"):
        if name in names:
            root = etree.fromstring(archive.read(name), _xml())
            for element in root.iter("{http://purl.org/dc/elements/1.1/}title"):
                return " ".join((element.text or "").split())
    return ""


_LEFT_OUT = {"note", "annotation", "tracked-changes", "table-of-content"}
_BLOCKS = {"p": "p", "list-item": "li", "table-row": "tr", "table-cell": "td"}
_BLANKS = {"s", "tab", "line-break"}


def _odt(element: Any) -> Iterator[str]:  # lxml has no types of its own
    """The HTML of an element and what it holds; its tail is its parent's."""
    if not isinstance(element.tag, str):
        return  # a comment
    name = etree.QName(element).localname
    if name in _LEFT_OUT:
        return
    if name in _BLANKS:
        yield " "
    attributes = {etree.QName(k).localname: v for k, v in element.attrib.items()}
    tag, opening = _BLOCKS.get(name), ""
    if name == "h":
        level = attributes.get("outline-level", "1")
        tag = f"h{level}" if level in "123456" else "h6"
    elif name == "a":
        tag, opening = "a", f' href="{escape(attributes.get("href", ""))}"'
    if tag:
        yield f"<{tag}{opening}>"
    yield escape(element.text or "")
    for child in element:
        yield from _odt(child)
        yield escape(child.tail or "")
    if tag:
        yield f"</{tag}>"


if __name__ == "__main__":
    sys.exit(serve(read))
