"""Texts with known beads, made of sentence pairs: merged, split, with parts missing.

Where a translator merges or splits sentences, the boundaries of the two texts differ.
So they are drawn on each side alone: neighbours are joined with a probability of their
own, and a bead is what lies between two boundaries that both texts have. Beads of every
size come about as they do in translations, 2-2 too.

Data card. Source: pages of `gettext_pages`, whose messages are cut into sentences; a
message that has another number of sentences in the other language counts as one.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from crawler.aligner.sentences.beads import Pair, read_beads
from crawler.aligner.sentences.split import side_of
from crawler.data import LangPair
from training.data.gettext_pages import TruePage, document_of, gold_of

LONGEST = 350  # characters of joined sentences
CUT = 0.08  # 0.2 of the beads are missing: runs have 2.5 of them in the mean


@dataclass(frozen=True)
class TrueText:
    """A text in two languages, one sentence a line, and its beads in their order."""

    src: list[str]
    trg: list[str]
    gold: list[Pair]

    @classmethod
    def read(cls, src: Path, trg: Path, beads: Path) -> TrueText:
        """A text that is published in this form."""
        return cls(
            src.read_text("utf-8").splitlines(),
            trg.read_text("utf-8").splitlines(),
            read_beads(beads),
        )


def sentence_pairs(page: TruePage, number: int, langs: LangPair) -> list[list[str]]:
    """[src, trg] of each bead of a page, in the order of the page."""
    src = side_of(document_of(page.src, langs.src, number))
    trg = side_of(document_of(page.trg, langs.trg, number))
    gold, _ = gold_of(page, src, trg)
    return [
        [src.join(ours[0], len(ours)), trg.join(theirs[0], len(theirs))]
        for ours, theirs in sorted(gold)
    ]


def merged(
    pairs: Sequence[Sequence[str]], joined: tuple[float, float], rng: random.Random
) -> TrueText:
    """A text of sentence pairs; `joined`: how likely neighbours are, on each side."""
    edges: list[set[int]] = []
    lines: list[list[str]] = []
    for side, share in enumerate(joined):
        starts = {0, len(pairs)}
        texts: list[str] = []
        for number, pair in enumerate(pairs):
            longer = f"{texts[-1]} {pair[side]}" if texts else ""
            if texts and rng.random() < share and len(longer) <= LONGEST:
                texts[-1] = longer
            else:
                starts.add(number)
                texts.append(pair[side])
        edges.append(starts)
        lines.append(texts)
    places = [{edge: n for n, edge in enumerate(sorted(side))} for side in edges]
    common = sorted(edges[0] & edges[1])
    gold = [
        (
            tuple(range(places[0][start], places[0][end])),
            tuple(range(places[1][start], places[1][end])),
        )
        for start, end in pairwise(common)
    ]
    return TrueText(lines[0], lines[1], gold)


def with_gaps(text: TrueText, rng: random.Random) -> TrueText:
    """A fifth of the beads have lost one of their sides, in runs of one to four.

    The sentences of the other side have no partner then, each by itself.
    """
    gone: list[set[int]] = [set(), set()]
    left = side = 0
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
    gold: list[Pair] = []
    for bead in text.gold:
        src, trg = (
            tuple(places[n] for n in numbers if n in places)
            for places, numbers in zip(place, bead)
        )
        if src and trg:
            gold.append((src, trg))
        else:
            gold += [((n,), ()) for n in src] + [((), (n,)) for n in trg]
    return TrueText(
        [text.src[n] for n in kept[0]], [text.trg[n] for n in kept[1]], gold
    )
