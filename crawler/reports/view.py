"""One run as the report shows it: figures and the list of pairs, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from crawler.corpus.marks import Marks, precisions
from crawler.data import NO_EVIDENCE, LangPair, PairScore
from crawler.errors import RunDirError
from crawler.languages import all_languages
from crawler.reports.curves import (
    Harvest,
    best_order,
    evenly,
    harvest,
    sides_of,
    true_sides,
)
from crawler.reports.oracle import reachable
from crawler.reports.outlook import outlook
from crawler.reports.quality import Gold, judge_pairs, read_gold
from crawler.reports.tally import BINS, REASONS, Tally, failed_sites, tally
from crawler.reports.texts import PairText, open_sentences, pair_text
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from crawler.sinks.tsv import read_sentences
from crawler.urls import site_of
from crawler.visits import Visit, read_visits

CHUNK = 20  # pairs whose texts are unpacked together
_LENGTH = 20  # characters: the width of a bar of sentence lengths
_LENGTHS = 20  # bars; the last one holds all that is longer


@dataclass(slots=True)
class Sentences:
    """The sentence pairs of a run, counted."""

    pairs: int = 0
    scores: list[int] = field(default_factory=lambda: [0] * BINS)
    src_lengths: list[int] = field(default_factory=lambda: [0] * _LENGTHS)
    trg_lengths: list[int] = field(default_factory=lambda: [0] * _LENGTHS)

    @classmethod
    def of(cls, path: Path) -> Self:
        """Count a sentences.tsv.gz, which may still be growing or not be there."""
        counted = cls()
        for cells in read_sentences(path) if path.exists() else ():
            counted._add(cells)
        return counted

    def _add(self, cells: Mapping[str, str]) -> None:
        score = min(max(0.0, float(cells["aligner_score"])), 1.0)  # 0 for nan
        self.scores[min(int(score * BINS), BINS - 1)] += 1
        self.pairs += 1
        for lengths, side in (
            (self.src_lengths, "src_text"),
            (self.trg_lengths, "trg_text"),
        ):
            lengths[min(len(cells[side]) // _LENGTH, _LENGTHS - 1)] += 1


@dataclass(frozen=True, slots=True)
class RunView:
    """The parts of a run that a report needs."""

    run: RunDir
    about: dict[str, Any]
    langs: LangPair
    gold: Gold | None
    visits: list[Visit]
    pairs: list[PairScore]
    shown: list[PairScore]  # best first
    marks: Marks

    @classmethod
    def read(cls, run: RunDir, gold: Path | None, most: int) -> Self:
        """Read a run; at most so many of its pairs are shown, evenly over the scores.

        RunDirError if it is not a run.
        """
        about = run.read()
        langs = run.langs()
        visits = read_visits(run.crawl_log) if run.crawl_log.exists() else ()
        pairs = list(read_pairs(run.pairs)) if run.pairs.exists() else []
        return cls(
            run,
            about,
            langs,
            _read_gold(gold, langs) if gold else None,
            # a crawl has a million visits, and the page does not show their evidence
            [replace(visit, evidence=NO_EVIDENCE) for visit in visits],
            pairs,
            _spread(pairs, most),
            Marks.read(run.marks),
        )

    def figures(self) -> dict[str, Any]:
        """Everything but the list of pairs."""
        seeds = self.about.get("seeds", ())
        counted = tally(self.visits, self.pairs)
        stats = self.run.stats() if self.run.stats_json.exists() else {}
        curve = harvest(self.visits, self.pairs, self.gold, len(seeds))
        ahead = outlook(curve.complete, curve.waiting[-1], curve.seconds)
        return {
            "name": str(self.run.path),
            "langs": [[lang, all_languages()[lang].name] for lang in self.langs],
            "profile": _profile(self.about),
            "scope": self.about.get("scope"),
            "seeds": len(seeds),
            "threshold": self.about.get("align", {}).get("min_score"),
            "started": self.visits[0].time.isoformat() if self.visits else None,
            "pairs": len(self.pairs),
            "answers": _answers(self.run),
            "gold": _judged(self.pairs, self.gold),
            "curve": _curve(curve),
            "outlook": ahead and asdict(ahead),
            "sites": _sites(counted),
            "failed": list(failed_sites(counted, seeds, stats)) if self.visits else [],
            "reasons": REASONS,
            "outcomes": counted.outcomes,
            "languages": _languages(counted, self.langs),
            "scores": {
                "pairs": counted.pair_scores,
                "urls": counted.url_scores,
                "paired": counted.url_scores_paired,
                "copies": counted.url_scores_copies,
            },
            "sentences": asdict(Sentences.of(self.run.sentences)),
            "counters": stats,
            "marks": [asdict(mark) for mark in self.marks],
            "judged": precisions(self.marks),
        }

    def chunks(self) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
        """The shown pairs in chunks: what the list shows of each, and the texts."""
        with open_sentences(self.run, self.langs) as sentences:
            for start in range(0, len(self.shown), CHUNK):
                chunk = self.shown[start : start + CHUNK]
                texts = [
                    pair_text(sentences, pair) if sentences else None for pair in chunk
                ]
                both = list(zip(chunk, texts, strict=True))
                yield (
                    [self._listed(pair, text) for pair, text in both],
                    [_packed(pair, text) for pair, text in both],
                )

    def _listed(self, pair: PairScore, text: PairText | None) -> dict[str, Any]:
        titles = (text.src_title, text.trg_title) if text else ("", "")
        judged = judge_pairs([pair], self.gold) if self.gold else None
        return {
            "src": pair.src_url,
            "trg": pair.trg_url,
            "score": round(pair.score, 4),
            "site": site_of(pair.src_url),
            "titles": [title[:200] for title in titles],
            "right": judged and judged.right,
        }

    def oracle(self, recording: Sequence[Path]) -> dict[str, Any]:
        """The best order on a recording, of the true pairs or else of this run's."""
        downloads = len(self.visits)
        if not downloads:
            raise RunDirError(
                f"{self.run.path}: no crawl log, so no oracle beside it"
                " (leave --world out)"
            )
        led_to_by = reachable(recording, self.about["seeds"], self.about["scope"])
        pairs = (
            true_sides(self.gold, led_to_by) if self.gold else map(sides_of, self.pairs)
        )
        counts = best_order(led_to_by, pairs, downloads)
        points = evenly(downloads)
        return {"downloads": points, "pairs": [counts[point] for point in points]}


def _answers(run: RunDir) -> int | None:
    """The answers that a crawl stored, robots.txt and retries included."""
    if not run.crawl_log.exists():
        return None
    count = 0
    for index in run.warc.glob("*.cdxj*"):
        with index.open("rb") as file:
            count += sum(1 for _ in file)
    return count


def _read_gold(file: Path, langs: LangPair) -> Gold:
    """The true pairs, and other addresses of their pages if a file beside has them."""
    aliases = file.with_name("aliases.tsv")
    try:
        return read_gold(file, langs, aliases if aliases.exists() else None)
    except KeyError as error:
        raise RunDirError(
            f"{file}: no column {error} (true pairs have a header line and the columns"
            " url_a lang_a url_b lang_b)"
        ) from error


def _sites(counted: Tally) -> list[dict[str, Any]]:
    """Most pairs first."""
    sites = sorted(
        counted.sites.values(), key=lambda s: (-s.pairs, -s.downloads, s.site)
    )
    return [
        {part.name: getattr(site, part.name) for part in fields(site)} for site in sites
    ]


def _profile(about: dict[str, Any]) -> str:
    name = about.get("profile")
    return name.rpartition(".")[2] if name else "bifocal align"


def _curve(curve: Harvest) -> dict[str, Any]:
    points = evenly(curve.downloads)
    columns: dict[str, Sequence[float] | None] = {
        "seconds": curve.seconds,
        "complete": curve.complete,
        "hindsight": curve.hindsight,
        "streamed": curve.streamed,
        "true": curve.true,
        "true_hindsight": curve.true_hindsight,
        "waiting": curve.waiting,
    }
    return {
        "downloads": points,
        "total": curve.downloads,
        "tenths": curve.tenths(),
        "order": curve.order,
        "half": curve.downloads_for(0.5),
        "most": curve.downloads_for(0.9),
        **{
            name: values and [values[point] for point in points]
            for name, values in columns.items()
        },
    }


def _languages(counted: Tally, langs: LangPair) -> list[dict[str, Any]]:
    names = {code: language.name for code, language in all_languages().items()}
    return [
        {
            "name": names.get(lang, lang) or "too little text, or none known",
            "documents": documents,
            "wanted": lang in langs,
        }
        for lang, documents in counted.languages.most_common()
    ]


def _judged(pairs: Sequence[PairScore], gold: Gold | None) -> dict[str, Any] | None:
    if gold is None:
        return None
    judged = judge_pairs(pairs, gold)
    return {
        "true": judged.gold,
        "precision": judged.precision,
        "recall": judged.recall,
    }


def _spread(pairs: Sequence[PairScore], most: int) -> list[PairScore]:
    """At most so many pairs, best first, evenly over the scores."""
    ranked = sorted(pairs, key=lambda pair: (-pair.score, pair.src_url, pair.trg_url))
    if len(ranked) <= most:
        return ranked
    return [ranked[i * len(ranked) // most] for i in range(most)]


def _packed(pair: PairScore, text: PairText | None) -> dict[str, Any]:
    return {
        "rows": [
            [row.src, row.trg, row.score, int(row.starts_block), row.reason]
            for row in text.rows
        ]
        if text
        else None,
        "cut": bool(text and text.cut),
        "repeated": text.repeated if text else ((), ()),
        "features": {name: round(value, 4) for name, value in pair.features.items()},
        "found_by": sorted(pair.found_by),
        "twins": [list(pair.src_twins), list(pair.trg_twins)],
    }
