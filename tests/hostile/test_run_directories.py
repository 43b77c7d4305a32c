"""A run directory that somebody else made: no verb obeys it, no verb breaks on it.

Each case is a finished run with one value changed. Every verb that reads a run must end
with its result or with one line of error, and print nothing that a terminal obeys.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler import cli
from crawler.data import PairScore
from crawler.rundir import RunDir
from crawler.sinks.pairs import COLUMNS, write_pairs
from crawler.sinks.tsv import COLUMNS as SENTENCES

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
URL = "https://a.example/en/"
PAIR = PairScore(URL, "https://a.example/is/", 0.9, {"strand.dp": 0.1})
ABOUT = {"langs": ["en", "is"], "seeds": [URL], "scope": "site"}
LINE = {
    "url": URL,
    "site": "a.example",
    "status": 200,
    "time": "2026-01-01T00:00:00.000+00:00",
    "size": 10,
    "depth": 0,
    "source": None,
    "score": 10.0,
    "evidence": {"p_src": 0.5},
    "scored_at": 0,
    "lang": "en",
    "confidence": 1.0,
    "kept": True,
    "reason": None,
    "links": 1,
    "added": 1,
    "pairs": 1,
}
ODD: list[Any] = [
    *(None, True, -1, 10**400, 0.5, "", "a" * 100_000, ESCAPES, [], {}, [[]]),
    *({"a": ESCAPES}, "9" * 5000, "NaN", "9999-12-31T23:59:59.999-14:00"),
]
Change = Callable[[RunDir], object]


def about(**fields: Any) -> Change:
    """Other values in run.json."""
    return lambda run: run.write({**ABOUT, **fields})


def logged(**fields: Any) -> Change:
    """A line of the log with other values, after a good one."""
    lines = [json.dumps(LINE), json.dumps({**LINE, **fields})]
    return lambda run: run.crawl_log.write_text("\n".join(lines) + "\n")


def raw_log(*lines: bytes) -> Change:
    return lambda run: run.crawl_log.write_bytes(b"\n".join(lines) + b"\n")


def table(name: str, columns: tuple[str, ...], **cells: str) -> Change:
    """A table with one row of these cells."""

    def change(run: RunDir) -> None:
        row = "\t".join(cells.get(column, "1") for column in columns)
        text = "\t".join(columns) + f"\n{row}\n"
        (run.path / name).write_bytes(gzip.compress(text.encode("utf-8", "replace")))

    return change


def packed(name: str, data: bytes) -> Change:
    return lambda run: (run.path / name).write_bytes(data)


CASES: dict[str, Change] = {
    **{f"run.{k}={str(v)[:20]!r}": about(**{k: v})
       for k in ("langs", "seeds", "scope", "profile", "align", "settings", "warcs")
       for v in ODD},
    **{f"run.langs of {str(v)[:20]!r}": about(langs=["en", v]) for v in ODD},
    **{f"align.min_score={str(v)[:20]!r}": about(align={"min_score": v}) for v in ODD},
    **{f"log.{k}={str(v)[:20]!r}": logged(**{k: v}) for k in LINE for v in ODD},
    **{f"log line {line[:12]!r}": raw_log(json.dumps(LINE).encode(), line)
       for line in (b"", b"{", b"[]", b"\xff" * 9, b"[" * 99_999, b"a" * 2_000_000)},
    **{f"pairs.{c}": table("pairs.tsv.gz", COLUMNS, **{c: ESCAPES}) for c in COLUMNS},
    **{f"pairs score {v}": table("pairs.tsv.gz", COLUMNS, score=v, features="{}")
       for v in ("nan", "inf", "-1", "1e999", "x", "9" * 5000)},
    **{f"pairs features {v[:9]}": table("pairs.tsv.gz", COLUMNS, features=v)
       for v in ("[", "[" * 99_999, "null", '{"a":"b"}', '{"a":NaN}', '{"a":1e999}')},
    **{f"sentences score {v}": table("sentences.tsv.gz", SENTENCES, aligner_score=v)
       for v in ("nan", "inf", "-1", "1e999", "x", ESCAPES)},
    "pairs of one endless line": packed(
        "pairs.tsv.gz", gzip.compress(b"a" * 100_000_000, 1)
    ),
    "pairs torn": packed("pairs.tsv.gz", gzip.compress(b"a\tb\n" * 9999)[:-30]),
    "pairs not gzip": packed("pairs.tsv.gz", b"a\tb\n"),
    "pairs not UTF-8": packed("pairs.tsv.gz", gzip.compress(b"\xff\xfe\n" * 9)),
    "stats nested": packed("stats.json", b'{"a":' + b"[" * 99_999),
    "stats escapes": packed("stats.json", json.dumps({ESCAPES: ESCAPES}).encode()),
    "stats not a number": packed("stats.json", b'{"pages": NaN}'),
    "frontier not a database": packed("frontier.sqlite", b"SQLite format 3\0" * 99),
    "texts not a database": packed("texts.sqlite", b"SQLite format 3\0" * 99),
    "lexicon not an archive": packed("lexicon.npz", b"PK\x03\x04" * 99),
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    run = RunDir(tmp_path / "run")
    run.warc.mkdir(parents=True)
    run.write(ABOUT)
    run.write_stats({"pages": 1})
    run.crawl_log.write_text(json.dumps(LINE) + "\n")
    write_pairs(run.pairs, [PAIR])
    return run


@pytest.mark.parametrize("case", CASES)
def test_no_verb_obeys_a_hostile_run_directory_or_breaks(
    run, case, capsys, tmp_path, caplog
):
    CASES[case](run)
    path, out = str(run.path), tmp_path / "report.html"
    for words in (
        ["explain", path, URL],
        ["explain", path, "https://a.example/unknown"],
        ["watch", "--once", path],
        ["report", path, "--out", str(out)],
        ["seeds", "discover", path],
    ):
        assert cli.main(words) in (0, 1, 2)
        said = capsys.readouterr()
        for line in (said.out + said.err + caplog.text).splitlines():
            assert line.isprintable(), (words[0], line)
    if out.exists():
        report = out.read_text("utf-8").partition('id="report">')[2]
        json.loads(report.partition("</script>")[0], parse_constant=pytest.fail)
