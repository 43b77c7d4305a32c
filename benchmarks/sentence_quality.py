"""Sentence alignment: how many beads are right, of pages and texts with known truth?

    python -m benchmarks.sentence_quality gettext SOURCES [--langs fr fi ja]
    python -m benchmarks.sentence_quality gold SRC TRG BEADS ... --langs de,fr
    python -m benchmarks.sentence_quality book SRC TRG ... --langs en,es
    python -m benchmarks.sentence_quality long SOURCES [--lang de] [--counts N ...]

`gettext`: pages made of translated documentation in the folder SOURCES of unpacked
source packages; training/data/gettext_pages.py says how, and what is dropped and moved
on them. The lexicon is what the aligner learns from the same pages, as in a run. Beside
it: no lexicon, and Gale & Church (1993) as published, over the same sentences. Figures
are of beads with text on both sides. `reliability`: of the beads whose score lies in
each tenth, their number, the mean of their scores, and the share of true beads.

`gold`: texts with one sentence a line, and their true beads, `[0, 1]:[0]` a line, as
Vecalign, Bleualign and SentAlign publish them; three files a text, any number of texts.
Each text is aligned as it is, and with a fifth of the beads missing (at each bead with
a probability of 0.08 a run of one to four of them is cut out of one side): alone, as
`bifocal sentences A B` does it; all texts together (`--batch`); and with the lexicon
that the document aligner learns from the same texts, a sentence being a paragraph.
`chapters`: the same of the texts, cut between true beads into chapters of forty.
Scored as Vecalign does (`sentences/beads.py`).

`book`: two files whose lines are translations of each other, in the order of a book, as
verses are; any number of books. The first lines, as many as 6,000 true beads take, are
joined and cut into sentences, and a true bead lies between two ends of lines that are
ends of sentences on both sides. Where there are as many sentences on both sides, they
are taken to be pairs one by one; where not, what was found inside of the bead is joined
before it is compared.

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
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np

from benchmarks.gale_church import gale_church
from benchmarks.machine import machine
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.aligner import SentencesConfig, costs_of
from crawler.aligner.sentences.beads import Agreement, Bead, Pair
from crawler.aligner.sentences.dynamic import align
from crawler.aligner.sentences.quality import QualityModel, usual_ratio
from crawler.aligner.sentences.split import Side, side_of, split
from crawler.aligner.sentences.texts import TextAligner
from crawler.aligner.words import WordIds
from crawler.data import Document, LangPair, Page
from crawler.extract.document import build_document
from training.data.gettext_pages import (
    KINDS,
    TruePage,
    gold_of,
    judged_beads,
    pairs_in,
    read_pages,
)
from training.data.made_texts import TrueText, merged, sentence_pairs, with_gaps
from training.sentence_costs import lexicon_of, noisy_pages

# ------------------------------------------------------------------- gettext


BINS = 10  # of scores


def of_pages(
    pages: Sequence[TruePage], langs: LangPair, kind: str
) -> dict[str, object]:
    rng = random.Random(f"{langs} {kind}")
    pages, documents, lexicon = noisy_pages(pages, langs, kind, rng)
    config = SentencesConfig()
    costs, bare = costs_of(lexicon, config), costs_of(None, config)
    judged = Reliability(QualityModel(WordIds(), lexicon))
    totals = {name: Agreement() for name in ("bifocal", "no_lexicon", "gale_church")}
    seconds = 0.0
    for page, (src_document, trg_document) in zip(pages, documents):
        start = time.process_time()
        src, trg = side_of(src_document), side_of(trg_document)
        beads = align(src, trg, costs, config.path)
        seconds += time.process_time() - start
        gold, closed = gold_of(page, src, trg)
        bare_beads = align(src, trg, bare, config.path)
        totals["bifocal"] += Agreement.between(gold, pairs_in(_pairs(beads), closed))
        totals["no_lexicon"] += Agreement.between(
            gold, pairs_in(_pairs(bare_beads), closed)
        )
        totals["gale_church"] += Agreement.between(
            gold, pairs_in(_pairs(gale_church(src, trg)), closed)
        )
        judged.add(beads, src, trg, gold, closed)
    return {
        "pages": len(pages),
        "true_beads": totals["bifocal"].gold,
        "lexicon": len(lexicon) if lexicon else 0,
        **{name: total.figures for name, total in totals.items()},
        "reliability": judged.figures,
        "pairs_per_cpu_second": round(totals["bifocal"].found / seconds),
    }


def _pairs(beads: Iterable[Bead]) -> list[Pair]:
    return [bead.pair for bead in beads]


class Reliability:
    """Scores of beads, and how many beads with such a score are true."""

    def __init__(self, quality: QualityModel) -> None:
        self._quality = quality
        self._scores: list[float] = []
        self._right: list[float] = []

    def add(
        self,
        beads: Sequence[Bead],
        src: Side,
        trg: Side,
        gold: set[Pair],
        closed: set[Pair],
    ) -> None:
        """The beads of a page; of one that overlaps a true one half is right."""
        usual = usual_ratio(float(src.sizes.sum()), float(trg.sizes.sum()))
        chosen = judged_beads(beads, gold, closed)
        texts = [
            (src.join(b.src, b.size[0]), trg.join(b.trg, b.size[1])) for b, _ in chosen
        ]
        self._scores += [score for score, _ in self._quality.judged(texts, usual)]
        self._right += [right for _, right in chosen]

    @property
    def figures(self) -> dict[str, object]:
        """Tenths of the scores, the Brier score, the mean distance of tenths."""
        scores, right = np.array(self._scores), np.array(self._right)
        place = np.minimum((scores * BINS).astype(int), BINS - 1)
        tenths = [place == k for k in range(BINS) if (place == k).any()]
        rows = [(int(k.sum()), scores[k].mean(), right[k].mean()) for k in tenths]
        return {
            "tenths": [[n, round(float(x), 3), round(float(y), 3)] for n, x, y in rows],
            "brier": round(float(((scores - right) ** 2).mean()), 4),
            "distance": round(
                float(sum(n * abs(x - y) for n, x, y in rows) / len(scores)), 4
            ),
        }


# ------------------------------------------------------------------- gold


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
    closed: bool = False,
) -> dict[str, object]:
    total = Agreement()
    start = time.process_time()
    aligner = TextAligner(langs, lexicon)
    groups = [texts] if together else [[text] for text in texts]
    for group in groups:
        found = aligner.align([(text.src, text.trg) for text in group])
        for text, beads in zip(group, found):
            pairs = [bead.pair for bead in beads]
            whole = {bead for bead in text.gold if closed and is_closed(bead)}
            alone = {pair for pair in pairs if not all(pair)}
            total += Agreement.between(text.gold, pairs_in(pairs, whole) | alone)
    seconds = time.process_time() - start
    return {
        "texts": len(texts),
        "true_beads": total.gold,
        "lexicon": len(lexicon) if lexicon else 0,
        "bifocal": total.figures,
        "sentences_per_cpu_second": round(sum(len(t.src) for t in texts) / seconds),
    }


def measure_gold(files: Sequence[Path], langs: LangPair) -> dict[str, object]:
    whole = [TrueText.read(*files[n : n + 3]) for n in range(0, len(files), 3)]
    rng = random.Random(str(langs))
    results: dict[str, object] = {}
    gaps = [with_gaps(text, rng) for text in whole]
    for kind, texts in (
        ("whole", whole),
        ("gaps", gaps),
        ("chapters", [part for text in whole for part in chapters(text)]),
        ("chapters, gaps", [part for text in gaps for part in chapters(text)]),
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


# ------------------------------------------------------------------- books

BOOK = 6000  # true beads
CHAPTER = 40  # true beads


def chapters(text: TrueText) -> list[TrueText]:
    """A text in parts of as many beads; sentences of each are counted from 0."""
    found = []
    for start in range(0, len(text.gold), CHAPTER):
        beads = text.gold[start : start + CHAPTER]
        (src, ours), (trg, theirs) = (
            _part(lines, [n for bead in beads for n in bead[k]])
            for k, lines in enumerate((text.src, text.trg))
        )
        gold = [
            (tuple(ours[n] for n in bead[0]), tuple(theirs[n] for n in bead[1]))
            for bead in beads
        ]
        found.append(TrueText(src, trg, gold))
    return found


def _part(
    lines: Sequence[str], numbers: Iterable[int]
) -> tuple[list[str], dict[int, int]]:
    chosen = sorted(set(numbers))
    return [lines[n] for n in chosen], {n: place for place, n in enumerate(chosen)}


def is_closed(bead: Pair) -> bool:
    """Are its sentences those of several lines, of which the truth is not known?"""
    counts = [len(side) for side in bead]
    return min(counts) > 1 and counts[0] != counts[1]


def read_book(files: Sequence[Path], langs: LangPair) -> TrueText:
    lines = [file.read_text("utf-8").splitlines() for file in files]
    both = [pair for pair in zip(*lines, strict=True) if all(map(str.strip, pair))]
    sides = [
        _sentences([pair[k] for pair in both], lang) for k, lang in enumerate(langs)
    ]
    gold: list[Pair] = []
    (src, src_ends), (trg, trg_ends) = sides
    done = 0, 0
    for line in sorted(src_ends.keys() & trg_ends.keys()):
        end = src_ends[line], trg_ends[line]
        ours, theirs = (tuple(range(*one)) for one in zip(done, end))
        if len(ours) == len(theirs):
            gold += [((i,), (j,)) for i, j in zip(ours, theirs)]
        else:
            gold.append((ours, theirs))
        done = end
        if len(gold) >= BOOK:
            break
    return TrueText(src[: done[0]], trg[: done[1]], gold)


def _sentences(lines: Sequence[str], lang: str) -> tuple[list[str], dict[int, int]]:
    """The sentences of lines that are joined, and how many there are up to each line.

    Of lines that do not end where a sentence ends nothing is said.
    """
    texts = split(" ".join(lines), lang)
    ends, edges = (
        accumulate(len("".join(text.split())) for text in part)
        for part in (texts, lines)
    )
    count = {end: number for number, end in enumerate(ends, 1)}
    return texts, {n: count[edge] for n, edge in enumerate(edges) if edge in count}


def measure_books(files: Sequence[Path], langs: LangPair) -> dict[str, object]:
    rng = random.Random(str(langs))
    results: dict[str, object] = {}
    for n in range(0, len(files), 2):
        book = read_book(files[n : n + 2], langs)
        for kind, text in (("whole", book), ("gaps", with_gaps(book, rng))):
            row = of_texts([text], langs, closed=True)
            row["closed_beads"] = sum(map(is_closed, text.gold))
            name = f"{files[n].stem}, {files[n + 1].stem}/{kind}"
            results[name] = row
            print(name, json.dumps(row), flush=True)
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


def measure_long(
    sources: Path, langs: LangPair, counts: Sequence[int]
) -> dict[str, object]:
    pairs = [
        pair
        for number, page in enumerate(read_pages(sources, langs.trg))
        for pair in sentence_pairs(page, number, langs)
    ]
    print(f"{len(pairs)} pairs of sentences")
    rng = random.Random(str(langs))
    results: dict[str, object] = {}
    for count in counts:
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
    long.add_argument("--counts", nargs="+", type=int, default=LONG)
    book = kinds.add_parser("book", help="books whose lines are translations")
    book.add_argument("files", nargs="+", type=Path, metavar="SRC TRG")
    book.add_argument("--langs", type=LangPair.parse, required=True)
    args = parser.parse_args()
    results: dict[str, object] = {"machine": machine("sentencex", "numpy", "scipy")}
    if args.kind == "gold":
        if len(args.files) % 3:
            parser.error("give three files a text: SRC TRG BEADS")
        results |= measure_gold(args.files, args.langs)
    elif args.kind == "long":
        results |= measure_long(args.sources, LangPair("en", args.lang), args.counts)
    elif args.kind == "book":
        if len(args.files) % 2:
            parser.error("give two files a book: SRC TRG")
        results |= measure_books(args.files, args.langs)
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
