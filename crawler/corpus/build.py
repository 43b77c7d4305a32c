"""Build a corpus: read pages, align sentences, filter, deduplicate, write.

    runs ─▶ `sentences` ─┐
                         ├─▶ copies ─▶ sinks
    files ─▶ `bitext` ───┘

Everything streams: texts and copies of sentences lie in temporary files; memory holds
the addresses of the pairs of one run. The files of the corpus appear, whole, at the
end.
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.seed_groups import merge_lexicons
from crawler.atomic import atomic_text
from crawler.config import to_table
from crawler.corpus.adapt import AdaptedScores
from crawler.corpus.bitext import sentence_pairs
from crawler.corpus.card import SiteFacts, card
from crawler.corpus.command import scores
from crawler.corpus.dedupe import BestCopies
from crawler.corpus.marks import Mark, Marks
from crawler.corpus.profile import CorpusProfile
from crawler.corpus.rights import Removals
from crawler.corpus.sentences import RunSentences, SentenceJudge
from crawler.corpus.sources import inputs_of, sources
from crawler.corpus.texts import StoredText
from crawler.data import CorpusPair, LangPair, Origin, PairScore, SentencePair, Site
from crawler.errors import RunDirError, UsageError
from crawler.rundir import RunDir, write_json
from crawler.sinks.growing import is_whole
from crawler.sinks.jsonl import json_lines, jsonl_sink
from crawler.sinks.moses import moses_sink
from crawler.sinks.parquet import parquet_sink
from crawler.sinks.tmx import tmx_sink
from crawler.sinks.tsv import ORIGIN, one_cell, origin_cells, tsv_sink
from crawler.urls import site_of

logger = logging.getLogger(__name__)

PROVENANCE = (
    "id",
    "src_url",
    "trg_url",
    "aligner_score",
    *(f"{side}_{name}" for side in ("src", "trg") for name in ORIGIN),
)
# a copy of it with fewer lines is a list for `--remove`
SITES = ("#site", "pages", "page_pairs", "sentence_pairs", "licences", "marks")


@dataclass(frozen=True, slots=True)
class CorpusRequest:
    """The runs, the settings and the directory for the corpus."""

    sources: tuple[Path, ...]  # run directories, files of sentence pairs
    langs: LangPair
    out: Path
    profile: CorpusProfile = field(default_factory=CorpusProfile)
    formats: tuple[str, ...] = ("tsv", "tmx", "jsonl")
    no_formulas: bool = False  # in the TSV, for spreadsheets
    removals: Removals = field(default_factory=lambda: Removals.of(()))
    monolingual: bool = False
    date: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        """Refuse a format that is not known."""
        for name in self.formats:
            if name not in SINKS:
                raise UsageError(
                    f"{name!r} is not a corpus format (known: {', '.join(SINKS)})"
                )

    def file(self, suffix: str) -> Path:
        """The path of a file of sentence pairs."""
        return self.out / f"{'-'.join(self.langs)}{suffix}"


_Write = Callable[[CorpusPair], object]
# Each format: a file beside the others, open while its block lasts.
SINKS: dict[str, Callable[[CorpusRequest], AbstractContextManager[_Write]]] = {
    "tsv": lambda asked: tsv_sink(asked.file(".tsv.gz"), no_formulas=asked.no_formulas),
    "tmx": lambda asked: tmx_sink(
        asked.file(".tmx.gz"), asked.langs, version("bifocal-crawler"), asked.date
    ),
    "moses": lambda asked: moses_sink(asked.out, asked.langs),
    "jsonl": lambda asked: jsonl_sink(asked.file(".jsonl.gz"), asked.langs),
    "parquet": lambda asked: parquet_sink(asked.file(".parquet"), asked.langs),
}


def build_corpus(request: CorpusRequest, tell: _Write | None = None) -> dict[str, Any]:
    """Make a corpus in a new directory; returns the contents of corpus.json.

    `tell` gets each of its pairs.
    Raises RunDirError for a run that is missing, of other languages or without its
    pages, for a file that cannot be read, and for a directory that is not empty.
    """
    out = request.out
    (paths,) = sources(request.sources, request.langs).values()
    for path in paths:
        if path.is_dir():
            run = RunDir(path)
            inputs_of(run, run.read())
            if not is_whole(run.pairs):
                logger.warning(
                    "%s: ends early, the pairs up to there are taken (is the crawl"
                    " still running? `bifocal align` makes the pairs anew)",
                    run.pairs,
                )
    if out.exists() and any(out.iterdir()):
        raise RunDirError(f"{out}: is not empty (choose another --out)")
    work = out / "work.partial"
    try:
        work.mkdir(parents=True)
    except OSError as error:
        raise RunDirError(f"{out}: cannot be written: {error.strerror}") from error
    try:
        return _Building(request, work).build(paths, [tell] if tell else [])
    finally:
        shutil.rmtree(work, ignore_errors=True)


class _Building:
    """The state of one build."""

    def __init__(self, request: CorpusRequest, work: Path) -> None:
        self._request = request
        self._profile = request.profile
        self._out = request.out
        self._work = work
        self._counts: Counter[str] = Counter()
        self._sites: defaultdict[Site, SiteFacts] = defaultdict(SiteFacts)

    def build(self, paths: Sequence[Path], also: Sequence[_Write]) -> dict[str, Any]:
        out, request = self._out, self._request
        runs = [RunDir(path) for path in paths if path.is_dir()]
        self._adapted = AdaptedScores.of(self._marks(runs))
        self._judge = SentenceJudge(
            request.langs, request.profile, self._counts, self._adapted
        )
        files = [path for path in paths if not path.is_dir()]
        # all files or none: they get their names when this block ends
        with ExitStack() as stack:
            enter = stack.enter_context
            copies = BestCopies.open(self._work / "copies.sqlite", self._profile.copies)
            enter(closing(copies))
            self._documents = enter(json_lines(out / "documents.jsonl.gz"))
            self._unpaired = {
                lang: enter(json_lines(out / f"monolingual.{lang}.jsonl.gz"))
                for lang in self._request.langs
                if self._request.monolingual
            }
            for run in runs:
                self._add_run(run, copies)
            lexicon = self._lexicon(runs)
            for file in files:
                self._add_file(file, lexicon, copies)
            provenance = enter(atomic_text(out / "provenance.tsv.gz"))
            formats = self._request.formats
            sinks = [enter(SINKS[name](self._request)) for name in formats]
            self._write(copies, provenance, [*sinks, *also])
        return self._finish(runs, files)

    # ------------------------------------------------------------- one source

    def _add_run(self, run: RunDir, copies: BestCopies) -> None:
        with RunSentences.open(run, self._judge, self._work) as sentences:
            for text in sentences.store:
                self._note(text)
            for pair in sentences.pairs:
                self._add_pages(pair, sentences, copies)

    def _note(self, text: StoredText) -> None:
        facts = self._sites[text.document.site]
        facts.pages += 1
        facts.marks.update(text.marks)
        if text.licence:
            facts.licences[text.licence] += 1

    def _add_pages(
        self, pair: PairScore, sentences: RunSentences, copies: BestCopies
    ) -> None:
        pages = sentences.pages(pair)
        if pages is None:
            self._counts["corpus/dropped/no_page"] += 1
            return
        if any(map(self._is_left_out, pages)):
            return
        src, trg = pages
        judged = sentences.align(pair, src, trg)
        self._counts["corpus/page_pairs"] += 1
        self._sites[src.document.site].page_pairs += 1
        ids = {
            bead.pair.places: copies.add(bead.pair, (src.origin, trg.origin))
            for bead in judged
            if bead.reason is None
        }
        self._sites[src.document.site].sentence_pairs += len(ids)
        beads = [bead.pair for bead in judged]
        self._documents(
            {
                "score": round(pair.score, 4),
                "src": _about_page(src),
                "trg": _about_page(trg),
                "segments": [_segment(bead, ids.get(bead.places)) for bead in beads],
            }
        )
        if self._unpaired:
            for bead in beads:
                self._leave(bead)

    def _lexicon(self, runs: Sequence[RunDir]) -> Lexicon | None:
        """The sum of the lexicons of the runs; None if they have none."""
        langs = self._request.langs
        known = [run.lexicon for run in runs if run.lexicon.exists()]
        return merge_lexicons(None, (Lexicon.load(path, langs) for path in known))

    def _add_file(
        self, file: Path, lexicon: Lexicon | None, copies: BestCopies
    ) -> None:
        langs, removals = self._request.langs, self._request.removals
        beads = sentence_pairs(file, langs, lexicon, self._counts)
        for bead in self._judge.judged(beads):
            if bead.reason is None:
                urls = bead.pair.src_url, bead.pair.trg_url
                if any(removals.match(url, site_of(url)) for url in urls):
                    self._counts["corpus/dropped/removed"] += 1
                    continue
                copies.add(bead.pair, (Origin(urls[0]), Origin(urls[1])))
                self._sites[file.name].sentence_pairs += 1

    def _is_left_out(self, text: StoredText) -> bool:
        document = text.document
        if self._request.removals.match(document.url, document.site):
            self._counts["corpus/dropped/removed"] += 1
            return True
        refused = sorted(text.marks.intersection(self._profile.honour))
        if refused:
            self._counts[f"corpus/dropped/{refused[0]}"] += 1
        return bool(refused)

    def _leave(self, bead: SentencePair) -> None:
        """Write the sentences without a partner to the file of their language."""
        sides = (bead.src_url, bead.src_text), (bead.trg_url, bead.trg_text)
        if not all(bead.bead):
            for lang, (url, text) in zip(self._request.langs, sides, strict=True):
                if text:
                    self._unpaired[lang]({"text": text, "url": url})

    # ------------------------------------------------------------- all runs

    def _write(
        self, copies: BestCopies, provenance: TextIO, sinks: Sequence[_Write]
    ) -> None:
        provenance.write("\t".join(PROVENANCE) + "\n")
        best = copies.best(lambda copy: provenance.write(_provenance(copy)))
        command = self._profile.command
        if command.run:
            best = self._judged(best, scores(copies.best(), command, self._work))
        for item in best:
            self._counts["corpus/sentence_pairs"] += 1
            self._counts["corpus/copies"] += item.copies - 1
            for side, text in (
                ("src", item.pair.src_text),
                ("trg", item.pair.trg_text),
            ):
                self._counts[f"corpus/characters_{side}"] += len(text)
                self._counts[f"corpus/words_{side}"] += len(text.split())
            for sink in sinks:
                sink(item)

    def _judged(
        self, best: Iterator[CorpusPair], said: Iterator[float]
    ) -> Iterator[CorpusPair]:
        """The pairs that the external command accepts, with its scores."""
        for item, score in zip(best, said, strict=True):
            if score >= self._profile.command.min_score:
                yield replace(item, pair=replace(item.pair, score=score))
            else:
                self._counts["sentences/dropped/command"] += 1

    def _finish(self, runs: Sequence[RunDir], files: Sequence[Path]) -> dict[str, Any]:
        """The files that describe the corpus."""
        request = self._request
        with atomic_text(self._out / "sites.tsv") as sites:
            sites.write("\t".join(SITES) + "\n")
            for site, facts in sorted(self._sites.items()):
                cells = (
                    site,
                    str(facts.pages),
                    str(facts.page_pairs),
                    str(facts.sentence_pairs),
                    _listed(facts.licences),
                    _listed(facts.marks),
                )
                sites.write("\t".join(cells) + "\n")
        about = {
            "bifocal": version("bifocal-crawler"),
            "date": request.date.strftime("%Y-%m-%d"),
            "langs": list(request.langs),
            "runs": [self._run_facts(run) for run in runs],
            "files": [file.name for file in files],
            "formats": list(request.formats),
            "no_formulas": request.no_formulas,
            "sites": len(self._sites),
            "profile": to_table(self._profile),
            "scores": {
                "stretch": round(self._adapted.stretch, 4),
                "shift": round(self._adapted.shift, 4),
                "pages": round(self._adapted.pages, 4),
                "marked_wrong": len(self._adapted.wrong),
            },
            "counts": dict(sorted(self._counts.items())),
            "licences": dict(
                sum((f.licences for f in self._sites.values()), Counter()).most_common()
            ),
            "marks": dict(
                sum((f.marks for f in self._sites.values()), Counter()).most_common()
            ),
        }
        write_json(self._out / "corpus.json", about)
        with atomic_text(self._out / "README.md") as readme:
            readme.write(card(about, self._sites))
        return about

    def _marks(self, runs: Sequence[RunDir]) -> Iterator[Mark]:
        """The marks of the runs, src first as in the corpus."""
        for run in runs:
            turned = run.read()["langs"] != list(self._request.langs)
            for mark in Marks.read(run.marks):
                yield mark.turned() if turned else mark

    @staticmethod
    def _run_facts(run: RunDir) -> dict[str, Any]:
        """The facts about a run that matter to a reader of the corpus."""
        settings = run.read().get("settings", {})
        return {
            "path": str(run.path),
            "robots": settings.get("ROBOTSTXT_OBEY"),
            "user_agent": settings.get("USER_AGENT"),
        }


def _about_page(text: StoredText) -> dict[str, Any]:
    document, origin = text.document, text.origin
    return {
        "url": document.url,
        "title": document.title,
        "warc": origin.warc,
        "offset": origin.offset,
        "record_id": origin.record_id,
        "licence": text.licence,
    }


def _segment(bead: SentencePair, name: str | None) -> dict[str, Any]:
    """A bead in its document; `id` where it is in the corpus."""
    return {
        "src": bead.src_text or None,
        "trg": bead.trg_text or None,
        "bead": list(bead.bead),
        "places": list(bead.places),
        "blocks": list(bead.blocks),
        "score": round(bead.score, 4),
        "id": name,
    }


def _provenance(copy: CorpusPair) -> str:
    cells = [copy.id, copy.pair.src_url, copy.pair.trg_url, f"{copy.pair.score:.4f}"]
    cells += [cell for origin in copy.origins for cell in origin_cells(origin)]
    return "\t".join(map(one_cell, cells)) + "\n"


def _listed(counts: Counter[str]) -> str:
    return " ".join(f"{name}={count}" for name, count in counts.most_common())
