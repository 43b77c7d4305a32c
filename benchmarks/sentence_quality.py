"""Sentence alignment: how many beads are right, of pages and texts with known truth?

    python -m benchmarks.sentence_quality gettext SOURCES [--langs fr fi ja]
    python -m benchmarks.sentence_quality gold SRC TRG BEADS ... --langs de,fr

`gettext`: pages made of translated documentation in the folder SOURCES of unpacked
source packages; training/data/gettext_pages.py says how, and what is dropped and moved
on them. The lexicon is what the aligner learns from the same pages, as in a run. Beside
it: Gale & Church (1993) as published, over the same sentences. Figures are of beads
with text on both sides.

`gold`: texts with one sentence a line, and their true beads, `[0, 1]:[0]` a line, as
Vecalign, Bleualign and SentAlign publish them; three files a text, any number of texts.
Each text is aligned whole, as it is and with a fifth of the beads missing (at each bead
with a probability of 0.08 a run of one to four of them is cut out of one side), without
a lexicon and with the one that the document aligner learns from the same texts, a
sentence being a paragraph. Scored as Vecalign does (`sentences/beads.py`).
"""

from __future__ import annotations

import argparse
import html
import json
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.machine import machine
from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.beads import Agreement, Bead, Pair, read_beads
from crawler.aligner.sentences.costs.length import LengthCost
from crawler.aligner.sentences.costs.lexicon import LexiconCost
from crawler.aligner.sentences.costs.markup import MarkupCost
from crawler.aligner.sentences.dynamic import align, gale_church
from crawler.aligner.sentences.split import Side, side_of, size_of
from crawler.aligner.words import WordIds
from crawler.data import Document, LangPair, Page
from crawler.extract.document import build_document
from training.data.gettext_pages import (
    KINDS,
    TruePage,
    document_of,
    gold_of,
    noisy,
    pairs_in,
    read_pages,
)

CUT = 0.08  # 0.2 of the beads are missing: runs have 2.5 of them in the mean


def lexicon_of(langs: LangPair, documents: Iterable[Document]) -> Lexicon | None:
    with Aligner(langs) as aligner:
        for document in documents:
            aligner.add(document)
        aligner.finish()
        return aligner.lexicon


def costs_of(lexicon: Lexicon | None) -> list[LengthCost | LexiconCost | MarkupCost]:
    return [LengthCost(), LexiconCost(WordIds(), lexicon), MarkupCost()]


# ------------------------------------------------------------------- gettext


def of_pages(
    pages: Sequence[TruePage], langs: LangPair, kind: str
) -> dict[str, object]:
    rng = random.Random(f"{langs} {kind}")
    pages = [noisy(page, kind, rng) for page in pages]
    documents = [
        (document_of(page.src, langs.src, n), document_of(page.trg, langs.trg, n))
        for n, page in enumerate(pages)
    ]
    lexicon = lexicon_of(langs, (d for both in documents for d in both))
    costs = costs_of(lexicon)
    ours, plain = Agreement(), Agreement()
    seconds = 0.0
    for page, (src_document, trg_document) in zip(pages, documents):
        start = time.process_time()
        src, trg = side_of(src_document), side_of(trg_document)
        beads = align(src, trg, costs)
        seconds += time.process_time() - start
        assert src.blocks.max() == len(page.src) - 1, page.name
        gold, closed = gold_of(page, src, trg)
        ours += Agreement.between(gold, pairs_in(beads, closed))
        by_length = gale_church(src, trg, LengthCost())
        plain += Agreement.between(gold, pairs_in(by_length, closed))
    return {
        "pages": len(pages),
        "true_beads": ours.gold,
        "lexicon": len(lexicon) if lexicon else 0,
        "bifocal": ours.figures,
        "gale_church": plain.figures,
        "pairs_per_cpu_second": round(ours.found / seconds),
    }


# ------------------------------------------------------------------- gold


@dataclass(frozen=True)
class Text:
    """A text in two languages, one sentence a line, and its true beads."""

    src: list[str]
    trg: list[str]
    gold: list[Pair]  # in the order of the text


def read_text(src: Path, trg: Path, beads: Path) -> Text:
    return Text(
        src.read_text("utf-8").splitlines(),
        trg.read_text("utf-8").splitlines(),
        read_beads(beads),
    )


def with_gaps(text: Text, rng: random.Random) -> Text:
    """A fifth of the beads have lost one of their sides."""
    gone: list[set[int]] = [set(), set()]
    left = 0
    side = 0
    for bead in text.gold:
        if not left and rng.random() < CUT:
            left, side = rng.randint(1, 4), rng.randrange(2)
        if left:
            left -= 1
            gone[side].update(bead[side])
    kept = [
        [n for n in range(len(lines)) if n not in lost]
        for lines, lost in zip((text.src, text.trg), gone)
    ]
    place = [{n: k for k, n in enumerate(numbers)} for numbers in kept]
    gold = [
        (
            tuple(place[0][n] for n in src if n in place[0]),
            tuple(place[1][n] for n in trg if n in place[1]),
        )
        for src, trg in text.gold
    ]
    return Text(
        [text.src[n] for n in kept[0]],
        [text.trg[n] for n in kept[1]],
        [bead for bead in gold if any(bead)],
    )


def as_document(lines: Sequence[str], lang: str, number: int) -> Document:
    body = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    page = Page.of_html(f"https://gold.example/{lang}/{number}", body)
    document = build_document(page)
    assert document is not None
    return replace(document, lang=lang)


def as_side(lines: Sequence[str], lang: str) -> Side:
    sizes = np.array([size_of(line) for line in lines], np.float64)
    blocks = np.zeros(len(lines), np.int32)
    return Side(lang, tuple(lines), blocks, ("p",) * len(lines), sizes)


def of_texts(
    texts: Sequence[Text], langs: LangPair, lexicon: Lexicon | None
) -> dict[str, object]:
    total = Agreement()
    start = time.process_time()
    for text in texts:
        sides = as_side(text.src, langs.src), as_side(text.trg, langs.trg)
        found: list[Bead] = align(*sides, costs_of(lexicon))
        total += Agreement.between(text.gold, {bead.pair for bead in found})
    seconds = time.process_time() - start
    return {
        "texts": len(texts),
        "true_beads": total.gold,
        "lexicon": len(lexicon) if lexicon else 0,
        "bifocal": total.figures,
        "sentences_per_cpu_second": round(sum(len(t.src) for t in texts) / seconds),
    }


def measure_gold(files: Sequence[Path], langs: LangPair) -> dict[str, object]:
    whole = [read_text(*files[n : n + 3]) for n in range(0, len(files), 3)]
    rng = random.Random(str(langs))
    results: dict[str, object] = {}
    for kind, texts in (
        ("whole", whole),
        ("gaps", [with_gaps(text, rng) for text in whole]),
    ):
        documents = [
            as_document(lines, lang, number)
            for number, text in enumerate(texts)
            for lines, lang in ((text.src, langs.src), (text.trg, langs.trg))
        ]
        learned = lexicon_of(langs, documents)
        for name, lexicon in (("none", None), ("own", learned)):
            row = of_texts(texts, langs, lexicon)
            results[f"{kind}/{name}"] = row
            print(kind, name, json.dumps(row))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="JSON file")
    kinds = parser.add_subparsers(required=True, dest="kind")
    gettext = kinds.add_parser("gettext", help="pages of translated documentation")
    gettext.add_argument("sources", type=Path, help="unpacked source packages")
    gettext.add_argument("--langs", nargs="+", default=["fr", "fi", "ja"])
    gold = kinds.add_parser("gold", help="texts with true beads")
    gold.add_argument("files", nargs="+", type=Path, metavar="SRC TRG BEADS")
    gold.add_argument("--langs", type=LangPair.parse, required=True)
    args = parser.parse_args()
    results: dict[str, object] = {"machine": machine("sentencex", "numpy", "scipy")}
    if args.kind == "gold":
        if len(args.files) % 3:
            parser.error("give three files a text: SRC TRG BEADS")
        results |= measure_gold(args.files, args.langs)
    else:
        for lang in args.langs:
            pages = read_pages(args.sources, lang)
            for kind in KINDS:
                row = of_pages(pages, LangPair("en", lang), kind)
                results[f"en-{lang}/{kind}"] = row
                print(f"en-{lang} {kind:9}", json.dumps(row))
    if args.out:
        args.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
