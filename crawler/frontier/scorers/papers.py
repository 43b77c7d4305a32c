"""The papers' orders: breadth first, and the product of the two URL models.

García-Romero (2024), section 4. `UniformScorer` is Heritrix (with the language gate of
the spider: Heritrix+CLD2); `ProductScorer` is steps 4 to 6 of the smart crawler. They
are kept, so that `adaptive` can be compared with them; docs/papers.md says what differs
around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from crawler.data import LangPair, Link, PageFacts, ScoredUrl
from crawler.frontier.scorers.remembered import RememberedLanguages, remembered
from crawler.protocols import UrlLanguageModel, UrlPairModel

# Any constant: equal scores come out in the order in which they went in.
UNIFORM_SCORE = 0.5


class UniformScorer:
    """Every link is worth the same: breadth first."""

    def score(self, source: PageFacts, links: Sequence[Link]) -> list[ScoredUrl]:
        """Score each link with the same constant."""
        return [ScoredUrl(link, UNIFORM_SCORE) for link in links]


class ProductScorer:
    """P(language of the link is the other one) · P(parallel | page, link).

    The link is scored against the page that it stands on, as the paper does, which
    assumes that translations link to each other. A page in neither language (a seed,
    which passes the gate) has no "other" language: either of the two will do then.
    """

    def __init__(
        self,
        langs: LangPair,
        language_model: UrlLanguageModel,
        pair_model: UrlPairModel,
    ) -> None:
        """Take the languages of the crawl and the two models."""
        self.langs = langs
        self.language_model = language_model
        self.pair_model = pair_model

    @cached_property
    def _languages(self) -> RememberedLanguages:
        """Links repeat on pages: each is asked about once."""
        return remembered(self.language_model)

    def score(self, source: PageFacts, links: Sequence[Link]) -> list[ScoredUrl]:
        """Score a page's links as one batch per model."""
        wanted = (
            (self.langs.other(source.lang),)
            if source.lang is not None and source.lang in self.langs
            else tuple(self.langs)
        )
        languages = self._languages.predict([link.url for link in links])
        parallel = self.pair_model.predict([(source.url, link.url) for link in links])
        scored = []
        for link, distribution, p_parallel in zip(
            links, languages, parallel, strict=True
        ):
            p_language = min(1.0, sum(distribution.get(lang, 0.0) for lang in wanted))
            scored.append(
                ScoredUrl(
                    link,
                    p_language * p_parallel,
                    {"p_language": p_language, "p_parallel": p_parallel},
                )
            )
        return scored
