"""The steps of an alignment on a cluster, as a job of Spark.

    pieces ──extract──▶ records ──repartition by group, sorted──▶ align_group ──▶ pairs

The result of a task, counters included, follows from its piece or its group alone and
travels as rows, so a lost task is done again and nothing counts twice. The driver
writes the run directory: the pairs are 1 % of the input.

Executors need Python with this project in it: docs/realign.md says how to send it.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from uuid import uuid4

import numpy as np
import xxhash

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.data import Lang, LangPair, PairScore, Site
from crawler.errors import RunDirError
from crawler.extract.bounded import PATIENT, PageReader, ReadingNote
from crawler.extract.detectors.open import DetectorConfig
from crawler.realign.matching_ngrams import (
    ALL_SITES,
    Groups,
    MatchingNgrams,
    Pages,
    Rows,
    Shards,
    group_of,
    grouped,
    pages_in,
)
from crawler.realign.plan import Sizes, align_pages
from crawler.realign.request import AlignRequest
from crawler.realign.session import spark_session
from crawler.realign.steps import (
    Extraction,
    Extractor,
    UrlPair,
    UrlVerdicts,
    align_group,
    extract,
    judge_group,
)
from crawler.warc.inputs import Piece, Revisits

logger = logging.getLogger(__name__)

# (number of the pair of languages, group of sites); _NOTES for facts about a piece
_Key = tuple[int, str]
_NOTES: _Key = (-1, "")
_Row = tuple[Lang | None, int | None, bytes]  # a PageRecord without its group
# ((is it across sites, name of the group), its pairs, learned lexicon, counters)
_Result = tuple[tuple[bool, str], list[PairScore], Lexicon, Counter[str]]
# Tasks for each core: a slow one must not be the last (Spark's tuning guide: 2 to 3).
_TASKS_PER_CORE = 3
# Pages of a group whose features wait in memory, 5 KB each; more wait in a file.
_MAX_IN_MEMORY = 20_000


def align_on_spark(request: AlignRequest, master: str) -> dict[str, Any]:
    """Pair the pages of a collection; returns the stats of all pairs of languages.

    `master`: `local[2]`, `spark://HOST:PORT`, `yarn`; under spark-submit, its own.
    """
    known = request.known()
    if any(request.run(langs).run_json.exists() for langs in known):
        raise RunDirError(f"{request.out}: already holds a run (choose another --out)")
    inputs = request.inputs(request.paths)
    with spark_session(master, "bifocal align") as context:
        return align_pages(request, inputs, known, SparkCluster(context, request))


class SparkCluster:
    """An executor: see `crawler.realign.plan`. RDDs are Any: pyspark has no types."""

    def __init__(self, context: Any, request: AlignRequest) -> None:
        self.context = context
        self.profile = request.profile
        self.pairs = request.pairs
        self.records: Any = None
        self.sizes: Mapping[int, dict[str, Sizes]] = {}
        self._langs = request.langs
        self._documents = request.documents
        self._languages = request.languages
        self._partitions = _TASKS_PER_CORE * context.defaultParallelism

    def extract(self, pieces: Sequence[Piece]) -> Counter[str]:
        """Read the records of all pages, those that revisits stand for last."""
        splits = self.context.parallelize(list(pieces), max(len(pieces), 1))
        read = partial(
            _records,
            langs=self._langs,
            pairs=self.pairs,
            documents=self._documents,
            languages=self._languages,
            head=self.profile.head,
            run=uuid4().hex,
        )
        self.records = self.by_group(splits.mapPartitions(read))
        found = self._survey()
        if found.revisits:
            again = partial(read, revisits=self.context.broadcast(found.revisits))
            both = splits.mapPartitions(read).union(splits.mapPartitions(again))
            self.records = self.by_group(both)
            found = self._survey()
        self.sizes = found.sizes
        urls = {url for urls in found.revisits.values() for url in urls}
        found.counts["warc/dropped/revisit"] += len(urls - found.found)
        return +found.counts

    def by_group(self, records: Any) -> Any:
        """The records of a group together, in one partition."""
        return records.repartitionAndSortWithinPartitions(
            self._partitions, _place, keyfunc=_same
        )

    def _survey(self) -> _Survey:
        survey = _Survey()
        for key, value in self.records.mapPartitions(_sizes).toLocalIterator():
            if key == _NOTES:
                survey.add(value)
            else:
                number, group = key
                src, trg = self.pairs[number]
                survey.sizes[number][group] = value[src], value[trg]
        return survey

    def job(self, langs: LangPair) -> _Job:
        """The groups for two languages."""
        return _Job(self, self.pairs.index(langs))


class _Job:
    """The groups of sites for two languages: see `crawler.realign.plan`."""

    def __init__(self, cluster: SparkCluster, number: int) -> None:
        self._cluster = cluster
        self._number = number  # of the pair of languages
        self._langs = cluster.pairs[number]
        self._results: list[Any] = []

    def sizes(self) -> Mapping[str, Sizes]:
        return self._cluster.sizes.get(self._number, {})

    def learn(self, groups: Sequence[str], known: Lexicon | None) -> list[Lexicon]:
        self.align(groups, known)
        learned = dict(self._results[-1].map(_learned).collect())
        return [learned[group] for group in groups]

    def align(self, groups: Collection[str], known: Lexicon | None) -> None:
        pages = {group: sum(self.sizes()[group]) for group in groups}
        self._align(self._cluster.records, pages, known, None)

    def _align(
        self,
        records: Any,
        pages: Mapping[str, int],
        known: Lexicon | None,
        site: Site | None,
    ) -> None:
        """Align the groups that have so many pages; `site`: that all pages are of."""
        from pyspark import StorageLevel

        task = _Task(self._number, self._langs, self._cluster.profile, site)
        wanted = self._broadcast(pages)
        lexicon = self._broadcast(known)
        aligned = partial(_aligned, task=task, groups=wanted, known=lexicon)
        results = records.mapPartitions(aligned)
        self._results.append(results.persist(StorageLevel.DISK_ONLY))

    def unpaired(self) -> Sizes:
        pages = [pages_in(()), *self._all.map(_pages_of).toLocalIterator()]
        paired = self._broadcast(np.unique(np.concatenate(pages)))
        left = partial(_left, number=self._number, paired=paired)
        self._left = self._cluster.records.mapPartitions(left)
        counted = self._left.map(itemgetter(0)).countByValue()
        self._unpaired = (
            counted.get(self._langs.src, 0),
            counted.get(self._langs.trg, 0),
        )
        return self._unpaired

    def match(self, matching: MatchingNgrams, known: Lexicon) -> Groups:
        post = partial(
            _posted,
            matching=matching,
            langs=self._langs,
            known=self._broadcast(known),
        )
        rows = self._left.mapPartitions(post)
        for step in MatchingNgrams.STEPS:
            met = partial(_step, step=step, matching=matching)
            rows = rows.groupByKey(matching.shards).flatMap(met)
        return grouped(found for _, found in rows.toLocalIterator())

    def align_across(self, groups: Groups | None, known: Lexicon | None) -> None:
        place = partial(_placed, number=self._number, groups=self._broadcast(groups))
        records = self._cluster.by_group(self._left.mapPartitions(place))
        sizes = np.bincount(groups[1]).tolist() if groups else [sum(self._unpaired)]
        pages = {_name(group): size for group, size in enumerate(sizes)}
        self._align(records, pages, known, ALL_SITES)

    def _broadcast(self, value: Any) -> Any:
        return self._cluster.context.broadcast(value)

    @property
    def _all(self) -> Any:
        return self._cluster.context.union(self._results)

    def pairs(self) -> Iterator[PairScore]:
        ordered = self._all.map(itemgetter(0, 1)).sortByKey()
        return (pair for _, found in ordered.toLocalIterator() for pair in found)

    def verdicts(
        self, asked: Mapping[str, Sequence[UrlPair]], known: Lexicon | None
    ) -> UrlVerdicts:
        task = _Task(self._number, self._langs, self._cluster.profile, None)
        judged = partial(
            _verdicts,
            task=task,
            asked=self._broadcast(asked),
            known=self._broadcast(known),
        )
        return dict(self._cluster.records.mapPartitions(judged).toLocalIterator())

    def counts(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for counted in self._all.map(itemgetter(3)).toLocalIterator():
            counts.update(counted)
        return counts


@dataclass(slots=True)
class _Survey:
    """The findings of the first pass over the records."""

    counts: Counter[str] = field(default_factory=Counter)
    revisits: dict[str, list[str]] = field(default_factory=dict)
    found: set[str] = field(default_factory=set)
    sizes: defaultdict[int, dict[str, Sizes]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def add(self, extraction: Extraction) -> None:
        self.counts.update(extraction.counts)
        self.found |= extraction.found
        for revisit in extraction.revisits:
            self.revisits.setdefault(revisit.key, []).append(revisit.url)


# ---------------------------------------------------------------- in the executors


@dataclass(frozen=True, slots=True)
class _Task:
    number: int
    langs: LangPair
    profile: AlignProfile
    site: Site | None  # that the pages of all sites are taken to be of


def _place(key: _Key) -> int:
    """The hash of a key: the same in every process, unlike Python's."""
    return xxhash.xxh32_intdigest(f"{key[0]} {key[1]}".encode("utf-8", "replace"))


def _same(key: _Key) -> _Key:
    return key


def _records(
    pieces: Iterable[Piece],
    revisits: Any = None,
    *,
    langs: Sequence[Lang],
    pairs: Sequence[LangPair],
    documents: bool,
    languages: DetectorConfig,
    head: bool,
    run: str,
) -> Iterator[tuple[_Key, Any]]:
    """The records of some pieces, for each pair of languages that they concern."""
    extractor = Extractor(langs, documents=documents, languages=languages, head=head)
    wanted: Revisits | None = None if revisits is None else revisits.value
    for piece in pieces:
        extraction = Extraction()
        about = f"{run} {piece} {revisits is None}"
        name = xxhash.xxh3_64_hexdigest(about.encode("utf-8", "replace"))
        held = Path(gettempdir(), f"bifocal-{name}.reading")
        note = ReadingNote.open(held, PATIENT)
        reader = PageReader(note=note, tries=True)
        for record in extract(piece, extractor, extraction, wanted, reader):
            for number, pair in enumerate(pairs):
                if record.lang is None or record.lang in pair:
                    yield (number, record.group), tuple(record[1:])
        reader.close()
        yield _NOTES, extraction


def _sizes(records: Iterable[tuple[_Key, Any]]) -> Iterator[tuple[_Key, Any]]:
    """The notes of the pieces, and the sizes of groups with pages in both languages."""
    for key, rows in groupby(records, itemgetter(0)):
        if key == _NOTES:
            yield from rows
            continue
        pages: defaultdict[Lang, set[int]] = defaultdict(set)
        for _, (lang, page, _data) in rows:
            if lang is not None:
                pages[lang].add(page)
        if len(pages) == 2:
            yield key, {lang: len(found) for lang, found in pages.items()}


def _aligned(
    records: Iterable[tuple[_Key, Any]], task: _Task, groups: Any, known: Any
) -> Iterator[_Result]:
    """The results of the groups that are wanted, of one pair of languages."""
    for (number, group), rows in groupby(records, itemgetter(0)):
        if number == task.number and group in groups.value:
            large = groups.value[group] > _MAX_IN_MEMORY
            result = align_group(
                (row[1][2] for row in rows),
                task.langs,
                task.profile,
                known.value,
                spill=Path(gettempdir()) if large else None,
                site=task.site,
            )
            yield (
                (task.site is not None, group),
                result.pairs,
                result.learned,
                result.counts,
            )


def _verdicts(
    records: Iterable[tuple[_Key, Any]], task: _Task, asked: Any, known: Any
) -> Iterator[tuple[UrlPair, float | None]]:
    """What the aligner says of pairs of addresses, of one pair of languages."""
    for (number, group), rows in groupby(records, itemgetter(0)):
        if number == task.number and group in asked.value:
            found = judge_group(
                (row[1][2] for row in rows),
                task.langs,
                task.profile,
                known.value,
                asked.value[group],
                spill=Path(gettempdir()),
            )
            yield from found.items()


def _learned(result: _Result) -> tuple[str, Lexicon]:
    (_, group), _, learned, _ = result
    return group, learned


# ---------------------------------------------------------------- across sites


def _name(group: int) -> str:
    return f"{group:09}"  # so that they sort as numbers do


def _pages_of(result: _Result) -> Pages:
    return pages_in(result[1])


def _left(
    records: Iterable[tuple[_Key, _Row]], number: int, paired: Any
) -> Iterator[_Row]:
    """The records of pages, of one pair of languages, that are not paired."""
    known = paired.value
    for (pair, _), row in records:
        if pair == number and row[1] is not None:
            place = np.searchsorted(known, np.uint64(row[1]))
            if place == len(known) or known[place] != row[1]:
                yield row


def _posted(
    rows: Iterable[_Row],
    matching: MatchingNgrams,
    langs: LangPair,
    known: Any,
) -> Shards:
    return matching.post((data for *_, data in rows), langs, known.value)


def _step(
    shard: tuple[int, Iterable[Rows]], step: str, matching: MatchingNgrams
) -> Shards:
    return matching.run(step, shard[1])


def _placed(
    rows: Iterable[_Row], number: int, groups: Any
) -> Iterator[tuple[_Key, _Row]]:
    """The records of pages that are in a group, by its name."""
    for row in rows:
        (group,) = group_of(np.array([row[1]], np.uint64), groups.value).tolist()
        if group >= 0:
            yield (number, _name(group)), row
