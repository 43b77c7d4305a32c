"""Documents for tests: of text where text matters, else of next to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawler.data import Document


def make_document(
    url: str = "http://a.example/",
    site: str = "a.example",
    lang: str | None = "en",
    blocks: Sequence[str] = (),
    **fields: Any,
) -> Document:
    """A document of some paragraphs; `fields` are those of `Document`."""
    defaults: dict[str, Any] = {
        "lang_confidence": 1.0,
        "title": "",
        "tokens": ("<p", "", "</p") * len(blocks),
        "chunks": tuple(blocks),
        "links": (),
        "digest": "",
    }
    return Document(url=url, site=site, lang=lang, **defaults | fields)
