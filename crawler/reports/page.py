"""Runs as one web page that needs nothing but a browser.

Text from the web goes into the page as JSON or compressed JSON, in script blocks that
browsers do not run, and is shown as text. The page holds its own code, from `static/`;
a content security policy allows that code by its hash and forbids all other code and
all requests.

Texts are packed in chunks of pairs, unpacked when someone reads them: ten thousand
pairs are fifteen megabytes.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any, Self, TextIO

from msgspec.structs import replace

from crawler.atomic import atomic_text
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
from crawler.reports.quality import Gold, judge_pairs, read_gold
from crawler.reports.tally import BINS, REASONS, Tally, tally
from crawler.reports.texts import PairText, PairTexts
from crawler.rundir import RunDir
from crawler.sinks.growing import read_lines
from crawler.sinks.pairs import read_pairs
from crawler.sinks.tsv import COLUMNS
from crawler.urls import site_of
from crawler.visits import read_visits

_STATIC = Path(__file__).parent / "static"
_CHUNK = 20  # pairs that are unpacked together
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
        for line in read_lines(path) if path.exists() else ():
            cells = dict(zip(COLUMNS, line.split("\t")))
            if len(cells) == len(COLUMNS) and cells["src_url"] != "src_url":
                with suppress(ValueError):  # a row whose score is not a number
                    counted._add(cells)
        return counted

    def _add(self, cells: Mapping[str, str]) -> None:
        score = min(max(float(cells["aligner_score"]), 0.0), 1.0)
        self.scores[min(int(score * BINS), BINS - 1)] += 1
        self.pairs += 1
        for lengths, side in (
            (self.src_lengths, "src_text"),
            (self.trg_lengths, "trg_text"),
        ):
            lengths[min(len(cells[side]) // _LENGTH, _LENGTHS - 1)] += 1


def write_report(
    runs: Sequence[RunDir],
    out: Path,
    *,
    gold: Path | None,
    recording: Sequence[Path] = (),
    most: int = 10_000,
) -> None:
    """Write the page of some runs, whole or not at all.

    `gold`: true pairs, as in `crawler.reports.quality`. `recording`: WARC files of the
    sites, for the oracle. `most` pairs of each run can be read; of more, every n-th by
    score. Raises RunDirError for a folder that is not a run and for a page that cannot
    be written.
    """
    with atomic_text(out) as file:
        _write(file, runs, gold, recording, most)


def _write(
    file: TextIO,
    runs: Sequence[RunDir],
    gold: Path | None,
    recording: Sequence[Path],
    most: int,
) -> None:
    style = _asset("uplot/uPlot.min.css") + _asset("report.css")
    scripts = (_asset("uplot/uPlot.iife.min.js"), _asset("report.js"))
    page = Template(_asset("report.html")).substitute(
        policy=_policy(style, scripts), style=style, data="\0"
    )
    head, _, tail = page.partition("\0")
    file.write(head)
    views = [_RunView(run, number, gold, most) for number, run in enumerate(runs)]
    oracle = views[0].oracle(recording) if recording else None
    described = [view.write(file) for view in views]
    about = {"version": version("bifocal"), "runs": described, "oracle": oracle}
    file.write(_block("report", "application/json", embeddable_json(about)))
    file.writelines(f"<script>{script}</script>\n" for script in scripts)
    file.write(tail)


def _policy(style: str, scripts: Sequence[str]) -> str:
    """Nothing may be fetched, and only this code may run."""
    allowed = " ".join(f"'{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src '{_hash(style)}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (_STATIC / name).read_text("utf-8")


def embeddable_json(value: Any) -> str:
    """JSON that no HTML parser takes for markup, whatever is in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    safe = text.encode("utf-8", "replace").decode()  # halves of surrogate pairs
    return safe.replace("<", "\\u003c").replace("\0", "\\u0000")


def _block(name: str, kind: str, text: str) -> str:
    return f'<script type="{kind}" id="{name}">{text}</script>\n'


class _RunView:
    """The part of the page about one run."""

    def __init__(
        self, run: RunDir, number: int, gold_file: Path | None, most: int
    ) -> None:
        self._run = run
        self._number = number  # among the runs of the page
        self._about = run.read()
        self._langs = LangPair(*self._about["langs"])
        self._gold = _read_gold(gold_file, self._langs) if gold_file else None
        log, pairs = run.crawl_log, run.pairs
        visits = read_visits(log) if log.exists() else ()
        # a crawl has a million visits, and the page does not show their evidence
        self._visits = [replace(visit, evidence=NO_EVIDENCE) for visit in visits]
        self._pairs = list(read_pairs(pairs)) if pairs.exists() else []
        self._shown = _spread(self._pairs, most)

    def write(self, file: TextIO) -> dict[str, Any]:
        """Write the texts of the pairs; give all else as JSON."""
        about = self._about
        seeds = len(about.get("seeds", ()))
        counted = tally(self._visits, self._pairs)
        listed = self._list(file)
        stats = self._run.stats() if self._run.stats_json.exists() else {}
        return {
            "name": str(self._run.path),
            "langs": [[lang, all_languages()[lang].name] for lang in self._langs],
            "profile": _profile(about),
            "scope": about.get("scope"),
            "seeds": seeds,
            "threshold": about.get("align", {}).get("min_score"),
            "started": self._visits[0].time.isoformat() if self._visits else None,
            "pairs": len(self._pairs),
            "gold": _judged(self._pairs, self._gold),
            "curve": _curve(harvest(self._visits, self._pairs, self._gold, seeds)),
            "sites": _sites(counted),
            "reasons": REASONS,
            "outcomes": counted.outcomes,
            "languages": _languages(counted, self._langs),
            "scores": {
                "pairs": counted.pair_scores,
                "urls": counted.url_scores,
                "paired": counted.url_scores_paired,
            },
            "sentences": asdict(Sentences.of(self._run.sentences)),
            "counters": stats,
            "list": listed,
            "chunk": _CHUNK,
        }

    def oracle(self, recording: Sequence[Path]) -> dict[str, Any]:
        """The best order on a recording, of the true pairs or else of this run's."""
        about, downloads = self._about, len(self._visits)
        if not downloads:
            raise RunDirError(
                f"{self._run.path}: no crawl log, so no oracle beside it"
                " (leave --world out)"
            )
        led_to_by = reachable(recording, about["seeds"], about["scope"])
        pairs = (
            true_sides(self._gold, led_to_by)
            if self._gold
            else map(sides_of, self._pairs)
        )
        counts = best_order(led_to_by, pairs, downloads)
        points = evenly(downloads)
        return {"downloads": points, "pairs": [counts[point] for point in points]}

    def _list(self, file: TextIO) -> dict[str, list[Any]]:
        """The columns of the list of pairs; their texts go into the file."""
        columns = ("src", "trg", "score", "site", "titles", "right")
        listed: dict[str, list[Any]] = {name: [] for name in columns}
        texts = PairTexts(self._run, self._langs) if self._shown else None
        for start in range(0, len(self._shown), _CHUNK):
            packed = []
            for pair in self._shown[start : start + _CHUNK]:
                text = texts.read(pair) if texts else None
                titles = (text.src_title, text.trg_title) if text else ("", "")
                judged = judge_pairs([pair], self._gold) if self._gold else None
                listed["src"].append(pair.src_url)
                listed["trg"].append(pair.trg_url)
                listed["score"].append(round(pair.score, 4))
                listed["site"].append(site_of(pair.src_url))
                listed["titles"].append([title[:200] for title in titles])
                listed["right"].append(judged and judged.right)
                packed.append(_packed(pair, text))
            data = gzip.compress(
                embeddable_json(packed).encode(), compresslevel=6, mtime=0
            )
            name = f"texts-{self._number}-{start // _CHUNK}"
            kind = "application/octet-stream"
            file.write(_block(name, kind, b64encode(data).decode()))
        return listed


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
            [row.src, row.trg, row.score, int(row.starts_block)] for row in text.rows
        ]
        if text
        else None,
        "cut": bool(text and text.cut),
        "features": {name: round(value, 4) for name, value in pair.features.items()},
        "found_by": sorted(pair.found_by),
        "twins": [list(pair.src_twins), list(pair.trg_twins)],
    }
