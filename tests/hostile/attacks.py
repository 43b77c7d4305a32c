"""What servers do to crawlers, by name: each attack is a site of its own.

A site has two good pages, `/en/` and `/is/`, which are a pair, and a home page that
links to them and to `/attack`. What comes of an attack is in `reasons` (path → why the
page was not kept, as in crawl.jsonl; `kept` where it was) and in `counters`. Every
attack must end within its limit, and the pair of its site must be found.

`tests/hostile/test_attacks.py` makes one crawl of all sites together;
`python -m benchmarks.attacks` one of each, with its time and its memory.
"""

from __future__ import annotations

import gzip
import io
import itertools
import re
import socket
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from fastwarc.stream_io import BrotliWriter, ZstdWriter

from tests.hostile.shapes import CJK, PAGES, ROBOTS, SITEMAPS
from tests.strategies import REFUSED_BY_CLD2
from tests.webserver import (
    Route,
    Server,
    answer,
    endless,
    half,
    moved,
    page,
    reset,
    silence,
    text,
)
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=2, words=120, hreflang=False)
ENGLISH = " ".join(TOWN.sentences(1, "en"))
ICELANDIC = " ".join(TOWN.sentences(1, "is"))
# Of these crawls: what is longer or takes longer is given up.
MAX_BYTES, MAX_SECONDS, MAX_PAGES = 3_000_000, 10, 60
LIMITS = {
    "DOWNLOAD_DELAY": 0,
    "RETRY_WAIT": 0,
    "RETRY_TIMES": 0,
    "DOWNLOAD_TIMEOUT": MAX_SECONDS,
    "DOWNLOAD_MAXSIZE": MAX_BYTES,
    "SITE_MAX_PAGES": MAX_PAGES,
    "CONCURRENT_REQUESTS": 32,
}
KEPT = "kept"
Routes = Mapping[str, Route]


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to hurt a crawler.

    `routes` may depend on the server, whose name an attack may need.
    """

    routes: Routes | Callable[[Server], Routes]
    reasons: Mapping[str, str] = field(default_factory=dict)
    counters: tuple[str, ...] = ()
    pair: bool = (
        True  # is the pair found, or may nobody in (RFC 9309, section 2.3.1.4)?
    )
    links: tuple[str, ...] = ("/attack",)


def site(attack: Attack, server: Server) -> None:
    """Put an attack and its two good pages on a server."""
    routes = attack.routes(server) if callable(attack.routes) else attack.routes
    good: dict[str, Route] = {
        "/": page("<p>Welcome.", links("/en/", "/is/", *attack.links)),
        "/en/": page(
            f"<h1>Harbour</h1><p>{ENGLISH}", links("/is/"), title="The harbour"
        ),
        "/is/": page(f"<h1>Höfnin</h1><p>{ICELANDIC}", links("/en/"), title="Höfnin"),
        "/robots.txt": text("User-agent: *"),
    }
    whole = {**good, **routes}
    made_up = isinstance(routes, Endless)
    server.routes = Endless(routes.make, whole) if made_up else whole


def links(*urls: str) -> str:
    """Anchors, one a line."""
    return "\n".join(f'<a href="{url}">more</a>' for url in urls)


# ------------------------------------------------------------------ sockets


def drip(first: bytes, piece: bytes) -> Callable[[socket.socket], None]:
    """A slow loris: a little at a time, for ever."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(first)
        for _ in range(600):
            time.sleep(0.1)
            connection.sendall(piece)

    return talk


def endless_of(first: bytes, piece: bytes) -> Callable[[socket.socket], None]:
    """As much as the other side takes."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(first)
        while True:
            connection.sendall(piece)

    return talk


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def raw(head: bytes, body: bytes = b"") -> Callable[[socket.socket], None]:
    """These bytes, then the end of the connection."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(head + body)
        connection.close()

    return talk


# ------------------------------------------------------------------ endless sites


class Endless(dict[str, Route]):
    """Routes that are made up when they are asked for."""

    def __init__(self, make: Callable[[str], Route | None], first: Routes) -> None:
        super().__init__(first)
        self.make = make

    def get(self, path: str, default: Route = b"") -> Route:  # type: ignore[override]
        return super().get(path) or self.make(path) or default


def endless_site(under: str, make: Callable[[str], Route], *first: str) -> Endless:
    """Pages without end below a path; the page of the attack links to the first."""
    return Endless(
        lambda path: make(path) if path.startswith(under) else None,
        {"/attack": page(links(*first))},
    )


def number(path: str) -> int:
    """The digits that a path ends with."""
    return int(re.sub(r".*\D", "", path) or 0)


# ------------------------------------------------------------------ the attacks


@cache
def bomb(kind: str) -> bytes:
    """A hundred megabytes, thirty times MAX_BYTES, in a hundred kilobytes or less."""
    much = b"<p>" + b"a" * 100_000_000
    if kind == "gzip":
        return gzip.compress(much, 9)
    if kind == "deflate":
        return zlib.compress(much, 9)
    packed = io.BytesIO()
    writer = {"br": BrotliWriter, "zstd": ZstdWriter}[kind](packed)
    for start in range(0, len(much), 1_000_000):  # of more it packs the first part only
        writer.write(much[start : start + 1_000_000])
    writer.close()
    return packed.getvalue()


XML = "application/xml"
SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
ENTITIES = (
    '<!DOCTYPE lolz [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise("abcdefghijk")
    )
    + "]>"
)


def sitemap(body: str | Callable[[], bytes]) -> Callable[[Server], Routes]:
    """A site whose robots.txt names this sitemap."""

    def routes(server: Server) -> Routes:
        whole = body() if callable(body) else body.replace("HERE", server.url(""))
        return {
            "/robots.txt": text("User-agent: *", f"Sitemap: {server.url('/map.xml')}"),
            "/map.xml": answer(whole, content_type=XML),
        }

    return routes


def html(body: str | bytes, reason: str = KEPT, **headers: str) -> Attack:
    """One bad page, which is read all the same."""
    return Attack({"/attack": answer(body, **headers)}, {"/attack": reason})


def packed(body: bytes, reason: str) -> Attack:
    """One bad page, which takes little room on the wire."""
    return html(gzip.compress(body), reason, content_encoding="gzip")


def no_answer(route: Route, error: str) -> Attack:
    """One page that does not come."""
    return Attack({"/attack": route}, {"/attack": f"no_answer/{error}"})


def html_of_head(lines: bytes) -> Attack:
    """One page with odd lines in its head."""
    return Attack(
        {"/attack": raw(OK + lines + b"\r\n", b"<p>x")}, {"/attack": "language"}
    )


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
TIMEOUT, LOSS, CANCELLED = "timeout", "incomplete", "too_large"
FAILED, CLOSED = "not_http", "disconnected"

CHARSETS_ODD = [
    *("idna", "punycode", "rot13", "zlib", "bz2", "hex", "uu", "quopri", "undefined"),
    *("unicode_escape", "raw_unicode_escape", "utf-8-sig", "mbcs", "oem", "string"),
    *(
        "UTF-8" * 500,
        "''",
        '"',
        "\x00",
        "../x",
        "utf-8;charset=utf-7",
        "iso-2022-cn-ext",
    ),
]
ATTACKS: dict[str, Attack] = {
    # --- the connection
    "silence": no_answer(silence, TIMEOUT),
    "slow_loris_status": no_answer(drip(b"HTTP/1.1 2", b"0"), TIMEOUT),
    "slow_loris_headers": no_answer(drip(OK, b"X-Slow: 1\r\n"), TIMEOUT),
    "slow_loris_body": no_answer(drip(OK + b"\r\n<p>", b"a"), TIMEOUT),
    "endless_body": no_answer(endless, CANCELLED),
    "endless_header_line": no_answer(endless_of(OK + b"X: ", b"a" * 9000), FAILED),
    "endless_headers": no_answer(endless_of(OK, b"X-Much: more\r\n" * 900), FAILED),
    "endless_interim_answers": no_answer(
        endless_of(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 500), FAILED
    ),
    "reset": no_answer(reset, CLOSED),
    "premature_close": no_answer(half, LOSS),
    "closed_in_headers": no_answer(raw(OK), CLOSED),
    # --- framing
    "length_too_large": no_answer(
        raw(OK + b"Content-Length: 99999999999999999999\r\n\r\n", b"<p>x"), CANCELLED
    ),
    "length_too_small": html(f"<p>{ENGLISH}", "language", content_length="10"),
    "length_negative": no_answer(
        raw(OK + b"Content-Length: -5\r\n\r\n", b"<p>"), FAILED
    ),
    "two_lengths": no_answer(
        raw(OK + b"Content-Length: 3\r\nContent-Length: 9\r\n\r\n", b"<p>"), FAILED
    ),
    "chunked_garbage": no_answer(
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"zz\r\n<p>\r\n0\r\n\r\n"), LOSS
    ),
    "chunk_too_large": no_answer(
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"fffffffffffffff\r\n<p>"), LOSS
    ),
    "status_line_garbage": no_answer(raw(b"\x16\x03\x01 garbage\r\n\r\n"), FAILED),
    "http_0_9": no_answer(raw(b"<html><p>Just a page.</html>\n"), FAILED),
    "status_999": Attack(
        {"/attack": answer("<p>no", "999 Request denied")}, {"/attack": "status/999"}
    ),
    "status_of_nine_digits": no_answer(
        raw(b"HTTP/1.1 123456789 OK\r\n\r\n<p>"), FAILED
    ),
    "headers_not_ascii": html(
        f"<p>{ENGLISH}", x_latin="\xfe\xe6", content_type="text/html; charset=\xff"
    ),
    "cookie_flood": Attack(
        {"/attack": raw(OK + b"Set-Cookie: a=b\r\n" * 400 + b"\r\n", b"<p>x")},
        {"/attack": "language"},
    ),
    "chunks_of_two_bytes": no_answer(
        endless_of(OK + CHUNKED, b"2\r\nxx\r\n" * 5000), CANCELLED
    ),
    "chunk_extensions": no_answer(
        endless_of(OK + CHUNKED, b"1;" + b"a" * 30_000 + b"\r\nx\r\n"), CANCELLED
    ),
    "trailers_without_end": no_answer(
        endless_of(OK + CHUNKED + b"0\r\n", b"X-Much: more\r\n" * 900), CANCELLED
    ),
    "folded_header": html_of_head(b"X: a\r\n" + b" a\n" * 80_000),
    "blank_lines_first": Attack(
        {"/attack": raw(b"\r\n" * 100_000 + OK + b"\r\n", b"<p>x")},
        {"/attack": "language"},
    ),
    "interim_answers_with_heads": Attack(
        {
            "/attack": raw(
                (b"HTTP/1.1 103 Early Hints\r\n" + b"Link: </a>\r\n" * 9) * 400
                + b"\r\n"
                + OK
                + b"\r\n",
                b"<p>x",
            )
        },
        {"/attack": "language"},
    ),
    "old_keep_alive": Attack(
        {"/attack": raw(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n", b"<p>x")},
        {"/attack": "language"},
    ),
    "upgrade_nobody_asked_for": no_answer(
        raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"), CLOSED
    ),
    "two_answers_at_once": html(f"<p>{ENGLISH}", "language", content_length="3"),
    "partial_content_nobody_asked_for": Attack(
        {"/attack": answer("<p>x", "206 Partial Content", content_range="bytes 0-3/9")},
        {"/attack": "status/206"},
    ),
    "not_modified": Attack(
        {"/attack": raw(b"HTTP/1.1 304 Not Modified\r\n\r\n", b"<p>x")},
        {"/attack": "redirect"},
    ),
    # --- codings
    "gzip_bomb": Attack(
        lambda server: {"/attack": answer(bomb("gzip"), content_encoding="gzip")},
        {"/attack": "language"},
        counters=("warc/repaired/bomb",),
    ),
    "deflate_bomb": Attack(
        lambda server: {"/attack": answer(bomb("deflate"), content_encoding="deflate")},
        {"/attack": "language"},
        counters=("warc/repaired/bomb",),
    ),
    # Nobody asked for these two, and some servers send them all the same.
    "brotli_bomb": Attack(
        lambda server: {"/attack": answer(bomb("br"), content_encoding="br")},
        {"/attack": "language"},
        counters=("warc/repaired/bomb",),
    ),
    "zstd_bomb": Attack(
        lambda server: {"/attack": answer(bomb("zstd"), content_encoding="zstd")},
        {"/attack": "language"},
        counters=("warc/repaired/bomb",),
    ),
    "gzip_in_gzip_in_gzip": html(
        gzip.compress(gzip.compress(gzip.compress(f"<p>{ENGLISH}".encode()))),
        content_encoding="gzip, gzip, gzip",
    ),
    "gzip_that_is_none": html(f"<p>{ENGLISH}", content_encoding="gzip"),
    "gzip_cut_short": html(
        gzip.compress(f"<p>{ENGLISH}".encode())[:-20], content_encoding="gzip"
    ),
    "bombs_in_codings": Attack(
        lambda server: {
            "/attack": answer(gzip.compress(bomb("br"), 1), content_encoding="br, gzip")
        },
        {"/attack": "language"},
        counters=("warc/repaired/bomb",),
    ),
    "codings_without_end": Attack(
        {
            "/attack": answer(
                f"<p>{ENGLISH}", content_encoding=", ".join(["gzip"] * 5000)
            )
        },
        {"/attack": KEPT},
    ),
    "coding_nobody_asked_for": Attack(
        {"/attack": answer(b"\x1b\x03\x00\xf8", content_encoding="br, zstd")},
        {"/attack": "not_html"},
    ),
    # --- redirects
    "redirect_loop": Attack(
        {"/attack": moved("/b"), "/b": moved("/attack")},
        {"/attack": "redirect", "/b": "redirect"},
    ),
    "redirect_chain": Attack(
        Endless(
            lambda path: moved(f"/r{number(path) + 1}") if path[:2] == "/r" else None,
            {"/attack": moved("/r1")},
        ),
        {"/attack": "redirect", "/r1": "redirect"},
    ),
    "redirect_to_file": Attack(
        {"/attack": moved("file:///etc/passwd")}, {"/attack": "redirect"}
    ),
    "redirect_to_data": Attack(
        {"/attack": moved("data:text/html,<p>x")}, {"/attack": "redirect"}
    ),
    "redirect_to_script": Attack(
        {"/attack": moved("javascript:alert(1)")}, {"/attack": "redirect"}
    ),
    "redirect_to_metadata": Attack(
        {"/attack": moved("http://169.254.169.254/latest/meta-data/")},
        {"/attack": "redirect"},
    ),
    "redirect_too_long": Attack(
        {"/attack": moved("/" + "a" * 8000)}, {"/attack": "redirect"}
    ),
    "redirect_to_a_host_of_letters": Attack(
        {"/attack": moved("http://" + CJK[:2500].encode().decode("latin-1") + ".is/")},
        {"/attack": "redirect"},
    ),
    "redirect_nowhere": Attack(
        {"/attack": answer(status="302 Found")}, {"/attack": "redirect"}
    ),
    "redirect_bad_host": Attack(
        {"/attack": moved("http://xn--a.b\x7f../")}, {"/attack": "redirect"}
    ),
    "refresh_to_metadata": html(
        '<meta http-equiv=refresh content="0;url=http://169.254.169.254/latest/">'
        f"<p>{ENGLISH}"
    ),
    "redirect_to_the_robots_of_others": Attack(
        lambda server: {"/robots.txt": moved("http://127.0.2.254:9/admin/delete?id=1")}
    ),
    "later_in_the_past": Attack(
        {
            "/attack": answer(
                status="429 Too Many Requests",
                retry_after="Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
            )
        },
        {"/attack": "status/429"},
    ),
    # --- pages
    "links_without_end": html(
        f"<p>{ENGLISH}" + links(*(f"/l/{n}" for n in range(100_000)))
    ),
    "one_huge_attribute": html(f'<p title="{"a" * 1_100_000}">{ENGLISH}'),
    "attributes_without_end": no_answer(
        endless_of(OK + b"\r\n<p ", b'title="much" ' * 900), CANCELLED
    ),
    "many_attributes": html(
        f"<p {' '.join(f'a{n}=1' for n in range(200_000))}>{ENGLISH}"
    ),
    "nested_tags": html("<div>" * 100_000 + ENGLISH),
    "nested_inline_tags": html("<b><i>" * 100_000 + ENGLISH),
    "unclosed_comment": html("<!--" + "a" * 1_100_000, "language"),
    "entities_in_text": html("<p>" + "&amp;lt;&#x26;" * 60_000, "language"),
    "huge_title": html(f"<title>{'a' * 1_100_000}</title><p>{ENGLISH}"),
    "nul_bytes": html(f"<p>\0{ENGLISH}\0".encode()),
    "lone_surrogates": html(f"<p>{ENGLISH} &#xD800; &#xDFFF; &#x110000; &#0;"),
    "code_points_cld2_rejects": html(
        f"<p>{ENGLISH}{''.join(map(chr, REFUSED_BY_CLD2))}"
    ),
    "zero_width_and_rtl": html(f"<title>\u202egnp.exe\u200b</title><p>{ENGLISH}\u202e"),
    "wrong_charset": html(
        f"<p>{ICELANDIC}".encode("latin-1"), content_type="text/html; charset=utf-8"
    ),
    "charset_that_is_none": html(
        f"<p>{ENGLISH}", content_type="text/html; charset=../../etc/passwd"
    ),
    "charset_base64": html(f"<p>{ENGLISH}", content_type="text/html; charset=base64"),
    "utf_7": html(
        "+ADw-script+AD4-", "language", content_type="text/html; charset=utf-7"
    ),
    "binary_as_html": html(bytes(range(256)) * 4000, "language"),
    "html_as_binary": html(
        f"<p>{ENGLISH}", "not_html", content_type="application/octet-stream"
    ),
    "script_in_title": html(f"<title><script>alert(1)</script></title><p>{ENGLISH}"),
    "base_to_elsewhere": html(
        f'<base href="file:///etc/"><a href="passwd">{ENGLISH}</a>'
    ),
    **{
        f"page_{name}": packed(PAGES[name](1_000_000), reason)
        for name, reason in {
            "unclosed_formats_equals": "language",
            "unclosed_formats_quotes": "language",
            "colours_in_paragraphs": "language",
            "formats_across_blocks": "language",
            "nested_definitions": "language",
            "nested_blocks_with_text": "language",
            "raw_plaintext": "language",
            "raw_iframe": "language",
            "raw_entity_of_digits": "language",
            "attributes_499_unquoted": "language",
            "attributes_of_links": "language",
            "attributes_of_body": "language",
            "comments_open": "language",
            "text_ampersands": "language",
            "links_marks": "language",
            "links_marks_250": "language",
            "links_hosts_cjk": "language",
            "links_without_text": "language",
            "components": "language",
            "title_huge": "language",
        }.items()
    },
    "refresh_loop": html(
        f'<meta http-equiv="refresh" content="0;url=/attack"><p>{ENGLISH}'
    ),
    # --- links
    "url_of_a_megabyte": html(links("/" + "a" * 1_000_000) + f"<p>{ENGLISH}"),
    "urls_with_credentials": html(
        f"<p>{ENGLISH}"
        + links("http://user:secret@example.com/", "//u:p@[::1]:0/", "http://a:99999/")
    ),
    "urls_that_are_none": html(
        f"<p>{ENGLISH}"
        + links(
            "http://[", "http://xn--\xff/", "//%00/", "http:///", "ht!tp://x", "\x00"
        )
    ),
    "urls_that_forge_log_lines": html(
        f"<p>{ENGLISH}"
        + links("/a\nERROR forged", "/b%0d%0aERROR%20forged", "/c\r\nX: y")
    ),
    "idn_homographs": html(
        f"<p>{ENGLISH}" + links("https://аррӏе.example/", "https://xn--80ak6aa92e.com/")
    ),
    "hosts_of_punycode": html(
        links(*(f"http://xn--{'a9' * 28}{n}.example/" for n in range(1000)))
        + f"<p>{ENGLISH}"
    ),
    "sources_and_data": html(
        "".join(
            f'<img srcset="{", ".join(f"/i{n}-{m}.png {m}w" for m in range(1, 90))}"'
            f' src="data:image/png;base64,{"A" * 300}">'
            for n in range(60)
        )
        + f"<p>{ENGLISH}"
    ),
    "preloads_and_prefetches": html(
        "".join(
            f'<link rel="{rel}" href="/{rel}/{n}">'
            for n in range(400)
            for rel in ("preload", "prefetch", "dns-prefetch", "next", "canonical")
        )
        + f"<p>{ENGLISH}"
    ),
    "bases_that_change": html(
        "".join(
            f'<base href="http://b{n}.example/{n}/"><a href="{n}">x</a>'
            for n in range(3000)
        )
        + f"<p>{ENGLISH}"
    ),
    "names_of_charsets": Attack(
        Endless(
            lambda path: (
                answer(
                    f"<p>{ENGLISH}",
                    content_type=f"text/html; charset={CHARSETS_ODD[number(path)]}",
                )
                if path[:2] == "/c"
                else None
            ),
            {"/attack": page(links(*(f"/c{n}" for n in range(len(CHARSETS_ODD)))))},
        )
    ),
    "hreflang_flood": html(
        "".join(
            f'<link rel="alternate" hreflang="is" href="/f/{n}">' for n in range(50_000)
        )
        + f"<p>{ENGLISH}"
    ),
    "hreflang_lies": html(
        '<link rel="alternate" hreflang="is" href="http://bank.example/">'
        '<link rel="alternate" hreflang="xx-\'; DROP TABLE" href="/en/">'
        f"<p>{ENGLISH}"
    ),
    # --- sitemaps
    "sitemap_entities": Attack(
        sitemap(
            f"<?xml version='1.0'?>{ENTITIES}"
            f"{SITEMAP}<url><loc>&k;</loc></url></urlset>"
        ),
        links=(),
    ),
    "sitemap_external_entity": Attack(
        sitemap(
            '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
            f"{SITEMAP}<url><loc>HERE/&f;</loc></url></urlset>"
        ),
        links=(),
    ),
    "sitemap_index_loop": Attack(
        sitemap(f"{INDEX}<sitemap><loc>HERE/map.xml</loc></sitemap></sitemapindex>"),
        links=(),
    ),
    "sitemap_index_cycle": Attack(
        lambda server: {
            "/robots.txt": text("User-agent: *", f"Sitemap: {server.url('/m0.xml')}"),
            **{
                f"/m{n}.xml": answer(
                    f"{INDEX}<sitemap><loc>{server.url(f'/m{(n + 1) % 7}.xml')}</loc>"
                    f"</sitemap><sitemap><loc>{server.url(f'/m{n * 3 % 7}.xml?{n}')}"
                    "</loc></sitemap></sitemapindex>",
                    content_type=XML,
                )
                for n in range(7)
            },
        },
        links=(),
    ),
    "sitemap_index_without_end": Attack(
        sitemap(
            INDEX
            + "".join(
                f"<sitemap><loc>HERE/m{n}.xml</loc></sitemap>" for n in range(5000)
            )
            + "</sitemapindex>"
        ),
        links=(),
    ),
    "sitemap_bomb": Attack(sitemap(lambda: bomb("gzip")), links=()),
    **{
        f"sitemap_of_{name}": Attack(
            sitemap(lambda name=name: gzip.compress(SITEMAPS[name](20_000_000), 6)),
            links=(),
        )
        for name in (
            *("ampersands", "elements", "elements_with_attributes", "sitemaps_empty"),
            *("alternates_empty", "locs_marks", "comments_open", "entity_of_digits"),
        )
    },
    "sitemap_of_other_sites": Attack(
        sitemap(
            SITEMAP
            + "".join(
                f"<url><loc>http://victim{n}.example/</loc></url>" for n in range(9000)
            )
            + "</urlset>"
        ),
        counters=("frontier/refused/scope",),
        links=(),
    ),
    # --- robots.txt
    "robots_endless": Attack(
        {"/robots.txt": endless_of(OK + b"\r\n", b"Disallow: /x\n" * 900)},
        counters=("robots/failed/too_large",),
        pair=False,
    ),
    "robots_slow_loris": Attack(
        {"/robots.txt": drip(OK + b"\r\n", b"a")},
        counters=("robots/failed/timeout",),
        pair=False,
    ),
    "robots_error": Attack(
        {"/robots.txt": answer(status="500 Internal Server Error")},
        counters=("robots/failed/status 500",),
        pair=False,
    ),
    "robots_loop": Attack({"/robots.txt": moved("/robots.txt")}),
    "robots_binary": Attack({"/robots.txt": answer(bytes(range(256)) * 100)}),
    "robots_utf_16": Attack(
        {"/robots.txt": answer("User-agent: *\nDisallow: /attack\n".encode("utf-16"))},
    ),
    **{
        f"robots_{name}": Attack(
            {"/robots.txt": answer(ROBOTS[name](500_000), content_type="text/plain")}
        )
        for name in (
            *("sitemap_of_marks", "sitemap_of_letters", "sitemaps_of_marks"),
            *("agents_and_rules", "rule_of_percents", "lines_of_blanks", "delay_huge"),
        )
    },
    "robots_patterns": Attack(
        {
            "/robots.txt": text(
                "User-agent: *",
                *[f"Disallow: /{'*a' * 50}{n}$" for n in range(2000)],
                "Crawl-delay: nan",
            ),
            "/attack": page(links("/" + "a" * 1500)),
        }
    ),
    # --- sites without end
    "calendar": Attack(
        endless_site(
            "/cal/",
            lambda path: page(
                f"<p>{ENGLISH[:200]} {path}", links(f"/cal/{number(path) + 1}")
            ),
            "/cal/1",
        )
    ),
    "session_ids": Attack(
        endless_site(
            "/s/",
            lambda path: page(
                f"<p>{ENGLISH}", links(f"/s/{hash(path) & 0xFFFFFFFF:x}/x")
            ),
            "/s/1/x",
        )
    ),
    "facets": Attack(
        endless_site(
            "/shop",
            lambda path: page(
                f"<p>{ENGLISH}", links(*(f"{path}&f{n}={n}" for n in range(20)))
            ),
            "/shop?f=0",
        )
    ),
    "relative_links_that_grow": Attack(
        endless_site(
            "/deep/", lambda _: page(f"<p>{ENGLISH}", links("a/b/")), "/deep/"
        ),
        counters=("frontier/refused/trap/repeated",),
    ),
    "identical_bodies": Attack(
        endless_site(
            "/same/",
            lambda _: page(f"<p>{ENGLISH}", links(*(f"/same/{n}" for n in range(99)))),
            "/same/0",
        )
    ),
    "soft_404": Attack(
        endless_site(
            "/gone",
            lambda _: page("<h1>Sorry</h1><p>We could not find this page."),
            *(f"/gone{n}" for n in range(200)),
        )
    ),
    "login_for_everything": Attack(
        {"/attack": page("<form>Name <input> Password <input type=password></form>")},
    ),
}

# ------------------------------------------------------------------ more of them


def trickle(first: bytes, piece: Callable[[int], bytes]) -> Attack:
    """A slow loris whose pieces make sense."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(first)
        for n in range(600):
            time.sleep(0.1)
            connection.sendall(piece(n))

    return no_answer(talk, TIMEOUT)


def head_of(*lines: str, body: bytes = b"<p>x") -> Attack:
    """One page whose head has these lines."""
    head = OK + "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"
    return Attack({"/attack": raw(head, body)}, {"/attack": "language"})


def one_for_each(values: tuple[str, ...], make: Callable[[str], Route]) -> Attack:
    """A page for each value, which the page of the attack links to."""
    pages = {f"/each{n}": make(value) for n, value in enumerate(values)}
    return Attack({"/attack": page(links(*pages)), **pages})


CHUNK_SIZES = ("0x3", "+3", " 3", "3 ", "0_3", "-0", "3;", "0" * 16 + "3", "٣")
TRANSFER_CODINGS = (
    *("chunked, chunked", "identity", "xchunked", "gzip, chunked", "chunked;q=1"),
    *("chunked, identity", "CHUNKED", "\x0bchunked"),
)
ODD_URLS = (
    *("//user:pw@127.0.0.1/", "http:\\\\127.0.0.1\\x", "ht\ttp://127.0.0.1/", "?"),
    *("http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "#", "", " "),
    *("http://[::ffff:127.0.0.1]/", "http://[fe80::1%25eth0]/", "http://[::]/"),
    *("http://127.1:99999/", "http://localhost%00.example/", "http:///127.0.0.1/"),
    *("http://１２７.0.0.1/", "http://⒈.0.0.1/", "http://a.example@127.0.0.1/"),
    *("gopher://127.0.0.1:6379/_FLUSHALL", "view-source:http://127.0.0.1/"),
)
IN_DISGUISE = (
    *("2130706433", "0x7f000001", "0177.1", "0", "127.1", "[::1]", "①②⑦.0.0.1"),
    *("[::ffff:7f00:1]", "[fe80::1%25lo]", "169.254.169.254", "127。0。0。1"),
    *("[::ffff:169.254.169.254]", "[64:ff9b::7f00:1]", "user@127.0.0.1:22"),
    *("localhost", "metadata.google.internal"),
)


def deeper_indexes(server: Server) -> Routes:
    """Sitemap indexes that name ten more each, for ever."""

    def make(path: str) -> Route | None:
        name = path.removesuffix(".xml")
        urls = (server.url(f"{name}{n}.xml") for n in range(10))
        entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
        whole = answer(f"{INDEX}{entries}</sitemapindex>", content_type=XML)
        return whole if path.startswith("/i") else None

    named = text("User-agent: *", f"Sitemap: {server.url('/i1.xml')}")
    return Endless(make, {"/robots.txt": named})


def all_of_all() -> Routes:
    """Pages each of which says that it is a translation of all others."""
    names = [f"/q{n}" for n in range(20)]
    tags = "".join(
        f'<link rel=alternate hreflang={("en", "is")[n % 2]} href="{name}">'
        for n, name in enumerate(names)
    )
    texts = (ENGLISH, ICELANDIC)
    pages = {name: page(f"{tags}<p>{texts[n % 2]} {n}") for n, name in enumerate(names)}
    return {"/attack": page(tags, links(*names)), **pages}


def refreshed(path: str) -> Route | None:
    """A page that leads to the next."""
    tag = f'<meta http-equiv=refresh content="0;url=/m{number(path) + 1}">'
    return page(tag) if path.startswith("/m") else None


def packed_rules(body: bytes) -> Attack:
    """A robots.txt that takes little room on the wire."""
    fields = {"content_encoding": "gzip", "content_type": "text/plain"}
    return Attack({"/robots.txt": answer(body, **fields)})


ATTACKS |= {
    "gzip_of_bombs": Attack(
        {
            "/attack": answer(
                gzip.compress(b"<p>" + b"a" * 1_000_000, 9) * 2000,
                content_encoding="gzip",
            )
        },
        {"/attack": "language"},
        counters=("warc/repaired/bomb",),
    ),
    "gzip_of_empty_members": html(
        gzip.compress(b"") * 140_000, "empty", content_encoding="gzip"
    ),
    "gzip_name_without_end": html(
        b"\x1f\x8b\x08\x08\0\0\0\0\0\x03" + b"a" * 2_900_000,
        "not_html",
        content_encoding="gzip",
    ),
    "gzip_then_rubbish": html(
        gzip.compress(f"<p>{ENGLISH}".encode()) + b"\x1f\x8b\x08" * 500_000,
        content_encoding="gzip",
    ),
    "zstd_window": html(
        b"\x28\xb5\x2f\xfd\0\xf8\x03\0\x10a", "not_html", content_encoding="zstd"
    ),
    "zstd_skipped_frames": html(
        (b"\x50\x2a\x4d\x18" + bytes(4)) * 300_000, "not_html", content_encoding="zstd"
    ),
    "zstd_empty_frames": html(
        b"\x28\xb5\x2f\xfd\x20\0\x01\0\0" * 300_000, "not_html", content_encoding="zstd"
    ),
    "brotli_of_empty_blocks": html(b"\x06" * 2_000_000, "empty", content_encoding="br"),
    "deflate_without_a_head": html(
        zlib.compress(b"<p>" + b"a" * 50_000_000, 9, wbits=-15),
        "language",
        content_encoding="deflate",
    ),
    "deflate_of_stored_blocks": html(
        b"\0\0\0\xff\xff" * 500_000, "not_html", content_encoding="deflate"
    ),
    "codings_that_are_none": html(
        f"<p>{ENGLISH}", content_encoding="identity, x-foo, compress, gzip;q=0"
    ),
    "chunk_sizes_odd": one_for_each(
        CHUNK_SIZES,
        lambda size: raw(OK + CHUNKED, f"{size}\r\n<p>\r\n0\r\n\r\n".encode()),
    ),
    "transfer_codings": one_for_each(
        TRANSFER_CODINGS,
        lambda coding: raw(
            OK + f"Transfer-Encoding: {coding}\r\n\r\n".encode(),
            b"3\r\n<p>\r\n0\r\n\r\n",
        ),
    ),
    "length_and_chunks": head_of(
        "Content-Length: 4",
        "Transfer-Encoding: chunked",
        body=b"3\r\n<p>\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\nsmuggled",
    ),
    "head_of_nuls": head_of("X: a\0b", "X\0: b", "Y: \x1b[2J\x07", ": z", "nothing"),
    "length_that_is_folded": no_answer(
        raw(OK + b"Content-Length : 4\r\n X: y\r\n\r\n", b"<p>x"), FAILED
    ),
    "head_of_line_feeds": Attack(
        {"/attack": raw(b"HTTP/1.1 200 OK\nContent-Type: text/html\nX: a\rb\n\n<p>x")},
        {"/attack": "language"},
    ),
    "reason_that_escapes": Attack(
        {"/attack": answer("<p>x", "503 \x1b]0;x\x07\x1b[2J\xff")},
        {"/attack": "status/503"},
    ),
    "links_in_the_head": head_of(
        *(f'Link: </h{n}>; rel=alternate; hreflang="is"' for n in range(3000))
    ),
    "link_of_quotes": head_of("Link: <" + '"\\' * 60_000, f"X: {'noindex:' * 9000}"),
    "type_of_parameters": head_of("Content-Type: text/html" + '; a="\\"' * 12_000),
    "language_of_lists": head_of(
        "Content-Language: " + "en-" * 20_000 + "x, is" * 20_000
    ),
    "refresh_in_the_head": head_of(
        "Refresh: 0;url=/attack", *["Refresh: 0;url=/r"] * 9
    ),
    "locations": Attack(
        {
            "/attack": raw(
                b"HTTP/1.1 301 X\r\n"
                + b"".join(b"Location: /l%d\r\n" % n for n in range(900))
                + b"\r\n"
            )
        },
        {"/attack": "redirect"},
    ),
    "redirects_to_odd_urls": one_for_each(
        ODD_URLS, lambda url: moved(url.encode().decode("latin-1"))
    ),
    "addresses_in_disguise": html(
        f"<p>{ENGLISH}" + links(*(f"http://{host}/" for host in IN_DISGUISE))
    ),
    "refresh_without_end": Attack(
        Endless(
            refreshed, {"/attack": page('<meta http-equiv=refresh content="0;/m0">')}
        )
    ),
    "escapes_that_grow": Attack(
        endless_site(
            "/e",
            lambda path: page(f"<p>{ENGLISH}", links(path.replace("%", "%25") + "%41")),
            "/e%41",
        )
    ),
    "hosts_of_one_domain": html(
        f"<p>{ENGLISH}" + links(*(f"http://h{n}.example/" for n in range(4000)))
    ),
    "robots_bomb": Attack(
        lambda _: {"/robots.txt": answer(bomb("gzip"), content_encoding="gzip")}
    ),
    "robots_of_packed_rules": packed_rules(
        gzip.compress(b"User-agent: *\n" + b"Disallow: /x*y\n" * 2_000_000)
    ),
    "sitemap_gzip_in_gzip": Attack(
        sitemap(lambda: gzip.compress(gzip.compress(bomb("gzip")))), links=()
    ),
    "sitemap_index_deeper": Attack(deeper_indexes, links=()),
    "sitemap_of_one_line": Attack(
        sitemap(lambda: gzip.compress(b"http://a.is/" + b"a" * 60_000_000)), links=()
    ),
    "sitemap_feed": Attack(
        sitemap(
            lambda: gzip.compress(
                b"<rss><channel>"
                + b"<item><link>http://a.is/</link><pubDate>9</pubDate></item>" * 90_000
            )
        ),
        links=(),
    ),
    "sitemap_numbers": Attack(
        sitemap(
            f"{SITEMAP}<url><loc>HERE/en/</loc><lastmod>{'9' * 90_000}</lastmod>"
            "<priority>1e999</priority></url></urlset>"
        ),
        links=(),
    ),
    "sitemap_in_utf_7": Attack(
        sitemap('<?xml version="1.0" encoding="utf-7"?>' + "+ADw-url+AD4-" * 90_000),
        links=(),
    ),
    "data_of_json": html(
        f'<script type="application/ld+json">{"[" * 1_000_000}</script><p>{ENGLISH}'
    ),
    "documents_in_attributes": html(
        f'<iframe srcdoc="{"&lt;iframe srcdoc=&quot;" * 40_000}"></iframe><p>{ENGLISH}'
    ),
    "shadow_roots": html(
        "<div><template shadowrootmode=open>" * 20_000 + f"<p>{ENGLISH}", "language"
    ),
    "language_that_escapes": html(
        f"<html lang='\x1b[2J\u202e{'en-' * 9000}'><title>\x1b]0;x\x07</title>"
        f"<p>{ENGLISH}"
    ),
    "xhtml_entities": html(
        f"<?xml version='1.0'?>{ENTITIES}<html xmlns='http://www.w3.org/1999/xhtml'>"
        f"<body><p>&k; {ENGLISH}</p></body></html>",
        content_type="application/xhtml+xml",
    ),
    "pdf_as_html": html(
        b"%PDF-1.7\n" + b"<< /Length 9999999999 >> stream\n" * 60_000, "not_html"
    ),
    "parts_without_end": html(
        "--x\r\nContent-Type: text/html\r\n\r\n<p>x\r\n" * 40_000,
        "not_html",
        content_type="multipart/x-mixed-replace; boundary=x",
    ),
    "urls_that_forge_columns": html(
        f"<p>{ICELANDIC}"
        + links("/a\thttp://b/\t1", "/b%09c%0ad", "/c\u2028d\x85e", "/d\0e", "/=cmd|x")
    ),
    "all_are_translations_of_all": Attack(all_of_all()),
    "slow_loris_chunks": trickle(OK + CHUNKED, lambda _: b"1\r\nx\r\n"),
    "slow_loris_trailers": trickle(
        OK + CHUNKED + b"0\r\n", lambda n: b"X%d: y\r\n" % n
    ),
    "slow_loris_interims": trickle(b"", lambda _: b"HTTP/1.1 102 Processing\r\n\r\n"),
    "slow_loris_codings": trickle(
        OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10],
        lambda _: b"\0\0\0\xff\xff",
    ),
}
