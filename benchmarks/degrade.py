"""Pages with less to compare: for stress tests, and to fit models that bear them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from crawler.data import Document
from crawler.extract.text import blocks_of


def main_text(documents: Sequence[Document]) -> list[Document]:
    """Pages as paragraphs: no markup to compare, no block that many pages have."""
    blocks = [blocks_of(document.tokens, document.chunks) for document in documents]
    seen: dict[tuple[str | None, str], int] = {}
    for document, page in zip(documents, blocks):
        for text in {block.text for block in page}:
            key = document.lang, text
            seen[key] = seen.get(key, 0) + 1
    ceiling = max(5, len(documents) // 200)
    return [
        _page(
            document,
            [
                block.text
                for block in page
                if not block.boilerplate and seen[document.lang, block.text] <= ceiling
            ]
            or [block.text for block in page],
        )
        for document, page in zip(documents, blocks)
    ]


def _page(document: Document, texts: Sequence[str]) -> Document:
    return replace(
        document,
        tokens=("<p", "", "</p") * len(texts),
        chunks=tuple(texts),
        images=(),
    )


def first_words(document: Document, count: int) -> Document:
    """The beginning of a page, as paragraphs."""
    texts = []
    for text in document.chunks:
        words = _pieces(text)[:count]
        if words:
            texts.append("".join(words))
        count -= len(words)
    return _page(document, texts)


def _pieces(text: str) -> list[str]:
    """Words with the blanks after them; of a script without blanks two letters."""
    return re.findall(r"[\u3040-\u9fff]{1,2}|[^\s\u3040-\u9fff]+\s*|\s+", text)


def half_of_blocks(documents: Sequence[Document], lang: str) -> Iterator[Document]:
    """Pages of one language lose every second paragraph, at random."""
    for document in documents:
        if document.lang != lang or len(document.chunks) < 2:
            yield document
            continue
        chance = random.Random(document.url)
        kept = [text for text in document.chunks if chance.random() < 0.5]
        yield _page(document, kept or document.chunks[:1])
