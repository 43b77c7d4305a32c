"""Messages between a crawl and its page process arrive as they were sent."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest

from crawler.crawl import codec
from crawler.crawl.intake import Answer, IntakeConfig, IntakeResult
from crawler.data import LangPair, Page, PairScore
from crawler.errors import BifocalError, RunError, WarcError
from crawler.extract.document import read_page
from crawler.warc.exchange import Exchange
from crawler.warc.writer import WarcConfig

URL = "https://example.is/is/"
NOW = datetime(2026, 5, 3, 12, 0, 0, 123456, tzinfo=UTC)
SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.is/a</loc></url></urlset>"""


def exchange(**fields) -> Exchange:
    headers = ((b"Content-Type", b"text/html"), (b"X", b"\xe9\xff"))
    return Exchange(URL, 200, headers, b"\x00<p>\xff", NOW, **fields)


def asked(request: codec.Request) -> codec.Request:
    return codec.request_of(codec.encode(request))


def replied(reply: codec.Reply) -> codec.Reply:
    return codec.reply_of(codec.encode(reply))


@pytest.mark.parametrize("converted", [None, b"", b"<p>text</p>"])
def test_an_answer_arrives(converted):
    headers = ((b"User-Agent", b"bifocal"),)
    sent = exchange(request_headers=headers, ip="::1", converted=converted)
    answer = Answer(sent, 3, "https://example.is/", 0.1 + 0.2, {"handle": 1 / 3})
    for request in (
        codec.Request("take", answer=answer),
        codec.Request("keep", exchange=sent),
        codec.Request("finish"),
    ):
        assert asked(request) == request


def test_the_configuration_arrives():
    warc = WarcConfig(worker="w", fsync=True, info={"robots": "obey"})
    langs = str(LangPair("en", "is"))
    config = IntakeConfig(
        "runs/1", langs, warc, False, True, align_profile="a.toml", readable=("pdf",)
    )
    assert asked(codec.Request("open", config)).config == config


@pytest.mark.parametrize(
    "page",
    [
        Page.of_html(URL, '<a href="/a" hreflang="en">A</a><p>' + "Gott. " * 90),
        Page(URL, 200, (), SITEMAP, NOW),
        Page(URL, 301, (("Location", "/en/"),), b"", NOW),
        Page(URL, 404, (), b"", NOW),
    ],
)
def test_a_result_arrives(page):
    reading = read_page(page, depth=2)
    best = (("https://example.is/en/", 0.75),)
    twins = ("https://example.is/is",)
    pair = PairScore(URL, "b", 0.1, {"f": 0.2}, frozenset("hl"), twins, (), best, best)
    result = IntakeResult(
        page=reading.document.facts if reading.document else None,
        sitemap=reading.sitemap,
        location=reading.location,
        reason=reading.reason,
        pairs=(pair,),
    )
    assert replied(codec.Reply([result])).results == [result]


def test_scores_of_numpy_and_missing_evidence_arrive_as_plain_values():
    pair = PairScore(URL, "b", np.float64(0.5))
    (result,) = replied(codec.Reply([IntakeResult(pairs=(pair,))])).results
    assert (result.pairs[0].score, result.pairs[0].features) == (0.5, {})


@pytest.mark.parametrize("error", [WarcError("no room"), RunError("no")])
def test_errors_arrive_as_what_they_are(error: BifocalError):
    found = replied(codec.Reply(stats=Counter(pairs=3), failed=codec.told(error)))
    assert (type(found.error), str(found.error)) == (type(error), str(error))
    assert found.stats == {"pairs": 3}
    assert replied(codec.Reply(failed=codec.told(None))).error is None
