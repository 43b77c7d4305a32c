from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from crawler.crawl.politeness import RobotsCache, retry_after
from crawler.frontier.robots import ALLOW_ALL, REFUSE_ALL, RobotsRules
from crawler.warc.exchange import Exchange

NOW = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("9" * 5000, 600.0),
        ("601", 600.0),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=9), usegmt=True), 0.0),
        ("Fri, 01 Mar 2024 12:00:10 -0000", 10.0),
        (None, None),
        ("", None),
        ("-1", None),
        ("soon", None),
        ("\xb2", None),
        ("1.5", None),
        ("Fri, 99 Mar 2024 99:00:10 GMT", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    """RFC 9110, section 10.2.3."""
    headers = ((b"Retry-After", value.encode("latin-1")),) if value is not None else ()
    assert retry_after(Exchange("https://a.is/", 503, headers, b"", NOW)) == seconds


HERE = "https://a.example/x"


def test_the_rules_of_an_origin_hold_for_all_of_its_urls_and_no_others():
    robots = RobotsCache(10.0)
    assert robots.rules(HERE) is None
    robots.learn(HERE, ALLOW_ALL)
    assert robots.rules("https://a.example/y?z") is ALLOW_ALL
    assert robots.rules("http://a.example/x") is None
    assert robots.rules("https://a.example:8443/x") is None


def test_an_origin_without_an_answer_is_asked_three_times_and_then_refuses():
    robots = RobotsCache(10.0)
    assert [robots.fail(HERE) for _ in range(3)] == [2.0, 4.0, None]
    assert robots.rules(HERE) is REFUSE_ALL
    assert RobotsCache(0.5).fail(HERE) == 0.5
    assert RobotsCache(0.5).fail(HERE, final=True) is None


def test_rules_that_were_not_used_for_long_are_forgotten():
    robots = RobotsCache(10.0)
    large = RobotsRules(None, size=500_000)
    for number in range(60):
        robots.learn(f"https://a{number}.example/", large)
        robots.rules(HERE if number else "https://a0.example/")
        if not number:
            robots.learn(HERE, ALLOW_ALL)
    assert robots.rules("https://a0.example/") is None
    assert robots.rules("https://a59.example/") is large
    assert robots.rules(HERE) is ALLOW_ALL  # used all the time
