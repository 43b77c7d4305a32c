from __future__ import annotations

import codecs
import gzip

import pytest

from crawler.data import Link
from crawler.extract.sitemap import (
    MAX_SITEMAP_BYTES,
    MAX_SITEMAP_URLS,
    looks_like_sitemap,
    read_sitemap,
)

HERE = "https://example.org/sitemap.xml"
ENTRY = """<url><loc>https://example.org/en/</loc>
<xhtml:link rel="alternate" hreflang="en" href="https://example.org/en/"/>
<xhtml:link rel="alternate" hreflang="is-IS" href="https://example.org/is/"/>
<xhtml:link rel="alternate" hreflang="x-default" href="https://example.org/"/></url>
"""


def urlset(*entries: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        ' xmlns:xhtml="http://www.w3.org/1999/xhtml"'
        ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">\n'
        f"{''.join(entries)}</urlset>"
    ).encode()


def entry(url: str, more: str = "") -> str:
    return f"<url><loc>{url}</loc>{more}</url>\n"


def urls(body: bytes, url: str = HERE) -> list[str]:
    return [link.url for link in read_sitemap(url, body).links]


def test_a_page_and_its_alternates():
    assert read_sitemap(HERE, urlset(ENTRY)).links == (
        Link("https://example.org/en/", HERE, hreflang="en", rel="sitemap"),
        Link(
            "https://example.org/is/",
            "https://example.org/en/",
            hreflang="is",
            rel="alternate",
        ),
        Link("https://example.org/", "https://example.org/en/", rel="alternate"),
    )


def test_an_index_names_sitemaps():
    index = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <sitemap><loc>https://example.org/one.xml</loc><lastmod>2024</lastmod></sitemap>
    <sitemap><loc> https://example.org/two.xml.gz </loc></sitemap></sitemapindex>"""
    sitemap = read_sitemap(HERE, index)
    assert sitemap.sitemaps == (
        "https://example.org/one.xml",
        "https://example.org/two.xml.gz",
    )
    assert sitemap.links == ()


def test_the_address_of_an_image_is_not_that_of_its_page():
    image = "<image:image><image:loc>https://example.org/i</image:loc></image:image>"
    assert urls(urlset(entry("https://example.org/a", image))) == [
        "https://example.org/a"
    ]


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/?a=1&amp;b=2",
        "https://example.org/?a=1&b=2",  # as it should not be, and often is
        "<![CDATA[https://example.org/?a=1&b=2]]>",
        "\n  HTTPS://Example.org/?a=1&#38;b=2\n",
        "<![CDATA[https://example.org/?a=1&b=2]]> ",
    ],
)
def test_an_address_however_it_is_escaped(address):
    assert urls(urlset(entry(address))) == ["https://example.org/?a=1&b=2"]


def test_brackets_belong_to_an_address():
    body = urlset(entry("https://example.org/?a[]=1"))
    assert urls(body) == ["https://example.org/?a[]=1"]


def test_what_stands_in_a_comment_is_left_out():
    body = urlset(
        "<!-- ", entry("https://example.org/old"), "-->", entry("https://example.org/1")
    )
    assert urls(body) == ["https://example.org/1"]


def test_prefixes_of_any_name_are_allowed():
    body = b"<s:urlset><s:url><s:loc>https://example.org/1</s:loc></s:url></s:urlset>"
    assert read_sitemap(HERE, body).links[0].url == "https://example.org/1"


def test_attributes_in_any_order_and_quotes():
    link = (
        "<link href='https://example.org/is?a=1&amp;b=>' rel='alternate' hreflang='is'>"
    )
    found = read_sitemap(HERE, urlset(entry("https://example.org/en", link))).links
    assert found[1].url == "https://example.org/is?a=1&b=%3E"
    assert found[1].hreflang == "is"


def test_an_entry_that_is_broken_costs_that_entry_alone():
    body = urlset(
        entry("https://example.org/1"),
        "<url><loc>https://example.org/2</loc><a b='></url>",
        "<url><loc>&#" + "9" * 9000 + ";</loc></url>",
        "<url><loc>https://example.org/" + "a" * 3000 + "</loc></url>",
        entry("https://example.org/3"),
    )
    found = urls(body)
    assert found[0] + found[-1] == "https://example.org/1https://example.org/3"


@pytest.mark.parametrize(
    "encoding", ["windows-1252", "punycode", "base64", "utf-16", "no-such", "rot13"]
)
def test_an_encoding_is_taken_only_if_text_may_be_in_it(encoding):
    body = urlset(ENTRY).replace(b"UTF-8", encoding.encode())
    assert len(urls(body)) == 3


def test_addresses_of_a_sitemap_have_a_bound_together():
    long = "https://example.org/" + "a" * 1900
    found = urls(urlset(*(entry(f"{long}{n}") for n in range(20_000))))
    assert 4000 < len(found) < 6000


@pytest.mark.parametrize(
    "address", ["/relative", "javascript:x", "", "ftp://example.org/", "https://[x"]
)
def test_a_string_that_is_not_an_address_is_passed_over(address):
    body = urlset(entry(address), entry("https://example.org/good"))
    assert urls(body) == ["https://example.org/good"]


def test_gzip():
    packed = gzip.compress(urlset(ENTRY))
    assert read_sitemap(HERE, packed) == read_sitemap(HERE, urlset(ENTRY))


def test_what_came_before_the_damage_is_kept():
    body = urlset(*(entry(f"https://example.org/{n}") for n in range(1000)))
    for broken in (
        body[: len(body) // 2],
        body[: len(body) // 2] + b"<<>>&\x00 not xml",
        body[: len(body) // 2] + b"<url><loc>https://example.org/&#xD800;</loc>",
        gzip.compress(body)[:-2000],
    ):
        found = urls(broken)
        assert 100 < len(found) < 1000
        assert found[:2] == ["https://example.org/0", "https://example.org/1"]


@pytest.mark.parametrize(
    "body", [b"", b" ", b"\x1f\x8b", b"<", b"<?xml", b"\xff\xfe", b"<a>" * 100_000]
)
def test_next_to_nothing_is_an_empty_sitemap(body):
    assert urls(body) == []


def test_a_byte_order_mark_hides_nothing():
    body = urlset(ENTRY)
    assert len(urls(codecs.BOM_UTF8 + body)) == 3
    wide = body.decode().replace("UTF-8", "UTF-16").encode("utf-16")
    assert looks_like_sitemap(HERE, wide)
    assert len(urls(wide)) == 3


def test_plain_text():
    body = b"\xef\xbb\xbfhttps://example.org/1\r\n\nnot a url\nhttps://example.org/2"
    assert looks_like_sitemap("https://example.org/sitemap.txt", body)
    assert urls(body) == ["https://example.org/1", "https://example.org/2"]


def test_no_more_than_50_000_urls():
    body = urlset(
        *(entry(f"https://example.org/{n}") for n in range(MAX_SITEMAP_URLS + 10))
    )
    assert len(urls(body)) == MAX_SITEMAP_URLS
    lines = "\n".join(f"https://example.org/{n}" for n in range(MAX_SITEMAP_URLS + 10))
    assert len(urls(lines.encode())) == MAX_SITEMAP_URLS


def test_a_bomb_is_unpacked_up_to_the_size_of_a_sitemap():
    bomb = gzip.compress(b" " * (4 * MAX_SITEMAP_BYTES), compresslevel=1)
    assert urls(bomb) == []


def test_entities_are_not_expanded():
    ten = "".join(f"&e{n};" for n in range(1)) * 10
    entities = "".join(
        f'<!ENTITY e{n + 1} "{ten.replace("e0", f"e{n}")}">' for n in range(12)
    )
    body = (
        f'<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY e0 "lol">{entities}]>'
        "<urlset><url><loc>https://example.org/&e12;</loc></url></urlset>"
    ).encode()
    assert all(len(url) < 100 for url in urls(body))


def test_files_of_this_machine_are_not_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    body = (
        f'<!DOCTYPE urlset [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
        "<urlset><url><loc>https://example.org/&e;</loc></url></urlset>"
    ).encode()
    assert not any("secret" in url for url in urls(body))


@pytest.mark.parametrize(
    ("url", "body", "expected"),
    [
        (HERE, urlset(ENTRY), True),
        ("https://example.org/x", urlset(ENTRY), True),
        ("https://example.org/x", b"\xef\xbb\xbf\n<URLSET>", True),
        ("https://example.org/x", b"<sitemapindex>", True),
        (HERE, b"<?xml version='1.0'?><!-- made by hand --> ", True),
        ("https://example.org/x", b"<?xml version='1.0'?>", False),
        ("https://example.org/sitemap.xml.gz", b"\x1f\x8b\x08", True),
        ("https://example.org/dump.gz", b"\x1f\x8b\x08", False),
        ("https://example.org/sitemap/", b"<!doctype html><p>", False),
        ("https://example.org/sitemap.txt", b"see there: https://example.org", False),
        (  # a page for readers, as XHTML
            "https://example.org/sitemap.xhtml",
            b"<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML'><html>",
            False,
        ),
    ],
)
def test_what_looks_like_a_sitemap(url, body, expected):
    assert looks_like_sitemap(url, body) is expected
