"""A document as sentences, in reading order, each with the block that it stands in.

The cutting itself is sentencex's (Wikimedia; rules and abbreviations of some 300
languages, 100 MB/s). Here is what pages need besides: blocks are never joined, code and
boilerplate are left out, what sentencex cuts after an ordinal or an abbreviation is
joined again, and Thai, which ends its sentences with nothing but a blank, is cut there.

In: a Document.  Out: a Side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import sentencex
from numpy.typing import NDArray

from crawler.aligner.words import dense_characters
from crawler.data import Block, Document, Lang
from crawler.extract.text import CODE, blocks_of

# With less text than this outside of menus, a page has put its text into one of them.
_MIN_MAIN = 50
# A character of Chinese, Japanese or Korean says what 2.2 Latin letters do.
_DENSITY = 2.2

# What sentencex does not know, or takes for the end of a sentence all the same: titles,
# and words that stand before a number. A period goes without saying.
_ABBREVIATIONS = {
    "cs": "č čl např odst popř tzn str",
    "da": "bl ca fx kl nr stk tlf",
    "de": "abb abs art aufl bd bzw ca kap nr s usw vgl ziff",
    "en": "app ch chap eq eqs fig figs pp sec sect vol al approx cf",
    "es": "art cap dr dra fig núm pág págs sr sra srta ud uds ee uu",
    "fi": "esim ks mm n nro ns s v vrt",
    "fr": "art cap cf chap dr env ex fig h m me mgr mlle mlles mm mme mmes n p pp pr"
    " règl sect st ste vol",
    "is": "bls cand dags dr f.h frh gr hr kl kr mgr mín m.a nr nk o.fl sbr sr s.s tbl"
    " tl t.d tölul u.þ.b þ.e",
    "it": "art cap cfr dott ecc fig sig sigg n pag pagg",
    "mt": "art nru p",
    "nl": "afb art bijv blz ca enz fig nr p",
    "no": "bl ca f.eks jf kl nr pkt",
    "pt": "art cap dr dra fig núm pág págs sr sra",
    "sv": "bl ca kap kl nr s st t.ex",
}
_NEVER_LAST = {
    lang: re.compile(
        rf"(?:^|[\s(«„“\"'’-])(?:{'|'.join(map(re.escape, words))})\.\s*$",
        re.IGNORECASE,
    )
    for lang, words in ((k, v.split()) for k, v in _ABBREVIATIONS.items())
}
# An ordinal or a number of a list: it belongs to what follows.
_NUMBER = re.compile(r"^\W*(?:\d+|[a-zA-Z]|[ivxIVX]+)[.)]\s*$")
# Marks of scripts that end a sentence and that sentencex does not know.
_ENDS = re.compile(r"(?<=[\u17d4\u17d5\u0f0d\u0f0e])\s*")  # Khmer, Tibetan
# Thai and Lao write no blanks between words: one between letters ends a sentence or a
# clause. What is shorter than a clause stays with its neighbour.
_SPACED = re.compile(r"(?<=[\u0e00-\u0eff])\s+(?=[\u0e00-\u0eff])")
_CLAUSE = 25  # characters
_UNSPACED = frozenset(("zh", "ja"))
# A line of a text that stands between sentences: hunalign's <p>, asterisks, a rule.
_NO_SENTENCE = re.compile(r"\s*(?:<[^<>]*>|[\W_]+)\s*$")


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The sentences of one page; the arrays have one entry for each sentence."""

    lang: Lang
    texts: tuple[str, ...]
    blocks: NDArray[np.int32]  # number of the block that it stands in
    tags: tuple[str, ...]  # of that block: p, h1, li, td
    sizes: NDArray[np.float64]  # characters, a Chinese one counted as 2.2

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(cls, lang: Lang, blocks: Sequence[tuple[str, str]]) -> Side:
        """The sentences of (tag, text) blocks."""
        found = [
            (text, number, tag)
            for number, (tag, block) in enumerate(blocks)
            for text in split(block, lang)
        ]
        return cls(
            lang,
            tuple(text for text, _, _ in found),
            np.array([number for _, number, _ in found], np.int32),
            tuple(tag for _, _, tag in found),
            np.array([size_of(text) for text, _, _ in found], np.float64),
        )

    @classmethod
    def of_sentences(cls, lang: Lang, texts: Sequence[str]) -> Side:
        """A text without markup that is cut into sentences already.

        A block ends before and after a line that is no sentence.
        """
        is_mark = np.array([bool(_NO_SENTENCE.match(text)) for text in texts], bool)
        edge = is_mark.copy()
        edge[1:] |= is_mark[:-1]
        return cls(
            lang,
            tuple(texts),
            np.cumsum(edge).astype(np.int32),
            tuple("hr" if mark else "p" for mark in is_mark),
            np.array([size_of(text) for text in texts], np.float64),
        )

    def take(self, chosen: slice | NDArray[np.int64]) -> Side:
        """Some of the sentences, in their order."""
        numbers = np.arange(len(self))[chosen]
        return Side(
            self.lang,
            tuple(self.texts[i] for i in numbers),
            self.blocks[numbers],
            tuple(self.tags[i] for i in numbers),
            self.sizes[numbers],
        )

    def join(self, start: int, count: int) -> str:
        """The text of a bead's side; Chinese and Japanese need no blank between."""
        blank = "" if self.lang in _UNSPACED else " "
        return blank.join(self.texts[start : start + count])

    def block_at(self, place: int) -> int:
        """The block of a sentence, or of the last one before it."""
        return int(self.blocks[min(place, len(self) - 1)]) if len(self) else 0


# Is this the text of a block that too many pages of the document's site have?
IsRepeated = Callable[[Document, str], bool]


def never_repeated(document: Document, text: str) -> bool:
    """No block is boilerplate: where nothing is known of other pages."""
    return False


def side_of(document: Document, is_repeated: IsRepeated = never_repeated) -> Side:
    """The sentences of a document, boilerplate left out."""
    assert document.lang is not None
    own = [
        (block.tag, block.text)
        for block in main_blocks(document)
        if not is_repeated(document, block.text)
    ]
    return Side.of(document.lang, own)


def main_blocks(document: Document) -> list[Block]:
    """The blocks of text: no code, and no menus unless there is nothing else."""
    prose = [
        block
        for block in blocks_of(document.tokens, document.chunks)
        if block.tag not in CODE
    ]
    main = [block for block in prose if not block.boilerplate]
    return main if sum(len(block.text) for block in main) >= _MIN_MAIN else prose


def split(text: str, lang: Lang) -> list[str]:
    """The sentences of a block; joined they are the block, but for white space.

    >>> split("Sjá 3. gr. laga nr. 90/2003. Það var 17. júní. Já!", "is")
    ['Sjá 3. gr. laga nr. 90/2003.', 'Það var 17. júní.', 'Já!']
    >>> split("これは本です。行きますか？はい。", "ja")
    ['これは本です。', '行きますか？', 'はい。']
    """
    text = text.strip()
    if len(text) < 3:
        return [text] if text else []
    try:
        pieces = sentencex.segment(lang, text)
    except UnicodeEncodeError:  # half of a surrogate pair: no character
        return split(text.encode("utf-8", "replace").decode(), lang)
    if lang in ("th", "lo", "km", "bo", "dz"):
        pieces = [part for piece in pieces for part in _cut(piece)]
    if len(pieces) == 1:
        return [text]
    joined = _join(pieces, _NEVER_LAST.get(lang))
    return [sentence for piece in joined if (sentence := piece.strip())]


def _join(pieces: list[str], never_last: re.Pattern[str] | None) -> Iterator[str]:
    """Put together what is one sentence after all."""
    current = pieces[0]
    for piece in pieces[1:]:
        end = current.rstrip()[-1:]
        if (
            # file.name, or a lower-case letter after a period: no end was meant
            (end in ".?!" and not current[-1:].isspace())
            or (end == "." and piece[:1].islower())
            or _NUMBER.match(current)
            or (end == "." and never_last and never_last.search(current))
            or not end
        ):
            current += piece
        else:
            yield current
            current = piece
    yield current


def _cut(text: str) -> Iterator[str]:
    """Thai, Lao, Khmer, Tibetan: at their own marks, and at blanks between clauses."""
    for marked in _ENDS.split(text):
        clause = ""
        for part in _SPACED.split(marked):
            clause = f"{clause} {part}" if clause else part
            if len(clause) >= _CLAUSE:
                yield clause + " "
                clause = ""
        if clause:
            yield clause + " "


def size_of(text: str) -> float:
    """How long a text is in characters of an alphabet, for comparison."""
    if text.isascii() or max(text) < "\u3040":
        return float(len(text))
    return len(text) + (_DENSITY - 1) * dense_characters(text)
