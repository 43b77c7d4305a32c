"""DynamicAligner: two documents in, beads out. It wires the rooms of this folder.

    aligner = DynamicAligner(LangPair("en", "is"), lexicon)
    for bead in aligner.align(pair, src_document, trg_document): ...

What has no partner comes out as well, as a bead with an empty side, so that a page is
accounted for to its last sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.costs.cost import Cost
from crawler.aligner.sentences.costs.embedding import EmbeddingConfig, EmbeddingCost
from crawler.aligner.sentences.costs.length import LengthConfig, LengthCost
from crawler.aligner.sentences.costs.lexicon import LexiconCost, LexiconCostConfig
from crawler.aligner.sentences.costs.markup import MarkupConfig, MarkupCost
from crawler.aligner.sentences.dynamic import PathConfig, align
from crawler.aligner.sentences.quality import QualityModel, usual_ratio
from crawler.aligner.sentences.split import IsRepeated, never_repeated, side_of
from crawler.aligner.sentences.tokens import TokenIds
from crawler.aligner.words import WordIds
from crawler.config import load_object
from crawler.data import Document, LangPair, PairScore, SentencePair

_ENCODERS = "models.sentence_encoder.load"  # named, since models import the crawler


@dataclass(frozen=True, slots=True)
class SentencesConfig:
    """How the sentences of two pages are aligned."""

    path: PathConfig = field(default_factory=PathConfig)
    length: LengthConfig = field(default_factory=LengthConfig)
    lexicon: LexiconCostConfig = field(default_factory=LexiconCostConfig)
    markup: MarkupConfig = field(default_factory=MarkupConfig)
    # Sentence vectors, whose cost is added to the others: of an encoder, by its folder
    # or its name on a hub, or of any callable from a list of texts to an array, by its
    # dotted path.
    encoder: str | None = None
    encode: str | None = None
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)

    def __post_init__(self) -> None:
        if self.encode:
            load_object(self.encode)  # ProfileError if there is none


def costs_of(lexicon: Lexicon | None, config: SentencesConfig) -> list[Cost]:
    """What decides which sentences belong together."""
    costs: list[Cost] = [
        LengthCost(config.length),
        LexiconCost(TokenIds(), lexicon, config.lexicon),
        MarkupCost(config.markup),
    ]
    if config.encode:
        costs.append(EmbeddingCost(load_object(config.encode), config.embedding))
    if config.encoder:
        encode = load_object(_ENCODERS)(config.encoder)
        costs.append(EmbeddingCost(encode, config.embedding))
    return costs


class DynamicAligner:
    """Aligns the sentences of documents by dynamic programming.

    `is_repeated`: what boilerplate is, see `split`.
    """

    def __init__(
        self,
        langs: LangPair,
        lexicon: Lexicon | None = None,
        config: SentencesConfig | None = None,
        *,
        is_repeated: IsRepeated = never_repeated,
    ) -> None:
        self.langs = langs
        self._config = config or SentencesConfig()
        self._is_repeated = is_repeated
        self._lexicon = lexicon
        self.quality = QualityModel(WordIds(), lexicon)

    @cached_property
    def _costs(self) -> list[Cost]:
        return costs_of(self._lexicon, self._config)

    def align(
        self, pair: PairScore, src: Document, trg: Document
    ) -> Iterator[SentencePair]:
        """The beads, in the order of the src page."""
        sides = [side_of(document, self._is_repeated) for document in (src, trg)]
        beads = align(sides[0], sides[1], self._costs, self._config.path)
        texts = [
            (
                sides[0].join(bead.src, bead.size[0]),
                sides[1].join(bead.trg, bead.size[1]),
            )
            for bead in beads
        ]
        paired = [both for bead, both in zip(beads, texts) if bead.is_pair]
        usual = usual_ratio(*(float(side.sizes.sum()) for side in sides))
        gaps = [not bead.is_pair for bead in beads]
        beside = [
            before or after
            for bead, before, after in zip(beads, [False, *gaps], [*gaps[1:], False])
            if bead.is_pair
        ]
        judged = iter(self.quality.judged(paired, usual, beside))
        for bead, (src_text, trg_text) in zip(beads, texts):
            score, ratio = next(judged) if bead.is_pair else (0.0, None)
            yield SentencePair(
                src_url=pair.src_url,
                trg_url=pair.trg_url,
                src_text=src_text,
                trg_text=trg_text,
                score=score,
                pair_score=pair.score,
                bead=bead.size,
                places=(bead.src, bead.trg),
                blocks=(sides[0].block_at(bead.src), sides[1].block_at(bead.trg)),
                lexical_ratio=ratio,
            )
