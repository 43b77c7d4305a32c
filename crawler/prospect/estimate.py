"""Expected document pairs of a site, from a sample of its URLs.

Of each sampled page the pair model says how likely its two versions are translations;
pages of both languages without a version in the other are paired by nothing that URLs
say, and count half. What was sampled is extrapolated to all pages of the site.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TextIO

from crawler.data import Lang, LangPair, Site
from crawler.lines import printable
from crawler.prospect.sample import PLAIN, SiteSample
from crawler.protocols import UrlLanguageModel, UrlPairModel

REQUESTS = 1000
_SURE = 0.5  # a language that is likelier than all others together
# Of the versions that sites declare, 1 to 3 of 100 are not translations (URL data).
_DECLARED = 0.97
# Languages of URLs without a marker: 8 of 100 answers of a good model are wrong (macro
# F1 .92 on URL data), so that small a share of a site shows no second language.
_WRONG = 0.08
# Nothing is known of how many pages without a version in sight have one.
_HALF = 0.5
_DEVIATIONS = 1.64  # of a normal distribution: 90 % lie within


@dataclass(frozen=True, slots=True)
class Prospect:
    """The estimate for a site, or for several sites that are one."""

    sites: tuple[Site, ...]
    score: float  # expected document pairs of the first 1,000 requests
    pairs: float  # expected document pairs in all
    low: float  # with `high`: nine in ten lie within, if the models are right
    high: float
    pages: float  # without those of other languages
    src: float
    trg: float
    unmarked: float  # share of the sampled URLs whose language nothing names
    rows: int
    newest: str  # YYYYMMDD, or empty
    example: tuple[str, str]  # the likeliest pair, or two empty strings
    probed: int = 0  # requests of `crawler.prospect.probe`
    found: int = 0  # pairs among them


def estimate(
    sites: tuple[Site, ...],
    sample: SiteSample,
    langs: LangPair,
    language_model: UrlLanguageModel,
    pair_model: UrlPairModel,
) -> Prospect:
    """The estimate for one sample. Both models see the sampled URLs only."""
    plain = [urls[PLAIN] for urls in sample.pages.values() if urls[PLAIN]]
    said = dict(zip(plain, language_model.predict(plain)))
    pages = [
        (page in sample.declared, *_sides(urls, said, langs))
        for page, urls in sample.pages.items()
    ]
    pages = [page for page in pages if any(page[1:])]
    candidates = [_pair(src, trg, rest) for _, src, trg, rest in pages]
    asked = [pair for pair in candidates if pair]
    chances = dict(zip(asked, pair_model.predict(asked)))
    ps = [
        max(chances[pair], _DECLARED * declared) if pair else 0.0
        for pair, (declared, *_) in zip(candidates, pages)
    ]
    src = sum(bool(page[1]) for page in pages)
    trg = sum(bool(page[2]) for page in pages)
    # Pages of one side that have no candidate for the other
    alone = [page for page, pair in zip(pages, candidates) if not pair]
    least = min(sum(bool(page[side]) for page in alone) for side in (1, 2))
    unpaired = max(0.0, least - _WRONG * len(plain))
    found, scale = sum(ps), sample.scale
    if scale > 1:  # a page drawn from the site is a pair, or it is not
        variance = found * (1 - found / max(1, len(pages)))
    else:
        variance = sum(p * (1 - p) for p in ps)
    margin = _DEVIATIONS * sqrt(max(0.0, variance))
    pairs = (found + _HALF * unpaired) * scale
    total = len(pages) * scale + pairs  # a pair is one page here and two requests
    best = max(zip(ps, candidates), key=lambda item: item[0], default=(0.0, None))[1]
    return Prospect(
        sites,
        expected(pairs, total),
        pairs,
        max(0.0, found - margin) * scale,
        (found + margin + unpaired) * scale,
        total,
        src * scale,
        trg * scale,
        len(plain) / max(1, sum(bool(u) for v in sample.pages.values() for u in v)),
        sample.rows,
        sample.newest,
        best or ("", ""),
    )


def expected(pairs: float, pages: float, requests: int = REQUESTS) -> float:
    """Pairs that a crawl finds that fetches a page's other version right after it.

    It draws pages until one has a version, which it then fetches.

    >>> expected(400, 800), expected(10_000, 20_000), round(expected(100, 100_000))
    (400, 500.0, 2)
    """
    if not pairs:
        return 0.0
    share = min(1.0, 2 * pairs / pages)
    return min(pairs, requests / (1 + 1 / share))


def _sides(
    urls: list[str], said: Mapping[str, Mapping[Lang, float]], langs: LangPair
) -> tuple[str, str, str]:
    """The URLs of a page in either language, and one of a language not known."""
    src, trg, plain = urls
    for lang, p in said[plain].items() if plain else ():
        if p > _SURE and lang != "unk":
            src = src or plain * (lang == langs.src)
            trg = trg or plain * (lang == langs.trg)
            plain = ""
            break
    return src, trg, plain


def _pair(src: str, trg: str, rest: str) -> tuple[str, str] | None:
    """The two URLs of a page that may be translations."""
    one, two = src or rest, trg or rest
    return (one, two) if one and two and one != two else None


def ranked(prospects: Iterable[Prospect]) -> list[Prospect]:
    """The best first."""
    return sorted(prospects, key=lambda p: (-p.score, -p.high, p.sites))


def write_table(prospects: list[Prospect], langs: LangPair, file: TextIO) -> None:
    """One line for each site, best first: tab-separated, with a header."""
    print(
        *("site", "score", "pairs", "low", "high", "pages", langs.src, langs.trg),
        *("unmarked", "rows", "newest", "probed", "found"),
        *("example_a", "example_b", "group"),
        sep="\t",
        file=file,
    )
    for p in ranked(prospects):
        figures = (p.score, p.pairs, p.low, p.high, p.pages, p.src, p.trg)
        print(
            printable(p.sites[0]),
            *(f"{figure:.1f}" for figure in figures),
            f"{p.unmarked:.2f}",
            p.rows,
            p.newest,
            p.probed,
            p.found,
            *map(printable, p.example),
            ",".join(p.sites[1:]),
            sep="\t",
            file=file,
        )
