from __future__ import annotations

import contextlib
import random
import zlib
from datetime import UTC, datetime

import pytest

from crawler.data import Page
from crawler.extract.document import build_document
from crawler.extract.pdf import looks_like_pdf, pdf_to_html
from crawler.extract.sandbox import ConversionError
from crawler.extract.text import blocks_of
from tests.pdf import make_pdf

FERRY = "The ferry leaves at nine in the morning and is back at half past four. "
FERJA = "Ferjan fer klukkan níu að morgni og kemur aftur klukkan hálf fimm þann dag. "


def blocks(html: str):
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    url = "https://example.org/a.pdf"
    page = Page(url, 200, headers, html.encode(), datetime.now(UTC))
    document = build_document(page)
    return document, blocks_of(document.tokens, document.chunks)


def test_lines_become_paragraphs_under_their_heading():
    body = make_pdf("Höfnin", [FERJA * 5, FERJA * 3], lang="is")
    assert looks_like_pdf(body)
    document, found = blocks(pdf_to_html(body))
    assert (document.title, document.lang) == ("Höfnin", "is")
    assert [(b.tag, b.text) for b in found] == [
        ("h1", "Höfnin"),
        ("p", (FERJA * 5).strip()),
        ("p", (FERJA * 3).strip()),
    ]


def test_running_titles_are_boilerplate_and_page_numbers_do_not_matter():
    boats = "ferry tug yacht barge dinghy trawler".split()
    told = [FERRY.replace("ferry", boat) * 3 + f"So the {boat}." for boat in boats]
    body = make_pdf("Harbour", told, per_page=2, running="Annual report")
    _, found = blocks(pdf_to_html(body))
    assert [b.text for b in found if b.boilerplate] == [
        f"Annual report {page}" for page in (1, 2, 3)
    ]
    assert sum(b.tag == "p" and not b.boilerplate for b in found) == 6


def test_links_of_a_pdf_are_links():
    target = "https://example.org/is/a.pdf"
    html = pdf_to_html(make_pdf("Harbour", [FERRY * 4], links=[target]))
    assert f'<a href="{target}">' in html


def test_a_word_that_was_hyphenated_is_one_word():
    html = pdf_to_html(make_pdf("", ["The har-\nbour of the\nNorth-\nWest coast"]))
    assert "<p>The harbour of the North- West coast</p>" in html


def test_markup_in_a_pdf_is_text():
    html = pdf_to_html(make_pdf("<script>", ["<img src=x onerror=alert(1)>"]))
    assert "<script>" not in html
    assert "<img" not in html


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"%PDF-1.7\n" + b"garbage" * 100, "damaged"),
        (make_pdf("", []), "no_text"),
        (make_pdf("A", [FERRY], password="secret"), "encrypted"),
        (make_pdf("A", [FERRY] * 10)[:700], "damaged"),
    ],
    ids=["garbage", "empty", "encrypted", "torn"],
)
def test_what_cannot_be_read_is_named(body, reason):
    with pytest.raises(ConversionError, match=reason):
        pdf_to_html(body)


def packed(content: bytes) -> bytes:
    """A PDF of one page whose content is these operators, packed."""
    small = zlib.compress(content, 1)
    head = b"<< /Length %d /Filter /FlateDecode >>" % len(small)
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources 5 0 R >>",
        head + b"\nstream\n" + small + b"\nendstream",
        b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Arial >> >> >>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 6\n0000000000 65535 f \n" + table
    end += b"trailer << /Size 6 /Root 1 0 R >>\n"
    return body + end + b"startxref\n%d\n%%%%EOF" % len(body)


def test_one_that_takes_too_long_is_given_up():
    with pytest.raises(ConversionError, match="time"):
        pdf_to_html(packed(b"BT /F1 9 Tf 0 1 Td (a) Tj ET\n" * 300_000), seconds=1)


def test_a_bomb_is_given_up():
    with pytest.raises(ConversionError):
        pdf_to_html(packed(b" " * 300_000_000), seconds=2)


def test_whatever_is_flipped_in_a_pdf_it_is_read_or_refused():
    whole = bytearray(make_pdf("Harbour", [FERRY * 4] * 3))
    dice = random.Random(1)
    for _ in range(6):
        broken = bytearray(whole)
        for _ in range(12):
            broken[dice.randrange(8, len(broken))] = dice.randrange(256)
        with contextlib.suppress(ConversionError):
            assert pdf_to_html(bytes(broken)).startswith("<!doctype html>")


def test_words_are_told_apart_where_the_file_has_gaps_in_place_of_blanks():
    """As TeX writes them: kerning between words, and no blank."""
    words = b"BT /F1 9 Tf 20 20 Td [(The) -300 (ferry) -300 (leaves)] TJ ET"
    assert "<p>The ferry leaves</p>" in pdf_to_html(packed(words))
