"""What an aligner does, as data: `settings/align/*.toml` override these defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from crawler.aligner.bridges.lexicon import LexiconConfig
from crawler.aligner.bridges.word_clusters import WordClustersConfig
from crawler.aligner.candidates.shapes import ShapesConfig
from crawler.aligner.candidates.shared_words import SharedWordsConfig
from crawler.aligner.candidates.shingles import ShinglesConfig
from crawler.aligner.candidates.signatures import SignaturesConfig
from crawler.aligner.candidates.translated_words import TranslatedWordsConfig
from crawler.aligner.frequencies import BoilerplateConfig, Frequencies
from crawler.aligner.scorers.combine import MODELS
from crawler.aligner.scorers.lengths import log_ratio
from crawler.data import CandidatePair, PageFeatures
from crawler.errors import ProfileError
from crawler.listings import is_listing


@dataclass(frozen=True, slots=True)
class GateConfig:
    """What is no pair of translations, whatever its score."""

    min_size: int = 100  # characters of its own that a page must have: no sentence else
    min_main: int = 15  # of them, outside of menus
    listings: bool = False  # pair pages that only list others: tags, archives, search
    max_identical: float = 0.5  # of the shorter page's blocks: not translated
    max_length_ratio: float = 3.0  # of main texts, the longer by the shorter

    def is_text(
        self, page: PageFeatures, main: PageFeatures, frequencies: Frequencies
    ) -> bool:
        """Has a page a text of its own? `page` as stored, `main` when clean."""
        return (
            frequencies.own_size(page) >= self.min_size
            and main.size >= self.min_main
            and (self.listings or not is_listing(page.url))
        )

    def refuses(self, pair: CandidatePair, features: Mapping[str, float]) -> str | None:
        """The name of the gate that a pair does not pass."""
        if features["overlap.identical"] > self.max_identical:
            return "identical"
        # One page in other languages, and the address names a third one: /it/apps/ in
        # English is what of the Italian page has not been translated.
        if pair.src.family == pair.trg.family and pair.src.handle != pair.trg.handle:
            return "third_language"
        ratio = abs(log_ratio(pair.src, pair.trg))
        if min(ratio, features["lengths.difference"]) > math.log(self.max_length_ratio):
            return "length"
        return None


@dataclass(frozen=True, slots=True)
class BootstrapConfig:
    """Which pairs teach a lexicon, and how often (ALIGNMENT section 8)."""

    shares: tuple[float, ...] = (0.6, 0.85)  # of the pairs, best first, in each round
    # The last round is repeated while it finds a tenth more pairs than taught it: with
    # the first 50 words of Japanese pages 0.97 are found, not 0.95. Whole pages are
    # done at once, and to see that costs nothing.
    growth: float = 0.1
    more_rounds: int = 4  # so often at most; two were enough everywhere
    min_score: float = 0.1  # of a pair that may be among them
    max_length_difference: float = 0.4  # of log length ratios, from the median
    min_pairs: int = 8  # fewer teach nothing
    # A share of few is too few: of so many the length rule alone takes away. Sites of
    # 15 short pages find 0.94 of their pairs so, 0.81 if only the surest of them teach.
    at_least: int = 16
    max_pairs: int = 1500  # more teach little and cost 3 ms each
    lexicon: LexiconConfig = field(default_factory=LexiconConfig)


@dataclass(frozen=True, slots=True)
class AlignProfile:
    """Which rooms run, with the settings of each."""

    min_score: float = 0.5  # probability above which a pair is accepted
    model: str = "logistic"  # how features become a score: see scorers.combine
    # Brute force over all pages up to here; beyond it content is compared only for
    # pages without a partner by URL or link, and by `search` if these are as many.
    max_content_pages: int = 20_000
    substrings: bool = False  # candidates by Resnik & Smith's own handles as well
    gates: GateConfig = field(default_factory=GateConfig)
    # Of the candidates only those are left that are among so many best of both their
    # pages (Uszkoreit et al., section 2.1); 0: all.
    symmetric: int = 0
    n_best: int = 0  # candidates that an accepted pair names for each of its pages
    # A candidate by content with less than this share of the best cosine of both its
    # pages is not looked at.
    min_share: float = 0.5
    boilerplate: BoilerplateConfig = field(default_factory=BoilerplateConfig)
    shared_words: SharedWordsConfig = field(default_factory=SharedWordsConfig)
    translated_words: TranslatedWordsConfig = field(
        default_factory=TranslatedWordsConfig
    )
    shapes: ShapesConfig = field(default_factory=ShapesConfig)
    # How pages are compared in the last round, once a lexicon is there: `exact` (all
    # pairs), `shingles` or `signatures`; shingles over the terms of a bridge,
    # `word_for_word` or `word_clusters`.
    search: str = "exact"
    bridge: str = "word_for_word"
    shingles: ShinglesConfig = field(default_factory=ShinglesConfig)
    word_clusters: WordClustersConfig = field(default_factory=WordClustersConfig)
    signatures: SignaturesConfig = field(default_factory=SignaturesConfig)
    bootstrap: BootstrapConfig = field(default_factory=BootstrapConfig)

    @property
    def floor(self) -> float:
        """What scores less is neither accepted nor a seed."""
        return min(self.min_score, self.bootstrap.min_score)

    def __post_init__(self) -> None:
        """Refuse a search or a bridge that is not there."""
        for name, known in (
            ("search", ("exact", "shingles", "signatures")),
            ("bridge", ("word_for_word", "word_clusters")),
            ("model", MODELS),
        ):
            value = getattr(self, name)
            if value not in known:
                raise ProfileError(f"{name}: {value!r} is none of {', '.join(known)}")
