"""Sentence alignment: how many beads are right, of pages and texts with known truth?

    python -m benchmarks.sentence_quality gettext SOURCES [--langs fr fi ja]
    python -m benchmarks.sentence_quality gold SRC TRG BEADS ... --langs de,fr
    python -m benchmarks.sentence_quality long SOURCES [--lang de]

`gettext`: pages made of translated documentation in the folder SOURCES of unpacked
source packages; training/data/gettext_pages.py says how, and what is dropped and moved
on them. The lexicon is what the aligner learns from the same pages, as in a run. Beside
it: Gale & Church (1993) as published, over the same sentences. Figures are of beads
with text on both sides.

`gold`: texts with one sentence a line, and their true beads, `[0, 1]:[0]` a line, as
Vecalign, Bleualign and SentAlign publish them; three files a text, any number of texts.
Each text is aligned as it is, and with a fifth of the beads missing (at each bead with
a probability of 0.08 a run of one to four of them is cut out of one side): alone, as
`bifocal sentences A B` does it; all texts together (`--batch`); and with the lexicon
that the document aligner learns from the same texts, a sentence being a paragraph.
Scored as Vecalign does (`sentences/beads.py`).

`long`: texts of 100,000 sentences and fewer, each aligned whole, as they are and with a
fifth missing: sentences of that documentation, joined and split as
training/data/made_texts.py says. There are too few of them, so they are repeated, and
in each repetition the letters of words of six letters and more are others.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.gale_church import gale_church
from benchmarks.machine import machine
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.aligner import SentencesConfig, costs_of
from crawler.aligner.sentences.beads import Agreement, read_beads
from crawler.aligner.sentences.dynamic import align
from crawler.aligner.sentences.split import side_of
from crawler.aligner.sentences.texts import TextAligner
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
from training.data.made_texts import TrueText, merged, sentence_pairs, with_gaps
from training.sentence_costs import lexicon_of

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
    config = SentencesConfig()
    costs = costs_of(lexicon, config)
    ours, plain = Agreement(), Agreement()
    seconds = 0.0
    for page, (src_document, trg_document) in zip(pages, documents):
        start = time.process_time()
        src, trg = side_of(src_document), side_of(trg_document)
        beads = align(src, trg, costs, config.path)
        seconds += time.process_time() - start
        assert src.blocks.max() == len(page.src) - 1, page.name
        gold, closed = gold_of(page, src, trg)
        ours += Agreement.between(gold, pairs_in(beads, closed))
        plain += Agreement.between(gold, pairs_in(gale_church(src, trg), closed))
    return {
        "pages": len(pages),
        "true_beads": ours.gold,
        "lexicon": len(lexicon) if lexicon else 0,
        "bifocal": ours.figures,
        "gale_church": plain.figures,
        "pairs_per_cpu_second": round(ours.found / seconds),
    }


# ------------------------------------------------------------------- gold


def read_text(src: Path, trg: Path, beads: Path) -> TrueText:
    return TrueText(
        src.read_text("utf-8").splitlines(),
        trg.read_text("utf-8").splitlines(),
        read_beads(beads),
    )


def as_document(lines: Sequence[str], lang: str, number: int) -> Document:
    body = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    page = Page.of_html(f"https://gold.example/{lang}/{number}", body)
    document = build_document(page)
    assert document is not None
    return replace(document, lang=lang)


def of_texts(
    texts: Sequence[TrueText],
    langs: LangPair,
    lexicon: Lexicon | None = None,
    *,
    together: bool = False,
) -> dict[str, object]:
    total = Agreement()
    start = time.process_time()
    aligner = TextAligner(langs, lexicon)
    groups = [texts] if together else [[text] for text in texts]
    for group in groups:
        found = aligner.align([(text.src, text.trg) for text in group])
        for text, beads in zip(group, found):
            total += Agreement.between(text.gold, {bead.pair for bead in beads})
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
        rows = {
            "alone": of_texts(texts, langs),
            "together": of_texts(texts, langs, together=True),
            "own lexicon": of_texts(texts, langs, learned),
        }
        for name, row in rows.items():
            results[f"{kind}/{name}"] = row
            print(kind, name, json.dumps(row))
    return results


# ------------------------------------------------------------------- long texts

LONG = (10_000, 30_000, 100_000)  # sentences of the longer side
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def repeated(pairs: Sequence[Sequence[str]], count: int) -> list[list[str]]:
    """So many pairs; each repetition speaks of other things in the same way."""
    found: list[list[str]] = []
    while len(found) < count:
        shift = len(found) // len(pairs) % len(LETTERS)
        found += [[shifted(text, shift) for text in pair] for pair in pairs]
    return found[:count]


def shifted(text: str, by: int) -> str:
    """The same with other letters in long words, equal ones in equal words."""
    other = str.maketrans(LETTERS, LETTERS[by:] + LETTERS[:by])
    return re.sub(r"\w{6,}", lambda word: word[0].translate(other), text)


def measure_long(sources: Path, langs: LangPair) -> dict[str, object]:
    pairs = [
        pair
        for number, page in enumerate(read_pages(sources, langs.trg))
        for pair in sentence_pairs(page, number, langs)
    ]
    print(f"{len(pairs)} pairs of sentences")
    rng = random.Random(str(langs))
    results: dict[str, object] = {}
    for count in LONG:
        # one in twenty is joined to the one before on either side
        text = merged(repeated(pairs, round(count / 0.95)), (0.05, 0.05), rng)
        for kind, one in (("whole", text), ("gaps", with_gaps(text, rng))):
            start = time.process_time()
            row = of_texts([one], langs)
            row |= {
                "sentences": [len(one.src), len(one.trg)],
                "cpu_seconds": round(time.process_time() - start, 1),
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }
            results[f"{count}/{kind}"] = row
            print(count, kind, json.dumps(row), flush=True)
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
    long = kinds.add_parser("long", help="texts of 100,000 sentences")
    long.add_argument("sources", type=Path, help="unpacked source packages")
    long.add_argument("--lang", default="de")
    args = parser.parse_args()
    results: dict[str, object] = {"machine": machine("sentencex", "numpy", "scipy")}
    if args.kind == "gold":
        if len(args.files) % 3:
            parser.error("give three files a text: SRC TRG BEADS")
        results |= measure_gold(args.files, args.langs)
    elif args.kind == "long":
        results |= measure_long(args.sources, LangPair("en", args.lang))
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
