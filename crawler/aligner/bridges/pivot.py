"""A lexicon over a third language, for a pair of languages that has few pages.

A word of the first language is a translation of a word of the last as far as both
translate the same words of a language between them: p(c | a) = Σ p(c | b) · p(b | a)
(Wu and Wang 2007, equation 5; Cohn and Lapata 2007, equation 3). Counts stay expected
links, n(a, c) = Σ n(a, b) · p(c | b), so that such a lexicon adds up with others.

In: lexicons of pairs of languages.  Out: a lexicon of one more pair.
See also: `lexicon` (how they are learned).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_matrix

from crawler.aligner.arrays import unique_inverse
from crawler.aligner.bridges.lexicon import Lexicon, LexiconConfig, collect
from crawler.data import LangPair

# Of a word's best translation. Without it words of one topic translate each other, and
# pages of one topic pair: precision fell on three of eight trials, by up to .17
# (benchmarks.pivot_lexicon on long pages); with it, on none.
_CLEAR = 0.5
# A pair with half as many pages as another learns about as much by itself.
_FEW = 0.5


def compose(
    first: Lexicon, second: Lexicon, config: LexiconConfig | None = None
) -> Lexicon:
    """The lexicon from `first`'s src to `second`'s trg over the language between.

    Entries stay by the rules of a lexicon that is learned, `config`'s.
    """
    config = config or LexiconConfig()
    langs = LangPair(first.langs.src, second.langs.trg)
    between, number = unique_inverse(np.concatenate([first.trg, second.src]))
    src_words, src = unique_inverse(first.src)
    trg_words, trg = unique_inverse(second.trg)
    met, meets = number[: len(src)], number[len(src) :]
    there = csr_matrix((first.count, (src, met)), (len(src_words), len(between)))
    on = csr_matrix((second.p_trg(), (meets, trg)), (len(between), len(trg_words)))
    links = (there @ on).tocoo()
    kept = links.data > config.min_count
    return collect(
        langs,
        src_words[links.row[kept]],
        trg_words[links.col[kept]],
        links.data[kept].astype(np.float32),
    ).pruned(config.max_translations)


def through_pivots(
    langs: LangPair, lexicons: Mapping[LangPair, Lexicon]
) -> Lexicon | None:
    """The sum of the lexicons over each language between; None if there is nothing."""
    both = {**lexicons}
    both |= {LangPair(*reversed([*p])): lex.reversed() for p, lex in lexicons.items()}
    found = Lexicon.empty(langs)
    for (src, pivot), first in both.items():
        second = both.get(LangPair(pivot, langs.trg))
        if src == langs.src and second is not None:
            found += compose(first, second)
    return found.clearest(_CLEAR) if len(found) else None


def pairable(sizes: Mapping[str, tuple[int, int]]) -> int:
    """The pages that may have a partner, of the (src, trg) pages of groups of sites."""
    return sum(map(min, sizes.values()))


@dataclass(slots=True)
class Pivots:
    """The order in which the pairs of a run are aligned, and what they start with.

    Those with most pages come first. A pair that has less than half of the pages of two
    others starts with what these have learned, if they have one language in common.
    """

    pages: Mapping[LangPair, int]  # of each pair: those that may be paired
    lexicons: dict[LangPair, Lexicon] = field(default_factory=dict)  # what was learned

    def __iter__(self) -> Iterator[LangPair]:
        """The pairs; equal ones in the order in which they are given."""
        return iter(sorted(self.pages, key=lambda langs: -self.pages[langs]))

    def learned(self, langs: LangPair, lexicon: Lexicon | None) -> None:
        """Take what a pair has learned."""
        if lexicon:
            self.lexicons[langs] = lexicon

    def lexicon(self, langs: LangPair) -> Lexicon | None:
        """The lexicon that a pair starts with; None: it learns its own."""
        larger = {
            pair: lexicon
            for pair, lexicon in self.lexicons.items()
            if self.pages[langs] < _FEW * self.pages[pair]
        }
        return through_pivots(langs, larger)
