"""Document → PageFeatures: the features of a page that the aligner keeps, as bytes.

They take about 4 KB for a page of 500 words and at most 60 KB for any page. Every
stage finds there what it needs: words for content and for inducing a lexicon, markup
and chunk lengths for STRAND, block ids for copies and boilerplate. The text is not
kept: sentences are read again from the WARC.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from typing import Any

import numpy as np
import xxhash

from crawler.aligner.words import BREAK, BREAK_ID, WordIds, dense_characters
from crawler.data import NO_MARKUP, Document, LangPair, PageFeatures
from crawler.extract.tags import VOID
from crawler.extract.text import BOILERPLATE, INLINE
from crawler.handles import handle_of
from crawler.switchers import declared_versions

# Of a longer page the beginning is compared: these are longer than any article, and the
# time of an alignment grows with the square.
MAX_TEXT = 50_000
MAX_WORDS = 6000
MAX_TOKENS = 3000
MAX_BLOCKS = 2000
MAX_OUTLINKS = 64
# With fewer characters than this outside nav, header, footer and form, the words inside
# are kept too: some sites put everything into one of them.
_MIN_READ = 500
# A character of Chinese, Japanese or Korean counts as 2.2 Latin letters.
_DENSITY = 2.2

CODE, BOILERPLATE_BLOCK = 1, 2  # bits of a block's id

# ---------------------------------------------------------------- markup as bytes

_CHUNK, _UNKNOWN = 0, 224  # bytes from _UNKNOWN on are shared by unknown elements
_CODE = frozenset("pre textarea".split())  # its text is in no language
_HIDING = sorted(BOILERPLATE | _CODE)
_PLAIN = sorted(
    (INLINE | VOID)
    | set(
        """address article audio blockquote body caption center colgroup dd details
        dialog dir div dl dt fieldset figcaption figure font frameset h1 h2 h3 h4 h5 h6
        html iframe label legend li main map ol optgroup option p picture rp rt section
        strike sub summary table tbody td tfoot th thead tr ul video hgroup""".split()
    )
    - BOILERPLATE
    - _CODE
    - set("base col head link meta".split())
)


class _MarkupBytes(dict[str, int]):
    """token → byte; elements that HTML does not have share the last 32."""

    def __missing__(self, token: str) -> int:
        # not remembered: a hostile page has as many element names as it likes
        hashed = xxhash.xxh32_intdigest(token.encode("utf-8", "replace"))
        return _UNKNOWN + hashed % (256 - _UNKNOWN)


_TAGS = [
    tag
    for name in (*_HIDING, *_PLAIN)
    for tag in ("<" + name, "</" + name)
    if tag[1] != "/" or name not in VOID
]
_BYTES = _MarkupBytes({"": _CHUNK, **{tag: n for n, tag in enumerate(_TAGS, 1)}})
assert len(_BYTES) <= _UNKNOWN
_INLINE_BYTES = bytes(
    code for token, code in _BYTES.items() if token.lstrip("</") in INLINE
)
_OPEN = {_BYTES["<" + name]: name in _CODE for name in _HIDING}
_CLOSE = {_BYTES["</" + name]: name in _CODE for name in _HIDING}
# A page without its inline markup consists of runs of chunks, and of the few tags that
# change how a block is read.
_STEP = re.compile(
    b"\0+|[" + re.escape(bytes(sorted({*_OPEN, *_CLOSE}))) + b"]", re.DOTALL
)


def _block_runs(markup: bytes) -> Iterator[tuple[int, bool, bool]]:
    """(number of chunks, is it boilerplate, is it code) of each block."""
    boilerplate = code = 0
    for match in _STEP.finditer(markup.translate(None, _INLINE_BYTES)):
        first = match[0][0]
        if first == _CHUNK:
            yield len(match[0]), boilerplate > 0, code > 0
        elif first in _OPEN:
            boilerplate += not _OPEN[first]
            code += _OPEN[first]
        else:
            boilerplate = max(0, boilerplate - (not _CLOSE[first]))
            code = max(0, code - _CLOSE[first])


# ---------------------------------------------------------------- document → features


class Featurizer:
    """Makes the features of pages for one language pair.

    `head`: the markup that is compared begins with the head of the page, as in Resnik &
    Smith (2003), not with its body.
    """

    def __init__(self, langs: LangPair, *, head: bool = False) -> None:
        self.langs = langs
        self.head = head
        self.word_ids = WordIds()

    def featurize(self, document: Document) -> PageFeatures:
        """The features of a document in one of the two languages."""
        lang = document.lang
        assert lang is not None
        markup = bytes(map(_BYTES.__getitem__, document.tokens))
        sizes = [len(chunk) - chunk.count(" ") for chunk in document.chunks]
        blocks = []
        start = 0
        for count, boilerplate, code in _block_runs(markup):
            end = start + count
            text = " ".join(document.chunks[start:end])
            blocks.append((text, sum(sizes[start:end]), boilerplate, code))
            start = end
        # what is cut off a very long page should be boilerplate first
        blocks = sorted(blocks, key=lambda block: block[2])[:MAX_BLOCKS]
        read = [text for text, _, boilerplate, _ in blocks if not boilerplate]
        if sum(map(len, read)) < _MIN_READ:
            read = [block[0] for block in blocks]
        words, block_words = self._words(read, len(blocks))
        dense = dense_characters("".join(document.chunks))
        head = document.head if self.head else NO_MARKUP
        tokens = (bytes(map(_BYTES.__getitem__, head.tokens)) + markup)[:MAX_TOKENS]
        lengths = [len(chunk) - chunk.count(" ") for chunk in head.chunks] + sizes
        return PageFeatures(
            url=document.url,
            site=document.site,
            lang=lang,
            digest=document.digest,
            handle=handle_of(document.url, tuple(self.langs)).text,
            family=handle_of(document.url).text,
            size=sum(sizes) + round((_DENSITY - 1) * dense),
            words=words,
            blocks=np.array([_block_id(*b) for b in blocks], np.uint32),
            block_words=block_words,
            block_sizes=_uint16([b[1] for b in blocks]),
            markup=tokens,
            chunk_lengths=_uint16(lengths[: tokens.count(_CHUNK)]),
            outlinks=self._outlinks(document),
            images=_id_set(document.images),
            declared=declared_versions(
                document.links, self.langs.other(lang), self.langs
            ),
        )

    def _words(self, texts: list[str], blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """The word ids of some texts, and the number of words of each block."""
        text = f" {BREAK} ".join(texts)[:MAX_TEXT]
        ids = self.word_ids.encode(text)[: MAX_WORDS + blocks]
        is_word = ids != BREAK_ID
        breaks = np.flatnonzero(~is_word)
        counts = np.append(breaks, len(ids))
        counts[1:] -= breaks + 1
        block_words = np.zeros(blocks, np.uint16)
        block_words[: len(counts)] = counts
        return ids[is_word], block_words

    @staticmethod
    def _outlinks(document: Document) -> np.ndarray:
        site = document.site
        outside = (link.url for link in document.links if site not in link.url)
        return _id_set(islice(outside, MAX_OUTLINKS))


def _id_set(texts: Iterable[str]) -> np.ndarray:
    return np.array(sorted(set(map(_text_id, texts))), np.uint32)


def _text_id(text: str) -> int:
    return xxhash.xxh32_intdigest(text.encode("utf-8", "replace"))


def _block_id(text: str, _size: int, boilerplate: bool, code: bool) -> int:
    return _text_id(text) & ~3 | BOILERPLATE_BLOCK * boilerplate | CODE * code


def _uint16(values: Sequence[int]) -> np.ndarray:
    return np.minimum(np.array(values, np.int64), 65_535).astype(np.uint16)


# ---------------------------------------------------------------- features ↔ bytes

_HEADER = struct.Struct("<8I")
_ARRAYS = {  # in the order in which they are packed
    "words": np.uint32,
    "blocks": np.uint32,
    "block_words": np.uint16,
    "block_sizes": np.uint16,
    "markup": np.uint8,
    "chunk_lengths": np.uint16,
    "outlinks": np.uint32,
    "images": np.uint32,
}


def pack(features: PageFeatures) -> bytes:
    """The arrays of the features as bytes; the scalars are columns of the store."""
    parts = [bytes(getattr(features, name)) for name in _ARRAYS]
    declared = "\n".join(features.declared).encode()
    return b"".join((_HEADER.pack(*map(len, parts)), *parts, declared))


def unpack(data: bytes, **scalars: Any) -> PageFeatures:  # Any: they are str and int
    """The features that `pack` made the bytes of, with their scalar fields."""
    cuts = [*accumulate(_HEADER.unpack_from(data), initial=_HEADER.size)]
    arrays: dict[str, Any] = {  # Any: of several types
        name: np.frombuffer(data[start:end], dtype)
        for (name, dtype), (start, end) in zip(_ARRAYS.items(), pairwise(cuts))
    }
    arrays["markup"] = arrays["markup"].tobytes()
    declared = data[cuts[-1] :].decode()
    return PageFeatures(
        **scalars, **arrays, declared=tuple(declared.split("\n")) if declared else ()
    )
