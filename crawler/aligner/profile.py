"""The settings of the aligner: `settings/align/*.toml` override these defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crawler.aligner.bridges.lexicon import LexiconConfig
from crawler.aligner.candidates.shapes import ShapesConfig
from crawler.aligner.candidates.shingles import ShinglesConfig
from crawler.aligner.frequencies import BoilerplateConfig, Frequencies
from crawler.aligner.near_duplicates import CopiesConfig
from crawler.aligner.plugins import Kind, check, config_of
from crawler.aligner.scorers.lengths import log_ratio
from crawler.config import Plugin
from crawler.data import CandidatePair, PageFeatures
from crawler.listings import is_listing


@dataclass(frozen=True, slots=True)
class GateConfig:
    """The pairs that are refused as translations, whatever their score."""

    min_size: int = 100  # characters of its own that a page must have
    min_named: int = 70  # enough if names of this kind prove right on the site
    min_main: int = 15  # of them, outside of menus
    listings: bool = False  # pair pages that only list others: tags, archives, search
    max_identical: float = 0.5  # of the shorter page's blocks: not translated
    max_length_ratio: float = 3.0  # of main texts, the longer by the shorter
    # Versions of one page, of which one is at the address of a third language:
    # /it/apps/ in English is an Italian page that has not been translated.
    third_language: bool = True

    def text_size(
        self, page: PageFeatures, main: PageFeatures, frequencies: Frequencies
    ) -> int:
        """Characters of a page's own text; `main` is the page without boilerplate.

        0 if there is nothing but menus, or if the page only lists others.
        """
        if main.size < self.min_main or (not self.listings and is_listing(page.url)):
            return 0
        return frequencies.own_size(page)

    def is_text(
        self, page: PageFeatures, main: PageFeatures, frequencies: Frequencies
    ) -> bool:
        """Has a page a text of its own that can be compared?"""
        return self.text_size(page, main, frequencies) >= self.min_size

    def refuses(self, pair: CandidatePair, features: Mapping[str, float]) -> str | None:
        """The name of the gate that refuses a pair."""
        if features.get("overlap.identical", 0.0) > self.max_identical:
            return "identical"
        same_family = pair.src.family == pair.trg.family
        if self.third_language and same_family and pair.src.handle != pair.trg.handle:
            return "third_language"
        ratio = abs(log_ratio(pair.src, pair.trg))
        if min(ratio, features.get("lengths.difference", ratio)) > math.log(
            self.max_length_ratio
        ):
            return "length"
        return None


@dataclass(frozen=True, slots=True)
class EvidenceConfig:
    """The weight of neighbours (`benchmarks.aligner_quality sensitivity`)."""

    # That the next best page is this much further off in cosine is all that a margin
    # can say: a page without a partner has no near rival either.
    margin_cap: float = 0.2
    # With a nat a word more than its rivals a page is certain.
    likelihood_cap: float = 1.0
    # The nearest page is surely right if the next has at most so much of its cosine.
    clear: float = 0.75


@dataclass(frozen=True, slots=True)
class BootstrapConfig:
    """The pairs that teach a lexicon, and the rounds (docs/sources.md#the-lexicon)."""

    # Of the pairs, best first, in each round. Of the first 60 % of mutual neighbours 98
    # to 99 % are right, in manuals of six languages.
    shares: tuple[float, ...] = (0.6, 0.85)
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
    # With seeds for fewer of the pages than this, shapes may find more; where names and
    # numbers are shared, there are seeds for a third and more.
    few_seeds: float = 0.2
    lexicon: LexiconConfig = field(default_factory=LexiconConfig)


@dataclass(frozen=True, slots=True)
class ScorersConfig:
    """The scorers that compare two pages; `plugins` lists their names."""

    # Asked of every candidate. The gates read overlap.identical and lengths.difference.
    cheap: tuple[Plugin, ...] = (Plugin("overlap"), Plugin("lengths"))
    # Asked of those that no gate refuses: without a lexicon, and with one.
    words: tuple[Plugin, ...] = (Plugin("ngrams"),)
    lexicon: tuple[Plugin, ...] = (Plugin("tsim"),)
    # Asked one after the other, of those that can still reach the threshold.
    expensive: tuple[Plugin, ...] = (Plugin("strand"), Plugin("avsim"))


@dataclass(frozen=True, slots=True)
class AlignProfile:
    """The algorithms that run, with the settings of each."""

    min_score: float = 0.5  # probability above which a pair is accepted
    # The same for short pages, of which only names speak: where links are usual, a
    # handle alone is mostly that of placeholders.
    min_named_score: float = 0.8
    # The share of pages with a partner among those that the weights were fitted on: the
    # scores become those of a site's own share. 0: they stay.
    base_rate: float = 0.5
    # Is the head of a page part of the markup that is compared? Equal templates have
    # equal heads, so it tells pages of a site apart no better.
    head: bool = False
    gates: GateConfig = field(default_factory=GateConfig)
    boilerplate: BoilerplateConfig = field(default_factory=BoilerplateConfig)
    # Who proposes pairs by URLs and links.
    candidates: tuple[Plugin, ...] = (Plugin("handles"), Plugin("links"))
    # How pages are compared by content: while there is no lexicon, while rounds look
    # for seeds, and in the last rounds.
    first_search: Plugin = Plugin("shared_words")
    seed_search: Plugin = Plugin("translated_words")
    search: Plugin = Plugin("translated_words")
    # Of more pages than this on a side only those without a partner by URL or link are
    # compared by content; if these are as many, not all with all, but by `search`, or
    # by `giant_search` if that would compare all.
    max_content_pages: int = 20_000
    giant_search: Plugin = Plugin("shingles")
    # A candidate by content with less than this share of the best cosine of both its
    # pages is not looked at.
    min_share: float = 0.5
    shapes: ShapesConfig = field(default_factory=ShapesConfig)
    copies: CopiesConfig = field(default_factory=CopiesConfig)
    evidence: EvidenceConfig = field(default_factory=EvidenceConfig)
    scorers: ScorersConfig = field(default_factory=ScorersConfig)
    model: Plugin = Plugin("logistic")  # how features become a score
    # Of the candidates only those are left that are among so many best of both their
    # pages (Uszkoreit et al., section 2.1); 0: all.
    symmetric: int = 0
    one_to_one: bool = True  # each page in one pair at most; False: in all it has
    n_best: int = 0  # candidates that an accepted pair names for each of its pages
    bootstrap: BootstrapConfig = field(default_factory=BootstrapConfig)

    def __post_init__(self) -> None:
        """Refuse a plug-in that is not there, or has other options."""
        scorers = self.scorers
        named: tuple[tuple[Kind, Sequence[Plugin]], ...] = (
            ("candidates", self.candidates),
            ("search", (self.first_search, self.seed_search)),
            ("search", (self.search, self.giant_search)),
            ("scorer", (*scorers.cheap, *scorers.words, *scorers.lexicon)),
            ("scorer", scorers.expensive),
            ("model", (self.model,)),
        )
        for kind, chosen in named:
            for plugin in chosen:
                check(kind, plugin)

    @property
    def floor(self) -> float:
        """The score below which a pair is neither accepted nor a seed."""
        return min(self.min_score, self.bootstrap.min_score)

    @property
    def shingles(self) -> ShinglesConfig:
        """Settings of the join of n-grams across sites: of `search`, `giant_search`."""
        for plugin in (self.search, self.giant_search):
            if plugin.use == "shingles":
                config: ShinglesConfig = config_of("search", plugin)
                return config
        return ShinglesConfig()
