"""The tasks of an alignment on one machine, each with a file for its result.

A task writes its result and, last, a marker: the same name with the suffix .json. A
task with a marker is finished.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from crawler.aligner.profile import AlignProfile
from crawler.atomic import atomic_file
from crawler.data import Lang, LangPair, PairScore, Site
from crawler.extract.bounded import PATIENT, PageReader, ReadingNote
from crawler.extract.detectors.open import DetectorConfig
from crawler.realign.matching_ngrams import MatchingNgrams, Rows, Shards
from crawler.realign.request import AlignRequest, load_lexicon
from crawler.realign.shuffle import Places, write_records
from crawler.realign.steps import (
    Extraction,
    Extractor,
    UrlPair,
    UrlVerdicts,
    align_group,
    extract,
    judge_group,
)
from crawler.rundir import write_json
from crawler.sinks.pairs import write_pairs
from crawler.warc.inputs import Piece, Revisits

_COUNTED = ("align/pages", "align/dropped/duplicate", "align/across")


def marker(path: Path) -> Path:
    """The marker of a task, which holds its counters."""
    return path.parent / f"{path.name.partition('.')[0]}.json"


def lexicon_of(path: Path) -> Path:
    """The lexicon that the only group of a task learned."""
    return path.parent / f"{path.name.partition('.')[0]}.npz"


# ---------------------------------------------------------------- pieces → records


@lru_cache(1)
def _extractor(
    langs: tuple[Lang, ...], documents: bool, languages: DetectorConfig, head: bool
) -> Extractor:
    return Extractor(
        langs, documents=documents, languages=languages, head=head
    )  # it remembers words


@lru_cache(1)
def _revisits(path: Path, _version: int) -> Revisits:
    revisits: Revisits = json.loads(path.read_text("utf-8"))
    return revisits


def extract_piece(
    path: Path, piece: Piece, revisits: Path | None, request: AlignRequest
) -> tuple[int, int]:
    """Write the records of a piece; returns its bytes and pages."""
    extraction = Extraction()
    wanted = _revisits(revisits, revisits.stat().st_mtime_ns) if revisits else None
    extractor = _extractor(
        request.langs, request.documents, request.languages, request.profile.head
    )
    note = ReadingNote.open(path.with_suffix(".reading"), PATIENT)
    reader = PageReader(note=note, tries=True)
    records = extract(piece, extractor, extraction, wanted, reader)
    write_records(path, records, request.langs)
    reader.close()
    write_json(
        marker(path),
        {
            "counts": extraction.counts,
            "revisits": [(r.url, r.key) for r in extraction.revisits],
            "found": sorted(extraction.found),
        },
    )
    return piece.size, extraction.counts["warc/pages"]


# ---------------------------------------------------------------- records → pairs


@dataclass(frozen=True, slots=True)
class Alignment:
    """The properties that the tasks for two languages share."""

    files: Sequence[Path]  # of records
    langs: LangPair
    profile: AlignProfile
    lexicon: Path | None
    max_store: float  # bytes of a group's records that may be held in memory
    site: Site | None  # across sites: the site that all pages are treated as


def align_groups(path: Path, groups: Sequence[Places], common: Alignment) -> int:
    """Write the pairs of some groups; returns the number of their pages."""
    langs = common.langs
    known = load_lexicon(common.lexicon, langs) if common.lexicon else None
    counts: Counter[str] = Counter()

    def pairs() -> Iterator[PairScore]:
        for places in groups:
            result = align_group(
                places.read(common.files),
                langs,
                common.profile,
                known,
                spill=path.parent if places.size > common.max_store else None,
                site=common.site,
            )
            counts.update(result.counts)
            if len(groups) == 1:  # it may be a seed group
                result.learned.save(lexicon_of(path))
            yield from result.pairs

    write_pairs(path, pairs())
    write_json(marker(path), counts)
    return sum(counts[name] for name in _COUNTED)


def judge_places(
    places: Places, asked: Sequence[UrlPair], folder: Path, common: Alignment
) -> UrlVerdicts:
    """What the aligner says of pairs of addresses of a group."""
    return judge_group(
        places.read(common.files),
        common.langs,
        common.profile,
        load_lexicon(common.lexicon, common.langs) if common.lexicon else None,
        asked,
        spill=folder if places.size > common.max_store else None,
    )


# ---------------------------------------------------------------- n-grams


def post_ngrams(
    path: Path, places: Places, common: Alignment, matching: MatchingNgrams
) -> None:
    """Write the matching n-grams of the pages at some places, by shard."""
    assert common.lexicon is not None  # without one, languages share no n-grams
    known = load_lexicon(common.lexicon, common.langs)
    _write(path, matching.post(places.read(common.files), common.langs, known))


def step_ngrams(
    path: Path, step: str, shard: int, sources: Sequence[Path], matching: MatchingNgrams
) -> None:
    """Do a step for one shard of the rows that the step before wrote."""
    _write(path, matching.run(step, read_shard(sources, shard)))


def _write(path: Path, shards: Shards) -> None:
    arrays: dict[str, Any] = {str(shard): rows for shard, rows in shards}
    with atomic_file(path) as file:
        np.savez(file, **arrays)


def read_shard(paths: Iterable[Path], shard: int) -> Iterator[Rows]:
    """The rows of a shard, from the files of a step."""
    for path in paths:
        with np.load(path, allow_pickle=False) as table:
            if str(shard) in table:
                yield table[str(shard)]
