"""Offline, on a cluster: the steps of one machine as a job of Spark.

    pieces ──extract──▶ records ──repartition by group, sorted──▶ align_group ──▶ pairs

Nothing is decided here. What a task gives is computed from its piece or its group alone
and travels as rows, counters too, so a task that is lost is done again and nothing of
it counts twice. The driver writes the run directory: pairs are 1 % of what was read.

Executors need Python with this project in it: docs/realign.md says how to send it.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import gettempdir
from time import monotonic
from typing import Any

import numpy as np
import xxhash

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.aligner.seed_groups import merge_lexicons, seed_groups
from crawler.data import Lang, LangPair, PairScore, Site
from crawler.errors import RunDirError, RunError
from crawler.realign.across import ALL_SITES, group_of, grouped, paired, plan
from crawler.realign.matching_ngrams import MatchingNgrams, Pages, Rows, Shards
from crawler.realign.request import Request, summary
from crawler.realign.steps import (
    Extraction,
    Extractor,
    align_group,
    extract,
    pairs_of,
)
from crawler.sinks.pairs import write_pairs
from crawler.warc.inputs import Piece, Revisits

logger = logging.getLogger(__name__)

# (which pair of languages, group of sites); _NOTES for what is known of a whole piece
_Key = tuple[int, str]
_NOTES: _Key = (-1, "")
# ((is it one across sites, name of the group), its pairs, what they taught, counters)
_Result = tuple[tuple[bool, str], list[PairScore], Lexicon, Counter[str]]
# Tasks for each core: a slow one must not be the last (Spark's tuning guide: 2 to 3).
_TASKS_PER_CORE = 3
# Pages of a group whose features wait in memory, 5 KB each; more wait in a file.
_MAX_IN_MEMORY = 20_000


def align_on_spark(request: Request, master: str) -> dict[str, Any]:
    """Pair the pages of a collection; returns the stats of all pairs of languages.

    `master`: `local[2]`, `spark://HOST:PORT`, `yarn`; under spark-submit, its own.
    """
    langs_pairs = pairs_of(request.langs)
    runs = [request.run(langs) for langs in langs_pairs]
    if any(run.run_json.exists() for run in runs):
        raise RunDirError(f"{request.out}: holds a run already (choose another --out)")
    inputs = request.inputs(request.paths)
    counts: Counter[str] = Counter()
    pieces = request.pieces(inputs, counts)
    known = [request.known(langs) for langs in langs_pairs]
    for run, langs, lexicon in zip(runs, langs_pairs, known):
        run.open(langs)
        run.write(request.about(langs, inputs, lexicon))
    context = _context(master)
    from py4j.protocol import Py4JJavaError

    try:
        job = _Job(context, request, pieces)
        counts.update(job.counts)
        for number, (run, lexicon) in enumerate(zip(runs, known)):
            pairs, counted, learned = job.align(number, lexicon)
            if learned:
                learned.save(run.lexicon)
            written = write_pairs(run.pairs, pairs)
            stats = {**(counts + counted), "pages": counts["pages"], "pairs": written}
            run.write_stats(stats)
    except Py4JJavaError as error:
        cause = str(error.java_exception.getMessage()).strip().splitlines()
        raise RunError(
            f"Spark gave up: {cause[0]} (its log says more; nothing is half-written)"
        ) from error
    finally:
        context.stop()
    return summary(runs)


def _context(master: str) -> Any:
    try:
        from pyspark import SparkConf, SparkContext
    except ImportError as error:
        raise RunError(
            f"Spark is not installed: {error} (pip install -e '.[spark]')"
        ) from error
    started = monotonic()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it tells of every close
    conf = SparkConf().setAppName("bifocal align").setIfMissing("spark.master", master)
    conf.setIfMissing("spark.ui.enabled", "false")
    conf.setIfMissing("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
    try:
        context = SparkContext.getOrCreate(conf)
    except Exception as error:  # py4j has no class for a JVM that does not start
        raise RunError(
            f"Spark does not start: {error} (it needs Java 17 or later:"
            " apt-get install openjdk-17-jre-headless)"
        ) from error
    context.setLogLevel("ERROR")
    logger.info("Spark %s: session in %.1f s", context.version, monotonic() - started)
    return context


class _Job:
    """Records by group, extracted once; `counts` has what was counted on the way."""

    def __init__(self, context: Any, request: Request, pieces: Sequence[Piece]) -> None:
        self._context = context
        self._profile = request.profile
        self._pairs = pairs_of(request.langs)
        self._partitions = _TASKS_PER_CORE * context.defaultParallelism
        splits = context.parallelize(list(pieces), max(len(pieces), 1))
        self._across_sites = request.across_sites
        read = partial(_records, langs=request.langs)
        self._records = self._by_group(splits.mapPartitions(read))
        found = self._survey()
        if found.revisits:
            wanted = context.broadcast(found.revisits)
            again = splits.mapPartitions(
                partial(_records, langs=request.langs, revisits=wanted)
            )
            self._records = self._by_group(splits.mapPartitions(read).union(again))
            found = self._survey()
        self._sizes = found.sizes
        urls = {url for urls in found.revisits.values() for url in urls}
        self.counts = +found.counts
        if missing := len(urls - found.found):
            self.counts["warc/dropped/revisit"] += missing

    def _by_group(self, records: Any) -> Any:
        return records.repartitionAndSortWithinPartitions(
            self._partitions, _place, keyfunc=_same
        )

    def _survey(self) -> _Survey:
        """What is known before anything is aligned."""
        survey = _Survey()
        for key, value in self._records.mapPartitions(_sizes).toLocalIterator():
            if key == _NOTES:
                survey.add(value)
            else:
                number, group = key
                src, trg = self._pairs[number]
                survey.sizes[number][group] = value[src], value[trg]
        return survey

    def align(
        self, number: int, known: Lexicon | None
    ) -> tuple[Iterator[PairScore], Counter[str], Lexicon | None]:
        """Pairs in order, counters, and the lexicon at the end."""
        from pyspark import StorageLevel

        sizes = self._sizes[number]
        first = seed_groups(sizes, self._profile)
        others = sizes.keys() - set(first)
        early = self._align(number, first, known).persist(StorageLevel.DISK_ONLY)
        lessons = dict(early.map(_lesson).collect())
        learned = merge_lexicons(known, (lessons[group] for group in first))
        late = self._align(number, others, known or learned)
        results = early.union(late).persist(StorageLevel.DISK_ONLY)
        if self._across_sites:
            across = self._align_across(number, results, learned)
            results = results.union(across).persist(StorageLevel.DISK_ONLY)
        counts: Counter[str] = Counter()
        for counted in results.map(itemgetter(3)).toLocalIterator():
            counts.update(counted)
        ordered = results.map(_pairs).sortByKey()
        pairs = (pair for _, found in ordered.toLocalIterator() for pair in found)
        return pairs, counts, learned

    def _align(
        self, number: int, groups: Collection[str], known: Lexicon | None
    ) -> Any:
        task = _Task(number, self._pairs[number], self._profile, None)
        pages = {group: sum(self._sizes[number][group]) for group in groups}
        return self._aligned(self._records, task, pages, known)

    def _aligned(
        self, records: Any, task: _Task, pages: dict[str, int], known: Lexicon | None
    ) -> Any:
        groups = self._context.broadcast(pages)
        lexicon = self._context.broadcast(known)
        return records.mapPartitions(
            partial(_aligned, task=task, groups=groups, known=lexicon)
        )

    def _align_across(self, number: int, results: Any, known: Lexicon | None) -> Any:
        """Align the pages that have no partner yet, whatever their sites."""
        langs = self._pairs[number]
        pages = [paired(()), *results.map(_pages_of).toLocalIterator()]
        done = self._context.broadcast(np.unique(np.concatenate(pages)))
        left = self._records.mapPartitions(partial(_left, number=number, done=done))
        counted = left.map(itemgetter(0)).countByValue()
        sizes = counted.get(langs.src, 0), counted.get(langs.trg, 0)
        matching = plan(sizes, self._profile)
        if not min(sizes):
            return self._context.emptyRDD()
        if matching is None or known is None:
            groups = None
            tasks = {_name(0): sum(sizes)}
        else:
            lexicon = self._context.broadcast(known)
            posted = partial(_posted, matching=matching, langs=langs, known=lexicon)
            rows = left.mapPartitions(posted)
            for step in MatchingNgrams.STEPS:
                met = partial(_step, step=step, matching=matching)
                rows = rows.groupByKey(matching.shards).flatMap(met)
            groups = grouped(found for _, found in rows.toLocalIterator())
            tasks = {_name(n): c for n, c in enumerate(np.bincount(groups[1]).tolist())}
        placed = self._context.broadcast(groups)
        keyed = left.mapPartitions(partial(_placed, number=number, groups=placed))
        task = _Task(number, langs, self._profile, ALL_SITES)
        return self._aligned(self._by_group(keyed), task, tasks, known)


@dataclass(slots=True)
class _Survey:
    """What the first pass over the records finds."""

    counts: Counter[str]
    revisits: dict[str, list[str]]
    found: set[str]
    sizes: defaultdict[int, dict[str, tuple[int, int]]]

    def __init__(self) -> None:
        self.counts, self.revisits, self.found = Counter(), {}, set()
        self.sizes = defaultdict(dict)

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
    """Where a key goes: the same in every process, unlike Python's hash."""
    return xxhash.xxh32_intdigest(f"{key[0]} {key[1]}".encode("utf-8", "replace"))


def _same(key: _Key) -> _Key:
    return key


def _records(
    pieces: Iterable[Piece],
    langs: Sequence[Lang],
    revisits: Any = None,
) -> Iterator[tuple[_Key, Any]]:
    """The records of some pieces, for each pair of languages that they concern."""
    reader = Extractor(langs)
    wanted: Revisits | None = None if revisits is None else revisits.value
    pairs = list(enumerate(pairs_of(langs)))
    for piece in pieces:
        extraction = Extraction()
        for record in extract(piece, reader, extraction, wanted):
            for number, pair in pairs:
                if not record.lang or record.lang in pair:
                    yield (number, record.group), tuple(record[1:])
        yield _NOTES, extraction


def _sizes(records: Iterable[tuple[_Key, Any]]) -> Iterator[tuple[_Key, Any]]:
    """The notes of the pieces, and the sizes of groups that have both languages."""
    for key, rows in groupby(records, itemgetter(0)):
        if key == _NOTES:
            yield from rows
            continue
        pages: defaultdict[Lang, set[int]] = defaultdict(set)
        for _, (lang, page, _data) in rows:
            pages[lang].add(page)
        pages.pop("", None)
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


def _lesson(result: _Result) -> tuple[str, Lexicon]:
    (_, group), _, learned, _ = result
    return group, learned


def _pairs(result: _Result) -> tuple[tuple[bool, str], list[PairScore]]:
    return result[0], result[1]


# ---------------------------------------------------------------- across sites


def _name(group: int) -> str:
    return f"{group:09}"  # so that they sort as numbers do


def _pages_of(result: _Result) -> Pages:
    return paired(result[1])


def _left(
    records: Iterable[tuple[_Key, Any]], number: int, done: Any
) -> Iterator[tuple[Lang, int, bytes]]:
    """The records of pages, of one pair of languages, that are not done."""
    for (pair, _), row in records:
        if pair == number and row[0]:
            place = np.searchsorted(done.value, np.uint64(row[1]))
            if place == len(done.value) or done.value[place] != row[1]:
                yield row


def _posted(
    rows: Iterable[tuple[Lang, int, bytes]],
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
    rows: Iterable[tuple[Lang, int, bytes]], number: int, groups: Any
) -> Iterator[tuple[_Key, Any]]:
    """The records of pages that are in a group, by its name."""
    for row in rows:
        group = 0
        if groups.value is not None:
            group = int(group_of(np.array([row[1]], np.uint64), groups.value)[0])
        if group >= 0:
            yield (number, _name(group)), row
