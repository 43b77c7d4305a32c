"""Sentence alignment: how many sentence pairs of pages whose truth is known?

    python -m benchmarks.sentence_quality SOURCES [--langs fr fi ja] [--out FILE]

SOURCES is a folder of unpacked source packages whose documentation is translated with
gettext (Debian: apt, aptitude, evince, po4a, evolution …; `apt-get source PACKAGE`).
Every msgid and its msgstr are a true pair. The messages of one source file, in its
order, make a page of each language: headings, list items and paragraphs as the
comments of the .po file say, sixty of them on a page. Messages that are fuzzy, code or
not translated are left out.

Three kinds of pages: `clean`; `dropped`: each of a fifth of the blocks is missing from
one of the two pages; `reordered`: a fifth of the blocks of the trg page are elsewhere.

The lexicon is what the aligner learns from the same pages, as in a run. Beside it:
Gale & Church (1993) as published, over the same sentences.

Figures: precision, recall and F1 of beads, over all pages. Where a message has as many
sentences in both languages, they are taken to be pairs one by one; where not, the truth
inside is not known and what was aligned inside of it is joined before it is compared.
Strict: the bead is exactly a true one. Lax: it shares a sentence with a true one on
both sides.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from translate.storage.pypo import pofile

from benchmarks.machine import machine
from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.costs.length import LengthCost
from crawler.aligner.sentences.costs.lexicon import LexiconCost
from crawler.aligner.sentences.costs.markup import MarkupCost
from crawler.aligner.sentences.dynamic import Bead, align, gale_church
from crawler.aligner.sentences.split import Side, side_of
from crawler.aligner.words import WordIds
from crawler.data import Document, LangPair, Page
from crawler.extract.document import build_document

PAGE = 60  # blocks: a chapter
NOISE = 0.2  # share of the blocks that are dropped or moved
KINDS = ("clean", "dropped", "reordered")

_TAG = re.compile(r"</?\w[^<>]*>")
_POD = re.compile(r"[A-Z]<+ ?([^<>]*?) ?>+")
_ENTITY = re.compile(r"&[\w-]+;")

Block = tuple[str, str]  # tag, text
Beads = set[tuple[frozenset[int], frozenset[int]]]  # sentences of src, of trg


@dataclass(frozen=True)
class TruePage:
    """A page in two languages, and which blocks are translations of each other."""

    name: str
    src: list[Block]
    trg: list[Block]
    pairs: list[tuple[int, int]]


# ------------------------------------------------------------------- pages


def read_pages(sources: Path, lang: str) -> list[TruePage]:
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
    for unit in pofile.parsefile(str(file)).units:
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
    document = build_document(page_of(blocks, lang, number))
    assert document is not None
    return replace(document, lang=lang)


# ------------------------------------------------------------------- truth


def gold_of(page: TruePage, src: Side, trg: Side) -> tuple[Beads, Beads]:
    """The true beads, and those of them inside of which the truth is not known."""
    gold: Beads = set()
    closed: Beads = set()
    for i, j in page.pairs:
        ends = [
            [int(n) for n in (side.blocks == block).nonzero()[0]]
            for side, block in ((src, i), (trg, j))
        ]
        if len(ends[0]) == len(ends[1]):
            gold |= {(frozenset([a]), frozenset([b])) for a, b in zip(*ends)}
        else:
            gold.add((frozenset(ends[0]), frozenset(ends[1])))
            closed.add((frozenset(ends[0]), frozenset(ends[1])))
    return gold, closed


def found_in(beads: Iterable[Bead], closed: Beads) -> Beads:
    """The beads that are pairs, those inside of one closed bead joined."""
    inside_src = {n: bead for bead in closed for n in bead[0]}
    found: Beads = set()
    parts: defaultdict[tuple[frozenset[int], frozenset[int]], list[frozenset[int]]]
    parts = defaultdict(lambda: [frozenset(), frozenset()])
    for bead in beads:
        if not bead.is_pair:
            continue
        src = frozenset(range(bead.src, bead.src + bead.size[0]))
        trg = frozenset(range(bead.trg, bead.trg + bead.size[1]))
        around = inside_src.get(bead.src)
        if around and src <= around[0] and trg <= around[1]:
            parts[around] = [parts[around][0] | src, parts[around][1] | trg]
        else:
            found.add((src, trg))
    return found | {(src, trg) for src, trg in parts.values()}


def count(found: Beads, gold: Beads) -> Counter[str]:
    counts = Counter(found=len(found), gold=len(gold), strict=len(found & gold))
    by_src: defaultdict[int, set[tuple[frozenset[int], frozenset[int]]]]
    for name, ours, theirs in (("lax", found, gold), ("lax_gold", gold, found)):
        by_src = defaultdict(set)
        for bead in theirs:
            for n in bead[0]:
                by_src[n].add(bead)
        counts[name] = sum(
            any(not b.isdisjoint(other[1]) for n in a for other in by_src[n])
            for a, b in ours
        )
    return counts


def figures(counts: Counter[str]) -> dict[str, float]:
    def f1(right: int, right_gold: int) -> tuple[float, float, float]:
        p = right / max(counts["found"], 1)
        r = right_gold / max(counts["gold"], 1)
        return p, r, 2 * p * r / max(p + r, 1e-9)

    strict = f1(counts["strict"], counts["strict"])
    lax = f1(counts["lax"], counts["lax_gold"])
    names = ("precision", "recall", "f1")
    return {
        **{f"strict_{n}": round(v, 4) for n, v in zip(names, strict)},
        **{f"lax_{n}": round(v, 4) for n, v in zip(names, lax)},
    }


# ------------------------------------------------------------------- the runs


def lexicon_of(langs: LangPair, documents: Iterable[Document]) -> Lexicon | None:
    with Aligner(langs) as aligner:
        for document in documents:
            aligner.add(document)
        aligner.finish()
        return aligner.lexicon


def measure(pages: Sequence[TruePage], langs: LangPair, kind: str) -> dict[str, object]:
    rng = random.Random(f"{langs} {kind}")
    pages = [noisy(page, kind, rng) for page in pages]
    documents = [
        (document_of(page.src, langs.src, n), document_of(page.trg, langs.trg, n))
        for n, page in enumerate(pages)
    ]
    lexicon = lexicon_of(langs, (d for both in documents for d in both))
    costs = [LengthCost(), LexiconCost(WordIds(), lexicon), MarkupCost()]
    ours, plain = Counter[str](), Counter[str]()
    seconds = 0.0
    for page, (src_document, trg_document) in zip(pages, documents):
        start = time.process_time()
        src, trg = side_of(src_document), side_of(trg_document)
        beads = align(src, trg, costs)
        seconds += time.process_time() - start
        assert src.blocks.max() == len(page.src) - 1, page.name
        gold, closed = gold_of(page, src, trg)
        ours += count(found_in(beads, closed), gold)
        plain += count(found_in(gale_church(src, trg, LengthCost()), closed), gold)
    return {
        "pages": len(pages),
        "true_beads": ours["gold"],
        "lexicon": len(lexicon) if lexicon else 0,
        "bifocal": figures(ours),
        "gale_church": figures(plain),
        "pairs_per_cpu_second": round(ours["found"] / seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path, help="unpacked source packages")
    parser.add_argument("--langs", nargs="+", default=["fr", "fi", "ja"])
    parser.add_argument("--out", type=Path, help="JSON file")
    args = parser.parse_args()
    results: dict[str, object] = {"machine": machine("sentencex", "numpy", "scipy")}
    for lang in args.langs:
        pages = read_pages(args.sources, lang)
        for kind in KINDS:
            row = measure(pages, LangPair("en", lang), kind)
            results[f"en-{lang}/{kind}"] = row
            print(f"en-{lang} {kind:9}", json.dumps(row))
    if args.out:
        args.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
