from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from crawler.frontier.robots import (
    ALLOW_ALL,
    MAX_ROBOTS_BYTES,
    REFUSE_ALL,
    origin_of,
    rules_of,
)

AGENT = "bifocal/0.1 (+https://example.org)"


def rules(text: str):
    return rules_of(200, text.encode())


@pytest.mark.parametrize(
    ("status", "expected"),
    [(301, ALLOW_ALL), (401, ALLOW_ALL), (404, ALLOW_ALL), (500, REFUSE_ALL)],
)
def test_what_an_answer_without_rules_means(status, expected):
    """RFC 9309, section 2.3.1."""
    assert rules_of(status, b"Disallow: /") is expected


def test_the_group_of_our_name_counts_before_that_of_all():
    found = rules("User-agent: *\nDisallow: /\nUser-agent: Bifocal\nDisallow: /x\n")
    assert found.allows("https://a.is/", AGENT)
    assert not found.allows("https://a.is/x", AGENT)


def test_the_longest_rule_wins():
    found = rules("User-agent: *\nDisallow: /a\nAllow: /a/b$\nDisallow: /*.pdf$\n")
    assert not found.allows("https://a.is/a/b/c", AGENT)
    assert found.allows("https://a.is/a/b", AGENT)
    assert not found.allows("https://a.is/x.pdf", AGENT)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("Crawl-delay: 2.5", 2.5),
        ("Crawl-delay: -4", 0.0),
        ("Crawl-delay: soon", 0.0),
        ("Crawl-delay: nan", 0.0),
        ("Crawl-delay: inf", 0.0),
        ("Request-rate: 1/10", 10.0),
        ("Request-rate: 10/5s", 0.5),
        ("Request-rate: 0/5", 0.0),
        ("Request-rate: x/y", 0.0),
        ("", 0.0),
    ],
)
def test_the_pause_that_a_site_asks_for(line, seconds):
    assert rules(f"User-agent: *\n{line}\n").crawl_delay(AGENT) == seconds


def test_sitemaps_are_taken_in_canonical_form_if_they_are_any():
    found = rules(
        "Sitemap: HTTPS://A.is/sitemap.xml#x\nSitemap: /relative.xml\n"
        "Sitemap: javascript:alert(1)\nSitemap:\n"
    )
    assert found.sitemaps == ("https://a.is/sitemap.xml",)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00\xff\xfe" * 1000,
        b"<html><body>Not found",
        b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /x\r\n",
        b"User-agent: *\nDisallow: /x\n" + b"Allow: /\n" * 100_000,
    ],
)
def test_whatever_a_server_sends_there_are_rules(body):
    found = rules_of(200, body)
    assert found.allows("https://a.is/", AGENT)
    assert found.allows("https://a.is/x", AGENT) == (b"Disallow" not in body)
    assert found.crawl_delay(AGENT) == 0.0


def test_what_comes_after_the_first_500_kib_is_not_read():
    head = b"User-agent: *\nDisallow: /x\n"
    body = head + b"#" * (MAX_ROBOTS_BYTES - len(head)) + b"\nDisallow: /\n"
    assert rules_of(200, body).allows("https://a.is/", AGENT)
    assert not rules_of(200, body).allows("https://a.is/x", AGENT)


LINES = """User-agent: *
User-agent: Bifocal
User-agent: bifo*
useragent bot
User-agent: bi
User-agent:
Disallow: /
Disallow: /x
Disallow /y
Allow: /x/y
Allow: /*.html$
Disallow:
Crawl-delay: 3
Request-rate: 1/9
Sitemap: https://a.is/s.xml
# a comment
nonsense
unknown: field
Host: a.is""".split("\n")


@given(st.lists(st.sampled_from([*LINES, ""]), max_size=30))
def test_the_rules_for_us_are_those_that_protego_finds_in_the_whole_file(lines):
    text = "\n".join(lines)
    ours, whole = rules(text), Protego.parse(text)
    for path in ("/", "/x", "/x/y", "/y", "/a.html"):
        url = f"https://a.is{path}"
        assert ours.allows(url, AGENT) == whole.can_fetch(url, AGENT), path
    rate = whole.request_rate(AGENT)
    asked = (
        whole.crawl_delay(AGENT) or 0.0,
        rate.seconds / rate.requests if rate else 0,
    )
    assert ours.crawl_delay(AGENT) == max(asked)


def test_thousands_of_names_and_rules_are_not_multiplied():
    names = "".join(f"User-agent: a{n}\n" for n in range(15_000))
    lines = "".join(f"Disallow: /{n}\n" for n in range(15_000))
    found = rules(f"{names}User-agent: bifocal\n{lines}")
    assert not found.allows("https://a.is/7", AGENT)
    assert len(found._parsers[AGENT]._user_agents) == 1


def test_a_rule_that_is_too_long_forbids_what_its_beginning_does():
    found = rules(f"User-agent: *\nDisallow: /{'*' * 100_000}x\n")
    assert not found.allows("https://a.is/y", AGENT)


def test_an_origin_is_scheme_host_and_port():
    assert origin_of("http://a.is:81/x?y=http://b.is/") == "http://a.is:81"
    assert origin_of("https://a.is?x") == "https://a.is"
