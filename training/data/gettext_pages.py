"""Documentation that is translated with gettext → pages whose sentence pairs are known.

Data card. Source: a folder of unpacked source packages (Debian: apt, aptitude, evince,
evolution, installation-guide, games; `apt-get source PACKAGE`). Every msgid and its
msgstr are a true pair. The messages of one source file, in its order, make a page of
each language: headings, list items and paragraphs as the comments of the .po file say,
sixty of them on a page. Messages that are fuzzy, code or not translated are left out.

Three kinds of pages: `clean`; `dropped`: each of a fifth of the blocks is missing from
one of the two pages; `reordered`: a fifth of the blocks of the trg page are elsewhere.

Where a message has as many sentences in both languages, they are taken to be pairs one
by one; where not, the truth inside is not known, the message is one closed bead, and
what was aligned inside of it is joined before it is compared.
"""

from __future__ import annotations

import html
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from translate.storage.pypo import pofile

from crawler.aligner.sentences.beads import Agreement, Bead, Numbers, Pair
from crawler.aligner.sentences.split import Side
from crawler.data import Document, Page
from crawler.extract.document import build_document

PAGE = 60  # blocks: a chapter
NOISE = 0.2  # share of the blocks that are dropped or moved
KINDS = ("clean", "dropped", "reordered")

_TAG = re.compile(r"</?\w[^<>]*>")
_POD = re.compile(r"[A-Z]<+ ?([^<>]*?) ?>+")
_ENTITY = re.compile(r"&[\w-]+;")

Block = tuple[str, str]  # tag, text


@dataclass(frozen=True)
class TruePage:
    """A page in two languages, and which blocks are translations of each other."""

    name: str
    src: list[Block]
    trg: list[Block]
    pairs: list[tuple[int, int]]


# ------------------------------------------------------------------- pages


def read_pages(sources: Path, lang: str) -> list[TruePage]:
    """The pages of every catalogue of a language, English first."""
    pages = []
    for file in sorted(sources.rglob(f"{lang}.po")):
        where = str(file.relative_to(sources))
        if re.search(r"/(doc|help|pod)/", where) and "/t/" not in where:
            by_file: defaultdict[str, list[tuple[int, Block, Block]]]
            by_file = defaultdict(list)
            for place, number, src, trg in _messages(file):
                by_file[place].append((number, src, trg))
            for place, rows in sorted(by_file.items()):
                rows.sort(key=lambda row: row[0])
                for start in range(0, len(rows), PAGE):
                    part = rows[start : start + PAGE]
                    if len(part) >= 5:
                        pages.append(
                            TruePage(
                                f"{where}/{place}/{start}",
                                [src for _, src, _ in part],
                                [trg for _, _, trg in part],
                                [(k, k) for k in range(len(part))],
                            )
                        )
    return pages


def _messages(file: Path) -> Iterator[tuple[str, int, Block, Block]]:
    catalogue = pofile.parsefile(str(file))  # type: ignore[no-untyped-call]
    for unit in catalogue.units:
        if unit.isheader() or unit.isfuzzy() or unit.isobsolete() or unit.hasplural():
            continue
        texts = [_plain(str(unit.source)), _plain(str(unit.target))]
        if "no-wrap" in str(unit.typecomments) or texts[0] == texts[1]:
            continue
        if not all(re.search(r"[^\W\d_]{2}", text) for text in texts):
            continue
        tag = _kind(" ".join(unit.automaticcomments))
        for place in unit.getlocations():
            name, _, number = place.rpartition(":")
            if number.isdigit():
                yield name, int(number), (tag, texts[0]), (tag, texts[1])


def _plain(text: str) -> str:
    for _ in range(3):
        text = _POD.sub(r"\1", text)
    text = _ENTITY.sub(lambda m: html.unescape(m[0]), _TAG.sub("", text))
    return " ".join(text.split())


def _kind(comment: str) -> str:
    if re.search(r"title|=head|refname|refpurpose", comment):
        return "h2"
    if re.search(r"term|item|=item", comment):
        return "li"
    return "td" if re.search(r"entry|\btd\b", comment) else "p"


def noisy(page: TruePage, kind: str, rng: random.Random) -> TruePage:
    """A page of one of the KINDS."""
    if kind == "clean":
        return page
    count = round(NOISE * len(page.src))
    chosen = set(rng.sample(range(len(page.src)), count))
    src, trg = list(range(len(page.src))), list(range(len(page.trg)))
    if kind == "dropped":
        gone = {block: rng.random() < 0.5 for block in sorted(chosen)}
        src = [block for block in src if gone.get(block) is not True]
        trg = [block for block in trg if gone.get(block) is not False]
    else:
        trg = [block for block in trg if block not in chosen]
        for block in sorted(chosen):
            trg.insert(rng.randrange(len(trg) + 1), block)
    where = {block: number for number, block in enumerate(trg)}
    return replace(
        page,
        src=[page.src[block] for block in src],
        trg=[page.trg[block] for block in trg],
        pairs=[(n, where[block]) for n, block in enumerate(src) if block in where],
    )


def page_of(blocks: Sequence[Block], lang: str, number: int) -> Page:
    """The page in one language as a server would send it."""
    body = "\n".join(f"<{tag}>{html.escape(text)}</{tag}>" for tag, text in blocks)
    body = body.replace("<td>", "<table><tr><td>").replace(
        "</td>", "</td></tr></table>"
    )
    return Page(
        f"https://docs.example/{lang}/{number}",
        200,
        (("Content-Type", "text/html; charset=utf-8"),),
        f"<html lang={lang}><body>{body}</body></html>".encode(),
        datetime(2026, 1, 1, tzinfo=UTC),
    )


def document_of(blocks: Sequence[Block], lang: str, number: int) -> Document:
    """The page of one language, through HTML."""
    document = build_document(page_of(blocks, lang, number))
    assert document is not None
    return replace(document, lang=lang)


# ------------------------------------------------------------------- truth


def gold_of(page: TruePage, src: Side, trg: Side) -> tuple[set[Pair], set[Pair]]:
    """The true beads, and those of them inside of which the truth is not known.

    Blocks that were left out when the page was read, as in another language, have none.
    """
    gold: set[Pair] = set()
    closed: set[Pair] = set()
    sentences = _sentences(page.src, src), _sentences(page.trg, trg)
    for i, j in page.pairs:
        ours, theirs = sentences[0].get(i, ()), sentences[1].get(j, ())
        if len(ours) == len(theirs):
            gold |= {((a,), (b,)) for a, b in zip(ours, theirs)}
        elif ours and theirs:
            gold.add((ours, theirs))
            closed.add((ours, theirs))
    return gold, closed


def _sentences(blocks: Sequence[Block], side: Side) -> dict[int, tuple[int, ...]]:
    """The sentences of each block of a page that were read, in their order."""
    found: dict[int, tuple[int, ...]] = {}
    rest = iter(enumerate(blocks))
    for block in range(int(side.blocks.max(initial=-1)) + 1):
        own = [int(n) for n in (side.blocks == block).nonzero()[0]]
        text = side.texts[own[0]]
        found[next(k for k, (_, whole) in rest if whole.startswith(text))] = tuple(own)
    return found


def pairs_in(beads: Iterable[Pair], closed: set[Pair]) -> set[Pair]:
    """The beads that are pairs, those inside of one closed bead joined."""
    around = _around(closed)
    found: set[Pair] = set()
    inside: defaultdict[Pair, list[Pair]] = defaultdict(list)
    for pair in beads:
        if all(pair):
            whole = _inside(pair, around)
            if whole:
                inside[whole].append(pair)
            else:
                found.add(pair)
    return found | {
        (_joined(src for src, _ in parts), _joined(trg for _, trg in parts))
        for parts in inside.values()
    }


def judged_beads(
    beads: Iterable[Bead], gold: set[Pair], closed: set[Pair]
) -> list[tuple[Bead, float]]:
    """The beads that are pairs, each with how right it is.

    1 for a true bead, 1/2 for one that shares sentences of both sides with a true bead,
    else 0. What lies inside of a closed bead is left out.
    """
    around = _around(closed)
    judged = [b for b in beads if b.is_pair and _inside(b.pair, around) is None]
    right = [
        (one.strict + one.lax) / 2
        for one in (Agreement.between(gold, [bead.pair]) for bead in judged)
    ]
    return list(zip(judged, right, strict=True))


def _around(closed: set[Pair]) -> dict[int, Pair]:
    return {n: bead for bead in closed for n in bead[0]}


def _inside(pair: Pair, around: Mapping[int, Pair]) -> Pair | None:
    """The closed bead that has all sentences of a pair."""
    whole = around.get(pair[0][0])
    inside = whole and all(set(a) <= set(b) for a, b in zip(pair, whole))
    return whole if inside else None


def _joined(runs: Iterable[Numbers]) -> Numbers:
    return tuple(sorted({number for run in runs for number in run}))
