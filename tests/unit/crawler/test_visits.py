"""The log of a crawl is read as a file from anybody."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from crawler.errors import RunDirError
from crawler.visits import read_visits, visits_of

LINE = {
    "url": "https://a.is/",
    "site": "a.is",
    "status": 200,
    "time": "2026-01-01T00:00:00.000+00:00",
    "score": 0.5,
    "evidence": {"p_src": 0.25},
    "lang": "is",
    "reason": None,
}
ESCAPES = "\x1b]0;x\x07\x1b[2J\x9b\u202e"
BAD = [
    b"",
    b"null",
    b"[]",
    b"{",
    b"[" * 60_000,
    b"\xff\xfe",
    b'"url"',
    b"{}",
    b"a" * 200_000,
]
WRONG = [
    ("status", "200"),
    ("status", -1),
    ("status", 10**400),
    ("time", "yesterday"),
    ("time", "0001-01-01"),
    ("time", 7),
    ("site", None),
    ("score", "NaN"),
    ("pairs", 0.5),
    ("added", -3),
    ("evidence", []),
    ("evidence", {"p_src": "x"}),
    ("kept", "yes"),
    ("lang", 5),
]


def log(folder, *lines: bytes):
    path = folder / "crawl.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def test_a_line_becomes_a_typed_value(tmp_path):
    (visit,) = read_visits(log(tmp_path, json.dumps(LINE).encode()))
    assert visit.time == datetime(2026, 1, 1, tzinfo=UTC)
    assert visit.evidence == {"p_src": 0.25}
    assert (visit.added, visit.source, visit.kept) == (0, None, False)


@pytest.mark.parametrize("bad", BAD, ids=lambda line: repr(line[:9]))
def test_a_line_that_is_not_a_visit_is_left_out(tmp_path, bad, caplog):
    good = json.dumps(LINE).encode()
    assert len(list(read_visits(log(tmp_path, good, bad, good)))) == 2
    assert "1 lines left out" in caplog.text


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_value_of_another_type_or_range_costs_its_line_alone(tmp_path, name, value):
    wrong = json.dumps({**LINE, name: value}).encode()
    (visit,) = read_visits(log(tmp_path, wrong, json.dumps(LINE).encode()))
    assert visit.url == LINE["url"]


@pytest.mark.parametrize("as_ascii", [True, False])
@pytest.mark.parametrize("name", ["url", "site", "source", "lang", "reason"])
def test_no_string_holds_what_a_terminal_obeys(tmp_path, name, as_ascii):
    line = json.dumps({**LINE, name: f"x{ESCAPES}y"}, ensure_ascii=as_ascii)
    (visit,) = read_visits(log(tmp_path, line.encode()))
    value = getattr(visit, name)
    assert value.isprintable()
    assert value[0] + value[-1] == "xy"


def test_names_of_evidence_are_printable(tmp_path):
    line = json.dumps({**LINE, "evidence": {ESCAPES: 1.0}})
    (visit,) = read_visits(log(tmp_path, line.encode()))
    assert all(name.isprintable() for name in visit.evidence)


def test_a_line_that_is_being_written_is_read_later(tmp_path):
    line = json.dumps(LINE).encode()
    path = log(tmp_path, line)
    with path.open("ab") as file:
        file.write(line[:20])
    with path.open("rb") as file:
        found = list(visits_of(file))
    assert len(found) == 1


def test_a_file_without_one_visit_is_an_error(tmp_path):
    with pytest.raises(RunDirError, match="not the log of a crawl"):
        list(read_visits(log(tmp_path, b"{}", b"[]")))
    with pytest.raises(RunDirError, match="the run directory"):
        list(read_visits(tmp_path / "nothing"))
