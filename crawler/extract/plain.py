"""A page of which only its text is left: a document without markup and links.

Common Crawl's WET files and the text files of Bitextor hold such pages. A line is a
paragraph, as their writers made it: one block of text a line, and nothing else for the
stages that compare structure.
"""

from __future__ import annotations

import xxhash

from crawler.data import Document
from crawler.extract.document import MAX_BODY
from crawler.extract.language import Cld2Detector
from crawler.protocols import LanguageDetector
from crawler.urls import site_of

_DETECTOR = Cld2Detector()


def build_text_document(
    url: str, text: str, detector: LanguageDetector | None = None
) -> Document:
    r"""The document of a text; `url` is canonical.

    >>> build_text_document("https://example.org/a", "One line.\n\nAnother.").chunks
    ('One line.', 'Another.')
    """
    lines = (" ".join(line.split()) for line in text[:MAX_BODY].splitlines())
    chunks = tuple(line for line in lines if line)
    detected = (detector or _DETECTOR).detect(" ".join(chunks))
    return Document(
        url=url,
        site=site_of(url),
        lang=detected.lang,
        lang_confidence=detected.confidence,
        title=chunks[0] if chunks else "",
        tokens=("<p", "", "</p") * len(chunks),
        chunks=chunks,
        links=(),
        digest=xxhash.xxh3_128_hexdigest("\n".join(chunks).encode("utf-8", "replace")),
    )
