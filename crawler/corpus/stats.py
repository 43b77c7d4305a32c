"""Statistics of a corpus: counts from corpus.json, distributions from its rows.

In: the directory of a corpus.  Out: lines of text, and a figure if asked for.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from crawler.errors import ProfileError, RunDirError

_BAR = 40  # characters of the longest bar
_SCORES = 10  # bars from 0 to 1
_LENGTHS = (5, 10, 20, 40, 80)  # words
_NAMES = [f"{low}-{high}" for low, high in pairwise(("0", *_LENGTHS, ""))]


@dataclass(slots=True)
class Distributions:
    """The distributions of scores, lengths and beads."""

    scores: Counter[int] = field(default_factory=Counter)  # by tenths
    words: Counter[int] = field(default_factory=Counter)  # of src, by _LENGTHS
    beads: Counter[str] = field(default_factory=Counter)


def read_about(folder: Path) -> dict[str, Any]:
    """The contents of corpus.json; RunDirError if this is not a corpus."""
    try:
        about = json.loads((folder / "corpus.json").read_text("utf-8"))
        if not isinstance(about, dict) or "counts" not in about:
            raise ValueError("no counts in corpus.json")
    except (OSError, ValueError) as error:
        raise RunDirError(
            f"{folder}: not a corpus: {error} (give a folder that bifocal corpus wrote)"
        ) from error
    return about


def read_distributions(folder: Path, langs: tuple[str, str]) -> Distributions | None:
    """From the JSONL file of a corpus; None if it has none."""
    path = folder / f"{'-'.join(langs)}.jsonl.gz"
    if not path.exists():
        return None
    found = Distributions()
    for row in _rows(path):
        found.scores[min(int(row["score"] * _SCORES), _SCORES - 1)] += 1
        words = len(row["translation"][langs[0]].split())
        found.words[
            next((k for k, n in enumerate(_LENGTHS) if words < n), len(_LENGTHS))
        ] += 1
        found.beads["-".join(map(str, row["bead"]))] += 1
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise RunDirError(f"{path}: cannot be read: {error} (make it again)") from error


def describe(about: dict[str, Any], found: Distributions | None) -> Iterator[str]:
    """The lines that a person reads."""
    counts = about["counts"]
    pairs = counts.get("corpus/sentence_pairs", 0)
    yield f"{'-'.join(about['langs'])}: {pairs:,} sentence pairs"
    yield (
        f"from {counts.get('corpus/page_pairs', 0):,} pairs of pages of"
        f" {about['sites']:,} sites in {len(about['runs'])} runs, {about['date']}"
    )
    yield ""
    for name, count in counts.items():
        yield f"{name:32} {count:12,}"
    if found is None:
        return
    yield from _bars(
        "quality score",
        [
            (f"{k / _SCORES:.1f}-{(k + 1) / _SCORES:.1f}", found.scores[k])
            for k in range(_SCORES)
        ],
    )
    yield from _bars(
        f"words of {about['langs'][0]}",
        [(name, found.words[k]) for k, name in enumerate(_NAMES)],
    )
    yield from _bars("sentences in a pair", found.beads.most_common())


def _bars(title: str, rows: list[tuple[str, int]]) -> Iterator[str]:
    most = max([count for _, count in rows] + [1])
    yield ""
    yield title
    for name, count in rows:
        yield f"  {name:8} {count:10,} {'█' * round(_BAR * count / most)}"


def draw(about: dict[str, Any], found: Distributions, path: Path) -> None:
    """A figure of the same: PNG, SVG or PDF by its name; needs the extra `reports`."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ProfileError(
            "drawing needs matplotlib (pip install 'bifocal-crawler[reports]')"
        ) from error
    figure = Figure(figsize=(10, 7), layout="constrained")
    axes = figure.subplots(2, 2)
    tenths = [k / _SCORES for k in range(_SCORES)]
    axes[0, 0].bar(
        tenths, [found.scores[k] for k in range(_SCORES)], 0.09, align="edge"
    )
    axes[0, 0].set_title("quality score")
    axes[0, 1].bar(_NAMES, [found.words[k] for k in range(len(_NAMES))])
    axes[0, 1].set_title(f"words of {about['langs'][0]}")
    beads = found.beads.most_common(8)
    axes[1, 0].bar([name for name, _ in beads], [count for _, count in beads])
    axes[1, 0].set_title("sentences in a pair")
    dropped = {k: n for k, n in about["counts"].items() if "/dropped/" in k}
    axes[1, 1].barh([k.rpartition("/")[2] for k in dropped], list(dropped.values()))
    axes[1, 1].set_title("left out")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise RunDirError(f"{path}: cannot be drawn: {error}") from error
