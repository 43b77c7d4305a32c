"""Whole texts, one sentence a line: files as users of hunalign and Vecalign have them.

    found = TextAligner(LangPair("de", "fr")).align([(german, french)])

Texts that are given together teach each other their words: chapters of a book, or short
documents of one kind, are aligned better together than alone.

In: lists of sentences.  Out: beads, each with a score by its words and lengths.
See also: `aligner` (the same for pages, block by block).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.aligner import SentencesConfig, costs_of
from crawler.aligner.sentences.beads import Bead, Pair
from crawler.aligner.sentences.costs.cost import Cost
from crawler.aligner.sentences.costs.lexicon import LexiconCostConfig
from crawler.aligner.sentences.dynamic import WHOLE_TEXTS, align
from crawler.aligner.sentences.links import LinksConfig
from crawler.aligner.sentences.quality import QualityModel, usual_ratio
from crawler.aligner.sentences.split import Side, size_of
from crawler.aligner.words import WordIds
from crawler.data import LangPair, Score

# A lexicon says less than the text's own beads do, or one that was learned from the
# same texts, block by block, would be worse than none.
WHOLE = SentencesConfig(
    path=WHOLE_TEXTS,
    lexicon=LexiconCostConfig(first=0.7, links=LinksConfig(lexicon_explains=0.3)),
)

Text = tuple[Sequence[str], Sequence[str]]  # sentences of src, of trg


@dataclass(frozen=True, slots=True)
class TextBead:
    """Sentences of both texts that belong together, by their numbers from 0."""

    pair: Pair
    src_text: str = ""
    trg_text: str = ""
    score: Score = 0.0  # 0 to 1; 0 where one side is empty

    def __str__(self) -> str:
        """Vecalign's form.

        >>> str(TextBead(((0, 1), (0,))))
        '[0, 1]:[0]'
        """
        src, trg = (list(side) for side in self.pair)
        return f"{src}:{trg}"


class TextAligner:
    """Aligns the sentences of texts without markup."""

    def __init__(
        self,
        langs: LangPair,
        lexicon: Lexicon | None = None,
        config: SentencesConfig | None = None,
    ) -> None:
        self.langs = langs
        self._config = config or WHOLE
        self._lexicon = lexicon
        self._quality = QualityModel(WordIds(), lexicon)

    @cached_property
    def _costs(self) -> list[Cost]:
        return costs_of(self._lexicon, self._config)

    def align(self, texts: Sequence[Text]) -> list[list[TextBead]]:
        """The beads of each text, in its order; every line is in one of them.

        A blank line is a sentence without a partner.
        """
        kept = [
            tuple([n for n, line in enumerate(side) if line.strip()] for side in text)
            for text in texts
        ]
        src, trg = (
            Side.of_sentences(
                lang,
                [text[k][n] for text, filled in zip(texts, kept) for n in filled[k]],
            )
            for k, lang in enumerate(self.langs)
        )
        ends = ([0, *accumulate(len(filled[k]) for filled in kept)] for k in (0, 1))
        walls = list(zip(*ends))
        beads = align(src, trg, self._costs, self._config.path, walls)
        texts_of = [
            (src.join(bead.src, bead.size[0]), trg.join(bead.trg, bead.size[1]))
            for bead in beads
        ]
        rest = deque(zip(beads, texts_of, self._scores(beads, texts_of)))
        found = []
        for text, filled, start, end in zip(texts, kept, walls, walls[1:]):
            inside = []
            while rest and rest[0][0].ends_before(end):
                bead, both, score = rest.popleft()
                pair = (
                    tuple(filled[0][n - start[0]] for n in bead.pair[0]),
                    tuple(filled[1][n - start[1]] for n in bead.pair[1]),
                )
                inside.append(TextBead(pair, *both, score))
            found.append(list(_with_blanks(inside, text)))
        return found

    def _scores(
        self, beads: Sequence[Bead], texts: Sequence[tuple[str, str]]
    ) -> list[Score]:
        """Of each bead; 0 for those without a partner."""
        pairs = [both for bead, both in zip(beads, texts) if bead.is_pair]
        usual = usual_ratio(
            sum(size_of(src) for src, _ in pairs), sum(size_of(trg) for _, trg in pairs)
        )
        judged = iter(self._quality.judged(pairs, usual))
        return [next(judged)[0] if bead.is_pair else 0.0 for bead in beads]


def _with_blanks(beads: Sequence[TextBead], text: Text) -> Iterator[TextBead]:
    """The beads, and each line that none of them has, where it stands."""
    done = [0, 0]
    ends = TextBead(((len(text[0]),), (len(text[1]),)))
    for bead in [*beads, ends]:
        for side, numbers in enumerate(bead.pair):
            if numbers:
                for number in range(done[side], numbers[-1]):
                    if number not in numbers:
                        line = text[side][number]
                        yield (
                            TextBead(((), (number,)), "", line)
                            if side
                            else TextBead(((number,), ()), line)
                        )
                done[side] = numbers[-1] + 1
        if bead is not ends:
            yield bead
