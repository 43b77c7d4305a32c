from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count, pairwise

import pytest

from crawler.crawl.politeness import Politeness, RobotsCache, retry_after
from crawler.crawl.settings import load_profile_settings, read_settings
from crawler.data import Link
from crawler.frontier.entry import Lease
from crawler.frontier.robots import ALLOW_ALL, REFUSE_ALL, RobotsRules
from crawler.urls import site_of
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
# What a server that wants to be asked at once, never, or not at all may send.
ODD_WAITS = [
    *(None, "", "0", "-1", "-99999999999", "1", "9" * 400, "1e9", "0x10", "inf", "nan"),
    *(
        "now",
        "1.5",
        "\xb2",
        "\u0661",
        "+5",
        " ",
        "120, 5",
        "Thu, 01 Jan 1970 00:00:00 GMT",
    ),
    *("Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"),
    *("Fri, 01 Mar 2024 12:00:05 +9999", "Sun, 00 Foo 0000 00:00:00", "@" * 5000),
]


def lease(url: str = HERE) -> Lease:
    return Lease(Link(url), site_of(url), 0.5)


def politeness(**changes: object) -> Politeness:
    values = load_profile_settings(**changes)
    return Politeness.of(read_settings(values))


def waits(odd: Sequence[str | None], **changes: object) -> list[float]:
    """Seconds from the end of each answer until the site may be asked again."""
    polite, now, found = politeness(**changes), 0.0, []
    for value in odd:
        given = () if value is None else ((b"Retry-After", value.encode("utf-8")),)
        polite.start(lease())
        polite.back_off(lease(), Exchange(HERE, 429, given, b"", NOW))
        polite.finish(lease(), now)
        wait = polite.gate.wait(now)
        found.append(wait)
        now += wait
        polite.gate.busy(now)
    return found


@pytest.mark.parametrize("value", ODD_WAITS)
def test_a_site_that_says_no_for_hours_is_asked_seldom(value):
    found = waits([value] * 60)
    hours = sum(found) / 3600
    assert hours > 8
    assert all(after >= 0.9 * before for before, after in pairwise(found[1:]))
    assert max(found) <= 600 * 1.1


def test_a_site_that_changes_what_it_asks_for_is_asked_as_seldom():
    assert sum(waits(ODD_WAITS * 3)) > 8 * 3600


def test_pages_that_take_long_to_read_make_their_site_wait():
    polite, clock = politeness(), count(0, 1000)

    def pause(seconds: float) -> float:
        now = next(clock)
        polite.gate.busy(now)
        polite.start(lease())
        polite.was_read(lease(), seconds)
        polite.finish(lease(), now)
        return polite.gate.wait(now)

    assert [pause(0.01) for _ in range(100)] == [1.0] * 100  # DOWNLOAD_DELAY
    assert pause(1.5) == pytest.approx(18, rel=0.11)
    assert pause(0.01) == 1.0
    assert pause(1e9) <= 600 * 1.1


def test_rules_are_looked_for_on_other_sites_seldom_and_nowhere_else_there():
    polite = politeness()
    assert polite.may_follow(lease(), "http://www.a.example/any?thing=1")
    assert not polite.may_follow(lease(), "http://b.example/admin/delete?id=1")
    assert not polite.may_follow(lease(), "http://b.example/robots.txt?id=1")
    others = [
        polite.may_follow(lease(), f"http://b{n}.example/robots.txt") for n in range(9)
    ]
    assert others == [True] * 3 + [False] * 6


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
