"""Sitemaps: lists of URLs, and the only place where sites pair them up themselves.

sitemaps.org protocol with Google's `xhtml:link rel=alternate hreflang` extension,
sitemap indexes, plain text, gzip. Read as a stream, so that a 50 MB sitemap costs no
tree; entities are not expanded, nothing is fetched.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from crawler.data import Link, Rel
from crawler.languages import known_code
from crawler.urls import canonicalize

# sitemaps.org: at most 50 MB uncompressed and 50,000 URLs a file
MAX_SITEMAP_BYTES = 52_428_800
MAX_SITEMAP_URLS = 50_000
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# `?a=1&b=2` as it should not stand in XML, and often does
_BARE_AMPERSAND = re.compile(rb"&(?!#?\w{1,32};)")


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
    """Read a sitemap; what is broken in it ends it, what came before is kept."""
    body = _plain(body).removeprefix(codecs.BOM_UTF8).lstrip()
    if not body.startswith((b"<", *_UTF16)):
        return Sitemap((), tuple(_text_links(url, body)))
    if b"<![CDATA[" not in body:
        body = _BARE_AMPERSAND.sub(b"&amp;", body)
    sitemaps: list[str] = []
    links: dict[tuple[str, str | None], Link] = {}
    location: str | None = None
    alternates: list[tuple[str, str]] = []
    events = etree.iterparse(
        io.BytesIO(body),
        events=("end",),
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
    )
    try:
        for _, element in events:
            name = _name(element)
            if name == "loc" and _name(element.getparent()) in ("url", "sitemap"):
                location = canonicalize((element.text or "").strip())
            elif name == "link" and element.get("hreflang"):
                href = (element.get("href") or "").strip()
                alternates.append((element.get("hreflang"), href))
            elif name == "sitemap":
                if location:
                    sitemaps.append(location)
                location = None
            elif name == "url":
                for link in _links(url, location, alternates):
                    links.setdefault((link.url, link.source_url), link)
                location, alternates = None, []
                element.clear()
                parent = element.getparent()
                while parent is not None and element.getprevious() is not None:
                    del parent[0]
            if len(links) >= MAX_SITEMAP_URLS or len(sitemaps) >= MAX_SITEMAP_URLS:
                break
    except (etree.XMLSyntaxError, UnicodeDecodeError):
        pass  # keep what was read before the damage; `&#xD800;` is a damage too
    return Sitemap(tuple(sitemaps), tuple(links.values()))


def _name(element: etree._Element | None) -> str | None:
    """The name without its namespace; None for comments and the like."""
    if element is None or not isinstance(element.tag, str):
        return None
    return str(element.tag).rpartition("}")[2]


def _links(
    sitemap: str, location: str | None, alternates: list[tuple[str, str]]
) -> Iterator[Link]:
    if location is None:
        return
    own = [lang for lang, href in alternates if canonicalize(href) == location]
    yield Link(
        location, sitemap, hreflang=known_code(own[0]) if own else None, rel=Rel.SITEMAP
    )
    for lang, href in alternates:
        target = canonicalize(href)
        if target and target != location:
            yield Link(target, location, hreflang=known_code(lang), rel=Rel.ALTERNATE)


def _text_links(sitemap: str, body: bytes) -> Iterator[Link]:
    for line in body.decode("utf-8", "replace").splitlines()[:MAX_SITEMAP_URLS]:
        if target := canonicalize(line.strip()):
            yield Link(target, sitemap, rel=Rel.SITEMAP)


def _plain(body: bytes) -> bytes:
    """Gunzip, up to the size that a sitemap may have."""
    if not body.startswith(b"\x1f\x8b"):
        return body[:MAX_SITEMAP_BYTES]
    plain = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as stream:
            while len(plain) < MAX_SITEMAP_BYTES and (block := stream.read1()):
                plain += block
    except (OSError, EOFError, zlib.error):
        pass  # keep what was read before the damage
    return bytes(plain[:MAX_SITEMAP_BYTES])
