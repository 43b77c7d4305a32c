"""The WMT16 document alignment task: the recall of the aligner on its pairs.

In: a folder with one .lett or .lett.gz file a site, and a list of true pairs (*.pairs,
two URLs and a tab a line; src may come first or second).  Out: recall by these rules,
and the stages at which the other pairs are lost.

- official: each page is in one pair at most; a pair is found or it is not.
- soft: a pair also counts if one of its pages is there, with a page whose text is 95 %
  the text of the other (edit similarity).

And as the authors of the best system count (Yandex 2016, section 6, table 2), without
the 1-1 rule:

- N best: the trg page is among the N best partners of the src page.
- 80 %: it is the best, or 80 % of its words are those of the best.

With a URL model the pages of a site are paired by their URLs alone, as the baseline of
the task does: every page of one language with every one of the other.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from heapq import heappush, heappushpop
from itertools import islice
from pathlib import Path

from rapidfuzz.distance import Levenshtein

from crawler.aligner.aligner import Aligner
from crawler.aligner.profile import AlignProfile
from crawler.data import Document, LangPair, PairScore
from crawler.errors import RunDirError
from crawler.extract.document import build_document
from crawler.protocols import UrlPairModel
from crawler.urls import canonicalize
from crawler.warc.lett import LettPage, read_lett

_SITE = "wmt16"
_SIMILAR = 0.95
_OVERLAP = 0.8
_N_BEST = (1, 3, 10)
_COMPARED = 20_000  # characters; the time of a comparison grows with the square
_AT_ONCE = 100_000  # pairs of URLs that a model is asked about together
_KEPT = (
    50  # partners of a page by URL that are looked at; 1-1 rarely asks for the third
)

Urls = tuple[str, str]  # src, trg


@dataclass(frozen=True, slots=True)
class Wmt16Result:
    """Counts of true pairs: all, those left after each stage, those found by a rule."""

    pairs: int
    stages: Mapping[str, int]
    official: int
    soft: int
    n_best: Mapping[int, int]
    overlapping: int
    lines: Counter[str]  # lines read, and lines that could not be

    def __str__(self) -> str:
        total = max(self.pairs, 1)
        rows = [
            *((f"  {name}", count) for name, count in self.stages.items()),
            ("found, official rule", self.official),
            ("found, soft rule", self.soft),
            *((f"found, {n} best", count) for n, count in self.n_best.items()),
            ("found, 80 % of the words", self.overlapping),
        ]
        return "\n".join(
            [f"{self.pairs} true pairs"]
            + [f"{name:28} {count:6} {count / total:7.2%}" for name, count in rows]
        )


@dataclass(frozen=True, slots=True)
class Found:
    """The pairs of a site: all that were scored, and those that were accepted."""

    scores: Sequence[PairScore]
    accepted: AbstractSet[Urls]


def evaluate(
    folder: Path,
    langs: LangPair,
    profile: AlignProfile | None = None,
    urls: UrlPairModel | None = None,
) -> Wmt16Result:
    """Pair the pages of every site of a folder, and count; see the module.

    `urls`: by this model alone. RunDirError if something is missing.
    """
    files = sorted([*folder.glob("*.lett"), *folder.glob("*.lett.gz")])
    lists = sorted(folder.glob("*.pairs"))
    if not files or not lists:
        raise RunDirError(
            f"{folder}: expected .lett.gz files and a list *.pairs of true pairs"
            " (lett.train and train.pairs of the WMT16 task)"
        )
    counts: Counter[str] = Counter()
    sites = {str(file): list(_pages(file, counts)) for file in files}
    sides = {page.url: page.lang for pages in sites.values() for page in pages}
    gold = set(_gold(lists, sides, langs))
    stages: Counter[str] = Counter({"both pages there": 0})
    official = soft = overlapping = 0
    n_best = dict.fromkeys(_N_BEST, 0)
    for pages in sites.values():
        mine = {page.url: page.text for page in pages}
        true = {pair for pair in gold if pair[0] in mine and pair[1] in mine}
        found = _by_urls(pages, langs, urls) if urls else _by_all(pages, langs, profile)
        scores, accepted = found.scores, found.accepted
        stages["both pages there"] += len(true)
        stages["scored"] += len(true & {(s.src_url, s.trg_url) for s in scores})
        official += len(true & accepted)
        partners = best_first(scores)
        for n in n_best:
            n_best[n] += sum(trg in partners.get(src, [])[:n] for src, trg in true)
        overlapping += sum(
            overlap(mine[trg], mine[best]) >= _OVERLAP
            for src, trg in true
            for best in partners.get(src, [])[:1]
        )
        soft += sum(pair in accepted or _similar(pair, accepted, mine) for pair in true)
    return Wmt16Result(len(gold), stages, official, soft, n_best, overlapping, counts)


def _by_all(
    pages: Sequence[LettPage], langs: LangPair, profile: AlignProfile | None
) -> Found:
    """By the aligner."""
    with Aligner(langs, profile) as aligner:
        for document in _documents(pages, langs):
            aligner.add(document)
        site = aligner.align(_SITE)
    accepted = {(pair.src_url, pair.trg_url) for pair in site.pairs}
    return Found(list(site.scores.values()), accepted)


def _by_urls(pages: Sequence[LettPage], langs: LangPair, model: UrlPairModel) -> Found:
    """By a URL model: the best partners of each page, and of these one to one."""
    src, trg = ([page.url for page in pages if page.lang == lang] for lang in langs)
    best: defaultdict[str, list[tuple[float, str, str]]] = defaultdict(list)
    pairs = ((one, other) for one in src for other in trg)
    while batch := list(islice(pairs, _AT_ONCE)):
        for (one, other), p in zip(batch, model.predict(batch)):
            for end in (one, other):
                push = heappush if len(best[end]) < _KEPT else heappushpop
                push(best[end], (p, one, other))
    kept = {scored for ranked in best.values() for scored in ranked}
    scores = [
        PairScore(one, other, p, {})
        for p, one, other in sorted(kept, key=lambda s: (-s[0], s[1], s[2]))
    ]
    taken: set[str] = set()
    accepted: set[Urls] = set()
    for score in scores:
        ends = score.src_url, score.trg_url
        if taken.isdisjoint(ends):
            taken.update(ends)
            accepted.add(ends)
    return Found(scores, accepted)


def _pages(file: Path, counts: Counter[str]) -> Iterator[LettPage]:
    opener = gzip.open if file.suffix == ".gz" else open
    try:
        with opener(file, "rb") as lines:
            yield from read_lett(lines, counts)
    except (OSError, EOFError) as error:
        raise RunDirError(f"{file}: cannot be read: {error}") from error


def _gold(
    lists: Sequence[Path], sides: Mapping[str, str], langs: LangPair
) -> Iterator[Urls]:
    for file in lists:
        for line in file.read_text("utf-8", "replace").splitlines():
            one, other = (canonicalize(cell) for cell in [*line.split("\t"), ""][:2])
            if one and other:
                turned = sides.get(one) == langs.trg or sides.get(other) == langs.src
                yield (other, one) if turned else (one, other)


def _documents(pages: Sequence[LettPage], langs: LangPair) -> Iterator[Document]:
    """The pages in the languages that the file gives them, as one site."""
    for page in pages:
        document = build_document(page.page) if page.lang in langs else None
        if document:
            yield replace(document, lang=page.lang, site=_SITE)


def best_first(scores: Sequence[PairScore]) -> dict[str, list[str]]:
    """The partners of each src page, best first."""
    lists: defaultdict[str, list[str]] = defaultdict(list)
    for score in sorted(scores, key=lambda s: (-s.score, s.src_url, s.trg_url)):
        lists[score.src_url].append(score.trg_url)
    return lists


def overlap(true: str, other: str) -> float:
    """The share of the words of one text that the other has, each as often."""
    words, found = Counter(true.split()), Counter(other.split())
    return (words & found).total() / max(words.total(), 1)


def _similar(pair: Urls, accepted: AbstractSet[Urls], texts: Mapping[str, str]) -> bool:
    """True if one page of a pair was accepted with a near copy of the other."""
    return any(
        pair[here] == ends[here] and _same(texts[pair[1 - here]], texts[ends[1 - here]])
        for ends in accepted
        for here in (0, 1)
    )


def _same(a: str, b: str) -> bool:
    a, b = a[:_COMPARED], b[:_COMPARED]
    return Levenshtein.normalized_similarity(a, b, score_cutoff=_SIMILAR) > 0
