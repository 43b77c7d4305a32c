"""Sitemaps: lists of URLs, and the only place where sites pair them up themselves.

sitemaps.org protocol with Google's `xhtml:link rel=alternate hreflang` extension,
sitemap indexes, plain text, gzip. Read in blocks as a sequence of `<url>` and
`<sitemap>` entries, each of a bounded length, without an XML parser: nothing is
expanded, nothing is fetched, no tree is kept, and what is broken in one entry costs
that entry alone.
"""

from __future__ import annotations

import codecs
import html
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from w3lib.encoding import resolve_encoding

from crawler.data import Link, Rel
from crawler.extract.decode import text_encoding
from crawler.languages import known_code
from crawler.urls import MAX_URL_LENGTH, canonicalize

# sitemaps.org: at most 50 MB uncompressed and 50,000 URLs a file
MAX_SITEMAP_BYTES = 52_428_800
MAX_SITEMAP_URLS = 50_000
MAX_CHARACTERS = 10_000_000  # of the URLs of a file: 200 each
MAX_RATIO = 200  # bytes that come of one packed; sitemaps have 10 to 50
_BLOCK = 2**18  # bytes decoded at a time
# Characters of an entry; one of a page with 200 versions has 40,000.
_MAX_ENTRY = 2**17
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_ENCODING = re.compile(
    rb"""<\?xml[^>]{0,100}encoding\s{0,9}=\s{0,9}["']([\w.-]{1,40})"""
)
_ENTRY_END = re.compile(r"</(?:[\w.-]{1,40}:)?(url|sitemap)\s*>")
# `<` ends each of them, so a tag is looked at once. `image:loc` is not the page's.
_LOCATION = re.compile(
    r"<(?!image:|video:|news:)(?:[\w.-]{1,40}:)?loc(?:\s[^<>]*)?>\s*"
    r"(?:<!\[CDATA\[)?([^<]*)"
)
_ALTERNATE = re.compile(
    r"""<(?:[\w.-]{1,40}:)?link(\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*+)>"""
)
# Possessive, and from the first character of a name on: a long one is looked at once.
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What one sitemap file holds."""

    sitemaps: tuple[str, ...]  # other sitemaps, of an index
    links: tuple[Link, ...]  # pages; an alternate's `source_url` is its translation


def looks_like_sitemap(url: str, body: bytes) -> bool:
    """Is this a list of URLs rather than a page?"""
    head = body[:512].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if b"<urlset" in head or b"<sitemapindex" in head:
        return True
    if "sitemap" not in url or b"<html" in head or b"doctype html" in head:
        return False
    if head.startswith(b"\x1f\x8b"):
        return url.endswith(".gz")
    return head.startswith((b"<?xml", *_UTF16)) or (
        url.endswith(".txt") and head.startswith(b"http")
    )


def read_sitemap(url: str, body: bytes) -> Sitemap:
    """Read a sitemap; entries that are broken are left out."""
    sitemaps: list[str] = []
    links: dict[tuple[str, str | None], Link] = {}
    characters = 0
    blocks = _decoded(body)
    start = next(blocks, "").lstrip("\ufeff \t\r\n")
    entries = _entries if start.startswith("<") else _lines
    for number, (kind, entry) in enumerate(entries(start, blocks)):
        if number >= MAX_SITEMAP_URLS or len(links) >= MAX_SITEMAP_URLS:
            break
        location = _location(entry) if kind else canonicalize(entry)
        if location is None:
            continue
        if kind == "sitemap":
            found = []
            sitemaps.append(location)
        else:
            declared = list(_alternates(entry)) if kind else []
            found = list(_links(url, location, declared))
        for link in found:
            links.setdefault((link.url, link.source_url), link)
        characters += sum(len(link.url) for link in found) or len(location)
        if characters > MAX_CHARACTERS:
            break
    return Sitemap(tuple(sitemaps), tuple(links.values())[:MAX_SITEMAP_URLS])


def _entries(start: str, blocks: Iterator[str]) -> Iterator[tuple[str, str]]:
    """(url or sitemap, what is in it); of a longer one its end."""
    rest = start
    while True:
        position = 0
        for end in _ENTRY_END.finditer(rest):
            yield end[1], _without_comments(rest[position : end.start()])
            position = end.end()
        block = next(blocks, None)
        if block is None:
            return
        rest = rest[max(position, len(rest) - _MAX_ENTRY) :] + block


def _lines(start: str, blocks: Iterator[str]) -> Iterator[tuple[str, str]]:
    """("", line) of a plain text sitemap; of a longer one its end."""
    rest = start
    while True:
        *lines, rest = rest.split("\n")
        yield from (("", line.strip()) for line in lines)
        block = next(blocks, None)
        if block is None:
            yield "", rest.strip()
            return
        rest = rest[-_MAX_ENTRY:] + block


def _without_comments(entry: str) -> str:
    if "<!--" not in entry:
        return entry
    kept, *comments = entry.split("<!--")
    return kept + "".join(comment.partition("-->")[2] for comment in comments)


def _location(entry: str) -> str | None:
    found = _LOCATION.search(entry)
    return canonicalize(_text(found[1].partition("]]>")[0])) if found else None


def _alternates(entry: str) -> Iterator[tuple[str, str]]:
    """(hreflang, canonical URL) of each version that an entry declares."""
    for tag in _ALTERNATE.finditer(entry):
        values = {name: a or b for name, a, b in _ATTRIBUTE.findall(tag[1])}
        lang, href = values.get("hreflang"), values.get("href")
        if lang and href and (target := canonicalize(_text(href))):
            yield lang, target


def _text(value: str) -> str:
    """What XML text says, its entities resolved; no URL is as long as what is cut."""
    value = value.strip()[: 2 * MAX_URL_LENGTH]
    return html.unescape(value) if "&" in value else value


def _links(
    sitemap: str, location: str, declared: list[tuple[str, str]]
) -> Iterator[Link]:
    own = next((lang for lang, target in declared if target == location), None)
    yield Link(location, sitemap, hreflang=known_code(own), rel=Rel.SITEMAP)
    for lang, target in declared:
        if target != location:
            yield Link(target, location, hreflang=known_code(lang), rel=Rel.ALTERNATE)


def _decoded(body: bytes) -> Iterator[str]:
    """The text of a sitemap, block by block, up to the size that one may have."""
    blocks = _plain(body)
    first = next(blocks, b"")
    declared = _ENCODING.search(first[:200])
    name = None
    if first.startswith(_UTF16):
        name = "utf-16"
    elif declared:
        name = text_encoding(resolve_encoding(declared[1].decode("ascii")))
    if name is None or (name != "utf-16" and name.startswith("utf")):
        name = "utf-8"
    decoder = codecs.getincrementaldecoder(name)("replace")
    yield decoder.decode(first)
    yield from map(decoder.decode, blocks)


def _plain(body: bytes) -> Iterator[bytes]:
    """Gunzip, if it is packed; what comes before damage is kept."""
    if not body.startswith(b"\x1f\x8b"):
        for start in range(0, min(len(body), MAX_SITEMAP_BYTES), _BLOCK):
            yield body[start : start + _BLOCK]
        return
    left = min(MAX_SITEMAP_BYTES, 2**20 + MAX_RATIO * len(body))
    decoder = zlib.decompressobj(31)
    packed = body
    while packed and left > 0:
        try:
            block = decoder.decompress(packed, _BLOCK)
        except zlib.error:
            return
        packed = decoder.unconsumed_tail
        left -= len(block)
        yield block
        if decoder.eof:  # sitemaps are one member; servers add a second at times
            packed = decoder.unused_data
            decoder = zlib.decompressobj(31)
        elif not block:
            return
