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
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any, TextIO

from crawler.atomic import atomic_text
from crawler.prospect.estimate import read_table
from crawler.reports.view import CHUNK, RunView
from crawler.rundir import RunDir

_STATIC = Path(__file__).parent / "static"


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
    score. Marks of a person are read from marks.tsv of each run. Raises RunDirError for
    a folder that is not a run and for a page that cannot be written.
    """
    views = [RunView.read(r, gold, most) for run in runs for r in run.by_pair()]
    with atomic_text(out) as file:
        _write(file, views, recording, saves=False)


def write_page(file: TextIO, runs: Sequence[RunDir], *, most: int, saves: bool) -> None:
    """Write the page of the directories of single pairs of languages.

    `saves`: a server keeps the marks, so the page may talk to where it came from.
    """
    _write(file, [RunView.read(run, None, most) for run in runs], (), saves=saves)


def write_prospects(table: Path, out: Path, most: int = 10_000) -> None:
    """Write the page of a table of `bifocal prospect`; of its sites, `most`.

    Raises RunDirError for a file that is not such a table, or cannot be read.
    """
    columns, rows = read_table(table)
    about = {
        "version": version("bifocal-crawler"),
        "name": table.name,
        "columns": columns,
        "rows": rows[:most],
        "sites": len(rows),
    }
    style, script = _asset("report.css"), _asset("prospects.js")
    data = _block("report", "application/json", embeddable_json(about))
    page = Template(_asset("prospects.html")).substitute(
        policy=_policy(style, [script], saves=False),
        style=style,
        data=f"{data}<script>{script}</script>\n",
    )
    with atomic_text(out) as file:
        file.write(page)


def _write(
    file: TextIO,
    views: Sequence[RunView],
    recording: Sequence[Path],
    *,
    saves: bool,
) -> None:
    style = _asset("uplot/uPlot.min.css") + _asset("report.css")
    names = ("uplot/uPlot.iife.min.js", "marks.js", "report.js")
    scripts = [_asset(name) for name in names]
    page = Template(_asset("report.html")).substitute(
        policy=_policy(style, scripts, saves=saves), style=style, data="\0"
    )
    head, _, tail = page.partition("\0")
    file.write(head)
    oracle = views[0].oracle(recording) if recording else None
    about = {
        "version": version("bifocal-crawler"),
        "saves": saves,
        "runs": [_described(file, number, view) for number, view in enumerate(views)],
        "oracle": oracle,
    }
    file.write(_block("report", "application/json", embeddable_json(about)))
    file.writelines(f"<script>{script}</script>\n" for script in scripts)
    file.write(tail)


def _described(file: TextIO, number: int, view: RunView) -> dict[str, Any]:
    """Write the texts of a run's pairs; give all else as JSON."""
    listed: list[dict[str, Any]] = []
    for place, (items, texts) in enumerate(view.chunks()):
        listed += items
        data = gzip.compress(embeddable_json(texts).encode(), compresslevel=6, mtime=0)
        kind = "application/octet-stream"
        packed = b64encode(data).decode()
        file.write(_block(f"texts-{number}-{place}", kind, packed))
    names = ("src", "trg", "score", "site", "titles", "right")
    columns = {name: [item[name] for item in listed] for name in names}
    return {**view.figures(), "list": columns, "chunk": CHUNK}


def _policy(style: str, scripts: Sequence[str], *, saves: bool) -> str:
    """Nothing may be fetched but marks, and only this code may run."""
    allowed = " ".join(f"'{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src '{_hash(style)}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
        + ("; connect-src 'self'" if saves else "")
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
