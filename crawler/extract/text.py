"""Tokens and chunks to text blocks: what a reader sees as one unit.

A block ends where a block-level tag starts or ends; inline markup does not break it.
Boilerplate (navigation, headers, footers, asides, forms) is marked, not lost: it
carries the evidence of language switchers, and some sites put everything in a form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import xxhash

from crawler.data import Block
from crawler.extract.linearize import CHUNK
from crawler.extract.tags import VOID

# A tag outside this set is block level: unknown elements break, as in a text browser.
INLINE = frozenset(
    """a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label
    mark q rp rt ruby s samp small span strike strong sub sup time tt u var
    wbr""".split()
)
BOILERPLATE = frozenset(
    "nav header footer aside form select button dialog menu".split()
)
# Not prose in any language; CLD2 takes code for English.
CODE = frozenset("pre code kbd samp var tt option select textarea button".split())
# The tokens that open or close one of these: +1 or -1, as (code, boilerplate).
_DEPTHS = {
    f"{opening}{name}": (step * (name in CODE), step * (name in BOILERPLATE))
    for name in CODE | BOILERPLATE
    for opening, step in (("<", 1), ("</", -1))
}


def _tokens(names: Iterable[str]) -> frozenset[str]:
    return frozenset(start + name for name in names for start in ("<", "</"))


_INLINE_TOKENS, _VOID_TOKENS = _tokens(INLINE), _tokens(VOID)
# What becomes of the number of the column: one more, the same, or none (None).
_TABLE: dict[str, int | None] = {"<td": 1, "<th": 1, "</td": 0, "</th": 0}
_TABLE |= dict.fromkeys(("<tr", "</tr", "<table", "</table"))
_LINK, _LINK_END = "<a", "</a"
# Texts between two tags that are shorter, or of fewer words, are menus, dates and
# labels, not sentences.
_SENTENCE = 25
_BLANKS = 3
_WIDE, _WIDE_SENTENCE = "\u0e00", 10  # from Thai on a character is a syllable or a word
# With fewer characters in sentences, a page is told by everything that it shows.
_MIN_PROSE = 200


@dataclass(frozen=True, slots=True)
class BlockRun:
    """The place of a block: its chunks are those from `start` up to `end`."""

    tag: str  # as of a Block
    start: int
    end: int
    boilerplate: bool
    column: int  # of the table cell that it is in, or that was last; 0: in none


def blocks_of(tokens: Sequence[str], chunks: Sequence[str]) -> tuple[Block, ...]:
    """The text blocks of a linearized page, in reading order.

    A block whose chunks are empty, as those in another language are, is left out.

    >>> tokens = ("<nav", "", "</nav", "<p", "", "<b", "", "</b", "</p")
    >>> for block in blocks_of(tokens, ("Home", "Hello", "world")): print(block)
    Block(tag='nav', text='Home', boilerplate=True)
    Block(tag='p', text='Hello world', boilerplate=False)
    """
    return tuple(
        Block(run.tag, text, run.boilerplate)
        for run in block_runs(tokens)
        if (text := " ".join(filter(None, chunks[run.start : run.end])))
    )


def block_runs(tokens: Sequence[str]) -> Iterator[BlockRun]:
    """The places of the text blocks of a linearized page, in reading order."""
    start = end = 0  # chunks of the block that is being read
    open_blocks: list[str] = []
    boilerplate = 0  # depth inside boilerplate elements
    column = 0
    for token in tokens:
        if token == CHUNK:
            end += 1
            continue
        if token in _INLINE_TOKENS:
            continue
        if start < end:
            tag = open_blocks[-1] if open_blocks else "body"
            yield BlockRun(tag, start, end, boilerplate > 0, column)
            start = end
        if token in _VOID_TOKENS:
            continue
        if token in _TABLE:
            more = _TABLE[token]
            column = 0 if more is None else column + more
        closing = token[1] == "/"
        name = token[2:] if closing else token[1:]
        if not closing:
            open_blocks.append(name)
            boilerplate += name in BOILERPLATE
        else:
            # lexbor closes what it opens; a stray end tag still must not unbalance us
            while open_blocks:
                last = open_blocks.pop()
                boilerplate -= last in BOILERPLATE
                if last == name:
                    break
    if start < end:
        tag = open_blocks[-1] if open_blocks else "body"
        yield BlockRun(tag, start, end, boilerplate=False, column=column)


def prose(
    tokens: Sequence[str], chunks: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """The chunks of a page for a language detector, no code: (own, main, rest).

    The rest is in boilerplate; of the main text the sentences outside links are the
    page's own: names of products and places, and titles of other pages, are left out.
    """
    own: list[str] = []
    main: list[str] = []
    rest: list[str] = []
    skipping = boilerplate = 0
    link = False  # they do not nest
    remaining = iter(chunks)
    for token in tokens:
        if token == CHUNK:
            chunk = next(remaining)
            if skipping:
                continue
            if boilerplate:
                rest.append(chunk)
                continue
            main.append(chunk)
            if not link and (
                (len(chunk) >= _SENTENCE and chunk.count(" ") >= _BLANKS)
                or (len(chunk) >= _WIDE_SENTENCE and chunk[0] >= _WIDE)
            ):
                own.append(chunk)
        elif token == _LINK:
            link = True
        elif token == _LINK_END:
            link = False
        elif token in _DEPTHS:
            code, frame = _DEPTHS[token]
            skipping = max(0, skipping + code)
            boilerplate = max(0, boilerplate + frame)
    return own, main, rest


def prose_digest(chunks: Sequence[str]) -> str | None:
    """A digest of the sentences of a page, numbers left out; None if there are few.

    Two months of a calendar, or a list in two layouts, have the same.

    >>> day = "In the harbour nothing happened on day {}, as on any other of them. "
    >>> prose_digest([day.format(3) * 4]) == prose_digest(["Menu", day.format(14) * 4])
    True
    """
    sentences = [chunk for chunk in chunks if len(chunk) >= _SENTENCE]
    if sum(map(len, sentences)) < _MIN_PROSE:
        return None
    text = "\n".join(sentences).encode("utf-8", "surrogatepass")
    return xxhash.xxh3_64_hexdigest(text.translate(None, b"0123456789"))
