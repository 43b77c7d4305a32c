from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from crawler.data import LangPair, Page, PairScore
from crawler.errors import BifocalError, RunError, WarcError
from crawler.extract.document import Reading, read_page
from crawler.intake import messages
from crawler.intake.intake import Answer, Ending, Findings, IntakeConfig
from crawler.warc.exchange import Exchange
from crawler.warc.writer import WarcConfig

URL = "https://example.is/is/"
NOW = datetime(2026, 5, 3, 12, 0, 0, 123456, tzinfo=UTC)
SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.is/a</loc></url></urlset>"""


def exchange(**fields) -> Exchange:
    headers = ((b"Content-Type", b"text/html"), (b"X", b"\xe9\xff"))
    return Exchange(URL, 200, headers, b"\x00<p>\xff", NOW, **fields)


@pytest.mark.parametrize("converted", [None, b"", b"<p>text</p>"])
def test_an_answer_arrives_as_it_was_sent(converted):
    asked = ((b"User-Agent", b"bifocal"),)
    sent = exchange(request_headers=asked, ip="::1", converted=converted)
    answer = Answer(sent, 3, "https://example.is/", 0.1 + 0.2, {"handle": 1 / 3})
    fields, body = messages.unpack(messages.take_message(answer))
    assert messages.answer_of(fields, body) == answer
    fields, body = messages.unpack(messages.keep_message(sent))
    assert messages.exchange_of(fields, body) == sent


def arrived(findings: Findings) -> Findings:
    return messages.findings_of(messages.unpack(messages.findings_message(findings))[0])


def test_findings_arrive_without_the_text():
    html = '<a href="/a" hreflang="en">A \ud800</a><p>' + "Veðrið er gott. " * 20
    reading = read_page(Page.of_html(URL, html), depth=2)
    best = (("https://example.is/en/", 0.75),)
    twins = ("https://example.is/is",)
    pair = PairScore(URL, "b", 0.1, {"f": 0.2}, frozenset("hl"), twins, (), best, best)
    found = arrived(Findings(reading, True, 77, [pair]))
    assert (found.kept, found.size, found.pairs) == (True, 77, [pair])
    sent, document = reading.document, found.reading.document
    for name in ("url", "site", "lang", "lang_confidence", "digest", "prose", "links"):
        assert getattr(document, name) == getattr(sent, name)
    assert document.prose
    assert (document.tokens, document.chunks) == ((), ())


@pytest.mark.parametrize(
    "page",
    [
        Page(URL, 200, (), SITEMAP, NOW),
        Page(URL, 301, (("Location", "/en/"),), b"", NOW),
        Page(URL, 404, (), b"", NOW),
    ],
)
def test_what_is_no_document_arrives_whole(page):
    reading = read_page(page)
    assert arrived(Findings(reading, False, 0, [])).reading == reading


def test_why_a_page_was_not_kept():
    assert Findings(Reading(reason="empty"), False, 0, []).reason == "empty"
    assert Findings(Reading(), False, 0, []).reason == "language"
    assert Findings(Reading(), True, 0, []).reason is None


def test_the_configuration_arrives():
    warc = WarcConfig(worker="w", fsync=True, info={"robots": "obey"})
    langs = str(LangPair("en", "is"))
    config = IntakeConfig("runs/1", langs, warc, False, True, "a.toml", ("pdf",))
    fields, _ = messages.unpack(messages.config_message(config))
    assert messages.config_of(fields) == config


@pytest.mark.parametrize("error", [WarcError("no room"), RunError("no")])
def test_errors_arrive_as_what_they_are(error: BifocalError):
    fields, _ = messages.unpack(messages.error_message(error))
    told = messages.error_of(fields["error"])
    assert (type(told), str(told)) == (type(error), str(error))
    ending = Ending(Counter(pairs=3), error)
    fields, _ = messages.unpack(messages.ending_message(ending))
    found = messages.ending_of(fields)
    assert (found.stats, str(found.error)) == ({"pairs": 3}, str(error))
