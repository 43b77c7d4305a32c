"""The request for an offline alignment, and the summary of its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.config import to_table
from crawler.data import Lang, LangPair
from crawler.errors import UsageError
from crawler.extract.convert import require_readers
from crawler.extract.detectors.open import DetectorConfig, open_detector
from crawler.realign.selection import pieces_of_index
from crawler.rundir import RunDir
from crawler.wanted import WantedPairs
from crawler.warc.inputs import PIECE_SIZE, Piece, find_inputs, pieces_of


@dataclass(frozen=True, slots=True)
class AlignRequest:
    """The pages to pair, the settings, and the directory for the pairs."""

    paths: tuple[str, ...]
    langs: tuple[Lang, ...]
    out: Path
    profile: AlignProfile
    lexicon: Path | None = None  # a lexicon.npz, or the directory of an earlier run
    indexes: tuple[str, ...] = ()  # CDXJ files: read only the pages that these suggest
    across_sites: bool = False  # a page's translation may be on any site
    documents: bool = False  # read PDF and office files, too
    languages: DetectorConfig = field(default_factory=DetectorConfig)
    piece_size: int = PIECE_SIZE  # bytes
    wanted: tuple[LangPair, ...] = ()  # of the languages only these; (): all pairs
    joint: bool = True  # of several pairs: one file of all, beside that of each

    def __post_init__(self) -> None:
        """Refuse an index without the one place of its files, and missing libraries."""
        if self.indexes and len(self.paths) != 1:
            raise UsageError(
                "--cdx needs one path: the folder or address that its file names are"
                " relative to"
            )
        open_detector(self.langs, self.languages)
        if self.documents:
            require_readers()

    @property
    def pairs(self) -> tuple[LangPair, ...]:
        """The pairs of languages that are aligned."""
        return self.wanted or WantedPairs.parse(",".join(self.langs)).pairs

    def inputs(self, paths: Iterable[str]) -> list[str]:
        """The files to read; WarcError if there are none."""
        return list(self.indexes) or find_inputs(paths)

    def pieces(self, inputs: Iterable[str], counts: Counter[str]) -> list[Piece]:
        """The pieces in which the pages are read."""
        if self.indexes:
            return pieces_of_index(self.indexes, self.paths[0], self.langs, counts)
        return pieces_of(inputs, self.piece_size)

    def run(self, langs: LangPair) -> RunDir:
        """The run directory of a pair of languages."""
        return self._run(langs, self.out)

    def known(self) -> dict[LangPair, Lexicon | None]:
        """All pairs of the languages, and the lexicon that each starts with."""
        return {langs: self._known(langs) for langs in self.pairs}

    def _known(self, langs: LangPair) -> Lexicon | None:
        path = self.lexicon
        if path is not None and path.is_dir():
            path = self._run(langs, path).lexicon
        return load_lexicon(path, langs) if path else None

    def about(self, inputs: Sequence[str]) -> dict[str, Any]:
        """The contents of run.json, but for languages and lexicon."""
        return {
            "warcs": list(inputs),
            "across_sites": self.across_sites,
            "documents": self.documents,
            "languages": [self.languages.name, self.languages.samples],
            "align": to_table(self.profile),
        }

    def _run(self, langs: LangPair, out: Path) -> RunDir:
        return RunDir(out).of_pair(langs, WantedPairs(self.pairs))


def load_lexicon(path: Path, langs: LangPair) -> Lexicon:
    """A lexicon, read once by each process; ProfileError if it is not valid."""
    try:
        version = path.stat().st_mtime_ns
    except OSError:
        version = 0  # `load` raises the error
    return _load_lexicon(path, langs, version)


@lru_cache(8)
def _load_lexicon(path: Path, langs: LangPair, _version: int) -> Lexicon:
    return Lexicon.load(path, langs)


def summary(runs: Iterable[RunDir]) -> dict[str, Any]:
    """The counters of several runs over the same pages: pages once, pairs together."""
    stats: Counter[str] = Counter()
    pages = 0
    for run in runs:
        counts = run.stats()
        pages = counts.pop("pages")
        stats.update(counts)
    return {**stats, "pages": pages}
