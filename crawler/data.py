"""The values that flow through Bifocal.

Each is built once, complete, and never patched. In the order in which they appear in a
run: `LangPair` and `Link` go in, a `Link` with a score is a `ScoredUrl`, the frontier
holds it as a `FrontierEntry`, a download makes it a `Page`, `crawler.extract` turns
that into a `Document`, and the aligner makes `PageFeatures` of it and `CandidatePair`,
`PairScore` and `SentencePair` out of two.

Absence is None, never "" or -1. A score of 1.0 is best everywhere; a distance is called
one (`strand.dp`). Feature names are `scorer.feature`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from crawler.errors import LanguageError
from crawler.languages import language_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Lang = str  # a code of crawler.languages: `en`, `is`, `mt`
Site = str  # a registered domain (crawler.urls.site_of), or a host without one
Score = float

NO_EVIDENCE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LangPair:
    """The two languages of a run. `src` is the one that the user named first.

    A document's side follows its detected language, never its URL.

    >>> pair = LangPair.parse("Icelandic,en")
    >>> pair.src, pair.trg, pair.other("en"), "fr" in pair
    ('is', 'en', 'is', False)
    """

    src: Lang
    trg: Lang

    @classmethod
    def parse(cls, text: str) -> LangPair:
        """Read `en,is`, `eng,isl` or `English,Icelandic`; raise LanguageError."""
        names = [name for name in text.replace(";", ",").split(",") if name.strip()]
        if len(names) != 2:
            raise LanguageError(
                f"expected two languages, got {text!r} (write langs=en,is)"
            )
        src, trg = (language_of(name).code for name in names)
        if src == trg:
            raise LanguageError(
                f"both languages of {text!r} are {src!r} (name two different ones)"
            )
        return cls(src, trg)

    def other(self, lang: Lang) -> Lang:
        """The other language of the pair; ValueError when `lang` is not in it."""
        if lang == self.src:
            return self.trg
        if lang == self.trg:
            return self.src
        raise ValueError(f"{lang!r} is not one of {self}")

    def __contains__(self, lang: object) -> bool:
        return lang in (self.src, self.trg)

    def __iter__(self) -> Iterator[Lang]:
        return iter((self.src, self.trg))

    def __len__(self) -> int:
        return 2

    def __str__(self) -> str:
        return f"{self.src},{self.trg}"


class Rel(StrEnum):
    """How a page refers to a URL, where it is more than an ordinary link."""

    ALTERNATE = "alternate"  # another version of the page
    SITEMAP = "sitemap"  # listed in a sitemap, or one itself
    NEXT = "next"
    PREV = "prev"
    CANONICAL = "canonical"
    FRAME = "frame"
    OPTION = "option"  # an entry of a select menu
    REFRESH = "refresh"
    COMPONENT = "component"  # an attribute of a custom element
    GUESS = "guess"  # of no page: guessed by the crawl


@dataclass(frozen=True, slots=True)
class Link:
    """One way to a URL: a seed, an anchor, a declared alternate, a redirect."""

    url: str  # canonical (crawler.urls)
    source_url: str | None = None  # the page that it was found on; None for a seed
    anchor: str | None = None  # the text that a reader sees; of an image, its alt text
    hreflang: Lang | None = None  # the language that the page declares for it
    rel: Rel | None = None  # None: an ordinary link
    depth: int = 0  # clicks from the nearest seed
    is_seed: bool = False


@dataclass(frozen=True, slots=True)
class ScoredUrl:
    """A link with the score that it was given, and why."""

    link: Link
    score: Score
    evidence: Mapping[str, float] = field(default_factory=lambda: NO_EVIDENCE)


@dataclass(frozen=True, slots=True)
class FrontierEntry:
    """What a FrontierStore holds of a URL that is to be fetched."""

    url: str
    site: Site
    score: Score
    depth: int = 0
    payload: bytes = b""  # opaque to the store: see crawler.frontier.entry


class UrlState(StrEnum):
    """The state of a URL in a FrontierStore."""

    PENDING = "pending"
    LEASED = "leased"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class StoredUrl:
    """A URL that a FrontierStore has seen, as it is stored."""

    entry: FrontierEntry
    state: UrlState


class Outcome(StrEnum):
    """What came of a URL that is done."""

    PAGE = "page"  # a page; its language is known apart
    NO_PAGE = "no_page"  # an error, or a file that is no page
    MOVED = "moved"  # a redirect
    SKIPPED = "skipped"  # not fetched: worth nothing, as the scorer says
    FORBIDDEN = "forbidden"  # not fetched: robots.txt forbids it
    OTHER_SCHEME = "other_scheme"  # not fetched: its host answers to the other scheme


@dataclass(frozen=True, slots=True)
class KnownUrl:
    """A URL that a frontier knows after a restart, decoded."""

    link: Link
    site: Site
    score: Score
    outcome: Outcome | None = None  # None: it is still to be fetched
    lang: Lang | None = None  # of a page


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of a server, as it came: any status, any content type."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]  # in the order received
    body: bytes  # content decoded (no gzip), transfer decoded, not charset decoded
    fetched_at: datetime  # aware, UTC
    record_id: str | None = None  # WARC-Record-ID, once it is written

    @classmethod
    def of_html(cls, url: str, html: str) -> Page:
        """A page that is at hand as text, as a server would have answered it.

        >>> Page.of_html("https://example.is/", "<p>Höfnin").header("content-type")
        'text/html; charset=utf-8'
        """
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        body = html.encode("utf-8", "replace")
        return cls(url, 200, headers, body, datetime.now(UTC))

    def header(self, name: str) -> str | None:
        """The first value of a header, whatever its case."""
        name = name.lower()
        return next((v for k, v in self.headers if k.lower() == name), None)


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text that a reader sees as one unit: a paragraph, a cell, a heading."""

    tag: str  # the block-level element that holds it: p, h1, li, td
    text: str  # white space folded to single blanks
    boilerplate: bool  # inside nav, header, footer, aside, form


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """The facts about a fetched page that the frontier needs: no text."""

    url: str
    site: Site
    lang: Lang | None = None  # None: of no language that the crawl can tell
    links: tuple[Link, ...] = ()
    digest: str | None = None  # of the visible text; None: it has none (a sitemap)
    prose: str | None = None  # digest of its sentences alone; None: too few


class Markup(NamedTuple):
    """A part of a page as one sequence; see `Document`."""

    tokens: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()


NO_MARKUP = Markup()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page as text with a language, the unit that the aligner works on.

    `tokens` is the page linearized as in Resnik & Smith (2003), section 2.1.3: a start
    tag is `<p`, an end tag `</p`, and the empty string stands for the next of
    `chunks`, the texts between tags. Scripts, styles and comments are gone; the chunks
    of blocks in another language are empty.
    `crawler.extract.text.blocks_of` makes text blocks of the two.
    """

    url: str
    site: Site
    lang: Lang | None  # None: too little text, or no language that CLD2 knows
    lang_confidence: float  # 0 to 1
    title: str
    tokens: tuple[str, ...]
    chunks: tuple[str, ...]
    links: tuple[Link, ...]
    digest: str  # of the visible text; equal text, equal digest
    images: tuple[str, ...] = ()  # file names, at most 64
    # digest of its sentences alone, numbers left out; None: too few
    prose: str | None = None
    head: Markup = NO_MARKUP  # what stands before the body, cut at 500 tokens

    @property
    def facts(self) -> PageFacts:
        """The facts that the frontier needs of it."""
        return PageFacts(
            url=self.url,
            site=self.site,
            lang=self.lang,
            links=self.links,
            digest=self.digest,
            prose=self.prose,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PageFeatures:
    """What the aligner remembers of a document: a few KB, whatever its length.

    Texts are held as 32-bit ids (`crawler.aligner.features` makes them): equal text,
    equal id. A word's id is odd if it is a number; the lowest bits of a block's id say
    whether it is code (1) and whether it stood in boilerplate markup (2).
    """

    url: str
    site: Site
    lang: Lang
    digest: str
    handle: str  # the URL without markers of the two languages of the run
    family: str  # the URL without any language's markers: all versions of a page
    size: int  # characters, white space left out, a Chinese one counted as 2.2
    words: NDArray[np.uint32]  # in reading order, boilerplate markup last
    blocks: NDArray[np.uint32]  # in the same order
    block_words: NDArray[np.uint16]  # how many words each block has
    block_sizes: NDArray[np.uint16]  # its characters, white space left out
    markup: bytes  # the page linearized, one byte a token; b"\0" is a chunk
    chunk_lengths: NDArray[np.uint16]  # characters, white space left out
    outlinks: NDArray[np.uint32]  # links that leave the site
    images: NDArray[np.uint32]  # names of images
    declared: tuple[str, ...]  # URLs that it declares its own other version


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Pages of a site that are near in content, by page number."""

    # (src, trg) → cosine
    pairs: Mapping[tuple[int, int], float] = field(default_factory=dict)
    # page → the nearest of the other language with their cosines, best first
    ranked: Mapping[int, Sequence[tuple[int, float]]] = field(default_factory=dict)

    def mutual(self) -> Neighbours:
        """Only the pairs of pages that are each other's nearest."""
        nearest = {
            pair: cosine
            for pair, cosine in self.pairs.items()
            if all(self.ranked[page][0][1] <= cosine for page in pair)
        }
        return Neighbours(nearest, self.ranked)

    def worthwhile(self, min_share: float) -> list[tuple[int, int]]:
        """The pairs that are not far below what both of their pages have elsewhere."""
        return [
            pair
            for pair, cosine in self.pairs.items()
            if cosine >= min_share * min(self.ranked[page][0][1] for page in pair)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePair:
    """Two pages in different languages that may be translations of each other."""

    src: PageFeatures
    trg: PageFeatures
    found_by: frozenset[str]  # names of the candidate generators


@dataclass(frozen=True, slots=True)
class PairScore:
    """How parallel two pages are, with every feature that went into it.

    The twins are copies of the two pages (other addresses of the same main text): the
    pair holds for them as well, and none of them is paired again without evidence of
    its own. The n best are the candidates for either page and their scores, best first,
    this pair's among them; empty unless the profile asks for them (`n_best`).
    """

    src_url: str
    trg_url: str
    score: Score
    features: Mapping[str, float] = field(default_factory=lambda: NO_EVIDENCE)
    found_by: frozenset[str] = frozenset()
    src_twins: tuple[str, ...] = ()
    trg_twins: tuple[str, ...] = ()
    src_n_best: tuple[tuple[str, Score], ...] = ()
    trg_n_best: tuple[tuple[str, Score], ...] = ()


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """P(two fetched pages are a pair), in either order; None: not known yet."""

    url_a: str
    url_b: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class SentencePair:
    """One bead of a sentence alignment; src first in everything that is a pair.

    A bead without a partner has no sentence on one side, and no text there.
    """

    src_url: str
    trg_url: str
    src_text: str
    trg_text: str
    score: Score
    pair_score: Score
    bead: tuple[int, int]  # how many sentences on each side
    places: tuple[int, int] = (0, 0)  # the first of them, counted over the page
    blocks: tuple[int, int] = (0, 0)  # the block that they stand in
    # association of the words, as a share of what a translation has; None: not known
    lexical_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a page is to be found: its address, and its record in a WARC file."""

    url: str
    warc: str | None = None  # path of the file
    offset: int | None = None  # where the record starts in it
    record_id: str | None = None


@dataclass(frozen=True, slots=True)
class CorpusPair:
    """A sentence pair as a corpus has it: once, wherever it was found."""

    id: str  # 16 hexadecimal digits, equal for copies
    pair: SentencePair  # the best copy
    origins: tuple[Origin, Origin]  # its pages
    copies: int = 1  # how often it was found
