"""Inputs of any size that try to cost a reader more than their share.

A shape is a function from a size in bytes to an input of about that size. Twice the
size may take about twice the time and the memory, not four times: `python -m
benchmarks.linear` measures that, and `tests/hostile/test_shapes.py` holds each reader
to its bound of memory.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Callable

Shape = Callable[[int], bytes]


def repeated(unit: str | bytes, start: bytes = b"", end: bytes = b"") -> Shape:
    """One unit again and again."""
    data = unit.encode() if isinstance(unit, str) else unit

    def make(size: int) -> bytes:
        return start + data * (max(size, len(data)) // len(data)) + end

    return make


def numbered(unit: str, start: bytes = b"", end: bytes = b"") -> Shape:
    """A unit with a number of its own in each place of `{}`."""

    def make(size: int) -> bytes:
        times = size // (len(unit.encode()) + 4)
        return start + "".join(unit.format(n) for n in range(times)).encode() + end

    return make


def one(before: str, filling: str, after: str) -> Shape:
    """One thing with a huge inside."""

    def make(size: int) -> bytes:
        data = filling.encode()
        return before.encode() + data * (size // len(data)) + after.encode()

    return make


def filled(unit: bytes, tags: int, start: bytes = b"<p>x</p>") -> Shape:
    """So many units, each filled up with letters: few tags, much inside each."""

    def make(size: int) -> bytes:
        return start + (unit + b"x" * max(1, size // tags - len(unit))) * tags

    return make


def mixed(*units: str, start: str = "", times: int = 1000) -> Shape:
    """First some of the one unit, then many of the other."""
    first, second = units

    def make(size: int) -> bytes:
        head = start + "".join(first.format(n) for n in range(times))
        return head.encode() + repeated(second)(max(1, size - len(head)))

    return make


TEXT = "The ferry leaves the harbour at nine and comes back at five. "
MARKS = "\u0301\u0323"
CJK = "".join(chr(0x4E00 + n) for n in range(5000))

PAGES: dict[str, Shape] = {
    # an honest page, to compare with
    "paragraphs": repeated(f"<p>{TEXT * 4}</p>\n"),
    "menu": numbered('<li class="m"><a href="/page/{}">Page</a></li>\n'),
    "table": repeated("<tr><td>12</td><td>The harbour</td></tr>\n", b"<table>"),
    # nested without end
    **{
        f"nested_{name}": repeated(f"<{name}>")
        for name in """a b div p ul dl table form button select option h1 ruby svg math
        template object marquee nobr li dd td frameset font span custom-element
        details fieldset main""".split()
    },
    "nested_list_items": repeated("<ul><li>"),
    "nested_definitions": repeated("<dl><dd>"),
    "nested_cells": repeated("<table><tr><td>"),
    "nested_captions": repeated("<table><caption>"),
    "nested_in_tables": repeated("<table><b>"),
    "nested_blocks_with_text": repeated("<div>x"),
    "nested_links_and_blocks": repeated("<a><div>"),
    "nested_links_in_tables": repeated("<table><a>"),
    "nested_foreign": repeated("<svg><desc><b>"),
    "nested_math": repeated("<math><mi><p>"),
    "nested_templates_in_tables": repeated("<table><template>"),
    "nested_options": repeated("<select><optgroup><option>"),
    "nested_buttons_in_blocks": repeated("<button><p>"),
    "nested_scopes": repeated("<object><b>"),
    "end_tags_of_nothing": repeated("</p></br></div>"),
    "blocks_closed_by_others": repeated("<div><p></span></b>"),
    # elements that are opened again
    "colours": mixed("<font color=c{}>", "<p>x</p>", times=2000),
    "colours_in_paragraphs": numbered("<p><font color=c{}>x"),
    "formats_in_paragraphs": repeated("<p><b><i><u><s><em><tt><small>x"),
    "formats_across_blocks": repeated("<b><div></b></div>"),
    "formats_misnested": repeated("<b><i></b></i>"),
    "format_names_in_capitals": numbered("<P><FONT color=c{}>x"),
    "links_misnested": repeated("<a><b></a></b>"),
    "links_around_blocks": repeated("<a href=x><p></a>"),
    "unclosed_formats_equals": filled(b"<b ==", 9_900),
    "unclosed_formats_few": filled(b"<b ==", 2_001),
    "unclosed_formats_slash": filled(b"<b /", 9_900),
    "unclosed_formats_quote": filled(b"<b a='", 9_900),
    "unclosed_formats_quotes": filled(b"<b '\"", 9_900),
    "unclosed_formats_tab": filled(b"<i\t", 5_000),
    "unclosed_fonts": filled(b"<font x=", 9_900),
    "unclosed_formats_many": repeated("<b =\"'"),
    "formats_with_long_attributes": numbered("<b a={}" + "x" * 300 + ">"),
    # attributes
    "attributes_of_one_tag": numbered("a{}=1 ", b"<p ", b">"),
    "attributes_without_values": numbered("a{} ", b"<p ", b">"),
    "attributes_of_the_same_name": repeated("a=1 ", b"<p ", b">"),
    "attributes_without_end": numbered("a{}=1 ", b"<p "),
    "attributes_of_html": numbered("<html a{}=1>"),
    "attributes_of_body": numbered("<body a{}=1>"),
    "attributes_499": repeated("<p " + " ".join(f"a{n}" for n in range(499)) + ">"),
    "attributes_499_unquoted": repeated("<a " * 499 + ">"),
    "attributes_of_links": repeated("<a <a "),
    "attributes_quotes": repeated("<a ''\"\"=' "),
    "attributes_equals": repeated("<p = = = "),
    "attributes_slashes": repeated("<p / / / "),
    "attribute_of_one_name": repeated("@", b"<a href=x ", b">"),
    "attribute_huge": one('<p title="', "a", '">'),
    "attribute_quotes_inside": one("<p title='", '"', "'>"),
    "attribute_ampersands": one('<p title="', "&", '">'),
    "attribute_entities": one('<p title="', "&amp;lt;", '">'),
    "attribute_name_huge": one("<p ", "a", "=1>"),
    "attribute_less_thans": one('<p title="', "<b ", '">'),
    "tag_name_huge": one("<", "a", ">x"),
    "tag_names_of_their_own": numbered("<x{}>"),
    # comments and the like
    "comments": repeated("<!---->"),
    "comments_open": repeated("<!--"),
    "comments_almost_closed": repeated("<!--a--b"),
    "comments_bang": repeated("<!--a--!>"),
    "comments_greater": repeated("<!--a>"),
    "comments_bogus": repeated("<?"),
    "comments_bogus_closed": repeated("<!x>"),
    "comment_of_dashes": one("<!--", "-", ""),
    "comment_of_comments": one("<!--", "<!--", "-->"),
    "cdata": repeated("<![CDATA["),
    "doctypes": repeated("<!doctype html>"),
    "end_tags_bogus": repeated("</ "),
    "less_thans": repeated("<"),
    "less_and_greater": repeated("<>"),
    # raw text
    **{
        f"raw_{name}": repeated("<!--a>", f"<{name}>".encode())
        for name in """plaintext iframe noembed noframes xmp title textarea style
        script noscript""".split()
    },
    "raw_plaintext_tags": repeated("<b>", b"<plaintext>"),
    "raw_iframes": repeated("<iframe><!--</iframe>"),
    "raw_iframes_open": repeated("<iframe>"),
    "raw_plaintexts": repeated("<plaintext>"),
    "raw_script_escaped": repeated("<!--<script>", b"<script>"),
    "raw_scripts": repeated("<script></script>"),
    "raw_script_end_almost": repeated("</scrip", b"<script>"),
    "raw_title_end_almost": repeated("</titl", b"<title>"),
    "raw_textareas": repeated("<textarea>\n</textarea>"),
    "raw_entity_of_digits": one("<iframe>&#", "9", ";</iframe>"),
    "raw_xmp_entity_of_digits": one("<plaintext>&#", "9", ";"),
    # text
    "text_one_word": repeated("a"),
    "text_blanks": repeated(" "),
    "text_blanks_between": repeated("a  "),
    "text_no_break_spaces": repeated("\u00a0"),
    "text_zero_widths": repeated("\u200b"),
    "text_combining": one("a", MARKS, ""),
    "text_astral": repeated("\U0001f600"),
    "text_cjk": repeated(CJK[:50]),
    "text_ampersands": repeated("&"),
    "text_entities": repeated("&amp;lt;"),
    "text_entity_of_digits": one("&#", "9", ";"),
    "text_entity_of_hex": one("&#x", "f", ";"),
    "text_entity_names": repeated("&notin;&not"),
    "text_controls": repeated("\x01\x02"),
    "text_nuls": repeated("\0"),
    "text_lines": repeated("\n"),
    "text_words_between_tags": repeated("a<b>b</b>"),
    "text_breaks": repeated("a<br>"),
    "text_rules": repeated("<hr>"),
    "text_bytes": repeated(bytes(range(256))),
    "text_invalid_utf8": repeated(b"\xff"),
    "text_truncated_utf8": repeated(b"\xe2\x82"),
    # links
    "links_same": repeated("<a href=x>y</a>"),
    "links_numbered": numbered("<a href=/{}>y</a>"),
    "links_without_text": repeated("<a href=x>"),
    "links_long": one("<a href=/", "a", ">"),
    "links_2000": numbered("<a href=/{}" + "a" * 1990 + ">"),
    "links_marks": one("<a href=http://a", MARKS, ".is/>"),
    "links_marks_2000": numbered("<a href='http://a{}" + MARKS * 900 + ".is/'>x</a>"),
    "links_marks_250": numbered("<a href='http://a{}" + MARKS * 100 + ".is/'>x</a>"),
    "links_hosts_cjk": numbered("<a href='http://a{}" + CJK[:600] + ".is/'>x</a>"),
    "links_hosts_cjk_long": one("<a href='http://", CJK, ".is/'>x</a>"),
    "links_punycode": numbered("<a href='http://xn--a{}" + "a" * 1500 + "'>x</a>"),
    "links_punycode_long": one("<a href='http://xn--", "a9", ".is/'>x</a>"),
    "links_escaped_marks": numbered("<a href='http://a{}" + "%CC%81" * 300 + "/'>x"),
    "links_dots": numbered("<a href='" + "../" * 600 + "{}'>x</a>"),
    "links_dots_long": one("<a href='", "../", "'>x"),
    "links_dots_unclosed": one("<a href='", "../", ""),
    "links_slashes": one("<a href='", "/", "'>x"),
    "links_backslashes": one("<a href='", "\\", "'>x"),
    "links_tabs": one("<a href='/", "\t", "'>x"),
    "links_percents": numbered("<a href='/{}" + "%41" * 600 + "'>x"),
    "links_queries": numbered("<a href='/?{}" + "&utm_a=1" * 200 + "'>x"),
    "links_semicolons": numbered("<a href='/{}" + ";jsessionid=" * 150 + "'>x"),
    "links_other_schemes": repeated("<a href=mailto:a>"),
    "links_scheme_huge": one("<a href=", "a", ":b>"),
    "links_fragments": numbered("<a href='/#{}'>x"),
    "links_numbers_as_hosts": numbered("<a href='http://" + "1." * 900 + "{}/'>x"),
    "links_ipv6": numbered("<a href='http://[" + "1:" * 900 + "{}]/'>x"),
    "links_ports": numbered("<a href='http://a:" + "0" * 1900 + "{}/'>x"),
    "links_with_credentials": numbered("<a href='http://" + "@" * 1900 + "a{}/'>x"),
    "link_elements": numbered("<link rel=alternate hreflang=is href=/{}>"),
    "areas": numbered("<area href=/{}>"),
    "frames": numbered("<iframe src=/{}></iframe>"),
    "options": numbered("<option value=/{}>x"),
    "components": numbered("<x-y href=/{}></x-y>"),
    "images": numbered("<img src=/{}.png alt=x>"),
    "image_embedded": one("<img src=data:", "a", ">"),
    "image_slashes": one("<img src=", "/", ">"),
    "image_in_links": repeated("<a href=x><img alt=a><img alt=b>"),
    "bases": numbered("<base href=/{}/>"),
    "refreshes": numbered('<meta http-equiv=refresh content="0;url=/{}">'),
    "refresh_huge": one('<meta http-equiv=refresh content="', "url ", '">'),
    "refresh_blanks": one('<meta http-equiv=refresh content="url', " ", '">'),
    "robots_metas": repeated("<meta name=robots content=noindex>"),
    "titles": repeated("<title>x</title>"),
    "title_huge": one("<title>", "a ", "</title>"),
    "anchor_huge": one("<a href=x>", "a ", "</a>"),
    "anchor_of_pieces": one("<a href=x>", "a<i>b</i>", ""),
    "hreflangs": numbered("<a href=/{} hreflang=is lang=is>x</a>"),
    "lang_huge": one("<html lang=", "a-", ">x"),
    "class_huge": one("<div class='", "menu ", "'>x"),
    "classes": numbered("<div class='menu nav{}'>x</div>"),
}  # fmt: skip

CHARSETS = """utf-8 utf-7 utf-16 utf-16be utf-32 gb18030 gbk hz big5 big5hkscs shift_jis
euc-jp euc-kr iso-2022-jp iso-2022-kr johab cp932 koi8-r windows-1252 iso-8859-8
x-user-defined mac-roman unicode-1-1-utf-7 cp65001""".split()
BYTES: dict[str, Shape] = {
    "high": repeated(b"\x81\xff"),
    "escapes": repeated(b"\x1b$B\x1b(B"),
    "plus": repeated(b"+AA-"),
    "plus_open": repeated(b"+"),
    "tilde": repeated(b"~{~}"),
    "surrogates": repeated(b"\xd8\x00"),
    "four": repeated(b"\x81\x30\x81\x30"),
}

XML = b'<?xml version="1.0"?><urlset>'
INDEX = b'<?xml version="1.0"?><sitemapindex>'
SITEMAPS: dict[str, Shape] = {
    "urls": numbered("<url><loc>http://a.is/{}</loc></url>", XML),
    "urls_with_alternates": numbered(
        "<url><loc>http://a.is/{0}</loc><xhtml:link rel='alternate' hreflang='en'"
        " href='http://a.is/en/{0}'/></url>", XML
    ),
    "ampersands": repeated("&", XML),
    "elements": repeated("<a/>", XML),
    "elements_nested": repeated("<a>", XML),
    "elements_of_their_own": numbered("<a{}/>", XML),
    "elements_with_attributes": numbered("<a b{0}='{0}'/>", XML),
    "attributes": numbered("a{}='1' ", XML + b"<url ", b"/>"),
    "attribute_huge": one("<urlset><url a='", "a", "'/>"),
    "urls_empty": repeated("<url/>", XML),
    "urls_empty_pairs": repeated("<url></url>", XML),
    "urls_nested": repeated("<url>", XML),
    "urls_open": repeated("<url><loc>", XML),
    "locs": numbered("<loc>http://a.is/{}</loc>", XML + b"<url>", b"</url>"),
    "loc_huge": one("<urlset><url><loc>http://a.is/", "a", "</loc></url>"),
    "locs_2000": numbered(
        "<url><loc>http://a.is/{}" + "a" * 1900 + "</loc></url>", XML
    ),
    "locs_marks": numbered(
        "<url><loc>http://a{}" + MARKS * 900 + ".is/</loc></url>", XML
    ),
    "loc_of_marks": one("<urlset><url><loc>http://a", MARKS, ".is/</loc></url>"),
    "alternates_in_one": numbered(
        "<xhtml:link hreflang='en' href='http://a.is/{}'/>",
        XML + b"<url><loc>http://a.is/</loc>", b"</url>"
    ),
    "alternates_empty": repeated("<link hreflang='en'/>", XML + b"<url>", b"</url>"),
    "sitemaps": numbered("<sitemap><loc>http://a.is/{}</loc></sitemap>", INDEX),
    "sitemaps_empty": repeated("<sitemap/>", INDEX),
    "comments": repeated("<!---->", XML),
    "comments_open": repeated("<!--", XML),
    "comment_huge": one("<urlset><!--", "a", "-->"),
    "cdata": repeated("<![CDATA[", XML),
    "cdata_huge": one("<urlset><url><loc><![CDATA[", "a", "]]></loc></url>"),
    "instructions": repeated("<?a?>", XML),
    "entities": repeated("&#65;", XML + b"<url><loc>", b"</loc></url>"),
    "entity_of_digits": one("<urlset><url><loc>&#", "9", ";</loc></url>"),
    "doctype": numbered("<!ENTITY a{} 'x'>", b"<!DOCTYPE a ["),
    "namespaces": numbered("<a{0}:url xmlns:a{0}='x'/>", XML),
    "text": repeated("a", XML),
    "blanks": repeated(" ", XML),
    "less_thans": repeated("<", XML),
    "quotes": repeated("<a '", XML),
    "lines": numbered("http://a.is/{}\n"),
    "lines_empty": repeated("\n", b"http://a.is/\n"),
    "line_huge": one("http://a.is/", "a", ""),
    "utf_16": lambda n: ("<urlset>" + "<a/>" * (n // 8)).encode("utf-16"),
    "astral": one("<urlset><url><loc>http://a.is/", "\U0001f600", "</loc></url>"),
}  # fmt: skip

ROBOTS: dict[str, Shape] = {
    "rules": numbered("Disallow: /{}\n", b"User-agent: *\n"),
    "rules_of_stars": numbered(f"Disallow: /{'*a' * 50}{{}}$\n", b"User-agent: *\n"),
    "rule_huge": one("User-agent: *\nDisallow: /", "a", "\n"),
    "rule_of_stars": one("User-agent: *\nDisallow: /", "*a", "\n"),
    "rule_of_percents": one("User-agent: *\nDisallow: /", "%", "\n"),
    "rule_of_escapes": one("User-agent: *\nDisallow: /", "%C3", "\n"),
    "rule_of_marks": one("User-agent: *\nDisallow: /", MARKS, "\n"),
    "agents": numbered("User-agent: a{}\n", b"", b"Disallow: /\n"),
    "groups": numbered("User-agent: a{}\nDisallow: /\n\n"),
    "agents_and_rules": lambda n: (
        numbered("User-agent: a{}\n")(n // 2) + numbered("Disallow: /{}\n")(n // 2)
    ),
    "agents_of_ours": lambda n: (
        repeated("User-agent: bifocal\n")(n // 2) + numbered("Allow: /{}\n")(n // 2)
    ),
    "lines_of_blanks": repeated(" " * 5000 + "\n", b"User-agent: *\n"),
    "fields_of_blanks": repeated("a" + " " * 5000 + "b\n", b"User-agent: *\n"),
    "groups_of_one_name": repeated("User-agent: *\nDisallow: /a\n\n"),
    "agent_huge": one("User-agent: ", "a", "\nDisallow: /\n"),
    "sitemaps": numbered("Sitemap: http://a.is/{}\n"),
    "sitemap_of_marks": one("Sitemap: http://a", MARKS, ".is/\n"),
    "sitemap_of_letters": one("Sitemap: http://", CJK, ".is/\n"),
    "sitemap_of_punycode": one("Sitemap: http://xn--", "a9", ".is/\n"),
    "sitemaps_of_marks": numbered("Sitemap: http://a{}" + MARKS * 900 + ".is/\n"),
    "delays": repeated("Crawl-delay: 1\n", b"User-agent: *\n"),
    "delay_huge": one("User-agent: *\nCrawl-delay: ", "9", "\n"),
    "rates": repeated("Request-rate: 1/5\n", b"User-agent: *\n"),
    "rate_huge": one("User-agent: *\nRequest-rate: 1/", "9", "\n"),
    "visit_times": repeated("Visit-time: 0600-0845\n", b"User-agent: *\n"),
    "comments": repeated("#\n"),
    "comment_huge": one("#", "a", "\n"),
    "lines": repeated("\n"),
    "carriage_returns": repeated("\r"),
    "form_feeds": repeated("\x0c"),
    "colons": repeated(":"),
    "colon_lines": repeated(":\n"),
    "blanks": one("User-agent: *\nDisallow:", " ", "/\n"),
    "nuls": repeated("\0"),
    "bytes": repeated(bytes(range(256))),
}


# ---------------------------------------------------------------- HTTP and WARC


HTTP = b"HTTP/1.1 200 OK\r\n"
HEADS: dict[str, Shape] = {
    "headers": numbered("X-{}: y\r\n", HTTP, b"\r\n<p>"),
    "header_huge": one("HTTP/1.1 200 OK\r\nX: ", "a", "\r\n\r\n<p>"),
    "folded": repeated(" a\r\n", HTTP + b"X: y\r\n", b"\r\n<p>"),
    "folded_empty": repeated(" \n", HTTP + b"X: y\r\n", b"\r\n<p>"),
    "codings": repeated("gzip,", HTTP + b"Content-Encoding: ", b"\r\n\r\n<p>"),
    "codings_lines": repeated(
        "Content-Encoding: gzip\r\n", HTTP, b"\r\n\x1f\x8b"
    ),
    "lengths": repeated("Content-Length: 5\r\n", HTTP, b"\r\n<p>"),
    "length_huge": one("HTTP/1.1 200 OK\r\nContent-Length: ", "9", "\r\n\r\n<p>"),
    "status_line_huge": one("HTTP/1.1 200 ", "O ", "\r\n\r\n<p>"),
    "blanks": one("HTTP/1.1 200 OK", " ", "\r\n\r\n<p>"),
    "types": repeated("Content-Type: text/html; charset=x\r\n", HTTP, b"\r\n<p>"),
    "type_huge": one("HTTP/1.1 200 OK\r\nContent-Type: a", ";", "\r\n\r\n<p>"),
    "charset_huge": one(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html;charset=", "a", "\r\n\r\n<p>"
    ),
    "location_huge": one("HTTP/1.1 302 X\r\nLocation: http://", CJK, "\r\n\r\n"),
    "chunks": repeated(
        b"1\r\na\r\n", HTTP + b"Transfer-Encoding: chunked\r\n\r\n", b"0\r\n\r\n"
    ),
    "chunks_without_breaks": repeated(
        b"1\na", HTTP + b"Transfer-Encoding: chunked\r\n\r\n"
    ),
    "chunk_extensions": repeated(
        b"1;a=b\r\na\r\n", HTTP + b"Transfer-Encoding: chunked\r\n\r\n"
    ),
    "chunk_extension_huge": one(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a", "\r\na\r\n"
    ),
    "no_head": repeated("a"),
    "line_feeds": repeated("\n", HTTP),
}  # fmt: skip


def packed_body(coding: str, pack: Callable[[bytes], bytes]) -> Shape:
    """A body of zeros, packed: `size` is that of what it unpacks to."""

    def make(size: int) -> bytes:
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n".encode()
        return head + pack(b"<p>" + b"\0" * size)

    return make


def twice(data: bytes) -> bytes:
    """Packed, and packed again."""
    return gzip.compress(gzip.compress(data))


def members(data: bytes) -> bytes:
    """A gzip member for every few bytes."""
    piece = gzip.compress(b"a")
    return piece * (len(data) // len(piece))


HEADS |= {
    "gzip_bomb": packed_body("gzip", gzip.compress),
    "gzip_twice": packed_body("gzip, gzip", twice),
    "gzip_members": packed_body("gzip", members),
    "deflate_bomb": packed_body("deflate", zlib.compress),
    "deflate_of_deflate": packed_body("deflate, deflate", zlib.compress),
}


def record(
    kind: str, block: bytes, length: int | str | None = None, **more: str
) -> bytes:
    """A WARC record, whatever its length says."""
    fields = {
        "WARC-Type": kind,
        "WARC-Target-URI": "http://a.is/",
        "WARC-Date": "2024-03-01T00:00:00Z",
        "WARC-Record-ID": "<urn:uuid:0>",
        "Content-Type": "application/http; msgtype=response",
        **{name.replace("_", "-"): value for name, value in more.items()},
        "Content-Length": str(len(block) if length is None else length),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


PAGE = HTTP + b"Content-Type: text/html\r\n\r\n<p>" + TEXT.encode() * 3
SHORT = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\nx\n"
INFO = record("warcinfo", b"software: x\r\n")


def nested(share: float) -> Shape:
    """Records in the blocks of records, each up to that share of what follows."""

    def make(size: int) -> bytes:
        unit = len(SHORT % 10**8)
        places = [n * unit for n in range(size // unit)]
        return b"".join(SHORT % int((size - p) * share + 10**7 % 7) for p in places)

    return make


def stored_members(size: int) -> bytes:
    """Gzip members in stored blocks of gzip members, each to the end of the file."""
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    inside = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999\r\n\r\n"
    unit = head + b"\x00" + (65535).to_bytes(2, "little") + b"\x00\x00" + inside
    return INFO_GZ + unit * (size // len(unit))


INFO_GZ = gzip.compress(INFO)
WARCS: dict[str, Shape] = {
    "records": repeated(record("response", PAGE), INFO),
    "records_gzip": repeated(gzip.compress(record("response", PAGE)), INFO_GZ),
    "nested": repeated(SHORT % 60_000_000),
    "nested_within": nested(1.0),
    "nested_halves": nested(0.5),
    "nested_after_info": repeated(SHORT % 60_000_000, INFO),
    "nested_gzip": lambda n: INFO_GZ + gzip.compress((SHORT % 60_000_000) * (n // 60)),
    "nested_members": repeated(gzip.compress(SHORT % 60_000_000), INFO_GZ),
    "stored_members": stored_members,
    "magic": repeated(b"\x1f\x8b\x08", INFO_GZ),
    "magic_and_info": repeated(b"\x1f\x8b\x08" + INFO_GZ[3:30], INFO_GZ),
    "version_lines": repeated(b"WARC/1.0\r\n", INFO),
    "version_lines_open": repeated(b"\nWARC/1.0\r\n\r\n", INFO),
    "lengths_wrong": repeated(record("response", PAGE, len(PAGE) + 7), INFO),
    "lengths_short": repeated(record("response", PAGE, 9), INFO),
    "lengths_wrong_gzip": repeated(
        gzip.compress(record("response", PAGE, len(PAGE) + 7)), INFO_GZ
    ),
    "length_negative": repeated(record("response", PAGE, -1), INFO),
    "length_of_digits": repeated(record("response", PAGE, "9" * 400), INFO),
    "length_missing": repeated(
        record("response", PAGE).replace(b"Content-Length", b"Content-Width"), INFO
    ),
    "header_huge": one("WARC/1.0\r\nWARC-Type: response\r\nX: ", "a", "\r\n\r\n"),
    "headers_many": numbered("X{}: a\r\n", b"WARC/1.0\r\n", b"\r\n\r\n"),
    "headers_folded": repeated(" a\r\n", b"WARC/1.0\r\nX: a\r\n", b"\r\n\r\n"),
    "dates": repeated(
        record("response", PAGE, WARC_Date="0001-01-01T00:00:00+14:00"), INFO
    ),
    "urls_of_marks": repeated(
        record("response", PAGE, WARC_Target_URI="http://a" + MARKS * 5000), INFO
    ),
    "zeros": repeated(b"\0", INFO),
    "line_ends": repeated(b"\r\n", INFO),
    "block_of_zeros_gzip": lambda n: INFO_GZ + gzip.compress(
        record("response", PAGE + b"\0" * n)
    ),
    "revisits": repeated(
        record("revisit", PAGE, WARC_Payload_Digest="sha1:A"), INFO
    ),
    "empty_records": repeated(record("response", b""), INFO),
    "empty_members": repeated(gzip.compress(b""), INFO_GZ),
}  # fmt: skip
ARC_HEAD = b"filedesc://x 0.0.0.0 20240301000000 text/plain 6\n1 0 x\n\n"
ARC_LINE = b"http://a.is/ 0.0.0.0 20240301000000 text/html %d\n"
ARCS: dict[str, Shape] = {
    "records": repeated(ARC_LINE % len(PAGE) + PAGE + b"\n", ARC_HEAD),
    "line_huge": repeated(b"a", ARC_HEAD),
    "length_huge": repeated(ARC_LINE % 10**9, ARC_HEAD),
    "length_negative": repeated(ARC_LINE % -5 + PAGE, ARC_HEAD),
    "length_of_digits": repeated(b"http://a.is/ 0 0 a " + b"9" * 900 + b"\n", ARC_HEAD),
    "lines_empty": repeated(b"\n", ARC_HEAD),
    "blanks": repeated(b" ", ARC_HEAD),
    "zeros": repeated(b"\0", ARC_HEAD),
}
CELL = base64.b64encode(b"<p>" + TEXT.encode())
LETT = b"en\ttext/html\tutf-8\thttp://a.is/%s\t" + CELL + b"\t" + CELL + b"\n"
LETTS: dict[str, Shape] = {
    "rows": repeated(LETT),
    "line_huge": repeated(b"a"),
    "tabs": repeated(b"\t"),
    "cell_huge": repeated(b"a", LETT.rpartition(b"\t")[0] + b"\t"),
    "url_huge": one("en\tt\tu\thttp://a", MARKS, "\tYQ==\tYQ==\n"),
    "urls_of_marks": numbered("en\tt\tu\thttp://a{}" + MARKS * 900 + "\tYQ==\tYQ==\n"),
    "lines_empty": repeated(b"\n"),
    "equals": repeated(b"=", b"en\tt\tu\thttp://a.is/\t"),
}
INDEXED = {
    "url": "http://a.is/",
    "status": "200",
    "length": "100",
    "offset": "0",
    "filename": "x.warc.gz",
}


def cdxj(**fields: object) -> bytes:
    """A line of a CDXJ file."""
    return (
        b"is,a)/ 20240301000000 " + json.dumps({**INDEXED, **fields}).encode() + b"\n"
    )


CDXJS: dict[str, Shape] = {
    "lines": repeated(cdxj()),
    "line_huge": repeated(b"a", cdxj()),
    "json_nested": repeated(b"[", b"is,a)/ 20240301000000 "),
    "json_objects": repeated(b'{"a":', b"is,a)/ 20240301000000 "),
    "json_digits": repeated(b"9", b'is,a)/ 20240301000000 {"offset":'),
    "keys": numbered('"a{}":1,', b"is,a)/ 20240301000000 {", b'"b":1}\n'),
    "url_of_marks": lambda n: cdxj(url="http://a" + MARKS * (n // 12)),
    "urls_of_marks": repeated(cdxj(url="http://a" + MARKS * 900)),
    "languages": lambda n: cdxj(languages="eng," * (n // 4)),
    "offsets_huge": repeated(cdxj(offset=1e300)),
    "lengths_huge": repeated(cdxj(length=10**300)),
    "names_outside": repeated(cdxj(filename="../../etc/passwd")),
}
WETS: dict[str, Shape] = {
    "lines": lambda n: record(
        "conversion", f"{TEXT}\n".encode() * (n // 62), Content_Type="text/plain"
    ),
    "line_huge": lambda n: record("conversion", b"a" * n, Content_Type="text/plain"),
    "lines_empty": lambda n: record("conversion", b"\n" * n, Content_Type="text/plain"),
    "astral": lambda n: record(
        "conversion", "\U0001f600\n".encode() * (n // 5), Content_Type="text/plain"
    ),
    "separators": lambda n: record(
        "conversion", "\u2028\x85\x1c".encode() * (n // 6), Content_Type="text/plain"
    ),
}
VISIT = {
    "url": "http://a.is/",
    "site": "a.is",
    "status": 200,
    "time": "2026-01-01T00:00:00Z",
}
LOGS: dict[str, Shape] = {
    "lines": repeated(json.dumps(VISIT) + "\n"),
    "lines_of_escapes": repeated(json.dumps({**VISIT, "site": "\x1b"}) + "\n"),
    "line_huge": repeated("a", json.dumps(VISIT).encode() + b"\n"),
    "nested": repeated("[" * 60_000 + "\n", json.dumps(VISIT).encode() + b"\n"),
    "evidence": numbered('{{"url":"{}"}}\n', json.dumps(VISIT).encode() + b"\n"),
    "lines_empty": repeated("\n", json.dumps(VISIT).encode() + b"\n"),
}

# reader (a target of tests/fuzz/targets.py) → its shapes
SHAPES: dict[str, dict[str, Shape]] = {
    "page": PAGES,
    "sitemap": SITEMAPS,
    "packed_sitemap": {
        name: (lambda n, make=make: gzip.compress(make(n), 1))
        for name, make in SITEMAPS.items()
        if name
        in ("ampersands", "elements", "urls", "text", "blanks", "alternates_empty")
    },
    "encoded_page": {
        f"{charset}_{name}": (lambda n, k=k, make=make: bytes([k]) + make(n))
        for k, charset in enumerate(CHARSETS)
        for name, make in BYTES.items()
    },
    "robots": ROBOTS,
    "response": HEADS,
    "warc": WARCS,
    "arc": ARCS,
    "lett": LETTS,
    "cdxj": CDXJS,
    "wet": WETS,
    "visits": LOGS,
}

# reader → an input that nobody could object to, to compare with
HONEST: dict[str, Shape] = {
    "page": PAGES["paragraphs"],
    "encoded_page": lambda n: b"\0" + PAGES["paragraphs"](n),
    "sitemap": SITEMAPS["urls"],
    "packed_sitemap": lambda n: gzip.compress(SITEMAPS["urls"](n), 1),
    "robots": ROBOTS["rules"],
    "response": lambda n: HTTP + b"\r\n" + PAGES["paragraphs"](n),
    "body": lambda n: b"\0" + gzip.compress(PAGES["paragraphs"](n)),
    "warc": WARCS["records"],
    "arc": ARCS["records"],
    "lett": LETTS["rows"],
    "packed_lett": LETTS["rows"],
    "cdxj": CDXJS["lines"],
    "wet": WETS["lines"],
    "visits": LOGS["lines"],
    "seeds": SITEMAPS["lines"],
    "url": lambda n: b"http://www.example.org/" + b"a/" * min(n // 2, 900),
}
