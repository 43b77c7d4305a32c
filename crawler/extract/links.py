"""Elements of a page to links, with what the page says of each.

Links are filtered and deduplicated here as strings: a Request object costs thirty times
what a string does, and a page has forty links.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from crawler.data import Lang, Link, Rel
from crawler.extract.linearize import Element
from crawler.languages import known_code
from crawler.urls import Base

# What these end in is no page with text. Office files are left out too until there is
# a reader for them; for PDF there is one (setting PDF).
_NO_PAGES = frozenset(
    """7z aac ai apk avi avif bin bmp bz2 cab css csv dat deb dmg doc docx eot eps epub
    exe flac flv gif gz heic ico ics iso jar jpeg jpg js json kml kmz m3u m3u8 m4a m4v
    map mid midi mjs mkv mobi mov mp2 mp3 mp4 mpeg mpg msi odp ods odt oga ogg ogv otf
    pdf pkg png ppt pptx ps psd rar rpm rss rtf sig sql svg svgz swf tar tgz tif
    tiff tsv ttf txt wasm wav webm webp wma wmv woff woff2 xls xlsx xml xsd xsl xz
    yaml yml zip zst""".split()
)
_OTHER_SCHEME = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_REFRESH = re.compile(r"url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)

# A page with more links than this is a trap or a dump; the rest is left, and counted.
MAX_LINKS = 5000
MAX_ANCHOR = 200  # characters kept of an anchor text


def is_page_url(url: str, readable: Collection[str] = ()) -> bool:
    """May this canonical URL be a page with text, to judge by its ending?

    `readable`: endings that are, although they usually are not: `pdf`.
    """
    ending = url.partition("?")[0].rpartition(".")[2].lower()
    return ending not in _NO_PAGES or ending in readable


def _targets(element: Element) -> Iterator[tuple[str, Rel | None, Lang | None]]:
    """The (href, rel, declared language) that one element holds."""
    name, attributes = element.name, element.attributes
    if name in ("a", "area"):
        rel = attributes.get("rel", "").lower()
        lang = known_code(attributes.get("hreflang") or attributes.get("lang"))
        if "href" in attributes:
            yield (
                attributes["href"],
                Rel.ALTERNATE if rel == "alternate" else None,
                lang,
            )
    elif name == "link":
        rel = attributes.get("rel", "").lower()
        if "href" in attributes:
            if "alternate" in rel and attributes.get("hreflang"):
                yield (
                    attributes["href"],
                    Rel.ALTERNATE,
                    known_code(attributes["hreflang"]),
                )
            elif rel in ("next", "prev", "canonical"):
                yield attributes["href"], Rel(rel), None
    elif name in ("frame", "iframe"):
        yield attributes.get("src", ""), Rel.FRAME, None
    elif name == "option":
        # language menus without a single <a>: <option value="/is/">
        value = attributes.get("data-url") or attributes.get("value", "")
        if value.startswith(("/", "http://", "https://")):
            lang = known_code(attributes.get("lang") or attributes.get("hreflang"))
            yield value, Rel.OPTION, lang
    elif name == "meta":
        if attributes.get("http-equiv", "").lower() == "refresh":
            found = _REFRESH.search(attributes.get("content", ""))
            if found:
                yield found[1], Rel.REFRESH, None
    elif "-" in name:
        yield attributes.get("href", ""), Rel.COMPONENT, None
        # the switcher of Canada's and other component libraries
        yield attributes.get("lang-href", ""), Rel.ALTERNATE, None


def links_of(
    elements: Sequence[Element],
    url: str,
    depth: int = 0,
    readable: Collection[str] = (),
) -> tuple[Link, ...]:
    """The links of a page, each URL once, in document order.

    `depth` is the page's own; its links lie one deeper. `readable`: see `is_page_url`.
    Where a URL is linked twice,
    what is declared of it (hreflang, an anchor text) is kept from either.
    """
    base_href = next(
        (e.attributes["href"] for e in elements if e.name == "base" and _has_href(e)),
        None,
    )
    page = Base.parse(url)
    base = page
    if base_href and (joined := page.join(base_href)):
        base = Base.parse(joined)
    found: dict[str, tuple[str, Rel | None, Lang | None]] = {}
    targets: dict[str, str | None] = {}  # a page links to many places of a few pages
    for element in elements:
        for href, rel, lang in _targets(element):
            place = href.partition("#")[0]
            if not place or _OTHER_SCHEME.match(place):
                continue
            if place not in targets:
                targets[place] = base.join(place)
            target = targets[place]
            if target is None or target == url or not is_page_url(target, readable):
                continue
            anchor = element.text[:MAX_ANCHOR]
            if target in found:
                old_anchor, old_rel, old_lang = found[target]
                anchor = old_anchor or anchor
                rel = rel if rel == Rel.ALTERNATE else old_rel
                lang = old_lang or lang
            elif len(found) >= MAX_LINKS:
                continue
            found[target] = (anchor, rel, lang)
    return tuple(
        Link(target, url, anchor or None, lang, rel, depth + 1)
        for target, (anchor, rel, lang) in found.items()
    )


def _has_href(element: Element) -> bool:
    return bool(element.attributes.get("href"))
