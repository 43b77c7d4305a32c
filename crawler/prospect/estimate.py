"""Expected document pairs of a site, from a sample of its URLs.

Of each sampled page the pair model says how likely its two versions are translations.
A version whose URL names no language counts as much as it is likely to be in the
language that is asked for. Pages of both languages without a version in the other are
paired by nothing that URLs say, and count two thirds. What was sampled is extrapolated
to all pages of the site.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TextIO

from crawler.data import Lang, LangPair, Site
from crawler.errors import RunDirError
from crawler.lines import bounded_lines, printable
from crawler.prospect.sample import PLAIN, SRC, TRG, SiteSample
from crawler.protocols import UrlLanguageModel, UrlPairModel

REQUESTS = 1000
_MAX_LINE = 2**20  # bytes of a row: two URLs and the sites of a group
_SURE = 0.5  # a language that is likelier than all others together
# Of the versions that sites declare, 1 to 3 of 100 are not translations (URL data).
_DECLARED = 0.97
# Languages of URLs without a marker: 8 of 100 answers of a good model are wrong (macro
# F1 .92 on URL data), so that small a share of a site shows no second language.
_WRONG = 0.08
# How many pages without a version in sight have one: learned on the train split of the
# URL data, where .90 of the estimates are within a factor of 2 (at .5 .77, at 1 .88).
_UNSEEN = 0.65
# A site that marks its versions in other languages leaves English unmarked more often
# than all others together (353 of some 500 sites of the train split of the URL data).
# Any other language is the one without a marker as seldom as this.
_ENGLISH, _ANY = 0.7, 0.1
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
    default = _default(said.values(), sample, langs)
    pages = [
        _Page(*_sides(urls, said, langs), page in sample.declared)
        for page, urls in sample.pages.items()
    ]
    pages = [page for page in pages if page.src or page.trg or page.rest]
    asked = [page.pair for page in pages if page.pair]
    chances = dict(zip(asked, pair_model.predict(asked)))
    whole = [  # if its language is what is asked for
        max(chances[page.pair], _DECLARED * page.declared) if page.pair else 0.0
        for page in pages
    ]
    ps = [p * page.likely(default) for p, page in zip(whole, pages)]
    sure = sum(p for p, page in zip(ps, pages) if page.src and page.trg)
    # Pages of one side that have no candidate for the other
    alone = [page for page in pages if not page.pair]
    least = min(
        sum(page.side(place, default) for page in alone) for place in (SRC, TRG)
    )
    unpaired = max(0.0, least - _WRONG * len(plain))
    found, scale = sum(ps), sample.scale
    if scale > 1:  # a page drawn from the site is a pair, or it is not
        variance = found * (1 - found / max(1, len(pages)))
    else:
        variance = sum(p * (1 - p) for p in ps)
    margin = _DEVIATIONS * sqrt(max(0.0, variance))
    pairs = (found + _UNSEEN * unpaired) * scale
    total = len(pages) * scale + pairs  # a pair is one page here and two requests
    best = max(zip(ps, pages), key=lambda item: item[0], default=(0.0, None))[1]
    return Prospect(
        sites,
        expected(pairs, total),
        pairs,
        max(0.0, sure - margin) * scale,
        (sum(whole) + margin + unpaired) * scale,
        total,
        sum(bool(page.src) for page in pages) * scale,
        sum(bool(page.trg) for page in pages) * scale,
        len(plain) / max(1, sum(bool(u) for v in sample.pages.values() for u in v)),
        sample.rows,
        sample.newest,
        (best and best.pair) or ("", ""),
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


@dataclass(frozen=True, slots=True)
class _Page:
    """The URLs of a page: of either language, and of one that is not known."""

    src: str
    trg: str
    rest: str
    declared: bool

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two URLs that may be translations."""
        one, two = self.src or self.rest, self.trg or self.rest
        return (one, two) if one and two and one != two else None

    def side(self, place: int, default: tuple[float, float]) -> float:
        """How likely there is a version in a language."""
        return 1.0 if (self.src, self.trg)[place] else default[place] * bool(self.rest)

    def likely(self, default: tuple[float, float]) -> float:
        """How likely both languages are those that are asked for."""
        return self.side(SRC, default) * self.side(TRG, default)


def _default(
    said: Collection[Mapping[Lang, float]], sample: SiteSample, langs: LangPair
) -> tuple[float, float]:
    """How likely pages that name no language are in either of the two.

    The mean of what the language model says of them; what it leaves open is shared as
    the defaults of sites are that mark other languages.
    """
    unmarked = max(1, len(said))
    unknown = sum(answer.get("unk", 0.0) for answer in said) / unmarked
    marked = [any(u[place] for u in sample.pages.values()) for place in (SRC, TRG)]

    def share(place: int, lang: Lang) -> float:
        named = sum(answer.get(lang, 0.0) for answer in said) / unmarked
        usual = _ENGLISH if lang == "en" else _ANY
        return named + unknown * usual * (marked[1 - place] and not marked[place])

    return share(SRC, langs.src), share(TRG, langs.trg)


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


def ranked(prospects: Iterable[Prospect]) -> list[Prospect]:
    """The best first."""
    return sorted(prospects, key=lambda p: (-p.score, -p.high, p.sites))


def read_table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of what `write_table` wrote; RunDirError if it is not that."""
    rows: list[list[str]] = []
    try:
        with path.open("rb") as file:
            for line in bounded_lines(file, _MAX_LINE):
                text = (line or b"").decode("utf-8", "replace").rstrip("\n")
                rows.append(text.split("\t"))
    except OSError as error:
        raise RunDirError(
            f"{path}: {error.strerror} (give a table of `bifocal prospect`)"
        ) from error
    columns = rows.pop(0) if rows else []
    known = [row for row in rows if len(row) == len(columns)]
    if columns[:2] != ["site", "score"] or len(known) < len(rows):
        raise RunDirError(f"{path}: not a whole table of `bifocal prospect`")
    return columns, known


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
