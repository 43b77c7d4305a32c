from __future__ import annotations

import io
import zipfile
from collections import Counter
from datetime import UTC, datetime

import pytest

from crawler.data import Page
from crawler.extract.convert import as_html
from crawler.extract.document import build_document
from crawler.extract.office import looks_like_office, office_to_html
from crawler.extract.sandbox import ConversionError
from crawler.extract.text import blocks_of
from tests.office import make_docx, make_odt
from tests.pdf import make_pdf

FERJA = "Ferjan fer klukkan níu að morgni og kemur aftur klukkan hálf fimm þann dag. "
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def page(body: bytes, kind: str = "", url: str = "https://example.org/a") -> Page:
    headers = (("Content-Type", kind),) if kind else ()
    return Page(url, 200, headers, body, datetime.now(UTC))


@pytest.mark.parametrize("make", [make_docx, make_odt])
def test_headings_and_paragraphs_come_out_in_their_order(make):
    body = make("Höfnin", [FERJA * 3, "Annað & <þriðja>."])
    made = as_html(page(body, DOCX), Counter())
    document = build_document(made)
    found = blocks_of(document.tokens, document.chunks)
    assert document.lang == "is"
    assert [(b.tag, b.text) for b in found][:3] == [
        ("h1", "Höfnin"),
        ("p", (FERJA * 3).strip()),
        ("p", "Annað & <þriðja>."),
    ]


def test_an_odt_keeps_lists_and_links_and_leaves_out_notes_and_deleted_text():
    html = office_to_html(make_odt("Höfnin", ["Ferjan."]))
    assert "<title>Höfnin</title>" in html
    assert "<li><p>one item</p></li>" in html
    assert '<a href="https://example.org/is">Íslenska</a>' in html
    assert "note" not in html
    assert "deleted" not in html


def test_a_docx_is_known_by_its_type_or_its_name_an_odt_by_its_bytes():
    docx, odt = make_docx("a", ["b"]), make_odt("a", ["b"])
    assert looks_like_office(docx, DOCX, "https://example.org/a")
    assert looks_like_office(docx, None, "https://example.org/A.DOCX?v=2")
    assert not looks_like_office(docx, "application/zip", "https://example.org/a.zip")
    assert looks_like_office(odt, None, "https://example.org/a")
    assert not looks_like_office(b"<html>", DOCX, "https://example.org/a.docx")


def bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(2**28))
    return file.getvalue()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (make_docx("a", ["b"])[:300], "damaged"),
        (b"PK\x03\x04 nothing", "damaged"),
        (bomb(), "too_large"),
        (make_docx("", []), "no_text"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_word(body, reason):
    with pytest.raises(ConversionError, match=f"^{reason}$"):
        office_to_html(body)


def test_a_zip_of_something_else_is_unknown():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(ConversionError, match="unknown"):
        office_to_html(file.getvalue())


def test_an_entity_of_a_file_is_not_read():
    secret = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("content.xml", f"{secret}<a>&x;<p>text</p></a>")
    assert "root:" not in office_to_html(file.getvalue())


def test_conversions_are_counted_and_other_pages_stay_as_they_are():
    counts: Counter[str] = Counter()
    html = page(b"<p>text</p>", "text/html")
    assert as_html(html, counts) is html
    missing = Page(html.url, 404, (), make_pdf("a", ["b"]), html.fetched_at)
    assert as_html(missing, counts) is missing
    assert b"<p>b</p>" in as_html(page(make_pdf("a", ["b"])), counts).body
    broken = page(make_docx("a", ["b"])[:300], DOCX)
    assert as_html(broken, counts) is broken
    assert as_html(page(make_docx("a", ["b"]), DOCX), counts).headers
    assert counts == {"pdf/read": 1, "office/failed/damaged": 1, "office/read": 1}
