"""A page as what it is: a document, a sitemap, a redirect, or nothing to read.

The only caller of the other rooms of this folder.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import xxhash

from crawler.data import Document, Lang, Page
from crawler.extract.block_language import parts_of
from crawler.extract.decode import decode, looks_like_html
from crawler.extract.language import Cld2Detector
from crawler.extract.linearize import Element, linearize
from crawler.extract.links import links_of
from crawler.extract.page_language import language_of_page
from crawler.extract.sitemap import Sitemap, looks_like_sitemap, read_sitemap
from crawler.extract.text import prose_digest
from crawler.protocols import LanguageDetector
from crawler.urls import Base, site_of

logger = logging.getLogger(__name__)

# A longer body is cut before parsing: dumps and bombs, not pages. 5 MB holds the
# longest one-page manuals (lilypond.org: 4.1 MB).
MAX_BODY = 5_000_000
# A part in another language is a document of its own with so many characters, and such
# a share of the page: the half of a bilingual page, no quotation and no menu.
_DOCUMENT, _DOCUMENT_SHARE = 200, 0.2
MAX_IMAGES = 64  # of a page; more are a gallery, and as good as these to compare
_IMAGE_NAME = re.compile(r"(?!data:)(?:[^?#]*/)?([^/?#]{1,200})")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page holds; one of the first three, or none of them."""

    document: Document | None = None
    sitemap: Sitemap | None = None
    location: str | None = None  # where a redirect leads, canonical
    robots: str = ""  # the content of <meta name=robots>, lower case
    reason: str | None = None  # why there is nothing to read
    # of a page in several of the crawl's languages: the document of each other one
    others: tuple[Document, ...] = ()

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every document of the page, the main one first."""
        return (self.document, *self.others) if self.document else ()


def read_page(
    page: Page,
    detector: LanguageDetector | None = None,
    *,
    depth: int = 0,
    readable: Collection[str] = (),
    langs: Collection[Lang] = (),
) -> Reading:
    """Read a page, whatever it is; one that breaks a reader is `unreadable/ERROR`.

    `depth` is the page's distance from the nearest seed, in clicks; `readable`: what
    links may end in, see `crawler.extract.links.is_page_url`; `langs`: the languages of
    the crawl, one of which a page is in that may be in one of several.
    """
    try:
        return _read(page, detector or _DETECTOR, depth, readable, langs)
    except MemoryError:  # who bounds the memory of a reader deals with it
        raise
    except Exception as error:  # what a hostile page does must not cost the run
        logger.warning("cannot read %s: %r", page.url, error, exc_info=True)
        return Reading(reason=f"unreadable/{type(error).__name__}")


def _read(
    page: Page,
    detector: LanguageDetector,
    depth: int,
    readable: Collection[str],
    langs: Collection[Lang],
) -> Reading:
    if 300 <= page.status < 400:
        target = page.header("location")
        location = Base.parse(page.url).join(target) if target else None
        return Reading(location=location, reason="redirect")
    if page.status != 200:
        return Reading(reason=f"status/{page.status}")
    if looks_like_sitemap(page.url, page.body):
        return Reading(sitemap=read_sitemap(page.url, page.body), reason="sitemap")
    if not page.body:
        return Reading(reason="empty")
    if not looks_like_html(page.body, page.header("content-type")):
        return Reading(reason="not_html")
    return _read_html(page, detector, depth, readable, langs)


def _read_html(
    page: Page,
    detector: LanguageDetector,
    depth: int,
    readable: Collection[str],
    langs: Collection[Lang],
) -> Reading:
    content_type = page.header("content-type")
    linear = linearize(decode(page.body[:MAX_BODY], content_type))
    detected = language_of_page(linear, page.url, detector, langs)
    links = links_of(linear.elements, page.url, depth, readable)
    document = Document(
        url=page.url,
        site=site_of(page.url),
        lang=detected.lang,
        lang_confidence=detected.confidence,
        title=linear.title,
        tokens=linear.tokens,
        chunks=linear.chunks,
        links=links,
        digest="",
        images=image_names(linear.elements),
        head=linear.head,
    )
    others: list[Document] = []
    if detected.lang and detected.shares:
        found = {lang for lang, _ in detected.shares}.union(langs) - {detected.lang}
        parts = parts_of(linear, (detected.lang, *sorted(found)), detector)
        document = _with_text(document, parts.pop(detected.lang).chunks)
        whole = sum(map(len, linear.chunks))
        others = [
            replace(_with_text(document, part.chunks), lang=lang)
            for lang, part in parts.items()
            if lang in langs and part.size >= max(_DOCUMENT, _DOCUMENT_SHARE * whole)
        ]
    else:
        document = _with_text(document, linear.chunks)
    robots = _robots(linear.elements)
    return Reading(document, robots=robots, others=tuple(others))


def _with_text(document: Document, chunks: Sequence[str]) -> Document:
    text = "\n".join(chunks).encode("utf-8", "replace")
    return replace(
        document,
        chunks=tuple(chunks),
        digest=xxhash.xxh3_128_hexdigest(text),
        prose=prose_digest(chunks),
    )


_DETECTOR = Cld2Detector()


def image_names(elements: Iterable[Element]) -> tuple[str, ...]:
    """The file names of the first images of a page; those that it embeds have none.

    >>> image_names([Element("img", {"src": "/img/door.png?v=2"}, "")])
    ('door.png',)
    """
    sources = (e.attributes.get("src", "") for e in elements if e.name == "img")
    names = (_IMAGE_NAME.match(source) for source in sources)
    return tuple(islice((found[1] for found in names if found), MAX_IMAGES))


def build_document(
    page: Page, detector: LanguageDetector | None = None, *, depth: int = 0
) -> Document | None:
    """The document of a page; None when it is no HTML page with status 200."""
    return read_page(page, detector, depth=depth).document


def _robots(elements: tuple[Element, ...]) -> str:
    return ",".join(
        e.attributes.get("content", "").lower()
        for e in elements
        if e.name == "meta" and e.attributes.get("name", "").lower() == "robots"
    )
