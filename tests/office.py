"""Office files, put together as the formats say, without an office program."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_TYPES = f"""<?xml version="1.0"?><Types xmlns="{_PACKAGE}/content-types">
<Default Extension="rels"
 ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="{_WORD}.main+xml"/></Types>"""
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"


def make_docx(title: str, paragraphs: list[str]) -> bytes:
    """A document with a heading and paragraphs."""
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    blocks = f"<w:p>{style}<w:r><w:t>{escape(title)}</w:t></w:r></w:p>" + "".join(
        f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs
    )
    styles = (
        f'<w:styles xmlns:w="{_W}"><w:style w:type="paragraph" w:styleId="Heading1">'
        '<w:name w:val="heading 1"/></w:style></w:styles>'
    )
    return _zip(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": _relation("officeDocument", "word/document.xml"),
            "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body>{blocks}</w:body>'
            "</w:document>",
            "word/styles.xml": styles,
            "word/_rels/document.xml.rels": _relation("styles", "styles.xml"),
        }
    )


def make_odt(title: str, paragraphs: list[str]) -> bytes:
    """The same as OpenDocument, with a note, a link and a deleted change."""
    first, *others = paragraphs
    blocks = "".join(f"<text:p>{escape(text)}</text:p>" for text in others)
    content = f"""<office:document-content xmlns:office="{_OASIS}:office:1.0"
    xmlns:text="{_OASIS}:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink">
    <office:body><office:text>
    <text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
    <text:h text:outline-level="1">{escape(title)}</text:h>
    <text:p>{escape(first)}<text:note><text:p>a note</text:p></text:note></text:p>
    {blocks}
    <text:list><text:list-item><text:p>one<text:s/>item</text:p></text:list-item>
    </text:list>
    <text:p><text:a xlink:href="https://example.org/is">Íslenska</text:a></text:p>
    </office:text></office:body></office:document-content>"""
    meta = f"""<office:document-meta xmlns:office="{_OASIS}:office:1.0"
    xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>
    <dc:title>{escape(title)}</dc:title></office:meta></office:document-meta>"""
    mimetype = "application/vnd.oasis.opendocument.text"
    return _zip({"mimetype": mimetype, "content.xml": content, "meta.xml": meta})


def _relation(kind: str, target: str) -> str:
    return f"""<?xml version="1.0"?><Relationships xmlns="{_PACKAGE}/relationships">
<Relationship Id="r1" Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>"""


def _zip(files: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            stored = zipfile.ZIP_STORED if name == "mimetype" else None
            archive.writestr(name, text, compress_type=stored)
    return file.getvalue()
