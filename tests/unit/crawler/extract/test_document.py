from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.data import Page
from crawler.extract.document import MAX_BODY, build_document, read_page
from crawler.protocols import Detection

NOW = datetime(2024, 3, 1, tzinfo=UTC)
URL = "https://www.example.org/is/frettir.html"
ICELANDIC = (
    "Veðrið er gott í dag og sólin skín á fjöllin. Börnin leika sér við höfnina"
    " og fiskimennirnir koma að landi með aflann sinn þegar kvölda tekur."
)


def page(body: str | bytes, *headers: tuple[str, str], status: int = 200) -> Page:
    body = body.encode() if isinstance(body, str) else body
    return Page(URL, status, headers or (("Content-Type", "text/html"),), body, NOW)


def test_a_document_has_what_the_aligner_needs():
    html = (
        f"<html lang=is><title>Fréttir</title><nav><a href=/en/>English</a></nav>"
        f"<h1>Fréttir</h1><p>{ICELANDIC}</p>"
    )
    document = build_document(page(html), depth=2)
    assert document is not None
    assert (document.url, document.site, document.title) == (
        URL,
        "example.org",
        "Fréttir",
    )
    assert (document.lang, document.lang_confidence > 0.9) == ("is", True)
    assert document.chunks == ("English", "Fréttir", ICELANDIC)
    (link,) = document.links
    assert (link.url, link.depth) == ("https://www.example.org/en/", 3)


def test_equal_text_has_an_equal_digest_whatever_the_markup():
    one = build_document(page(f"<p>{ICELANDIC}</p>"))
    two = build_document(page(f"<div class=x><p>{ICELANDIC}"))
    other = build_document(page(f"<p>{ICELANDIC}!</p>"))
    assert one is not None
    assert two is not None
    assert other is not None
    assert one.digest == two.digest != other.digest


@pytest.mark.parametrize(
    ("status", "headers", "body", "reason"),
    [
        (404, (), "<p>x", "status/404"),
        (503, (), "<p>x", "status/503"),
        (204, (), "", "status/204"),
        (200, (), "", "empty"),
        (200, (("Content-Type", "application/pdf"),), "%PDF", "not_html"),
        (200, (("Content-Type", "text/html"),), "%PDF-1.4", "not_html"),
        (301, (), "", "redirect"),
    ],
)
def test_an_answer_that_is_not_a_document_has_a_reason(status, headers, body, reason):
    reading = read_page(page(body, *headers, status=status))
    assert reading.document is None
    assert reading.reason == reason
    assert build_document(page(body, *headers, status=status)) is None


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/en/", "https://www.example.org/en/"),
        ("https://Other.example/x#y", "https://other.example/x"),
        ("mailto:a@b.c", None),
        ("file:///etc/passwd", None),
        ("data:text/html,x", None),
        ("", None),
    ],
)
def test_a_redirect_leads_to_a_page_or_nowhere(location, target):
    reading = read_page(page("<p>moved", ("Location", location), status=302))
    assert (reading.location, reading.reason) == (target, "redirect")


def test_a_sitemap_is_read_as_one_whatever_its_type():
    body = b"<urlset><url><loc>https://www.example.org/x</loc></url></urlset>"
    reading = read_page(page(body, ("Content-Type", "text/html")))
    assert reading.sitemap is not None
    assert [link.url for link in reading.sitemap.links] == ["https://www.example.org/x"]
    assert (reading.document, reading.reason) == (None, "sitemap")


def test_robots_meta_of_any_spelling_is_heard():
    html = '<META NAME="Robots" CONTENT="NoIndex"><meta name=robots content=nofollow>'
    assert read_page(page(html)).robots == "noindex,nofollow"


class Heard:
    """A detector that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def detect(self, text: str, *, hint: str | None = None) -> Detection:
        self.asked.append(text)
        return Detection("is", 1.0, reliable=True)


def test_the_language_is_asked_of_the_page_s_own_text():
    detector = Heard()
    html = f"<html lang=is-IS><nav>Home News</nav><p>{ICELANDIC * 2}</p>"
    build_document(page(html), detector)
    assert detector.asked == [ICELANDIC * 2]


def test_a_page_of_menus_only_is_asked_as_a_whole():
    detector = Heard()
    build_document(page("<nav>Home News</nav><p>Short.</p>"), detector)
    assert detector.asked[-1] == "Short. Home News"


def test_a_dump_is_read_as_far_as_a_page_goes():
    body = b"<p>start</p>" + b" " * MAX_BODY + b"<p>end</p>"
    document = build_document(page(body))
    assert document is not None
    assert document.chunks == ("start",)


def test_the_charset_of_the_header_is_used():
    body = "<p>Þú</p>".encode("cp1252")
    document = build_document(
        page(body, ("content-type", "text/html; charset=ISO-8859-1"))
    )
    assert document is not None
    assert document.chunks == ("Þú",)
